//! Two orders that happen together in every experiment.

use std::convert::Infallible;

use unpick_forcing::{
    Arm, Candidate, Decision, Experiments, Observation, Settings, Verdict, decide,
};

/// Fails whenever either order is forced, and never when one is prevented.
struct Twins {
    runs_left: u32,
    are_told_apart: bool,
    /// Forcing the second order does no harm.
    is_second_harmless: bool,
    /// Threads can be held at another place, and then nothing fails.
    is_harmless_elsewhere: bool,
    /// The second order does its harm before the first.
    is_second_earlier: bool,
}

impl Experiments for Twins {
    type Error = Infallible;

    fn run(&mut self, arm: Arm) -> Result<Option<Observation>, Infallible> {
        if self.runs_left == 0 {
            return Ok(None);
        }
        self.runs_left -= 1;
        let failed = match arm {
            Arm::Forced { candidate, way } => {
                let is_harmless = candidate == 1 && self.is_second_harmless;
                !(is_harmless || way == 1 && self.is_harmless_elsewhere)
            }
            Arm::Baseline | Arm::Prevented { .. } => false,
        };
        Ok(Some(Observation { failed, reached: true }))
    }

    fn reconsider(&mut self, known: Vec<Candidate>) -> Result<Vec<Candidate>, Infallible> {
        Ok(known)
    }

    fn ways_to_force(&mut self, _candidate: usize) -> usize {
        2
    }

    fn ways_elsewhere(&mut self, _candidate: usize, way: usize) -> Vec<usize> {
        vec![1 - way]
    }

    fn ways_to_prevent(&mut self, _candidate: usize) -> usize {
        1
    }

    fn tells_apart(&self, _candidate: usize, _other: usize) -> bool {
        self.are_told_apart
    }

    fn is_earlier(&self, one: usize, _other: usize) -> bool {
        one == 1 && self.is_second_earlier
    }

    fn time_used(&self) -> f64 {
        1.0 - f64::from(self.runs_left) / 200.0
    }
}

fn decision(are_told_apart: bool, is_second_harmless: bool, agreements: [f64; 2]) -> Decision {
    decision_on(
        Twins {
            runs_left: 200,
            are_told_apart,
            is_second_harmless,
            is_harmless_elsewhere: false,
            is_second_earlier: false,
        },
        agreements,
    )
}

fn decision_on(mut twins: Twins, agreements: [f64; 2]) -> Decision {
    let candidates = agreements.map(|agreement| Candidate { agreement, ..Candidate::default() });
    let Ok(decision) = decide(&candidates, &mut twins, &Settings::default());
    decision
}

fn verdict_of_leader(decision: &Decision) -> Option<Verdict> {
    decision.leader.and_then(|at| decision.judged[at].verdict)
}

#[test]
fn orders_that_no_experiment_tells_apart_are_likely_at_best() {
    let both = decision(false, false, [0.9, 0.9]);
    assert_eq!(verdict_of_leader(&both), Some(Verdict::Likely));
}

#[test]
fn an_experiment_that_tells_them_apart_shows_the_cause() {
    let both = decision(true, false, [0.9, 0.9]);
    assert_eq!(verdict_of_leader(&both), Some(Verdict::Cause));
}

#[test]
fn what_correlates_less_or_does_no_harm_is_no_rival() {
    let less = decision(false, false, [0.9, 0.6]);
    assert_eq!((less.leader, verdict_of_leader(&less)), (Some(0), Some(Verdict::Cause)));
    let harmless = decision(false, true, [0.9, 0.9]);
    assert_eq!((harmless.leader, verdict_of_leader(&harmless)), (Some(0), Some(Verdict::Cause)));
}

/// Both are shown, and the second one does its harm first.
fn effect_and_cause(agreements: [f64; 2]) -> Decision {
    let twins = Twins {
        runs_left: 200,
        are_told_apart: false,
        is_second_harmless: false,
        is_harmless_elsewhere: false,
        is_second_earlier: true,
    };
    decision_on(twins, agreements)
}

#[test]
fn an_effect_that_correlates_better_than_its_cause_is_likely_at_best() {
    let decision = effect_and_cause([0.95, 0.8]);
    assert_eq!(verdict_of_leader(&decision), Some(Verdict::Likely));
}

#[test]
fn of_orders_that_correlate_nearly_as_well_the_earlier_leads() {
    assert_eq!(effect_and_cause([0.95, 0.9]).leader, Some(1));
}

#[test]
fn an_order_that_does_harm_at_one_place_only_is_not_what_does_it() {
    let twins = Twins {
        runs_left: 200,
        are_told_apart: true,
        is_second_harmless: true,
        is_harmless_elsewhere: true,
        is_second_earlier: false,
    };
    let decision = decision_on(twins, [0.9, 0.3]);
    assert_eq!((decision.leader, verdict_of_leader(&decision)), (Some(0), Some(Verdict::Likely)));
}
