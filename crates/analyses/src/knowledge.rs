//! What a recording alone does not say: asked for through a trait, so that nothing here reads program files.

use unpick_events::Site;
use unpick_recording::{Event, Recording};

use crate::locks_held::{LockChange, recorded_change};

/// Answers questions about one recording.
pub trait Knowledge {
    /// The full return address of a site, of which a recording keeps the low 32 bits.
    fn return_address(&self, site: Site) -> Option<u64>;

    /// What an event does to the locks its thread holds. Locks of Rust taken without contention are atomic
    /// accesses, which only somebody who knows the functions around them can tell.
    fn lock_change(&self, event: &Event<'_>) -> Option<LockChange> {
        recorded_change(&event.action)
    }

    /// Whether atomic accesses at a site are steps of a lock.
    fn is_lock_code(&self, _site: Site) -> bool {
        false
    }

    /// Whether an event is an `unpark` of Rust, which is an atomic access.
    fn unparks(&self, _event: &Event<'_>) -> bool {
        false
    }

    /// Whether accesses at a site are made by code whose synchronisation is not recorded: all that is seen of it are its calls of functions that
    /// are intercepted. What orders such an access cannot be told, so it is no evidence of a race.
    fn is_unseen_code(&self, _site: Site) -> bool {
        false
    }

    /// Whether code at a site can be executed after that at another, in one activation of the function that both are in and in one iteration
    /// of its outermost loop. None: they are not in one function, or nobody knows.
    fn follows(&self, _first: Site, _second: Site) -> Option<bool> {
        None
    }

    /// Whose state accesses at a site are to. State of a library is no variable of the user's: who takes a lock or drops an `Arc`
    /// before whom says nothing that the accesses around it do not say, and locks of C are no accesses at all.
    fn state_of(&self, _site: Site) -> State {
        State::OfUser
    }
}

/// Whose state an access is to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    OfUser,
    /// Words of locks, counts of references, what threads are started with.
    OfLibrary,
    Unknown,
}

/// A recording knows its module map. Where several modules share the low 32 bits of an address, it takes the first.
impl Knowledge for Recording {
    fn return_address(&self, site: Site) -> Option<u64> {
        self.place_of(site).map(|(_, address)| address)
    }
}
