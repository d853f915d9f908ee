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

    /// In how many ways it can be prevented.
    fn ways_to_prevent(&mut self, candidate: usize) -> usize;

    /// The share of the time that has been used, from 0 to 1.
    fn time_used(&self) -> f64;
}
