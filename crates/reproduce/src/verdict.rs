//! What an order has to do with the failure, from runs that were forced into it, runs that were kept out of it, and runs left alone.
//!
//! Takes   counts.      Gives  a `Confirmation`. The rules and their reasons: docs/design/0011-forcing-orders.md.
//! Invents a cause where all of a few runs failed by chance: the fewest runs that say anything do so wrongly once in twenty times.

use unpick_findings::{Confirmation, Confirmed};

/// 3 of 3 against 0 of 3 is the smallest difference that chance makes at most once in twenty times.
pub const FEWEST_HITS: u32 = 3;
/// A difference that chance makes more often is none.
const CHANCE: f64 = 0.05;
/// Nine of ten: a failing run can hide its failure, or be cut short.
const NEARLY_ALWAYS: f64 = 0.9;

/// Runs, and how they ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trials {
    pub forced_runs: u32,
    /// Runs in which the order came about.
    pub forced_hits: u32,
    /// Of `forced_hits`.
    pub forced_failures: u32,
    pub inverse_runs: u32,
    /// Runs in which threads came by in the inverse order.
    pub inverse_hits: u32,
    /// Of `inverse_hits`.
    pub inverse_failures: u32,
    pub plain_runs: u32,
    pub plain_failures: u32,
}

impl Trials {
    /// As a finding keeps it.
    pub fn confirmed(&self) -> Confirmed {
        Confirmed {
            forced_runs: self.forced_runs,
            forced_hits: self.forced_hits,
            forced_failures: self.forced_failures,
            inverse_runs: self.inverse_runs,
            inverse_hits: self.inverse_hits,
            inverse_failures: self.inverse_failures,
            whole_function: false,
            harmless_runs: 0,
            needless_runs: 0,
            verdict: self.verdict(),
        }
    }

    /// The same, with other runs that were kept out of the order.
    #[must_use]
    pub fn inverted(self, runs: u32, hits: u32, failures: u32) -> Trials {
        Trials { inverse_runs: runs, inverse_hits: hits, inverse_failures: failures, ..self }
    }

    /// Whether it makes the program fail as a cause does, but is not one by the runs that were kept out of it.
    pub fn could_be_cause(&self) -> bool {
        let forced = Sample::new(self.forced_hits, self.forced_failures);
        forced.says_something()
            && forced.fails_nearly_always()
            && self.verdict() != Confirmation::Cause
    }

    /// What the order has to do with the failure.
    pub fn verdict(&self) -> Confirmation {
        let forced = Sample::new(self.forced_hits, self.forced_failures);
        let inverse = Sample::new(self.inverse_hits, self.inverse_failures);
        let plain = Sample::new(self.plain_runs, self.plain_failures);
        let has_comparison = inverse.says_something() || plain.says_something();
        if !forced.says_something() || !has_comparison {
            return Confirmation::NotReached;
        }
        if inverse.says_something() {
            with_inverse(forced, inverse, plain)
        } else if forced.clearly_more_than(plain) {
            // Enough to fail; whether it is needed nobody has seen.
            Confirmation::Contributes
        } else {
            Confirmation::Symptom
        }
    }
}

fn with_inverse(forced: Sample, inverse: Sample, plain: Sample) -> Confirmation {
    if forced.fails_nearly_always() && inverse.failures == 0 {
        return Confirmation::Cause;
    }
    let is_needed = plain.clearly_more_than(inverse) || forced.clearly_more_than(inverse);
    // To be held may by itself make a program fail: then it does so in both orders.
    if inverse.failures > 0 && !is_needed {
        return Confirmation::Symptom;
    }
    if is_needed || forced.clearly_more_than(plain) {
        Confirmation::Contributes
    } else {
        Confirmation::Symptom
    }
}

/// Runs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sample {
    runs: u32,
    failures: u32,
}

impl Sample {
    fn new(runs: u32, failures: u32) -> Sample {
        Sample { runs, failures: failures.min(runs) }
    }

    fn says_something(self) -> bool {
        self.runs >= FEWEST_HITS
    }

    fn fails_nearly_always(self) -> bool {
        f64::from(self.failures) >= NEARLY_ALWAYS * f64::from(self.runs)
    }

    /// Whether chance would make a difference like this only seldom. Between samples that say nothing there is none.
    fn clearly_more_than(self, other: Sample) -> bool {
        let both = self.says_something() && other.says_something();
        both && chance_of_as_many(self, other) <= CHANCE
    }
}

/// Fisher's exact test, one-sided: how probable it is that, of all failures of both samples, at least as many fall on the first one, if
/// failing has nothing to do with which sample a run is in.
fn chance_of_as_many(first: Sample, second: Sample) -> f64 {
    let all_failures = first.failures + second.failures;
    let most = all_failures.min(first.runs);
    let all = ln_choose(first.runs + second.runs, all_failures);
    let of_first = |failures: u32| {
        let in_second = all_failures - failures;
        if in_second > second.runs {
            return 0.0;
        }
        (ln_choose(first.runs, failures) + ln_choose(second.runs, in_second) - all).exp()
    };
    // Less a little: one in twenty shall be one in twenty after rounding too.
    (first.failures..=most).map(of_first).sum::<f64>() - 1e-9
}

