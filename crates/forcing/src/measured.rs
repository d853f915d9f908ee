//! What experiments have measured of one candidate.

use crate::candidate::Candidate;
use crate::experiments::Observation;
use crate::statistics::{Rate, difference};
use crate::verdict::{Doubt, Evidence, Verdict, doubt, verdict};

/// Runs in which one way of forcing, or preventing, was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Way {
    pub runs: u32,
    /// Of those in which it happened.
    pub reached: Rate,
}

impl Way {
    fn add(&mut self, observation: &Observation) {
        self.runs += 1;
        if observation.reached {
            self.reached.add(observation.failed);
        }
    }
}

/// So many runs with an order that mostly pass say that it does no harm by itself.
const MIN_HARMLESS: u32 = 2;

/// What is known of one candidate.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Measured {
    forced: Vec<Way>,
    prevented: Vec<Way>,
}

impl Measured {
    /// Counts a run in which the order was to be forced.
    pub fn force(&mut self, way: usize, observation: &Observation) {
        way_at(&mut self.forced, way).add(observation);
    }

    /// Counts a run in which it was to be prevented.
    pub fn prevent(&mut self, way: usize, observation: &Observation) {
        way_at(&mut self.prevented, way).add(observation);
    }

    pub fn forced(&self, way: usize) -> Way {
        self.forced.get(way).copied().unwrap_or_default()
    }

    pub fn prevented(&self, way: usize) -> Way {
        self.prevented.get(way).copied().unwrap_or_default()
    }

    /// The way of forcing under which most of its runs fail with the order, by the lower bound: few runs of a new way do not outdo many.
    pub fn best_way(&self) -> usize {
        let value = |way: &Way| {
            let share = Rate::new(way.reached.failures, way.runs).bounds().0;
            (share, Rate::new(way.reached.runs, way.runs).share())
        };
        best_of(&self.forced, value)
    }

    /// The way of preventing in which it happened most often, and among these failed least.
    pub fn best_prevention(&self) -> usize {
        let value = |way: &Way| {
            let kept = way.reached.runs - way.reached.failures;
            (Rate::new(kept, way.runs).bounds().0, Rate::new(way.reached.runs, way.runs).share())
        };
        best_of(&self.prevented, value)
    }

    pub fn ways_tried(&self) -> usize {
        self.forced.len()
    }

    pub fn preventions_tried(&self) -> usize {
        self.prevented.len()
    }

    /// Some run failed with the order forced.
    pub fn makes_it_fail(&self) -> bool {
        self.forced.iter().any(|way| way.reached.failures > 0)
    }

    /// It was made, and most of these runs passed.
    pub fn is_harmless(&self) -> bool {
        let Rate { failures, runs } = self.best().0.reached;
        runs >= MIN_HARMLESS && 2 * failures < runs
    }

    /// P(fail | forced) - P(fail | prevented): lower and upper bound.
    pub fn effect(&self) -> (f64, f64) {
        let (forced, prevented) = self.best();
        difference(forced.reached, prevented.reached)
    }

    /// The best way of forcing, and of preventing.
    pub fn best(&self) -> (Way, Way) {
        (self.forced(self.best_way()), self.prevented(self.best_prevention()))
    }

    pub fn verdict(&self, baseline: Rate, candidate: &Candidate) -> Verdict {
        verdict(&self.evidence(baseline, candidate))
    }

    /// What keeps it from being the cause, if it is likely to be.
    pub fn doubt(&self, baseline: Rate, candidate: &Candidate) -> Option<Doubt> {
        doubt(&self.evidence(baseline, candidate))
    }

    fn evidence(&self, baseline: Rate, candidate: &Candidate) -> Evidence {
        let (forced, prevented) = self.best();
        Evidence {
            forced: forced.reached,
            prevented: prevented.reached,
            baseline,
            agreement: candidate.agreement,
            missed: candidate.missed,
            spans_operations: candidate.spans_operations,
            confounded: candidate.confounded,
            depends_on_place: candidate.depends_on_place,
        }
    }
}

fn way_at(ways: &mut Vec<Way>, way: usize) -> &mut Way {
    if ways.len() <= way {
        ways.resize(way + 1, Way::default());
    }
    &mut ways[way]
}

fn best_of(ways: &[Way], value: impl Fn(&Way) -> (f64, f64)) -> usize {
    let better = |best: usize, at: usize| {
        if value(&ways[at]) > value(&ways[best]) { at } else { best }
    };
    (0..ways.len()).reduce(better).unwrap_or(0)
}
