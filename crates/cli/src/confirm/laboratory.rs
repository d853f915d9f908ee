//! The program under test as a place for experiments: candidates are orders of findings, forced or prevented by plans.
//!
//! Takes   proposals, how the program is run, and the runs of its hunt.
//! Gives   runs, as `unpick_forcing::decide` asks for them; the findings ranked again over the hunt and these runs.
//! Misses  which orders a run had, where its recording is too long to be read after every run.
//! Cost    the runs, and reading their recordings; their patterns are held in memory.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_engine::{Proposal, candidates, propose, repropose};
use unpick_events::Label;
use unpick_findings::{Finding, Findings, Runs};
use unpick_forcing::{Arm, Candidate, Observation};
use unpick_problem::Problem;
use unpick_reproduce::Plan;

use super::asked_for::is_asked_for;
use super::experiments::{Experiments, Measure, Recorded};
use super::plans::Plans;
use super::reading::Reading;
use super::span::spans_operations;
use super::telling_apart::{do_harm_in_same_function, is_same_bug};
use super::trying::Trying;
use crate::conclude::{Reranked, log_in, patterns_in};
use crate::forcing::ForcedRun;

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
    experiments: Experiments,
    begun: Instant,
    time: Option<Duration>,
    reading: Reading,
    bar: ProgressBar,
    runs: u32,
    failed: u32,
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
            experiments: Experiments::default(),
            begun: Instant::now(),
            time: trying.time_left(),
            reading: Reading::within(trying.time_left()),
            bar,
            runs: 0,
            failed: 0,
        };
        laboratory.plan_all();
        laboratory.count_units();
        laboratory
    }

    /// The proposals as the search knows them, after a hunt of these runs.
    pub fn candidates(&self, runs: Runs) -> Vec<Candidate> {
        let known = candidates(&self.proposals, runs).into_iter().zip(&self.proposals);
        known
            .map(|(candidate, proposal)| Candidate {
                spans_operations: spans_operations(&proposal.finding),
                ..candidate
            })
            .collect()
    }

    /// Counts the runs of the hunt that tear a unit by their accesses, where they can be.
    fn count_units(&mut self) {
        let Some(units) = &self.trying.evidence.unit_counts else { return };
        for (proposal, plans) in self.proposals.iter_mut().zip(&self.plans) {
            let plan = plans.usual.as_ref();
            if let Some(plan) = plan.filter(|plan| units.are_of(&proposal.finding, plan)) {
                units.count(&mut proposal.finding, plan);
            }
        }
    }

    /// Makes plans for the proposals that have none yet.
    fn plan_all(&mut self) {
        for proposal in &self.proposals[self.plans.len()..] {
            self.plans.push(Plans::of(&proposal.finding, self.trying));
        }
    }

    fn ways(&self, candidate: usize) -> &[Plan] {
        self.plans[candidate].forced(self.trying)
    }

    fn preventions(&self, candidate: usize) -> &[Plan] {
        self.plans[candidate].prevented(self.trying)
    }

    fn is_in_recordings(&self, arm: Arm) -> bool {
        arm.candidate().is_none_or(|at| is_in_recordings(&self.proposals[at].finding))
    }

    fn plan(&self, arm: Arm) -> Option<&Plan> {
        match arm {
            Arm::Baseline => None,
            Arm::Forced { candidate, way } => self.ways(candidate).get(way),
            Arm::Prevented { candidate, way } => self.preventions(candidate).get(way),
        }
    }

    /// Scores proposals by runs in which they were neither forced nor prevented.
    fn rescore(&mut self, runs: Runs) {
        let (units, experiments) = (&self.trying.evidence.unit_counts, &self.experiments);
        let plans = self.plans.iter().map(|plans| plans.usual.as_ref());
        for (at, (plan, proposal)) in plans.zip(&mut self.proposals).enumerate() {
            let finding = &mut proposal.finding;
            let Some(plan) = plan.filter(|_| is_in_recordings(finding)) else { continue };
            let mut measure = Measure::Patterns;
            if units.as_ref().is_some_and(|units| units.are_of(finding, plan)) {
                measure = Measure::Accesses;
                finding.in_experiments = experiments.in_experiments((at, plan), measure);
            }
            finding.score = experiments.agreement((at, plan), measure, finding, runs);
        }
    }

    /// A candidate with its order, if that can be forced at all.
    fn planned(&self, candidate: usize) -> Option<(usize, &Plan)> {
        Some((candidate, self.plans[candidate].usual.as_ref()?))
    }

    /// A run that can be used, and its recording if it was read; none: no more can be made.
    fn usable_run(
        &self,
        plan: Option<&Plan>,
    ) -> Result<Option<(ForcedRun, Option<Recorded>)>, Problem> {
        for repeat in 0..=MAX_REPEATS {
            let look = |_: &ForcedRun, folder: &Path| Ok(self.recorded_in(folder));
            let Some((run, recorded)) = self.trying.forcing.run_and(plan, look)? else {
                return Ok(None);
            };
            if run.label != Label::Unusable || repeat == MAX_REPEATS || !self.trying.may_go_on() {
                return Ok(Some((run, recorded)));
            }
        }
        Ok(None)
    }

    /// What cannot be read, or not soon, says nothing.
    fn recorded_in(&self, folder: &Path) -> Option<Recorded> {
        let options = self.trying.evidence.rerank?.options;
        let bytes = bytes_in(folder);
        if !self.reading.is_worth_it(bytes) {
            return None;
        }
        let begun = Instant::now();
        let patterns = patterns_in(folder, options).ok();
        let counts_units = self.trying.evidence.unit_counts.is_some();
        let log = counts_units.then(|| log_in(folder).ok().flatten()).flatten();
        self.reading.observe(bytes, begun.elapsed());
        patterns.map(|patterns| Recorded { patterns, log })
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

impl unpick_forcing::Experiments for Laboratory<'_> {
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
        let Some((run, recorded)) = self.usable_run(plan)? else { return Ok(None) };
        let patterns = recorded.as_ref().map(|recorded| &recorded.patterns);
        let shown = patterns.filter(|_| self.is_in_recordings(arm));
        let reached = plan.is_none_or(|plan| is_asked_for(plan, &run, shown));
        // What fails in another way is no sign of the same bug.
        let failed = run.label == Label::Fail && self.trying.evidence.failures.has(&run.why);
        let is_usable = run.label == Label::Pass || failed;
        if let Some(recorded) = recorded.filter(|_| is_usable) {
            self.experiments.keep(arm, reached, run.label, recorded);
        }
        self.show(arm, failed);
        Ok(Some(Observation { failed, reached: reached && is_usable }))
    }

    fn reconsider(&mut self, known: Vec<Candidate>) -> Result<Vec<Candidate>, Problem> {
        let sample = self.experiments.sample();
        let Some(rerank) = self.trying.evidence.rerank.filter(|_| !sample.is_empty()) else {
            return Ok(known);
        };
        let Reranked { findings, alternatives } = rerank.rank(&sample)?;
        let again = propose(&findings, alternatives, MAX_PROPOSALS);
        repropose(&mut self.proposals, again, MAX_REPROPOSED);
        self.plan_all();
        self.count_units();
        self.rescore(findings.runs);
        self.findings.findings = findings.findings;
        Ok(self.candidates(findings.runs))
    }

    fn ways_to_force(&mut self, candidate: usize) -> usize {
        self.ways(candidate).len()
    }

    fn ways_elsewhere(&mut self, candidate: usize, way: usize) -> Vec<usize> {
        let ways = self.ways(candidate);
        let places = |plan: &Plan| (plan.early, plan.held_back);
        let Some(used) = ways.get(way).map(places) else { return Vec::new() };
        let others = ways.iter().enumerate().filter(|(_, plan)| places(plan) != used);
        // One for each place.
        let mut known = vec![used];
        let new = others.filter(|(_, plan)| {
            let is_new = !known.contains(&places(plan));
            known.push(places(plan));
            is_new
        });
        new.map(|(at, _)| at).collect()
    }

    fn ways_to_prevent(&mut self, candidate: usize) -> usize {
        self.preventions(candidate).len()
    }

    fn tells_apart(&self, candidate: usize, other: usize) -> bool {
        let (Some(own), Some(rival)) = (self.planned(candidate), self.planned(other)) else {
            return true;
        };
        let is_same = |one: usize, other: usize| {
            is_same_bug(&self.proposals[one].finding, &self.proposals[other].finding)
        };
        let is_kin = |&at: &usize| at != other && is_same(at, other) && !is_same(at, candidate);
        let kin: Vec<_> =
            (0..self.proposals.len()).filter(is_kin).filter_map(|at| self.planned(at)).collect();
        is_same(candidate, other) || self.experiments.tell_apart(own, rival, &kin)
    }

    fn is_earlier(&self, one: usize, other: usize) -> bool {
        let [first, second] = [one, other].map(|at| &self.proposals[at].finding);
        // Of orders of the same functions none is the cause of the other; what an order begins with comes before its harm; and which line of a function
        // does the harm first says nothing about two orders that both do it there.
        if is_same_bug(first, second) || do_harm_in_same_function(first, second) {
            return false;
        }
        match (self.planned(one), self.planned(other)) {
            (Some(one), Some(other)) => self.experiments.is_earlier(one, other),
            _ => false,
        }
    }

    fn time_used(&self) -> f64 {
        match self.time {
            Some(time) => self.begun.elapsed().as_secs_f64() / time.as_secs_f64().max(1e-3),
            None => 0.0,
        }
    }
}

/// Whether recordings show an order where it came about. Runs that die before its last access do not.
fn is_in_recordings(finding: &Finding) -> bool {
    finding.missing_runs == 0
}

fn bytes_in(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let events = entries
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "events"));
    events.filter_map(|entry| entry.metadata().ok()).map(|about| about.len()).sum()
}
