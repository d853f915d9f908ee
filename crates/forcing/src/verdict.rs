//! What an order has to do with the failure, by counts of runs.
//!
//! Takes   runs in which it was forced, runs in which it was prevented, baseline runs, and how well it agrees with failing over all runs.
//! Gives   a `Verdict`.
//! Invents a difference where chance made one: at most once in a hundred comparisons (`ALPHA`).

use crate::statistics::{Rate, chance, difference};

/// A difference that chance makes more often is none. The search looks several times while runs come in: that is why it is not 0.05.
pub const ALPHA: f64 = 0.01;
/// Fewer runs of a kind say nothing: 5 of 5 against 0 of 5 is the smallest difference below `ALPHA`.
pub const MIN_RUNS: u32 = 5;
/// An order that is a root cause makes nearly every run fail; a failure can still be masked by what else a run does.
pub(crate) const SUFFICIENT: f64 = 0.8;
/// An order of code may do no harm for some values: then it is enough that most runs fail, and clearly more than without it.
const MOSTLY: f64 = 0.5;
/// A run in which the order is prevented may still fail by an instance of it that nobody watched.
const REMOVED: f64 = 0.05;
/// A root cause is in the runs that fail and not in those that pass, whatever was forced in them: of the runs that have one of both, most
/// have both. Access windows miss an order in some runs, and an order of code may do no harm for some values.
const AGREES: f64 = 0.5;
/// An order that spans a round of a thread's work has to be in nearly all runs that fail, and in hardly any that passes: to force it holds the thread
/// somewhere in between, and to prevent it keeps others out of all of that.
const AGREES_FULLY: f64 = 0.9;
/// Where the program fails so often by itself that forcing an order cannot be seen to raise it, all that is shown is that keeping threads apart
/// helps, which it does for any bug. The few runs that pass are those in which threads hardly met, so most orders of two threads correlate with failure: then
/// the order has to be in all runs that fail, and in none that passes, but for one of some thirty.
const AGREES_ALWAYS: f64 = 0.97;
/// A root cause is in nearly all failing runs of the hunt, which nobody forced; an order that is in fewer is one of several ways in which it shows.
const COVERS: f64 = 0.8;
/// Forcing raises the rate by this much at least: with many runs any difference is clear, and to hold threads makes a small one.
const RAISED: f64 = 0.25;
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
    /// The share of the failing runs of the hunt that do not have it.
    pub missed: f64,
    /// A whole round of a thread's work is between its accesses.
    pub spans_operations: bool,
    /// Another order that correlates as well was forced and prevented together with it.
    pub confounded: bool,
    /// It does no harm where threads are held at other places.
    pub depends_on_place: bool,
}

/// What keeps an order that makes the program fail from being the cause: what is not shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Doubt {
    /// Too few runs in which it was prevented.
    NotPrevented,
    /// Runs fail although it is prevented.
    FailsWhenPrevented,
    /// Too few runs fail when it is forced.
    SeldomFails,
    /// Failing runs of the hunt lack it.
    MissedFailures,
    /// The program fails nearly as often by itself, and the order does not agree with failing fully.
    FailsByItself,
    /// A whole round of a thread's work is between its accesses, and it does not agree with failing fully.
    SpansOperations,
    /// Passing runs have it.
    InPassingRuns,
    /// Another order cannot be told from it.
    Confounded,
    /// It does harm only where threads are held at certain places.
    DependsOnPlace,
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
        let enough = if self.is_raised() { MOSTLY } else { SUFFICIENT };
        self.forced.runs >= MIN_RUNS && self.forced.share() >= enough
    }

    /// What speaks against an order that is sufficient, and prevents failures if it is prevented.
    fn disagreement(&self) -> Option<Doubt> {
        let is_raised = self.is_raised() && difference(self.forced, self.baseline).0 >= RAISED;
        let agrees_fully = self.agreement >= AGREES_FULLY;
        let doubts = [
            (self.missed > 1.0 - COVERS, Doubt::MissedFailures),
            (self.agreement < AGREES, Doubt::InPassingRuns),
            (!is_raised && self.agreement < AGREES_ALWAYS, Doubt::FailsByItself),
            (self.spans_operations && !agrees_fully, Doubt::SpansOperations),
            (self.confounded, Doubt::Confounded),
            (self.depends_on_place, Doubt::DependsOnPlace),
        ];
        doubts.into_iter().find_map(|(is_there, doubt)| is_there.then_some(doubt))
    }

    /// The program failed more often than without it, too seldom to be sure. A program that fails often by itself is compared with what
    /// it does where the order cannot be.
    fn is_tendency(&self) -> bool {
        let is_prevented = self.prevented.runs >= MIN_RUNS;
        let without = if is_prevented { self.prevented } else { self.baseline };
        self.forced.share() > without.share() + TENDENCY
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
        && !is_clearly_more(evidence.forced, evidence.prevented)
        && !evidence.is_tendency();
    if fails_when_held || !(raised || lowered || evidence.is_tendency()) {
        return Verdict::Refuted;
    }
    match (evidence.is_sufficient(), evidence.is_removed() && lowered) {
        (true, true) if evidence.disagreement().is_none() => Verdict::Cause,
        (true, true) => Verdict::Likely,
        (true, false) if evidence.prevented.runs < MIN_RUNS => Verdict::Likely,
        (false, true) if raised => Verdict::Likely,
        _ => Verdict::Related,
    }
}

