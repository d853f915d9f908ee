//! Runs of a program under test.
//!
//! Takes   a command, what to ask of the runtime, and a store; for a hunt also what counts as failing.
//! Gives   a run folder with the recordings of every process and `run.json`, and how the run ended;
//!         for a hunt a label, and what the program printed; what its threads were doing if it hung; which delays to
//!         try next.
//! Must not know  what is in the events.
//!
//! `run` is for `unpick record`: the program keeps its own standard streams, its exit code and its signals.
//! `attempt` is for `unpick hunt`: the program runs in a process group of its own, is watched, and judged.

mod attempt;
mod choices;
mod condition;
mod delay_plan;
mod delay_sites;
mod event_file;
mod failure;
mod group;
mod guardian;
mod invocation;
mod launch;
mod moment;
mod output;
mod patience;
mod perturbation;
mod program;
mod run;
mod signals;
mod signs;
mod standstill;
mod verdict;
mod waiting;
mod watch;

pub use attempt::{Attempt, Judged, attempt};
pub use choices::Choices;
pub use condition::Condition;
pub use delay_plan::{DelayPlan, Target};
pub use delay_sites::{DelaySite, DelaySites, RunSites, SiteModule, SitePair};
pub use event_file::Trimmed;
pub use failure::Failure;
pub use invocation::Invocation;
pub use moment::{Activity, Calls, Moment, ProcessMoment, ThreadMoment};
pub use patience::PATIENCE;
pub use perturbation::{Delays, Draw, Lacking, Perturbation, Rate, Rates};
pub use program::Program;
pub use run::{FinishedRun, Plan, run};
pub use signals::{stop_on_signals, survive_file_size_limit};
pub use verdict::Judge;
pub use watch::Limits;
