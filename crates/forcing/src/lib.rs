//! Decides by experiment which candidate order is the root cause of a failure: statistics propose, experiments decide.
//!
//! Takes   candidates, each with how well it agrees with failing in the runs of a hunt, and `Experiments`: the program, run once with the order of a
//!         candidate forced, prevented, or neither.
//! Gives   a `Decision`: what was measured of each candidate, its verdict, and which one leads.
//! Misses  a root cause that is not among the candidates, or whose order cannot be forced.
//! Invents nothing beyond its error level: a verdict `Cause` needs a difference that chance makes once in a hundred times.
//! Cost    two runs for each candidate, then 10 to 40 for each that makes the program fail, within the time that is given.
//!
//! The search knows neither plans nor processes; the method and its numbers: docs/design/0019-experiments-decide.md.
#![forbid(unsafe_code)]

mod candidate;
mod decision;
mod experiments;
mod measured;
mod search;
pub mod statistics;
mod verdict;

pub use candidate::Candidate;
pub use decision::{Decision, Judged};
pub use experiments::{Arm, Experiments, Observation};
pub use measured::{Measured, Way};
pub use search::{Settings, decide};
pub use statistics::Rate;
pub use verdict::{ALPHA, Doubt, Evidence, MIN_RUNS, Verdict, verdict};
