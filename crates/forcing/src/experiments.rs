//! What the search asks of the program under test.

use crate::candidate::Candidate;

/// What is done to the program in one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arm {
    /// Nothing.
    Baseline,
    /// The order of a candidate is forced, in one of the ways in which that can be tried.
    Forced { candidate: usize, way: usize },
    /// The order of a candidate is prevented.
    Prevented { candidate: usize, way: usize },
}

impl Arm {
    /// The candidate whose order is meddled with; none: nothing is done.
    pub fn candidate(self) -> Option<usize> {
        match self {
            Arm::Baseline => None,
            Arm::Forced { candidate, .. } | Arm::Prevented { candidate, .. } => Some(candidate),
        }
    }
}

/// How one run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// It failed in the way in which the runs of the hunt did.
    pub failed: bool,
    /// What was asked for happened: the order was made, or it was prevented where it could have been made.
    pub reached: bool,
}

/// The program under test, run under the control of the search.
pub trait Experiments {
    type Error;

    /// Looks at the candidates again, in the light of all runs that were made: agreements may change, and new candidates may follow
    /// the known ones, which keep their places.
    fn reconsider(&mut self, known: Vec<Candidate>) -> Result<Vec<Candidate>, Self::Error>;

    /// One run. `Ok(None)`: no more runs can be made: the time is over, or the user has interrupted. A run that cannot be used is
    /// repeated by the implementation or reported as not reached and not failed.
    fn run(&mut self, arm: Arm) -> Result<Option<Observation>, Self::Error>;

    /// In how many ways the order of a candidate can be forced; the cheapest first.
    fn ways_to_force(&mut self, candidate: usize) -> usize;

    /// Of the ways to force a candidate, those that hold threads at other places in the code than this one does.
    fn ways_elsewhere(&mut self, candidate: usize, way: usize) -> Vec<usize>;

    /// In how many ways it can be prevented.
    fn ways_to_prevent(&mut self, candidate: usize) -> usize;

    /// Whether the experiments on a candidate tell it from another one: runs failed without the other order when this one was forced, or
    /// passed with it when this one was prevented. Two orders of one bug need not be told apart.
    fn tells_apart(&self, candidate: usize, other: usize) -> bool;

    /// Whether one order does its harm before another in most of the failing runs that have both.
    fn is_earlier(&self, one: usize, other: usize) -> bool;

    /// The share of the time that has been used, from 0 to 1.
    fn time_used(&self) -> f64;
}
