//! What the commands of Unpick do, as functions: data in, data out. No command line, no terminal.
//!
//! Takes   findings, what else could lead them, and the results of experiments.
//! Gives   the candidates to make experiments on; findings with verdicts, the root cause first.
//! Misses  everything that still is in the command: hunting, races, correlations.
#![forbid(unsafe_code)]

mod root_cause;

pub use root_cause::{Proposal, apply, candidates, confirmed, propose, repropose};
