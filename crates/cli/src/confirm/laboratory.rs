//! The program under test as a place for experiments: candidates are orders of findings, forced or prevented by plans.
//!
//! Takes   proposals, and how the program is run.      Gives  runs, as `unpick_forcing::decide` asks for them.
//! Misses  which orders a run had, where its recording is too long to be read after every run.
//! Cost    the runs, and reading their recordings.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_analyses::Options;
use unpick_engine::Proposal;
use unpick_events::Label;
use unpick_forcing::{Arm, Experiments, Observation};
use unpick_problem::Problem;
use unpick_reproduce::{Mode, Plan};

use super::failures::Failures;
use crate::calibration::choices;
use crate::conclude::condense;
use crate::forcing::{ForcedRun, Forcing, PlanOptions};
use crate::reproduce::is_reached;

/// Recordings of more bytes than this are not read: that would take longer than the run.
const MAX_RECORDING: u64 = 16 << 20;
/// A run that cannot be used is made again, this often.
const MAX_REPEATS: u32 = 2;

pub struct Laboratory<'a> {
    forcing: &'a Forcing,
    options: &'a PlanOptions,
    candidates: Vec<Plans>,
    /// How the runs of the hunt failed.
    failures: Failures,
    begun: Instant,
    time: Option<Duration>,
    bar: ProgressBar,
    runs: u32,
    failed: u32,
}

/// The plans of one candidate; none where its order cannot be forced at all.
struct Plans {
    usual: Option<Plan>,
    forced: OnceCell<Vec<Plan>>,
    prevented: OnceCell<Vec<Plan>>,
}

impl<'a> Laboratory<'a> {
    pub fn new(
        forcing: &'a Forcing,
        options: &'a PlanOptions,
        proposals: &[Proposal],
        failures: Failures,
        time: Option<Duration>,
        bar: ProgressBar,
    ) -> Laboratory<'a> {
        let plans = |proposal: &Proposal| {
            let plan = Plan::of_finding(&proposal.finding).ok();
            let usual =
                plan.map(|plan| forcing.completed(options.applied_to(plan, forcing.usual_run)));
            Plans { usual, forced: OnceCell::new(), prevented: OnceCell::new() }
        };
        Laboratory {
            forcing,
            options,
            candidates: proposals.iter().map(plans).collect(),
            failures,
            begun: Instant::now(),
            time,
            bar,
            runs: 0,
            failed: 0,
        }
    }

    fn ways(&self, candidate: usize) -> &[Plan] {
        let Plans { usual, forced, .. } = &self.candidates[candidate];
        forced.get_or_init(|| {
            let Some(plan) = usual else { return Vec::new() };
            choices(self.forcing, plan, self.options).collect()
        })
    }

    fn preventions(&self, candidate: usize) -> &[Plan] {
        let Plans { usual, prevented, .. } = &self.candidates[candidate];
        prevented.get_or_init(|| usual.as_ref().map_or_else(Vec::new, |plan| self.inverses(plan)))
    }

    /// Kept apart at the accesses, then with gates where functions begin, then by whole functions.
    fn inverses(&self, plan: &Plan) -> Vec<Plan> {
        let mut inverses = vec![plan.inverse()];
        if let Ok(program) = self.forcing.program() {
            inverses.extend(plan.with_early_gates(program).map(|early| early.inverse()));
            let plain =
                self.options.applied_to(Plan::forcing(plan.steps.clone()), self.forcing.usual_run);
            inverses.extend(plain.whole_inverse(program));
        }
        inverses
    }

    fn plan(&self, arm: Arm) -> Option<&Plan> {
        match arm {
            Arm::Baseline => None,
            Arm::Forced { candidate, way } => self.ways(candidate).get(way),
            Arm::Prevented { candidate, way } => self.preventions(candidate).get(way),
        }
    }

    /// A run that can be used; none: no more can be made.
    fn usable_run(&self, plan: Option<&Plan>) -> Result<Option<(ForcedRun, Vec<bool>)>, Problem> {
        for repeat in 0..=MAX_REPEATS {
            let look = |_: &ForcedRun, folder: &Path| Ok(self.orders_in(folder));
            let Some((run, present)) = self.forcing.run_and(plan, look)? else { return Ok(None) };
            if run.label != Label::Unusable || repeat == MAX_REPEATS || self.is_over() {
                return Ok(Some((run, present)));
            }
        }
        Ok(None)
    }

    /// Which candidates' orders a run had; empty: nobody looked.
    fn orders_in(&self, folder: &Path) -> Vec<bool> {
        if bytes_in(folder) > MAX_RECORDING {
            return Vec::new();
        }
        // What cannot be read says nothing.
        let Ok(condensed) = condense(folder, Options::default()) else { return Vec::new() };
        let has = |plans: &Plans| {
            plans.usual.as_ref().is_some_and(|plan| plan.is_shown_by(&condensed.patterns))
        };
        self.candidates.iter().map(has).collect()
    }

    fn is_over(&self) -> bool {
        self.forcing.is_stopped() || self.time.is_some_and(|time| self.begun.elapsed() >= time)
    }

    fn show(&mut self, arm: Arm, failed: bool) {
        self.runs += 1;
        self.failed += u32::from(failed);
        let (what, of) = match arm {
            Arm::Baseline => ("baseline", String::new()),
            Arm::Forced { candidate, .. } => ("forcing", format!(" candidate {}", candidate + 1)),
            Arm::Prevented { candidate, .. } => {
                ("preventing", format!(" candidate {}", candidate + 1))
            }
        };
        self.bar.inc(1);
        self.bar.set_message(format!("{what}{of}: {} of {} runs failed", self.failed, self.runs));
    }
}

impl Experiments for Laboratory<'_> {
    type Error = Problem;

    fn run(&mut self, arm: Arm) -> Result<Option<Observation>, Problem> {
        if self.is_over() {
            return Ok(None);
        }
        let plan = self.plan(arm);
        if plan.is_none() && arm != Arm::Baseline {
            // Nothing can be forced here: that says nothing about the order.
            return Ok(Some(Observation { failed: false, reached: false, present: Vec::new() }));
        }
        let Some((run, present)) = self.usable_run(plan)? else { return Ok(None) };
        let is_usable = run.label != Label::Unusable;
        let own = match arm {
            Arm::Forced { candidate, .. } => present.get(candidate).copied().unwrap_or(false),
            _ => false,
        };
        let reached = match plan {
            None => true,
            Some(plan) => is_reached(plan, &run) || plan.mode == Mode::Force && own,
        };
        let failed = run.label == Label::Fail && self.failures.has(&run.why);
        self.show(arm, failed);
        Ok(Some(Observation { failed, reached: reached && is_usable, present }))
    }

    fn ways_to_force(&mut self, candidate: usize) -> usize {
        self.ways(candidate).len()
    }

    fn ways_to_prevent(&mut self, candidate: usize) -> usize {
        self.preventions(candidate).len()
    }

    fn time_used(&self) -> f64 {
        match self.time {
            Some(time) => self.begun.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-3),
            None => 0.0,
        }
    }
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let events = entries
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "events"));
    events.filter_map(|entry| entry.metadata().ok()).map(|about| about.len()).sum()
}
