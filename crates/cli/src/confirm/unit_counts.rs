//! In how many runs of a hunt a unit of two variables was torn, by the accesses of the runs and not by windows of pairs.
//!
//! Takes   units that a race detector found open, and the runs of a hunt, whose recordings are still there.      Returns  findings that tear one, with their counts.
//! Misses  hunts with recordings that are long, or gone: nothing is counted then, and the counts by patterns stay.
//! Cost    reading every recording of the hunt once more, within a time; one walk over all their accesses per finding.

use std::time::Instant;

use unpick_analyses::access_log::AccessLog;
use unpick_analyses::ranking::{Counts, Formula};
use unpick_events::Label;
use unpick_findings::{Finding, OpenUnit};
use unpick_reproduce::Plan;
use unpick_run_store::StoredRun;

use crate::conclude::log_in;

pub struct UnitCounts<'a> {
    units: &'a [OpenUnit],
    /// Of the hunt.
    runs: Vec<(Label, AccessLog)>,
}

impl<'a> UnitCounts<'a> {
    /// None where a run cannot be read, or not in time: counts of some runs are no counts.
    pub fn of_hunt(
        units: &'a [OpenUnit],
        runs: &[StoredRun],
        until: Instant,
    ) -> Option<UnitCounts<'a>> {
        let usable = runs.iter().filter(|run| run.label() != Label::Unusable);
        let log = |run: &StoredRun| {
            let log = (Instant::now() < until).then(|| log_in(&run.folder).ok().flatten());
            Some((run.label(), log.flatten()?))
        };
        let runs: Option<Vec<_>> = usable.map(log).collect();
        runs.map(|runs| UnitCounts { units, runs })
    }

    /// Whether a finding is counted so: its order tears one of the units. Others are counted by patterns, also those of two variables.
    pub fn are_of(&self, finding: &Finding, plan: &Plan) -> bool {
        plan.is_of_units() && self.units.iter().any(|unit| unit.is_torn_in(finding))
    }

    /// Counts the runs of the hunt that have the order of a finding.
    pub fn count(&self, finding: &mut Finding, plan: &Plan) {
        finding.failed_runs = self.having(Label::Fail, plan);
        finding.passed_runs = self.having(Label::Pass, plan);
        finding.score = Formula::Jaccard.score(&Counts {
            failed: finding.failed_runs,
            passed: finding.passed_runs,
            all_failed: self.labelled(Label::Fail).count() as u32,
            ..Counts::default()
        });
    }

    fn having(&self, label: Label, plan: &Plan) -> u32 {
        self.labelled(label).filter(|log| plan.is_in(log) == Some(true)).count() as u32
    }

    fn labelled(&self, label: Label) -> impl Iterator<Item = &AccessLog> {
        self.runs.iter().filter(move |(of, _)| *of == label).map(|(_, log)| log)
    }
}
