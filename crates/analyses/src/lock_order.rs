//! Lock-order cycles: threads that take the same locks in different orders, and so can come to wait for each other for ever.
//!
//! Takes   the events of one run, of which no thread needs to have waited.
//! Gives   one `Cycle` per set of places: who holds what and asks for what, with threads, stacks and locks; and the same as if the run
//!         had hung there, so that it is shown and forced as a deadlock that was seen.
//! Misses  locks that this run did not take; waits for something else than a lock; cycles of more than `MOST_THREADS` threads; what
//!         comes after `MOST_STEPS` steps of the search, and says so.
//! Invents cycles that conditions, barriers, semaphores or atomics keep from happening, and cycles over a `try_lock` of Rust. A cycle is a
//!         candidate: forcing it decides.
//! Cost    one walk over the events. Of the requests, each different one is kept; only those inside a knot of locks are searched.
//!
//! Method: Goodlock (Havelund 2000), for any number of threads, with two ways in which a cycle cannot be: two of its threads hold a common lock (there: a
//! gate lock) while they ask, or starting and joining threads puts one of them before the other (Bensalem and Havelund 2005). A lock held for
//! reading is in the way of writers only; who asks by a `trylock`, or with a time limit, does not wait for ever; who takes a lock again does not wait.

mod as_hang;
mod knots;
mod lives;
mod requests;
mod search;

use unpick_events::ThreadId;
use unpick_recording::Recording;

use crate::knowledge::Knowledge;
use crate::locks_held::HeldLock;

pub use as_hang::as_hang;

/// As many steps a schedule can have.
pub const MOST_THREADS: usize = 16;
/// Of the search, over all requests to begin with: some seconds.
pub const MOST_STEPS: u64 = 3_000_000;

/// What a run says about the order of its locks.
#[derive(Debug, Default)]
pub struct LockOrder {
    /// Those of few threads first, then by when they were asked for.
    pub cycles: Vec<Cycle>,
    /// The search was given up: there may be more.
    pub is_cut: bool,
}

/// Threads that can come to wait for each other: each for the next, the last for the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cycle {
    pub links: Vec<Link>,
    /// In how many ways, by threads and locks, the same places make it.
    pub ways: u64,
}

/// One thread of a cycle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub thread: ThreadId,
    /// The lock it asks for, and where.
    pub wanted: HeldLock,
    /// All locks it holds then, in the order they were taken.
    pub held: Vec<HeldLock>,
    /// Which of them the thread before asks for.
    pub contended: usize,
}

impl Link {
    /// The lock that the thread before asks for, and where it was taken.
    pub fn contended_lock(&self) -> &HeldLock {
        &self.held[self.contended]
    }
}

/// Looks for cycles in a recording.
pub fn lock_order(recording: &Recording, knowledge: &dyn Knowledge) -> LockOrder {
    let requests = requests::requests(recording, knowledge);
    let knotted = knots::knotted(requests);
    if knotted.is_empty() {
        return LockOrder::default();
    }
    search::search(&knotted, recording)
}
