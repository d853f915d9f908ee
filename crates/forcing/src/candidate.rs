//! A candidate for the root cause, as far as the search has to know it.

use crate::statistics::Rate;

/// What the runs of a hunt say about an order, before any experiment. The place in the list breaks ties: what correlates better,
/// is earlier in the run, or is shorter comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// How well it correlates with failure, from 0 to 1.
    pub prior: f64,
    /// The share of the failing runs in which it was seen, from 0 to 1.
    pub coverage: f64,
    /// All runs in which it was seen, forced or not, and how many of them failed.
    pub observed: Rate,
}