/// What is not shown of an order whose verdict is `Likely`, the first thing that is missing; none: another verdict.
pub fn doubt(evidence: &Evidence) -> Option<Doubt> {
    if verdict(evidence) != Verdict::Likely {
        return None;
    }
    if evidence.prevented.runs < MIN_RUNS {
        Some(Doubt::NotPrevented)
    } else if !evidence.is_removed() {
        Some(Doubt::FailsWhenPrevented)
    } else if !evidence.is_sufficient() {
        Some(Doubt::SeldomFails)
    } else {
        evidence.disagreement()
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
            ..Evidence::default()
        })
    }

    #[test]
    fn a_cause_fails_when_forced_and_never_when_prevented() {
        assert_eq!(of((5, 5), (0, 5), (0, 5)), Verdict::Cause, "the fewest that say something");
        assert_eq!(of((20, 20), (0, 20), (3, 100)), Verdict::Cause);
        assert_eq!(of((16, 20), (0, 20), (3, 100)), Verdict::Cause, "masked in some runs");
        assert_eq!(of((10, 20), (0, 20), (3, 100)), Verdict::Cause, "harmless for some values");
        assert_eq!(of((20, 20), (1, 20), (3, 100)), Verdict::Cause, "one unwatched instance");
        assert_eq!(
            of((20, 20), (0, 20), (100, 100)),
            Verdict::Cause,
            "it fails always, but not so"
        );
    }

    #[test]
    fn what_runs_survive_or_fail_without_is_not_their_cause() {
        assert_eq!(agreeing(0.4, (20, 20), (0, 20), (3, 100)), Verdict::Likely);
    }

    #[test]
    fn what_many_failing_runs_lack_is_not_their_cause() {
        let of = |missed: f64| {
            let (forced, prevented, baseline) =
                (Rate::new(20, 20), Rate::new(0, 20), Rate::new(3, 100));
            let agreement = 0.8;
            verdict(&Evidence {
                forced,
                prevented,
                baseline,
                agreement,
                missed,
                ..Evidence::default()
            })
        };
        assert_eq!(of(0.1), Verdict::Cause, "windows miss some");
        assert_eq!(of(0.57), Verdict::Likely);
    }

    #[test]
    fn what_encloses_much_must_agree_with_failing_fully() {
        let of = |agreement: f64| {
            let (forced, prevented, baseline) =
                (Rate::new(20, 20), Rate::new(0, 20), Rate::new(3, 100));
            let spans_operations = true;
            verdict(&Evidence {
                forced,
                prevented,
                baseline,
                agreement,
                spans_operations,
                ..Evidence::default()
            })
        };
        assert_eq!((of(0.79), of(0.95)), (Verdict::Likely, Verdict::Cause));
    }

    #[test]
    fn where_forcing_raises_nothing_the_order_must_agree_with_failing_fully() {
        assert_eq!(agreeing(0.8, (10, 10), (0, 10), (12, 17)), Verdict::Likely);
        assert_eq!(agreeing(0.8, (40, 40), (0, 40), (31, 40)), Verdict::Likely, "clear, but small");
        assert_eq!(agreeing(0.8, (20, 20), (0, 10), (8, 20)), Verdict::Cause);
        assert_eq!(agreeing(0.95, (10, 10), (0, 10), (12, 17)), Verdict::Likely);
        assert_eq!(agreeing(0.98, (10, 10), (0, 10), (12, 17)), Verdict::Cause);
    }

    #[test]
    fn what_was_forced_and_prevented_together_with_another_order_may_be_that_one() {
        let rate = Rate::new;
        let evidence = Evidence {
            forced: rate(20, 20),
            prevented: rate(0, 20),
            baseline: rate(3, 100),
            agreement: 1.0,
            confounded: true,
            ..Evidence::default()
        };
        assert_eq!(verdict(&evidence), Verdict::Likely);
    }

    #[test]
    fn what_is_half_shown_is_likely() {
        assert_eq!(of((20, 20), (0, 0), (3, 100)), Verdict::Likely, "it could not be prevented");
        assert_eq!(of((8, 20), (0, 20), (3, 100)), Verdict::Likely, "something else is needed too");
    }

    #[test]
    fn what_only_changes_the_rate_is_related() {
        assert_eq!(of((20, 20), (4, 20), (50, 100)), Verdict::Related, "less often, but not never");
        assert_eq!(of((8, 20), (0, 0), (3, 100)), Verdict::Related);
        assert_eq!(of((10, 20), (0, 20), (50, 100)), Verdict::Related, "it is always there");
        assert_eq!(of((4, 5), (0, 5), (0, 5)), Verdict::Related, "too few to be sure");
        assert_eq!(of((3, 5), (0, 5), (7, 15)), Verdict::Related, "it fails often by itself");
        assert_eq!(of((5, 5), (1, 5), (0, 6)), Verdict::Related, "few runs refute nothing");
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
