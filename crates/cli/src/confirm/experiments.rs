//! The experiments of a search whose recordings were read, and what they say about an order.
//!
//! Takes   runs, what was asked for in each, and their patterns.
//! Returns a sample for the ranking, how well an order agrees with failing, which of two orders comes first, and whether they can be told apart.
//! Misses  an order that the windows of the analysis do not show.
//! Cost    patterns are held in memory, of at most `MAX_EXPERIMENTS` runs.

use std::cell::RefCell;
use std::cmp::Ordering;

use unpick_analyses::RunPatterns;
use unpick_analyses::access_log::AccessLog;
use unpick_analyses::ranking::{Counts, Formula};
use unpick_events::Label;
use unpick_findings::{Finding, InExperiments, Runs};
use unpick_forcing::Arm;
use unpick_reproduce::Plan;

use super::telling_apart::{screens_off, tells_apart};

/// More do not change what is known.
const MAX_EXPERIMENTS: usize = 300;
/// Runs of one arm that count for scores and agreements. Candidates get different numbers of runs, and every run in which one of them is forced has
/// that order and what follows from it: without a limit, what is tried most often seems to correlate best.
const SAMPLE: usize = 4;

/// What the recording of an experiment says.
pub struct Recorded {
    pub patterns: RunPatterns,
    /// None: nothing is counted by accesses, or there are too many.
    pub log: Option<AccessLog>,
}

/// How a run is looked at for an order.
#[derive(Clone, Copy)]
pub enum Measure {
    Patterns,
    /// As `unit_counts` counts the runs of the hunt.
    Accesses,
}

/// One run that can be used.
struct Experiment {
    arm: Arm,
    /// What was asked for happened.
    reached: bool,
    label: Label,
    recorded: Recorded,
    /// Among the first of its arm.
    in_sample: bool,
}

/// When an order did its harm in a run for the first time; none: the run did not have it.
type Moment = Option<(u32, u32)>;

#[derive(Default)]
pub struct Experiments {
    made: Vec<Experiment>,
    /// By candidate and run, as far as they were looked at: this is asked often.
    shown: RefCell<Vec<Vec<Moment>>>,
}

impl Experiments {
    pub fn keep(&mut self, arm: Arm, reached: bool, label: Label, recorded: Recorded) {
        if self.made.len() < MAX_EXPERIMENTS {
            let same = self.made.iter().filter(|one| kind(one.arm) == kind(arm)).count();
            let in_sample = arm == Arm::Baseline || same < SAMPLE;
            // Accesses count for the agreement only.
            let recorded = Recorded { log: recorded.log.filter(|_| in_sample), ..recorded };
            self.made.push(Experiment { arm, reached, label, recorded, in_sample });
        }
    }

    /// The runs that count for scores.
    pub fn sample(&self) -> Vec<(Label, &RunPatterns)> {
        let sample = self.made.iter().filter(|one| one.in_sample);
        sample.map(|one| (one.label, &one.recorded.patterns)).collect()
    }

    /// Looks at the runs in which it was not looked for a candidate yet.
    fn look_for(&self, (candidate, plan): (usize, &Plan)) {
        let mut shown = self.shown.borrow_mut();
        if shown.len() <= candidate {
            shown.resize(candidate + 1, Vec::new());
        }
        let known = &mut shown[candidate];
        let new = &self.made[known.len()..];
        known.extend(new.iter().map(|one| plan.shown_in(&one.recorded.patterns)));
    }

    /// When a candidate did its harm, run by run.
    fn moments(&self, planned: (usize, &Plan)) -> Vec<Moment> {
        self.look_for(planned);
        self.shown.borrow()[planned.0].clone()
    }

    /// All runs, each with when two candidates did their harm.
    fn with_moments(
        &self,
        one: (usize, &Plan),
        other: (usize, &Plan),
    ) -> Vec<(&Experiment, (Moment, Moment))> {
        self.look_for(one);
        self.look_for(other);
        let shown = self.shown.borrow();
        let moments = shown[one.0].iter().copied().zip(shown[other.0].iter().copied());
        self.made.iter().zip(moments).collect()
    }

