//! Holds threads at places of the program's code so that they come by in a wanted order: concurrent breakpoints.
//!
//! Takes   a schedule (`unpick_events::schedule`), named by the environment.   Gives  the outcome, as a file beside the recording.
//!
//! A place costs nothing until it is reached: the call that ends there, of a hook or of any function, is changed to come here
//! first (`arm`). Who may go on is decided by `order`; waiting is here. A thread is held for at most the schedule's pause, shorter with
//! every time that was in vain, all threads together for at most its budget, and none any longer when others wait for what it
//! holds: so nothing hangs by us, whatever the schedule says.
//!
//! Misses  that others wait for a thread by means we do not see: their own spinning, files, other processes. Then the pause ends it.

pub mod activations;
#[cfg(feature = "standalone")]
pub mod arm;
#[cfg(feature = "standalone")]
mod delays;
#[cfg(feature = "standalone")]
mod hold;
pub mod order;
#[cfg(feature = "standalone")]
mod outcome;
pub mod partners;
pub mod plan;

use core::sync::atomic::{AtomicBool, Ordering::*};

#[cfg(feature = "standalone")]
pub use hold::{
    after_release, after_unlock, before_end_of_thread, before_exit, begin, end_of_process_image,
    end_of_thread, module_is_there, next_event,
};
pub use partners::{note_recorded, note_synchronisation};

/// Whether there is a schedule.
static ON: AtomicBool = AtomicBool::new(false);

#[inline]
pub fn are_on() -> bool {
    ON.load(Relaxed)
}

/// The next event of a thread that has just passed a step.
#[cfg(not(feature = "standalone"))]
pub fn next_event(_thread: &crate::thread::Thread) {}
