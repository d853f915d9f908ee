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

    /// Whether atomic accesses at a site are steps of a lock. What they touch is no variable of the user's: who takes a lock
    /// before whom says nothing that the accesses under it do not say, and locks of C are no accesses at all.
    fn is_lock_code(&self, _site: Site) -> bool {
        false
    }
}

/// A recording knows its module map. Where several modules share the low 32 bits of an address, it takes the first.
impl Knowledge for Recording {
    fn return_address(&self, site: Site) -> Option<u64> {
        self.place_of(site).map(|(_, address)| address)
    }
}