    /// Whether experiments on one order speak against another, or those on third ones. A failing run has the other one also if it has one of its `kin`, orders of the same
    /// functions: of one bug, windows show this line in one run and that line in the next.
    pub fn tell_apart(
        &self,
        own: (usize, &Plan),
        rival: (usize, &Plan),
        kin: &[(usize, &Plan)],
    ) -> bool {
        let runs = self.with_moments(own, rival);
        let of_neither = runs.iter().filter(|(one, _)| {
            let candidate = one.arm.candidate();
            candidate != Some(own.0) && candidate != Some(rival.0)
        });
        let left_alone: Vec<_> = of_neither
            .map(|(one, (own, rival))| (one.label == Label::Fail, own.is_some(), rival.is_some()))
            .collect();
        // What a cause does its harm by screens the cause off: that says nothing against an order that is earlier.
        let is_rival_earlier = self.is_earlier(rival, own);
        if !is_rival_earlier && screens_off(&left_alone) {
            return true;
        }
        let meant = |is_forced: bool, label: Label| {
            let arm = Some((own.0, is_forced));
            let is_meant =
                move |one: &Experiment| one.reached && one.label == label && kind(one.arm) == arm;
            runs.iter().enumerate().filter(move |(_, (one, _))| is_meant(one))
        };
        let of_kin: Vec<Vec<Moment>> = kin.iter().map(|&one| self.moments(one)).collect();
        let earliest = |run: usize, rival: Moment| {
            of_kin.iter().filter_map(|moments| moments[run]).chain(rival).min()
        };
        let failed: Vec<_> = meant(true, Label::Fail)
            .map(|(run, (_, (own, rival)))| (*own, earliest(run, *rival)))
            .collect();
        let passed: Vec<_> = meant(false, Label::Pass).map(|(_, (_, moments))| *moments).collect();
        tells_apart(&failed, &passed, is_rival_earlier)
    }

    /// Whether one order does its harm before another in most failing runs that have both.
    pub fn is_earlier(&self, one: (usize, &Plan), other: (usize, &Plan)) -> bool {
        let runs = self.with_moments(one, other);
        let failing = runs.into_iter().filter(|(one, _)| one.label == Label::Fail);
        let both = failing.filter_map(|(_, (one, other))| Some(one?.cmp(&other?)));
        let orders: Vec<Ordering> = both.collect();
        let count = |wanted| orders.iter().filter(|&&order| order == wanted).count();
        count(Ordering::Less) > 2 * count(Ordering::Greater)
    }

    /// The runs that fail with an order among those that fail or have it: of the hunt, and of experiments on other candidates. In its own it was
    /// made or kept away on purpose, so they say nothing about how well it correlates.
    pub fn agreement(
        &self,
        planned: (usize, &Plan),
        measure: Measure,
        finding: &Finding,
        runs: Runs,
    ) -> f64 {
        let of_hunt = Counts {
            failed: finding.failed_runs,
            passed: finding.passed_runs,
            all_failed: runs.failed,
            ..Counts::default()
        };
        self.agreement_after(of_hunt, planned, measure)
    }

    fn agreement_after(
        &self,
        mut counts: Counts,
        planned: (usize, &Plan),
        measure: Measure,
    ) -> f64 {
        let is_own = |arm: Arm| arm.candidate() == Some(planned.0);
        let runs = self.having_order(planned, measure).into_iter();
        for (_, label, has_order) in runs.filter(|(arm, ..)| !is_own(*arm)) {
            let is_failure = label == Label::Fail;
            counts.failed += u32::from(is_failure && has_order);
            counts.passed += u32::from(!is_failure && has_order);
            counts.all_failed += u32::from(is_failure);
        }
        Formula::Jaccard.score(&counts)
    }

    /// The runs of the sample that an order was looked for in, and whether they have it.
    fn having_order(&self, planned: (usize, &Plan), measure: Measure) -> Vec<(Arm, Label, bool)> {
        self.look_for(planned);
        let shown = self.shown.borrow();
        let has_order = |one: &Experiment, shown: &Moment| match measure {
            Measure::Patterns => Some(shown.is_some()),
            // A run with too many accesses says nothing.
            Measure::Accesses => planned.1.is_in(one.recorded.log.as_ref()?),
        };
        let sample = self.made.iter().zip(&shown[planned.0]).filter(|(one, _)| one.in_sample);
        sample
            .filter_map(|(one, shown)| Some((one.arm, one.label, has_order(one, shown)?)))
            .collect()
    }

    /// Runs of the sample that have an order, its own among them, as they are reported.
    pub fn in_experiments(&self, planned: (usize, &Plan), measure: Measure) -> InExperiments {
        let mut counts = InExperiments::default();
        let runs = self.having_order(planned, measure).into_iter();
        for (_, label, _) in runs.filter(|(.., has_order)| *has_order) {
            counts.failed_runs += u32::from(label == Label::Fail);
            counts.passed_runs += u32::from(label == Label::Pass);
        }
        counts
    }
}

/// The candidate of an arm, and whether it was forced; none: a baseline run.
fn kind(arm: Arm) -> Option<(usize, bool)> {
    match arm {
        Arm::Baseline => None,
        Arm::Forced { candidate, .. } => Some((candidate, true)),
        Arm::Prevented { candidate, .. } => Some((candidate, false)),
    }
}

#[cfg(test)]
mod tests {
    use unpick_analyses::access_log::LogCollector;
    use unpick_analyses::{Collector, Options};
    use unpick_reproduce::{Operand, PlanStep, Purpose};

    use super::*;

