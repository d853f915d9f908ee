//! The search against simulated programs of which the root cause is known.

use std::convert::Infallible;

use unpick_forcing::{
    Arm, Candidate, Decision, Experiments, Observation, Settings, Verdict, decide,
};

/// The candidates of each program, in the order of their priors: the root cause is never the first.
const SYMPTOM: usize = 0;
const ENCLOSING: usize = 1;
const PART: usize = 2;
const ROOT: usize = 3;
const UNREACHABLE: usize = 4;
const CANDIDATES: usize = 5;

/// A program with one bug, and orders that correlate with it.
struct Program {
    random: u64,
    runs_left: u32,
    runs: u32,
    /// How often a forced order is made.
    reach: f64,
    /// How often the root cause makes a run fail.
    harm: f64,
    /// By candidate: runs that failed with its order, passed with it, and failed without it.
    seen: [[u32; 3]; CANDIDATES],
    /// Fails whenever a thread is held at all.
    fails_when_held: bool,
    /// By candidate: the other orders of the runs that failed when it was forced, and of those that passed when it was prevented.
    beside: [Vec<[bool; CANDIDATES]>; CANDIDATES],
}

impl Program {
    fn new(seed: u64) -> Program {
        Program {
            random: seed,
            runs_left: 300,
            runs: 300,
            reach: 0.9,
            harm: 0.97,
            seen: [[0; 3]; CANDIDATES],
            fails_when_held: false,
            beside: Default::default(),
        }
    }

    /// SplitMix64.
    fn happens(&mut self, probability: f64) -> bool {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed >> 11) as f64 / (1u64 << 53) as f64 * 1.0 < probability
    }

    /// Which orders a run has, given what is forced or prevented.
    fn orders(&mut self, arm: Arm, reached: bool) -> [bool; CANDIDATES] {
        let forced =
            |at| matches!(arm, Arm::Forced { candidate, .. } if candidate == at) && reached;
        let prevented =
            |at| matches!(arm, Arm::Prevented { candidate, .. } if candidate == at) && reached;
        let mut orders = [false; CANDIDATES];
        orders[ENCLOSING] = !prevented(ENCLOSING) && (forced(ENCLOSING) || self.happens(0.3));
        orders[PART] = !prevented(PART) && (forced(PART) || self.happens(0.5));
        let chance = match (orders[ENCLOSING], orders[PART]) {
            _ if prevented(ROOT) => 0.0,
            _ if forced(ROOT) => 1.0,
            (true, _) if forced(ENCLOSING) => 0.85,
            (true, true) => 0.4,
            _ => 0.0,
        };
        orders[ROOT] = self.happens(chance);
        // The root cause is made of the part, inside of what encloses it.
        orders[PART] |= orders[ROOT];
        orders[ENCLOSING] |= orders[ROOT];
        orders
    }
}

impl Experiments for Program {
    type Error = Infallible;

    fn run(&mut self, arm: Arm) -> Result<Option<Observation>, Infallible> {
        if self.runs_left == 0 {
            return Ok(None);
        }
        self.runs_left -= 1;
        let can = !matches!(arm, Arm::Forced { candidate: UNREACHABLE, .. });
        let reach = self.reach;
        let reached = can && self.happens(reach);
        let mut orders = self.orders(arm, reached);
        let harm = self.harm;
        let by_order = orders[ROOT] && self.happens(harm);
        let failed = by_order || self.fails_when_held && arm != Arm::Baseline;
        orders[SYMPTOM] = failed || matches!(arm, Arm::Forced { candidate: SYMPTOM, .. });
        for (seen, present) in self.seen.iter_mut().zip(orders) {
            match (present, failed) {
                (true, true) => seen[0] += 1,
                (true, false) => seen[1] += 1,
                (false, true) => seen[2] += 1,
                (false, false) => {}
            }
        }
        match arm {
            Arm::Forced { candidate, .. } if failed && reached => {
                self.beside[candidate].push(orders);
            }
            Arm::Prevented { candidate, .. } if !failed && reached => {
                self.beside[candidate].push(orders.map(|present| !present));
            }
            _ => {}
        }
        Ok(Some(Observation { failed, reached }))
    }

