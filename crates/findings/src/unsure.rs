//! Where patterns do not say enough, communication leads.
//!
//! Takes   findings, and reconstructions of the same runs.
//! Gives   each finding with the reconstruction of its cause; the best reconstructions in front where patterns are unsure.
//! Misses  bugs of more variables or threads whose reconstruction does not show them.
//!
//! A pattern has two threads and at most two variables. It is unsure of a bug if none goes well with failing; or if a
//! reconstruction shows more threads or variables than a pattern can have, and goes better with failing than the pattern in
//! front: then that is a part of the bug, and other parts decide whether a run fails.

use std::collections::BTreeSet;

use crate::finding::{Finding, Findings};
use crate::reconstruction::{PointThread, Reconstruction, ReconstructionWords};

/// A pattern with a lower score does not go well with failing.
const SURE: f64 = 0.4;
/// So many reconstructions are told in front.
const IN_FRONT: usize = 3;
/// Variables that a pattern can have.
const MOST_VARIABLES: usize = 2;
/// What stood there in fewer of the runs is not counted.
const LEAST_CONFIDENCE: f64 = 0.5;

impl Findings {
    /// Adds reconstructions: of its own cause to each finding, and in front where patterns do not say enough.
    #[must_use]
    pub fn with_reconstructions(mut self, words: &ReconstructionWords<'_>) -> Findings {
        for finding in &mut self.findings {
            finding.reconstruction = words.of_finding(finding);
        }
        let best = words.first(IN_FRONT);
        self.reconstructions = match self.findings.first() {
            Some(first) if !self.nothing_correlates() => {
                larger_than(first, best, words.failed_runs())
            }
            _ => best,
        };
        self
    }

    /// Whether no pattern goes well with failing.
    pub fn nothing_correlates(&self) -> bool {
        self.findings.first().is_none_or(|first| first.score < SURE)
    }
}

/// If one of a finding's own reconstruction and the best is larger than a pattern can be, and goes better with failing: it, and
/// the others after it.
fn larger_than(finding: &Finding, best: Vec<Reconstruction>, failed: u32) -> Vec<Reconstruction> {
    let mut candidates: Vec<Reconstruction> = finding.reconstruction.iter().cloned().collect();
    candidates.extend(best.into_iter().filter(|one| finding.reconstruction.as_ref() != Some(one)));
    let leads =
        |one: &Reconstruction| exceeds_patterns(one) && jaccard(one, failed) > finding.score;
    let Some(leader) = candidates.iter().position(leads) else { return Vec::new() };
    candidates[..=leader].rotate_right(1);
    candidates.truncate(IN_FRONT);
    candidates
}

/// More than two threads, or more than two variables.
fn exceeds_patterns(one: &Reconstruction) -> bool {
    let sure = || one.points.iter().filter(|point| point.confidence >= LEAST_CONFIDENCE);
    let variables: BTreeSet<&str> = sure().filter_map(|point| point.variable.as_deref()).collect();
    variables.len() > MOST_VARIABLES || sure().any(|point| point.thread == PointThread::Another)
}

/// How well it goes with failing, by the measure of patterns.
fn jaccard(one: &Reconstruction, failed: u32) -> f64 {
    f64::from(one.failed_runs) / f64::from((failed + one.passed_runs).max(1))
}
