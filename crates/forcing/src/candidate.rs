//! A candidate for the root cause, as far as the search has to know it.

/// What runs say about an order. The place in the list breaks ties: what correlates better, is earlier in the run, or is shorter comes
/// first.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Candidate {
    /// How well it correlates with failure, from 0 to 1, over all runs so far in which it was not meddled with: the runs that fail with it among those
    /// that fail or have it.
    pub agreement: f64,
    /// The share of the failing runs of the hunt that do not have it.
    pub missed: f64,
    /// Memory is used after it was freed: that is an error by itself, whatever else goes with it.
    pub uses_freed: bool,
    /// A whole round of a thread's work is between its accesses: it encloses much, and is forced and prevented together with that.
    pub spans_operations: bool,
    /// Another order correlates as well, and the experiments on this one forced and prevented both together.
    pub confounded: bool,
    /// It does harm where threads were held in the best way, and none where they are held elsewhere.
    pub depends_on_place: bool,
}