    /// Jaccard over all runs.
    fn reconsider(&mut self, mut known: Vec<Candidate>) -> Result<Vec<Candidate>, Infallible> {
        for (candidate, seen) in known.iter_mut().zip(self.seen) {
            let all = seen.iter().sum::<u32>().max(1);
            candidate.agreement = f64::from(seen[0]) / f64::from(all);
        }
        Ok(known)
    }

    fn ways_to_force(&mut self, _candidate: usize) -> usize {
        3
    }

    fn ways_elsewhere(&mut self, _candidate: usize, _way: usize) -> Vec<usize> {
        Vec::new()
    }

    fn ways_to_prevent(&mut self, _candidate: usize) -> usize {
        1
    }

    /// The symptom comes later than everything else.
    fn tells_apart(&self, candidate: usize, other: usize) -> bool {
        other == SYMPTOM || self.beside[candidate].iter().any(|orders| !orders[other])
    }

    fn is_earlier(&self, one: usize, other: usize) -> bool {
        one != SYMPTOM && other == SYMPTOM
    }

    fn time_used(&self) -> f64 {
        1.0 - f64::from(self.runs_left) / f64::from(self.runs)
    }
}

fn decision(mut program: Program) -> Decision {
    let priors = [0.95, 0.9, 0.85, 0.8, 0.99];
    let candidates = priors.map(|agreement| Candidate { agreement, ..Candidate::default() });
    let Ok(decision) = decide(&candidates, &mut program, &Settings::default());
    decision
}

fn verdicts(decision: &Decision) -> Vec<Option<Verdict>> {
    decision.judged.iter().map(|judged| judged.verdict).collect()
}

const SEEDS: u64 = 200;

#[test]
fn the_root_cause_leads_whatever_correlates_better() {
    let decisions: Vec<_> = (0..SEEDS).map(|seed| decision(Program::new(seed))).collect();
    let right = decisions.iter().filter(|decision| decision.leader == Some(ROOT)).count();
    assert!(right >= 195, "{right} of {SEEDS}");
    let is_false = |decision: &&Decision| {
        decision.leader != Some(ROOT) && verdicts(decision).contains(&Some(Verdict::Cause))
    };
    let wrong = decisions.iter().filter(is_false).count();
    assert!(wrong <= 2, "{wrong} of {SEEDS} are confidently wrong");
}

#[test]
fn a_symptom_is_refuted_and_what_cannot_be_forced_is_not_judged() {
    let decision = decision(Program::new(7));
    assert_eq!(decision.judged[ROOT].verdict, Some(Verdict::Cause));
    assert_ne!(decision.judged[SYMPTOM].verdict, Some(Verdict::Cause));
    assert_eq!(decision.judged[UNREACHABLE].verdict, Some(Verdict::NotReproduced));
}

#[test]
fn one_order_at_most_is_the_cause_of_the_same_runs() {
    for seed in 0..SEEDS {
        let decision = decision(Program::new(seed));
        let is_cause = |verdict: &&Option<Verdict>| **verdict == Some(Verdict::Cause);
        assert!(verdicts(&decision).iter().filter(is_cause).count() <= 1, "seed {seed}");
    }
}

#[test]
fn a_program_that_fails_when_it_is_held_has_no_cause() {
    for seed in 0..SEEDS {
        let decision = decision(Program { fails_when_held: true, ..Program::new(seed) });
        assert!(!verdicts(&decision).contains(&Some(Verdict::Cause)), "seed {seed}");
    }
}

#[test]
fn little_time_gives_no_verdict_rather_than_a_wrong_one() {
    for seed in 0..SEEDS {
        let decision = decision(Program { runs_left: 12, runs: 12, ..Program::new(seed) });
        assert!(!verdicts(&decision).contains(&Some(Verdict::Cause)), "seed {seed}");
    }
}

#[test]
fn no_run_is_made_after_the_time_is_over() {
    let decision = decision(Program { runs_left: 0, ..Program::new(1) });
    assert_eq!((decision.runs, decision.leader), (0, None));
    assert!(verdicts(&decision).iter().all(Option::is_none));
}

#[test]
fn without_candidates_there_is_nothing_to_decide() {
    let Ok(decision) = decide(&[], &mut Program::new(1), &Settings::default());
    assert_eq!((decision.runs, decision.leader), (0, None));
}
