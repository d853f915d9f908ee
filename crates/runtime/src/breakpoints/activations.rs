//! Whether a thread comes to a later step of a role in the call in which it came to the first, or in the same call made again.
//!
//! Takes   the calls that are live where a thread comes to a first step, and which calls were found to be new since (`frames`).
//! Gives   whether the outermost call that was left since then was made again, from where it was made before.
//!
//! What `frames` knows suffices, without a mark in the frames: a call has no hash when it begins, and gets one with the next event, and
//! then everything up to the innermost call that had one is as old as it was.
//!
//! Misses  roles beyond `MAX_ROLES`, calls further out than `MAX_CALLS`, inlined calls, and iterations of a loop in one call.

use core::cell::Cell;

/// Roles of which a thread remembers its first step. Orders that have been seen have two.
const MAX_ROLES: usize = 4;
/// The innermost calls that are remembered.
const MAX_CALLS: usize = 32;

/// The calls that were live when a thread came to the first step of a role.
struct Activation {
    /// How many there were; 0: it has not come there.
    depth: Cell<usize>,
    /// How many of them, from the outside in, have not been left since.
    kept: Cell<usize>,
    /// Where they were made, the innermost first.
    calls: [Cell<u32>; MAX_CALLS],
}

/// Those of a thread, by role.
pub struct Activations {
    /// It has come to a first step.
    are_any: Cell<bool>,
    of_roles: [Activation; MAX_ROLES],
}

impl Activations {
    pub fn reset(&self) {
        self.are_any.set(false);
        self.of_roles.iter().for_each(|activation| activation.depth.set(0));
    }

    /// The thread is at the first step of a role, by these calls, the outermost first.
    pub fn begin(&self, role: u8, calls: impl DoubleEndedIterator<Item = u32> + ExactSizeIterator) {
        let Some(activation) = self.of_roles.get(role as usize) else { return };
        self.are_any.set(true);
        activation.depth.set(calls.len());
        activation.kept.set(calls.len());
        activation.calls.iter().zip(calls.rev()).for_each(|(known, call)| known.set(call));
    }

    /// All calls but the first `kept` are new.
    #[inline]
    pub fn calls_are_new(&self, kept: usize) {
        if self.are_any.get() {
            self.keep(kept);
        }
    }

    fn keep(&self, kept: usize) {
        for activation in &self.of_roles {
            activation.kept.set(activation.kept.get().min(kept));
        }
    }

    /// Whether the thread, which is in these calls, the outermost first, has left one of those it was in at the first step and made it
    /// again. What is new among them has been told (`calls_are_new`).
    pub fn is_made_again(&self, role: u8, mut calls: impl ExactSizeIterator<Item = u32>) -> bool {
        let Some(activation) = self.of_roles.get(role as usize) else { return false };
        self.calls_are_new(calls.len());
        let (depth, kept) = (activation.depth.get(), activation.kept.get());
        if kept >= depth {
            return false;
        }
        let known = activation.calls.get(depth - 1 - kept).map(Cell::get);
        calls.nth(kept).is_some_and(|call| Some(call) == known)
    }
}
