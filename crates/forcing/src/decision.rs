//! What the experiments decided.

use crate::candidate::Candidate;
use crate::measured::Measured;
use crate::statistics::Rate;
use crate::verdict::{Doubt, Verdict};

/// What is not shown to be the cause leads only if it correlates nearly as well as the best.
pub(crate) const LIKELY: f64 = 0.7;
/// Agreements rest on some twenty failing runs of a hunt, and experiments: two of these runs are this much.
pub(crate) const NEARLY: f64 = 0.1;
/// A guess has nothing but the agreement: one run does not decide it.
const NEARLY_BY_GUESS: f64 = 0.05;

/// All candidates, measured and judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// By candidate; those that nobody tried have no verdict.
    pub judged: Vec<Judged>,
    /// The candidate with the largest measured effect; where the experiments cannot tell, the best guess. None: no
    /// experiment was made.
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
    /// What keeps it from being the cause, if it is likely to be.
    pub doubt: Option<Doubt>,
}

impl Decision {
    pub fn of(
        candidates: &[Candidate],
        measured: Vec<Measured>,
        baseline: Rate,
        runs: u32,
        earlier: &dyn Fn(usize, usize) -> bool,
    ) -> Decision {
        let own = |(candidate, measured): (&Candidate, &Measured)| {
            (measured.ways_tried() > 0).then(|| measured.verdict(baseline, candidate))
        };
        let verdicts: Vec<_> = candidates.iter().zip(&measured).map(own).collect();
        let doubts: Vec<_> = candidates
            .iter()
            .zip(&measured)
            .map(|(candidate, measured)| measured.doubt(baseline, candidate))
            .collect();
        let guess = || best_guess(candidates, &measured, baseline, earlier);
        let leader = leader(candidates, &measured, baseline, earlier)
            .or_else(|| guess().filter(|_| runs > 0));
        let judged = measured.into_iter().zip(verdicts).enumerate();
        let judged = judged.map(|(at, (measured, verdict))| Judged {
            measured,
            verdict: verdict.map(|verdict| beside(verdict, leader == Some(at))),
            doubt: doubts[at],
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
/// apart: the one that correlates best with failure over all runs, experiments included, then the earliest. To hold a thread anywhere
/// near a bug can bring it about; but then it is there, too, and in the runs that fail without the order that was forced.
pub fn leader(
    candidates: &[Candidate],
    measured: &[Measured],
    baseline: Rate,
    earlier: &dyn Fn(usize, usize) -> bool,
) -> Option<usize> {
    let weighted = |at: usize, bound: f64| bound * candidates[at].agreement;
    let lower = |at: usize| weighted(at, measured[at].effect().0);
    let upper = |at: usize| weighted(at, measured[at].effect().1);
    let best = best_agreement(candidates, measured, baseline);
    let best_untried = best_untried(candidates, measured, baseline);
    let doubt = |at: usize| measured[at].doubt(baseline, &candidates[at]);
    let may_lead = |at: usize| match measured[at].verdict(baseline, &candidates[at]) {
        Verdict::Cause => true,
        // What nobody could make may be the one that it was not told apart from.
        Verdict::Likely if doubt(at) == Some(Doubt::Confounded) => {
            candidates[at].agreement + NEARLY >= best_untried
        }
        Verdict::Likely => candidates[at].agreement >= LIKELY * best,
        // An effect that chance may have made does not outdo a correlation that it has not.
        Verdict::Related | Verdict::NotReproduced => candidates[at].agreement + NEARLY >= best,
        Verdict::Refuted => false,
    };
    let able: Vec<usize> =
        (0..candidates.len()).filter(|&at| is_able(&measured[at]) && may_lead(at)).collect();
    let best = able.iter().map(|&at| lower(at)).fold(f64::MIN, f64::max);
    let contenders: Vec<usize> = able.into_iter().filter(|&at| upper(at) >= best).collect();
    best_correlated(candidates, &contenders, NEARLY, earlier)
}

/// Where no experiment shows an effect: what correlates best, unless it was made and did no harm. That nobody could make it is nothing against it.
fn best_guess(
    candidates: &[Candidate],
    measured: &[Measured],
    baseline: Rate,
    earlier: &dyn Fn(usize, usize) -> bool,
) -> Option<usize> {
    let (standing, fallen): (Vec<usize>, Vec<usize>) = (0..candidates.len())
        .partition(|&at| is_standing(&candidates[at], &measured[at], baseline));
    let guess = |of: &[usize]| best_correlated(candidates, of, NEARLY_BY_GUESS, earlier);
    guess(&standing).or_else(|| guess(&fallen))
}

/// Whether experiments leave a candidate the chance to be the cause.
fn is_standing(candidate: &Candidate, measured: &Measured, baseline: Rate) -> bool {
    !measured.is_harmless() && measured.verdict(baseline, candidate) != Verdict::Refuted
}

/// Of the candidates that can be the cause.
pub(crate) fn best_agreement(
    candidates: &[Candidate],
    measured: &[Measured],
    baseline: Rate,
) -> f64 {
    best_of(candidates, measured, |candidate, measured| is_standing(candidate, measured, baseline))
}

/// Of the candidates that too few runs had to say anything.
fn best_untried(candidates: &[Candidate], measured: &[Measured], baseline: Rate) -> f64 {
    best_of(candidates, measured, |candidate, measured| {
        measured.verdict(baseline, candidate) == Verdict::NotReproduced && !measured.is_harmless()
    })
}

/// The best agreement of the candidates that are meant.
fn best_of(
    candidates: &[Candidate],
    measured: &[Measured],
    is_meant: impl Fn(&Candidate, &Measured) -> bool,
) -> f64 {
    let meant = candidates.iter().zip(measured).filter(|(one, measured)| is_meant(one, measured));
    meant.map(|(candidate, _)| candidate.agreement).fold(0.0, f64::max)
}

/// The one that correlates best; of those that nearly do, the one that comes before the most others: a cause comes before its effects.
fn best_correlated(
    candidates: &[Candidate],
    of: &[usize],
    nearly: f64,
    earlier: &dyn Fn(usize, usize) -> bool,
) -> Option<usize> {
    let best = of.iter().map(|&at| candidates[at].agreement).fold(0.0, f64::max);
    earliest(candidates, of, best - nearly, earlier)
}

/// Of those that agree at least so well, the one that comes before the most others; of equals a use of freed memory, then the one that agrees best, then the first.
fn earliest(
    candidates: &[Candidate],
    of: &[usize],
    least: f64,
    earlier: &dyn Fn(usize, usize) -> bool,
) -> Option<usize> {
    let near: Vec<usize> =
        of.iter().copied().filter(|&at| candidates[at].agreement >= least).collect();
    let before = |at: usize| near.iter().filter(|&&other| earlier(at, other)).count();
    let preference = |at: usize| (before(at), candidates[at].uses_freed, candidates[at].agreement);
    near.iter()
        .copied()
        .reduce(|first, at| if preference(at) > preference(first) { at } else { first })
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
