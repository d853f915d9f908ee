//! From finding to forced order: what a schedule is made of, and what came of it.
//!
//! Takes   a `Finding`, or a `Hang` with a deadlock or a lost notification; a reproducer file and a rebuilt program; what the runtime says about a schedule.
//! Gives   a `Plan` (pure data), its inverse, the file for the runtime; a `Reproducer` that outlives the build; what happened in a sentence; a verdict over many runs.
//! Misses  orders that need more than two threads, except deadlocks and lost notifications.
//!
//! How orders are forced, and why so: `docs/design/0011-forcing-orders.md`.
#![forbid(unsafe_code)]

mod outcome;
mod plan;
mod program;
mod reproducer;
mod verdict;

pub use outcome::{
    Impasse, Outcome, Over, PlaceOutcome, Prevention, SeenThread, StepOutcome, why_never_hit,
};
pub use plan::{
    CallPlace, DEFAULT_BUDGET, DEFAULT_PAUSE, Mode, ModuleName, NumberedPlace, Operand, Plan,
    PlanPlace, PlanStep, Purpose,
};
pub use program::{Call, Program, SourceCall, SourceCalls, operand_of};
pub use reproducer::{
    DEADLOCK, LOST_NOTIFICATION, Matched, Oracle, REPRODUCER_VERSION, Reproducer, ReproducerStep,
    SourcePlace, StepKind, Subject, Tried, name_without_hash,
};
pub use verdict::{Trials, confirmation, doubt};
