//! A candidate for the root cause, as far as the search has to know it.

/// What runs say about an order. The place in the list breaks ties: what correlates better, is earlier in the run, or is shorter comes
/// first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Candidate {
    /// How well it correlates with failure, from 0 to 1, over all runs so far: the runs that fail with it among those that fail or
    /// have it.
    pub agreement: f64,
}