    const FORCED: fn(usize) -> Arm = |candidate| Arm::Forced { candidate, way: 0 };

    /// Runs, each with when candidates 0, 1 and so on did their harm.
    fn made<const N: usize>(runs: &[(Arm, Label, [Option<u32>; N])]) -> Experiments {
        let mut experiments = Experiments::default();
        let moment = |at: Option<u32>| at.map(|at| (0, at));
        for &(arm, label, _) in runs {
            let patterns = Collector::new(Options::default()).finish();
            experiments.keep(arm, true, label, Recorded { patterns, log: None });
        }
        let of = |at: usize| runs.iter().map(|(_, _, moments)| moment(moments[at])).collect();
        experiments.shown = RefCell::new((0..N).map(of).collect());
        experiments
    }

    fn plan() -> Plan {
        Plan::forcing(Vec::new())
    }

    #[test]
    fn an_order_counts_in_runs_in_which_it_was_not_forced() {
        let own = (FORCED(0), Label::Fail, [Some(1), Some(2)]);
        let without = (FORCED(1), Label::Fail, [None, Some(2)]);
        let with = (Arm::Baseline, Label::Fail, [Some(1), None]);
        let harmless = (Arm::Baseline, Label::Pass, [Some(1), None]);
        let agreement = |runs: &[_]| {
            made(runs).agreement_after(Counts::default(), (0, &plan()), Measure::Patterns)
        };
        assert_eq!(agreement(&[own, own, own, without]), 0.0);
        assert_eq!(agreement(&[own, own, own, with]), 1.0);
        assert_eq!(agreement(&[with, without]), 0.5);
        assert_eq!(agreement(&[with, harmless]), 0.5);
    }

    /// An order of two variables, in code that no run comes to.
    fn torn_unit() -> Plan {
        let step = |(role, variable)| PlanStep {
            role,
            purpose: Purpose::Step,
            places: Vec::new(),
            gates: Vec::new(),
            must_hold: false,
            exits: Vec::new(),
            variable: Some(variable),
            operand: Operand::First,
            bytes: 0,
            is_write: true,
            calls: Vec::new(),
            shown: String::new(),
        };
        Plan::forcing([(1, 0), (2, 0), (2, 1), (1, 1)].map(step).into())
    }

    #[test]
    fn by_accesses_only_other_candidates_with_a_log_count() {
        let agreement = |arm: Arm, log: Option<AccessLog>| {
            let mut experiments = Experiments::default();
            let patterns = Collector::new(Options::default()).finish();
            experiments.keep(arm, true, Label::Fail, Recorded { patterns, log });
            let of_hunt = Counts { failed: 1, all_failed: 1, ..Counts::default() };
            experiments.agreement_after(of_hunt, (0, &torn_unit()), Measure::Accesses)
        };
        let without_accesses = || LogCollector::default().finish();
        assert_eq!(agreement(FORCED(1), without_accesses()), 0.5);
        assert_eq!(agreement(FORCED(0), without_accesses()), 1.0, "its own");
        assert_eq!(agreement(FORCED(1), None), 1.0, "too long");
    }

    #[test]
    fn a_rival_that_shows_at_another_line_of_its_functions_is_there() {
        let experiments = made(&[(FORCED(0), Label::Fail, [Some(5), None, Some(3)]); 10]);
        let plan = plan();
        let [own, rival, kin] = [0, 1, 2].map(|candidate| (candidate, &plan));
        assert!(experiments.tell_apart(own, rival, &[]));
        assert!(!experiments.tell_apart(own, rival, &[kin]));
    }

    #[test]
    fn what_is_tried_most_often_does_not_count_the_most() {
        let tried_often = [(FORCED(1), Label::Fail, [None, Some(2)]); 50];
        let left_alone = [(Arm::Baseline, Label::Fail, [Some(1), None]); SAMPLE];
        let experiments = made(&[&tried_often[..], &left_alone].concat());
        assert_eq!(experiments.sample().len(), 2 * SAMPLE);
        assert_eq!(
            experiments.agreement_after(Counts::default(), (0, &plan()), Measure::Patterns),
            0.5
        );
    }

    #[test]
    fn an_order_is_earlier_if_it_is_so_in_most_failing_runs_that_have_both() {
        let first = (FORCED(0), Label::Fail, [Some(1), Some(2)]);
        let last = (FORCED(0), Label::Fail, [Some(3), Some(2)]);
        let passes = (FORCED(0), Label::Pass, [Some(3), Some(2)]);
        let alone = (FORCED(0), Label::Fail, [None, Some(2)]);
        let is_earlier = |runs: &[_]| made(runs).is_earlier((0, &plan()), (1, &plan()));
        assert!(is_earlier(&[first, first, first, last, passes, passes, alone]));
        assert!(!is_earlier(&[first, last]));
        assert!(!is_earlier(&[alone]));
    }
}
