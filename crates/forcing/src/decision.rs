//! What the experiments decided.

use crate::candidate::Candidate;
use crate::measured::Measured;
use crate::statistics::Rate;
use crate::verdict::{Verdict, verdict};

/// What is not shown to be the cause leads only if it correlates nearly as well as the best.
const LIKELY: f64 = 0.7;
/// Agreements this close are told apart by one run or two.
const NEARLY: f64 = 0.05;

/// All candidates, measured and judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// By candidate; those that nobody tried have no verdict.
    pub judged: Vec<Judged>,
    /// The candidate with the largest measured effect; none: the experiments cannot tell.
    pub leader: Option<usize>,
    pub baseline: Rate,
    /// All runs that were made.
    pub runs: u32,
}

/// One candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct Judged {
    pub measured: Measured,
    /// None: it was not tried.
    pub verdict: Option<Verdict>,
}

impl Decision {
    pub fn of(
        candidates: &[Candidate],
        measured: Vec<Measured>,
        baseline: Rate,
        runs: u32,
    ) -> Decision {
        let own = |(candidate, measured): (&Candidate, &Measured)| {
            let evidence = measured.evidence(baseline, candidate);
            (measured.ways_tried() > 0).then(|| verdict(&evidence))
        };
        let verdicts: Vec<_> = candidates.iter().zip(&measured).map(own).collect();
        let leader = leader(candidates, &measured, baseline);
        let judged = measured.into_iter().zip(verdicts).enumerate();
        let judged = judged.map(|(at, (measured, verdict))| Judged {
            measured,
            verdict: verdict.map(|verdict| beside(verdict, leader == Some(at))),
        });
        Decision { judged: judged.collect(), leader, baseline, runs }
    }
}

/// Of several orders that seem to be the cause of the same failing runs, one is: the others enclose it, or follow from it.
fn beside(verdict: Verdict, leads: bool) -> Verdict {
    match verdict {
        Verdict::Cause if !leads => Verdict::Related,
        _ => verdict,
    }
}

/// The candidate with the largest effect, by its lower bound and how well it agrees with failing over all runs. Where effects cannot be told
/// apart: the one that correlates best with failure over all runs, experiments included, then the first. To hold a thread anywhere
/// near a bug can bring it about; but then it is there, too, and in the runs that fail without the order that was forced.
pub fn leader(candidates: &[Candidate], measured: &[Measured], baseline: Rate) -> Option<usize> {
    let weighted = |at: usize, bound: f64| bound * candidates[at].agreement;
    let lower = |at: usize| weighted(at, measured[at].effect().0);
    let upper = |at: usize| weighted(at, measured[at].effect().1);
    let best_agreement = candidates.iter().map(|candidate| candidate.agreement).fold(0.0, f64::max);
    let is_cause =
        |at: usize| verdict(&measured[at].evidence(baseline, &candidates[at])) == Verdict::Cause;
    let is_likely = |at: usize| candidates[at].agreement >= LIKELY * best_agreement;
    let able = |&at: &usize| is_able(&measured[at]) && (is_cause(at) || is_likely(at));
    let able: Vec<usize> = (0..candidates.len()).filter(able).collect();
    let best = able.iter().map(|&at| lower(at)).fold(f64::MIN, f64::max);
    let contenders = able.into_iter().filter(|&at| upper(at) >= best);
    let agreement = |at: usize| candidates[at].agreement;
    contenders.reduce(|best, at| if agreement(at) > agreement(best) + NEARLY { at } else { best })
}

/// Runs with the order that a leader needs: fewer say nothing.
const MIN_REACHED: u32 = 3;

/// It makes the program fail, and to prevent it helps. To hold a thread anywhere near a bug often makes a program fail: that alone does not
/// make an order lead that correlates less than others.
fn is_able(measured: &Measured) -> bool {
    let (forced, prevented) = measured.best();
    measured.makes_it_fail()
        && forced.reached.runs >= MIN_REACHED
        && prevented.reached.runs >= MIN_REACHED
        && measured.effect().0 > 0.0
}
