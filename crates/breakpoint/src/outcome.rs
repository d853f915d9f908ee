//! What became of an arrival.

use std::fmt;

/// What became of a thread that came to a breakpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// Threads met, one per role.
    Hit(Order),
    Missed(Why),
}

/// How the order of roles was kept behind a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// This thread goes first, or the step before it was done, or the breakpoint has no order.
    Kept,
    /// The thread before does not say when its step is done; it was given a short time.
    Delayed,
    /// The thread before was not done in time: this one goes on all the same.
    Broken,
}

/// Why a breakpoint was missed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Switched off: at build time, or by `UNPICK_BREAKPOINTS`.
    Off,
    /// The local condition does not hold.
    Condition,
    /// The lock that must be held is not.
    LockNotHeld,
    /// One of the first arrivals, which are ignored.
    Ignored,
    /// Hit as often as it may be.
    BoundReached,
    /// Nobody came to meet it within the pause.
    TimedOut,
    /// Used in a way that contradicts an earlier use of the same name; a message says how.
    Contradiction,
}

impl Outcome {
    #[must_use]
    // Nothing of a library that is compiled out may remain in a debug build either.
    #[inline(always)]
    pub fn is_hit(self) -> bool {
        matches!(self, Outcome::Hit(_))
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Outcome::Hit(Order::Kept) => "hit",
            Outcome::Hit(Order::Delayed) => "hit, after a delay",
            Outcome::Hit(Order::Broken) => "hit, out of order",
            Outcome::Missed(Why::Off) => "missed: off",
            Outcome::Missed(Why::Condition) => "missed: condition",
            Outcome::Missed(Why::LockNotHeld) => "missed: lock not held",
            Outcome::Missed(Why::Ignored) => "missed: ignored",
            Outcome::Missed(Why::BoundReached) => "missed: bound reached",
            Outcome::Missed(Why::TimedOut) => "missed: timed out",
            Outcome::Missed(Why::Contradiction) => "missed: contradiction",
        })
    }
}
