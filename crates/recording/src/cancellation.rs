//! Ends the reading of a recording from another thread.
//!
//! Takes   a flag that somebody sets.      Gives  the end of every loop over the events of the recording, by unwinding.
//! Cost    one load per chunk of events.
//!
//! By unwinding, as no caller could do anything with half of the events. It is no panic: nothing is printed. Whoever sets the flag
//! runs the reader in a thread of its own, or catches [`Cancelled`].

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What unwinds a reader that was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

/// A flag that is shared with those who read.
#[derive(Debug, Clone, Default)]
pub struct Cancellation(Arc<AtomicBool>);

impl Cancellation {
    /// From now on no reader goes on to another chunk.
    pub fn cancel(&self) {
        self.0.store(true, Relaxed);
    }

    pub(crate) fn check(&self) {
        if self.0.load(Relaxed) {
            resume_unwind(Box::new(Cancelled));
        }
    }
}
