//! The program under test as a place for experiments: candidates are orders of findings, forced or prevented by plans.
//!
//! Takes   proposals, how the program is run, and the runs of its hunt.
//! Gives   runs, as `unpick_forcing::decide` asks for them; the findings ranked again over the hunt and these runs.
//! Misses  which orders a run had, where its recording is too long to be read after every run.
//! Cost    the runs, and reading their recordings; their patterns are held in memory, of at most `MAX_EXPERIMENTS` runs.

use std::cell::OnceCell;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_analyses::{Options, RunPatterns};
use unpick_engine::{Proposal, candidates, propose, repropose};
use unpick_events::Label;
use unpick_findings::Findings;
use unpick_forcing::{Arm, Candidate, Experiments, Observation};
use unpick_problem::Problem;
use unpick_reproduce::{Mode, Plan};

use super::trying::Trying;
use crate::calibration::choices;
use crate::conclude::{Reranked, patterns_in};
use crate::forcing::ForcedRun;
use crate::reproduce::is_reached;

/// Recordings of more bytes than this are not read: that would take longer than the run.
const MAX_RECORDING: u64 = 16 << 20;
/// More do not change the ranking.
const MAX_EXPERIMENTS: usize = 200;
/// At most this many orders compete at first, and after they were proposed again.
pub const MAX_PROPOSALS: usize = 24;
const MAX_REPROPOSED: usize = 40;
/// A run that cannot be used is made again, this often.
const MAX_REPEATS: u32 = 2;

pub struct Laboratory<'a> {
    trying: &'a Trying<'a>,
    pub proposals: Vec<Proposal>,
    /// The findings as they are ranked now.
    pub findings: Findings,
    plans: Vec<Plans>,
    experiments: Vec<(Label, RunPatterns)>,
    begun: Instant,
    time: Option<Duration>,
    bar: ProgressBar,
    runs: u32,
    failed: u32,
}

/// Ranks the findings of the hunt again, with these experiments.
pub type RankAgain<'a> = dyn Fn(&[(Label, RunPatterns)]) -> Result<Reranked, Problem> + 'a;

/// How the findings of the hunt are ranked again with experiments, and how patterns are collected for that.
#[derive(Clone, Copy)]
pub struct Rerank<'a> {
    pub options: Options,
    pub rank: &'a RankAgain<'a>,
}

/// The plans of one candidate; none where its order cannot be forced at all.
struct Plans {
    usual: Option<Plan>,
    forced: OnceCell<Vec<Plan>>,
    prevented: OnceCell<Vec<Plan>>,
}

impl<'a> Laboratory<'a> {
    pub fn new(
        trying: &'a Trying<'a>,
        findings: &Findings,
        proposals: Vec<Proposal>,
        bar: ProgressBar,
    ) -> Laboratory<'a> {
        let mut laboratory = Laboratory {
            trying,
            proposals,
            findings: findings.clone(),
            plans: Vec::new(),
            experiments: Vec::new(),
            begun: Instant::now(),
            time: trying.time_left(),
            bar,
            runs: 0,
            failed: 0,
        };
        laboratory.plan_all();
        laboratory
    }

    /// Makes plans for the proposals that have none yet.
    fn plan_all(&mut self) {
        for proposal in &self.proposals[self.plans.len()..] {
            let plan = Plan::of_finding(&proposal.finding).ok();
            let usual = plan.map(|plan| self.trying.completed(plan));
            self.plans.push(Plans { usual, forced: OnceCell::new(), prevented: OnceCell::new() });
        }
    }

    fn ways(&self, candidate: usize) -> &[Plan] {
        let Plans { usual, forced, .. } = &self.plans[candidate];
        forced.get_or_init(|| {
            let Some(plan) = usual else { return Vec::new() };
            choices(self.trying.forcing, plan, self.trying.plan).collect()
        })
    }

    fn preventions(&self, candidate: usize) -> &[Plan] {
        let Plans { usual, prevented, .. } = &self.plans[candidate];
        prevented.get_or_init(|| usual.as_ref().map_or_else(Vec::new, |plan| self.inverses(plan)))
    }

    /// Kept apart at the accesses, then with gates where functions begin, then by whole functions.
    fn inverses(&self, plan: &Plan) -> Vec<Plan> {
        let mut inverses = vec![plan.inverse()];
        let Trying { forcing, plan: options, .. } = self.trying;
        if let Ok(program) = forcing.program() {
            inverses.extend(plan.with_early_gates(program).map(|early| early.inverse()));
            let plain = options.applied_to(Plan::forcing(plan.steps.clone()), forcing.usual_run);
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

    /// A run that can be used, and its patterns if they were read; none: no more can be made.
    fn usable_run(
        &self,
        plan: Option<&Plan>,
    ) -> Result<Option<(ForcedRun, Option<RunPatterns>)>, Problem> {
        for repeat in 0..=MAX_REPEATS {
            let look = |_: &ForcedRun, folder: &Path| Ok(self.patterns_of(folder));
            let Some((run, patterns)) = self.trying.forcing.run_and(plan, look)? else {
                return Ok(None);
            };
            if run.label != Label::Unusable || repeat == MAX_REPEATS || !self.trying.may_go_on() {
                return Ok(Some((run, patterns)));
            }
        }
        Ok(None)
    }

    /// What cannot be read, or not soon, says nothing.
    fn patterns_of(&self, folder: &Path) -> Option<RunPatterns> {
        let Rerank { options, .. } = self.trying.evidence.rerank?;
        (bytes_in(folder) <= MAX_RECORDING).then(|| patterns_in(folder, options).ok())?
    }

    fn keep(&mut self, label: Label, patterns: Option<RunPatterns>) {
        if let Some(patterns) = patterns.filter(|_| self.experiments.len() < MAX_EXPERIMENTS) {
            self.experiments.push((label, patterns));
        }
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
        if !self.trying.may_go_on() {
            return Ok(None);
        }
        let plan = self.plan(arm);
        if plan.is_none() && arm != Arm::Baseline {
            // Nothing can be forced here: that says nothing about the order.
            return Ok(Some(Observation { failed: false, reached: false }));
        }
        let Some((run, patterns)) = self.usable_run(plan)? else { return Ok(None) };
        let is_shown = |plan: &Plan| {
            plan.mode == Mode::Force && patterns.as_ref().is_some_and(|run| plan.is_shown_by(run))
        };
        let reached = plan.is_none_or(|plan| is_reached(plan, &run) || is_shown(plan));
        // What fails in another way is no sign of the same bug.
        let failed = run.label == Label::Fail && self.trying.evidence.failures.has(&run.why);
        let is_usable = run.label == Label::Pass || failed;
        if is_usable {
            self.keep(run.label, patterns);
        }
        self.show(arm, failed);
        Ok(Some(Observation { failed, reached: reached && is_usable }))
    }

    fn reconsider(&mut self, known: Vec<Candidate>) -> Result<Vec<Candidate>, Problem> {
        let Some(Rerank { rank, .. }) =
            self.trying.evidence.rerank.filter(|_| !self.experiments.is_empty())
        else {
            return Ok(known);
        };
        let Reranked { findings, alternatives } = rank(&self.experiments)?;
        let again = propose(&findings, alternatives, MAX_PROPOSALS);
        repropose(&mut self.proposals, again, MAX_REPROPOSED);
        self.findings.findings = findings.findings;
        self.plan_all();
        Ok(candidates(&self.proposals))
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