/// Logarithm of the number of ways to choose `some` of `all`.
fn ln_choose(all: u32, some: u32) -> f64 {
    let some = some.min(all - some);
    (0..some).map(|at| f64::from(all - at).ln() - f64::from(at + 1).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chance(first: (u32, u32), second: (u32, u32)) -> f64 {
        let sample = |(failures, runs)| Sample { runs, failures };
        chance_of_as_many(sample(first), sample(second))
    }

    #[test]
    fn chances_are_those_of_the_lady_tasting_tea() {
        assert!((chance((4, 4), (0, 4)) - 1.0 / 70.0).abs() < 1e-6);
        assert!((chance((3, 4), (1, 4)) - 17.0 / 70.0).abs() < 1e-6);
        assert!((chance((3, 3), (0, 3)) - 1.0 / 20.0).abs() < 1e-6);
        assert!((chance((0, 5), (0, 5)) - 1.0).abs() < 1e-6);
        assert!((chance((5, 5), (5, 5)) - 1.0).abs() < 1e-6);
        assert!((chance((0, 5), (3, 5)) - 1.0).abs() < 1e-6);
        assert!(chance((1000, 1000), (10, 100_000)) < 1e-6, "large numbers too");
    }

    /// Failures and runs: forced, inverse, plain.
    fn verdict(forced: (u32, u32), inverse: (u32, u32), plain: (u32, u32)) -> Confirmation {
        let trials = Trials {
            forced_runs: forced.1 + 5,
            forced_hits: forced.1,
            forced_failures: forced.0,
            inverse_runs: inverse.1,
            inverse_hits: inverse.1,
            inverse_failures: inverse.0,
            plain_runs: plain.1,
            plain_failures: plain.0,
        };
        trials.verdict()
    }

    #[test]
    fn a_cause_fails_nearly_always_when_forced_and_never_when_inverted() {
        use Confirmation::{Cause, Contributes};
        assert_eq!(verdict((20, 20), (0, 20), (3, 100)), Cause);
        assert_eq!(verdict((3, 3), (0, 3), (0, 0)), Cause, "the fewest that say something");
        assert_eq!(verdict((18, 20), (0, 20), (3, 100)), Cause);
        assert_eq!(verdict((17, 20), (0, 20), (3, 100)), Contributes, "not nearly always");
        assert_eq!(verdict((20, 20), (1, 20), (3, 100)), Contributes, "once without it");
        assert_eq!(verdict((20, 20), (0, 20), (100, 100)), Cause, "it fails always, but not so");
    }

    #[test]
    fn what_makes_failing_more_frequent_or_is_needed_for_it_contributes() {
        use Confirmation::Contributes;
        assert_eq!(verdict((10, 20), (0, 20), (3, 100)), Contributes, "more is needed");
        assert_eq!(verdict((10, 20), (0, 20), (50, 100)), Contributes, "it is always there");
        assert_eq!(verdict((3, 5), (0, 5), (2, 100)), Contributes);
        assert_eq!(verdict((20, 20), (2, 40), (50, 100)), Contributes, "less, but not never");
        assert_eq!(verdict((20, 20), (0, 2), (3, 100)), Contributes, "the inverse was not reached");
    }

    #[test]
    fn what_fails_as_often_without_it_is_a_symptom() {
        use Confirmation::Symptom;
        assert_eq!(verdict((2, 20), (0, 20), (10, 100)), Symptom, "no more than plain");
        assert_eq!(verdict((0, 20), (0, 20), (10, 100)), Symptom, "never when forced");
        assert_eq!(verdict((20, 20), (20, 20), (3, 100)), Symptom, "to be held is enough to fail");
        assert_eq!(verdict((20, 20), (20, 20), (100, 100)), Symptom, "whatever the order");
        assert_eq!(verdict((1, 20), (0, 0), (5, 100)), Symptom, "no inverse, no more than plain");
        assert_eq!(verdict((0, 3), (0, 3), (0, 3)), Symptom);
    }

    #[test]
    fn too_few_hits_say_nothing() {
        use Confirmation::NotReached;
        assert_eq!(verdict((2, 2), (0, 20), (3, 100)), NotReached);
        assert_eq!(verdict((0, 0), (0, 0), (0, 0)), NotReached);
        assert_eq!(verdict((20, 20), (0, 2), (0, 2)), NotReached, "nothing to compare with");
    }

    #[test]
    fn counts_that_cannot_be_are_harmless() {
        assert_eq!(verdict((50, 20), (9, 0), (1, 0)), Confirmation::NotReached);
        assert_eq!(verdict((50, 20), (0, 20), (9, 1)), Confirmation::Cause);
    }
}
