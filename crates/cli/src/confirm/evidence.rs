//! What the runs of a hunt say beside its findings.

use std::time::Instant;

use unpick_analyses::{Options, RunPatterns};
use unpick_events::Label;
use unpick_findings::OpenUnit;
use unpick_forcing::Rate;
use unpick_problem::Problem;
use unpick_run_store::{Store, StoredRun};

use super::failures::Failures;
use super::unit_counts::UnitCounts;
use crate::conclude::{AsBefore, Reranked, options_of, reranked};

#[derive(Default)]
pub struct HuntEvidence<'a> {
    /// None: there are no runs to rank.
    pub rerank: Option<Rerank<'a>>,
    pub failures: Failures,
    /// Runs without delays.
    pub baseline: Rate,
    /// How torn units are counted; none: by patterns, like everything else.
    pub unit_counts: Option<UnitCounts<'a>>,
}

impl<'a> HuntEvidence<'a> {
    pub fn of(store: &'a Store, runs: &'a [StoredRun], before: &'a AsBefore) -> HuntEvidence<'a> {
        let options = options_of(runs).ok().flatten();
        HuntEvidence {
            rerank: options.map(|options| Rerank { store, runs, options, before, units: &[] }),
            failures: Failures::of_runs(runs),
            baseline: baseline_of(runs),
            unit_counts: None,
        }
    }

    /// What tears one of these units is proposed, and counted by accesses if the runs can be read again until then.
    pub fn with_units(self, units: &'a [OpenUnit], until: Instant) -> HuntEvidence<'a> {
        let rerank = self.rerank.map(|rerank| Rerank { units, ..rerank });
        let counted = rerank.filter(|_| !units.is_empty());
        let unit_counts = counted.and_then(|rerank| UnitCounts::of_hunt(units, rerank.runs, until));
        HuntEvidence { rerank, unit_counts, ..self }
    }
}

/// How the findings of the hunt are ranked again with experiments.
#[derive(Clone, Copy)]
pub struct Rerank<'a> {
    store: &'a Store,
    runs: &'a [StoredRun],
    /// How patterns are collected for that.
    pub options: Options,
    before: &'a AsBefore,
    units: &'a [OpenUnit],
}

impl Rerank<'_> {
    pub fn rank(&self, experiments: &[(Label, &RunPatterns)]) -> Result<Reranked, Problem> {
        reranked(self.store, self.runs, experiments, self.options, self.before, self.units)
    }
}

/// How often runs of a hunt failed in which nothing was delayed.
fn baseline_of(runs: &[StoredRun]) -> Rate {
    let mut baseline = Rate::default();
    let is_plain = |run: &&StoredRun| run.info.options.has_no_delays();
    for run in runs.iter().filter(is_plain).filter(|run| run.label() != Label::Unusable) {
        baseline.add(run.label() == Label::Fail);
    }
    baseline
}
