#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

#[cfg(feature = "enabled")]
mod arrival;
#[cfg(feature = "enabled")]
mod board;
mod breakpoint;
#[cfg(all(test, feature = "enabled"))]
mod chance;
#[cfg(feature = "enabled")]
mod complaint;
#[cfg(feature = "enabled")]
mod holding;
mod kind;
#[cfg(all(test, feature = "enabled"))]
mod model;
#[cfg(not(feature = "enabled"))]
mod off;
mod outcome;
#[cfg(feature = "enabled")]
mod process;
#[cfg(feature = "enabled")]
mod registry;
#[cfg(feature = "enabled")]
mod report;
#[cfg(feature = "enabled")]
mod settings;
#[cfg(feature = "enabled")]
mod step;

pub use breakpoint::{Breakpoint, DEFAULT_PAUSE, Halves, Places};
#[cfg(feature = "enabled")]
pub use holding::Holding;
#[cfg(not(feature = "enabled"))]
pub use off::{Holding, Step};
pub use outcome::{Order, Outcome, Why};
#[cfg(feature = "enabled")]
pub use step::Step;

/// Waits at a breakpoint for the threads that belong to it; gives the [`Outcome`].
///
/// When all have met they go on in the order of their roles. A thread behind this one is held back for ten milliseconds:
/// where that is not enough, or too much, say when the step is done with [`step!`].
///
/// Without the feature `enabled` the breakpoint is not evaluated, and nothing of it is in the program.
///
/// ```
/// use unpick_breakpoint::{Breakpoint, trigger};
/// let counter = 0;
/// let outcome = trigger!(Breakpoint::conflict("lost-update", &counter).first());
/// assert!(!outcome.is_hit(), "nobody else came");
/// ```
#[cfg(feature = "enabled")]
#[macro_export]
macro_rules! trigger {
    ($breakpoint:expr $(,)?) => {
        $breakpoint.trigger()
    };
}

/// Waits at a breakpoint for the threads that belong to it; gives the [`Step`] that follows.
///
/// Those behind this thread go on when the step ends, by [`Step::done`] or when it is dropped; at the latest when their
/// own pause is over.
///
/// Without the feature `enabled` the breakpoint is not evaluated, and nothing of it is in the program.
///
/// ```
/// # use std::sync::Mutex;
/// use unpick_breakpoint::{Breakpoint, step};
/// let text = Mutex::new(String::from("some"));
/// let step = step!(Breakpoint::atomicity("emptied-while-copied", &text).intruder());
/// text.lock().unwrap().clear();
/// step.done();
/// ```
#[cfg(feature = "enabled")]
#[macro_export]
macro_rules! step {
    ($breakpoint:expr $(,)?) => {
        $breakpoint.step()
    };
}

/// Says that this thread holds a lock, by a name, until the value is dropped; see [`Breakpoint::lock_held`].
///
/// ```
/// # use std::sync::Mutex;
/// use unpick_breakpoint::{Breakpoint, holding, trigger};
/// let caret = Mutex::new(0);
/// let guard = caret.lock().unwrap();
/// let holding = holding!("caret");
/// trigger!(Breakpoint::rendezvous("repaint").first().lock_held("caret"));
/// # drop((guard, holding));
/// ```
#[cfg(feature = "enabled")]
#[macro_export]
macro_rules! holding {
    ($lock:expr $(,)?) => {
        $crate::Holding::begin($lock)
    };
}

// Compiled out: the breakpoint stands in a closure that nobody calls. So it is checked like other code, what it uses
// counts as used, and no code is made of it.

#[cfg(not(feature = "enabled"))]
#[macro_export]
macro_rules! trigger {
    ($breakpoint:expr $(,)?) => {{
        let _ = || $breakpoint;
        $crate::Outcome::Missed($crate::Why::Off)
    }};
}

#[cfg(not(feature = "enabled"))]
#[macro_export]
macro_rules! step {
    ($breakpoint:expr $(,)?) => {{
        let _ = || $breakpoint;
        $crate::Step::off()
    }};
}

#[cfg(not(feature = "enabled"))]
#[macro_export]
macro_rules! holding {
    ($lock:expr $(,)?) => {{
        let _ = || -> &'static str { $lock };
        $crate::Holding::off()
    }};
}

/// What was counted so far, for people: a paragraph per breakpoint. It is also printed to stderr at exit.
#[must_use]
pub fn report() -> String {
    #[cfg(feature = "enabled")]
    return process::summary();
    #[cfg(not(feature = "enabled"))]
    String::new()
}

/// What was counted so far, a line of JSON per breakpoint, as `UNPICK_BREAKPOINT_REPORT` names a file for.
#[must_use]
pub fn report_json() -> String {
    #[cfg(feature = "enabled")]
    return process::summary_as_json();
    #[cfg(not(feature = "enabled"))]
    String::new()
}

/// How many threads wait at this breakpoint now: for tests that want one to wait before they go on.
#[must_use]
pub fn waiting(name: &str) -> usize {
    #[cfg(feature = "enabled")]
    return process::waiting(name);
    #[cfg(not(feature = "enabled"))]
    {
        let _ = name;
        0
    }
}
