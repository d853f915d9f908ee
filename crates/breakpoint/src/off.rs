//! What stands in for the library when it is switched off: types without content, for code that keeps a step.

use crate::outcome::{Outcome, Why};

/// A thread's next step after a breakpoint; nothing, because breakpoints are compiled out.
#[must_use = "the step ends when this is dropped: keep it until the step is done"]
#[derive(Debug)]
pub struct Step(());

impl Step {
    #[doc(hidden)]
    #[inline(always)]
    pub fn off() -> Self {
        Self(())
    }

    #[must_use]
    #[inline(always)]
    pub fn outcome(&self) -> Outcome {
        Outcome::Missed(Why::Off)
    }

    #[must_use]
    #[inline(always)]
    pub fn is_hit(&self) -> bool {
        false
    }

    /// The step is done.
    #[inline(always)]
    pub fn done(self) {}
}

/// While it lives, the thread counts as holding a lock; nothing, because breakpoints are compiled out.
#[must_use = "the lock counts as held while this lives"]
#[derive(Debug)]
pub struct Holding(());

impl Holding {
    #[doc(hidden)]
    #[inline(always)]
    pub fn off() -> Self {
        Self(())
    }
}
