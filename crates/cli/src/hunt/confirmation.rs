//! The last part of a hunt: its leading findings are forced and inverted, so that causes come first.
//!
//! Takes   the findings, and how the program was run.      Gives  them with verdicts, in the order of these.
//! Misses  programs whose runs are too long for the time there is, and those that never passed: nothing is tried there.

use std::time::{Duration, Instant};

use unpick_findings::{Findings, OpenUnit};
use unpick_problem::Problem;
use unpick_run_store::Store;
use unpick_runner::Invocation;

use crate::conclude::{AsBefore, reconstructed};
use crate::confirm::{HuntEvidence, Trying, USUAL_RUNS};
use crate::forcing::{Forcing, Hunted, PlanOptions};
use crate::hunt::course::Course;
use crate::hunt::open_units::open_units;

const MAX_TIME: Duration = Duration::from_secs(90);
/// Where no time was given, and the hunt was short.
const LEAST_TIME: Duration = Duration::from_secs(10);
/// Of the time the hunt took.
const SHARE: u32 = 4;
/// One run may use so much of the time, and must usually need no more than half of that.
const SHARE_OF_RUN: u32 = 4;
/// For reading the runs of the hunt once more, to count torn units.
const SHARE_OF_COUNTING: u32 = 8;

/// How long findings are tried: what is left of the time that was given, or a share of what the hunt took.
pub fn time(left: Option<Duration>, hunted: Duration) -> Duration {
    left.unwrap_or_else(|| (hunted / SHARE).max(LEAST_TIME)).min(MAX_TIME)
}

pub struct Confirmation {
    pub time: Duration,
    pub quiet: bool,
}

impl Confirmation {
    /// What goes wrong here takes nothing from the findings.
    pub fn confirm(&self, findings: &mut Findings, course: &Course<'_>, invocation: &Invocation) {
        if let Err(problem) = self.try_leading(findings, course, invocation) {
            eprintln!("unpick: the findings were not confirmed: {}", problem.in_one_line());
        }
    }

    fn try_leading(
        &self,
        findings: &mut Findings,
        course: &Course<'_>,
        invocation: &Invocation,
    ) -> Result<(), Problem> {
        let store = course.store();
        let runs = store.runs_of_hunt(course.number())?;
        let hunted = Hunted::of_runs(runs.clone());
        let Some(hunted) = hunted.filter(|hunted| self.is_quick_enough(hunted)) else {
            return Ok(());
        };
        let most = self.time / SHARE_OF_RUN;
        let before = AsBefore::of(findings);
        let until = Instant::now() + self.time;
        let forcing = Forcing::of_hunt(store.folder(), &hunted, invocation, most)?;
        let forcing = forcing.ending_at(Some(until));
        let units = self.open_units(findings, store, &forcing, &hunted);
        let counted_until = Instant::now() + self.time / SHARE_OF_COUNTING;
        let evidence = HuntEvidence::of(store, &runs, &before).with_units(&units, counted_until);
        let trying = Trying {
            forcing: &forcing,
            store: store.folder(),
            plan: &PlanOptions::default(),
            top: usize::MAX,
            runs: USUAL_RUNS,
            until: Some(until),
            quiet: self.quiet,
            evidence: &evidence,
        };
        trying.try_all(findings)?;
        *findings = reconstructed(store, &runs, findings.clone())?;
        Ok(())
    }

    /// What goes wrong here takes nothing from the experiments on what the runs say.
    fn open_units(
        &self,
        findings: &Findings,
        store: &Store,
        forcing: &Forcing,
        hunted: &Hunted,
    ) -> Vec<OpenUnit> {
        let usual_run = hunted.longest_pass.unwrap_or_default();
        if findings.are_all_hangs_explained() || hunted.has_own_folder() {
            return Vec::new();
        }
        open_units(store, forcing, usual_run, self.time).unwrap_or_else(|problem| {
            eprintln!("unpick: no race detector was asked: {}", problem.in_one_line());
            Vec::new()
        })
    }

    fn is_quick_enough(&self, hunted: &Hunted) -> bool {
        hunted.longest_pass.is_some_and(|longest| 2 * longest <= self.time / SHARE_OF_RUN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_what_was_left_or_a_share_of_the_hunt() {
        let seconds = Duration::from_secs;
        assert_eq!(time(Some(seconds(3)), seconds(57)), seconds(3));
        assert_eq!(time(Some(seconds(300)), seconds(5)), seconds(90));
        assert_eq!(time(None, seconds(5)), seconds(10));
        assert_eq!(time(None, seconds(80)), seconds(20));
        assert_eq!(time(None, seconds(380)), seconds(90));
    }
}
