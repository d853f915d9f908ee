//! What an order has to do with the failure, by counts of runs.
//!
//! Takes   runs in which it was forced, runs in which it was prevented, baseline runs, and how well it agrees with failing over all runs.
//! Gives   a `Verdict`.
//! Invents a difference where chance made one: at most once in a hundred comparisons (`ALPHA`).

use crate::statistics::{Rate, chance};

/// A difference that chance makes more often is none. The search looks several times while runs come in: that is why it is not 0.05.
pub const ALPHA: f64 = 0.01;
/// Fewer runs of a kind say nothing: 5 of 5 against 0 of 5 is the smallest difference below `ALPHA`.
pub const MIN_RUNS: u32 = 5;
/// An order that is a root cause makes nearly every run fail; a failure can still be masked by what else a run does.
const SUFFICIENT: f64 = 0.8;
/// A run in which the order is prevented may still fail by an instance of it that nobody watched.
const REMOVED: f64 = 0.05;
/// A root cause is in the runs that fail and not in those that pass, whatever was forced in them. An order that encloses it can be forced and
/// prevented as well, but then runs pass with it, or fail without it. Access windows miss an order in some runs.
const AGREES: f64 = 0.7;
/// A larger difference than this is not refuted by few runs, even if chance may have made it.
const TENDENCY: f64 = 0.2;

/// What an order has to do with the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// Forced, nearly every run fails; prevented, none does; and over all runs it agrees with failing.
    Cause,
    /// It makes the program fail, but one of the three is not shown.
    Likely,
    /// It seems to change how often the program fails.
    Related,
    /// Too few runs had the order to say anything.
    NotReproduced,
    /// The program fails as often without it.
    Refuted,
}

/// Runs of each kind; only those in which what was asked for happened.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Evidence {
    pub forced: Rate,
    pub prevented: Rate,
    pub baseline: Rate,
    /// The runs that fail with the order among those that fail or have it, over all runs.
    pub agreement: f64,
}

impl Evidence {
    /// Forcing it makes the program fail more often.
    fn is_raised(&self) -> bool {
        is_clearly_more(self.forced, self.baseline)
    }

    /// Preventing it makes the program fail less often.
    fn is_lowered(&self) -> bool {
        is_clearly_more(self.forced, self.prevented)
            || is_clearly_more(self.baseline, self.prevented)
    }

    fn is_removed(&self) -> bool {
        self.prevented.runs >= MIN_RUNS && self.prevented.share() <= REMOVED
    }

    fn is_sufficient(&self) -> bool {
        self.forced.runs >= MIN_RUNS && self.forced.share() >= SUFFICIENT
    }

    /// The program failed more often than without it, too seldom to be sure.
    fn is_tendency(&self) -> bool {
        let without = self.prevented.share().max(self.baseline.share());
        self.forced.share() > without + TENDENCY
    }

    fn is_tested(&self) -> bool {
        self.forced.runs >= MIN_RUNS
            && (self.prevented.runs >= MIN_RUNS || self.baseline.runs >= MIN_RUNS)
    }
}

/// The verdict that the evidence allows.
pub fn verdict(evidence: &Evidence) -> Verdict {
    if !evidence.is_tested() {
        return Verdict::NotReproduced;
    }
    let (raised, lowered) = (evidence.is_raised(), evidence.is_lowered());
    // Being held may by itself make a program fail: then it does so whether the order is forced or prevented.
    let fails_when_held = evidence.prevented.runs >= MIN_RUNS
        && evidence.prevented.failures > 0
        && !is_clearly_more(evidence.forced, evidence.prevented);
    if fails_when_held || !(raised || lowered || evidence.is_tendency()) {
        return Verdict::Refuted;
    }
    match (evidence.is_sufficient(), evidence.is_removed() && lowered) {
        (true, true) if evidence.agreement >= AGREES => Verdict::Cause,
        (true, true) => Verdict::Likely,
        (true, false) if evidence.prevented.runs < MIN_RUNS => Verdict::Likely,
        (false, true) if raised => Verdict::Likely,
        _ => Verdict::Related,
    }
}

fn is_clearly_more(first: Rate, second: Rate) -> bool {
    first.runs >= MIN_RUNS && second.runs >= MIN_RUNS && chance(first, second) <= ALPHA
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Failures and runs: forced, prevented, baseline.
    fn of(forced: (u32, u32), prevented: (u32, u32), baseline: (u32, u32)) -> Verdict {
        agreeing(1.0, forced, prevented, baseline)
    }

    fn agreeing(
        agreement: f64,
        forced: (u32, u32),
        prevented: (u32, u32),
        baseline: (u32, u32),
    ) -> Verdict {
        let rate = |(failures, runs)| Rate::new(failures, runs);
        verdict(&Evidence {
            forced: rate(forced),
            prevented: rate(prevented),
            baseline: rate(baseline),
            agreement,
        })
    }

    #[test]
    fn a_cause_fails_when_forced_and_never_when_prevented() {
        assert_eq!(of((5, 5), (0, 5), (0, 0)), Verdict::Cause, "the fewest that say something");
        assert_eq!(of((20, 20), (0, 20), (3, 100)), Verdict::Cause);
        assert_eq!(of((16, 20), (0, 20), (3, 100)), Verdict::Cause, "masked in some runs");
        assert_eq!(of((20, 20), (1, 20), (3, 100)), Verdict::Cause, "one unwatched instance");
        assert_eq!(
            of((20, 20), (0, 20), (100, 100)),
            Verdict::Cause,
            "it fails always, but not so"
        );
    }

    #[test]
    fn what_runs_survive_or_fail_without_is_not_their_cause() {
        assert_eq!(agreeing(0.5, (20, 20), (0, 20), (3, 100)), Verdict::Likely);
    }

    #[test]
    fn what_is_half_shown_is_likely() {
        assert_eq!(of((20, 20), (0, 0), (3, 100)), Verdict::Likely, "it could not be prevented");
        assert_eq!(
            of((10, 20), (0, 20), (3, 100)),
            Verdict::Likely,
            "something else is needed too"
        );
    }

    #[test]
    fn what_only_changes_the_rate_is_related() {
        assert_eq!(of((20, 20), (4, 20), (50, 100)), Verdict::Related, "less often, but not never");
        assert_eq!(of((10, 20), (0, 0), (3, 100)), Verdict::Related);
        assert_eq!(of((10, 20), (0, 20), (50, 100)), Verdict::Related, "it is always there");
        assert_eq!(of((4, 5), (0, 5), (0, 5)), Verdict::Related, "too few to be sure");
    }

    #[test]
    fn what_fails_as_often_without_it_is_refuted() {
        assert_eq!(of((2, 20), (0, 20), (10, 100)), Verdict::Refuted, "no more than baseline");
        assert_eq!(of((0, 20), (0, 20), (10, 100)), Verdict::Refuted, "never when forced");
        assert_eq!(of((20, 20), (20, 20), (3, 100)), Verdict::Refuted, "being held is enough");
        assert_eq!(of((20, 20), (20, 20), (100, 100)), Verdict::Refuted, "whatever the order");
    }

    #[test]
    fn too_few_runs_say_nothing() {
        assert_eq!(of((4, 4), (0, 20), (3, 100)), Verdict::NotReproduced);
        assert_eq!(of((0, 0), (0, 0), (0, 0)), Verdict::NotReproduced);
        assert_eq!(of((20, 20), (0, 2), (0, 2)), Verdict::NotReproduced, "nothing to compare with");
    }
}
