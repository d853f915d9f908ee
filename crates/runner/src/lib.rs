//! One run of a program under test.
//!
//! Takes   a command, what to ask of the runtime, and a store.
//! Gives   a run folder with the recordings of every process and `run.json`, and how the run ended.
//! Must not know  what is in the events.
//!
//! The program keeps its own standard streams, its exit code and its signals: running it under Unpick
//! changes none of them.

mod choices;
mod event_file;
mod failure;
mod launch;
mod program;
mod run;
mod signals;
mod store;

pub use choices::Choices;
pub use event_file::Trimmed;
pub use failure::Failure;
pub use program::Program;
pub use run::{FinishedRun, Plan, run};
pub use store::{Store, run_number};
