//! Failure rates and how sure they are.
//!
//! Takes   counts of runs.      Gives  shares, bounds, and the probability that a difference is chance.

/// One-sided 95 % for one bound.
const Z: f64 = 1.645;

/// Failures among runs of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Rate {
    pub failures: u32,
    pub runs: u32,
}

impl Rate {
    /// Counts that cannot be are cut down to ones that can.
    pub fn new(failures: u32, runs: u32) -> Rate {
        Rate { failures: failures.min(runs), runs }
    }

    pub fn add(&mut self, failed: bool) {
        self.runs += 1;
        self.failures += u32::from(failed);
    }

    /// From 0 to 1; 0 without runs.
    pub fn share(self) -> f64 {
        f64::from(self.failures) / f64::from(self.runs.max(1))
    }

    /// Wilson's score interval: where the true share lies. Without runs: anywhere.
    pub fn bounds(self) -> (f64, f64) {
        if self.runs == 0 {
            return (0.0, 1.0);
        }
        let (runs, share) = (f64::from(self.runs), self.share());
        let square = Z * Z / runs;
        let middle = (share + square / 2.0) / (1.0 + square);
        let spread =
            Z / (1.0 + square) * (share * (1.0 - share) / runs + square / runs / 4.0).sqrt();
        ((middle - spread).max(0.0), (middle + spread).min(1.0))
    }
}

/// Bounds of the difference of two shares: Newcombe's method from Wilson's intervals.
pub fn difference(first: Rate, second: Rate) -> (f64, f64) {
    let between = first.share() - second.share();
    let (first_low, first_high) = first.bounds();
    let (second_low, second_high) = second.bounds();
    let down = (first.share() - first_low).hypot(second_high - second.share());
    let up = (first_high - first.share()).hypot(second.share() - second_low);
    let unknown = first.runs == 0 || second.runs == 0;
    if unknown {
        (first_low - second_high, first_high - second_low)
    } else {
        (between - down, between + up)
    }
}

/// Fisher's exact test, one-sided: the probability that, of all failures of both, at least this many fall on the first one if
/// failing has nothing to do with which sample a run is in.
pub fn chance(first: Rate, second: Rate) -> f64 {
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
    let sum: f64 = (first.failures..=most).map(of_first).sum();
    // 1/20 shall be 1/20 after rounding too.
    (sum - 1e-9).clamp(0.0, 1.0)
}

/// Logarithm of the number of ways to choose `some` of `all`.
fn ln_choose(all: u32, some: u32) -> f64 {
    let some = some.min(all - some);
    (0..some).map(|at| f64::from(all - at).ln() - f64::from(at + 1).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(failures: u32, runs: u32) -> Rate {
        Rate::new(failures, runs)
    }

    #[test]
    fn chances_are_those_of_the_lady_tasting_tea() {
        let is = |first: (u32, u32), second: (u32, u32), expected: f64| {
            let chance = chance(rate(first.0, first.1), rate(second.0, second.1));
            assert!((chance - expected).abs() < 1e-6, "{first:?} {second:?}: {chance}");
        };
        is((4, 4), (0, 4), 1.0 / 70.0);
        is((3, 4), (1, 4), 17.0 / 70.0);
        is((3, 3), (0, 3), 1.0 / 20.0);
        is((0, 5), (0, 5), 1.0);
        is((5, 5), (5, 5), 1.0);
        is((0, 5), (3, 5), 1.0);
        assert!(chance(rate(1000, 1000), rate(10, 100_000)) < 1e-6, "large numbers too");
    }

    #[test]
    fn bounds_enclose_the_share_and_narrow_with_runs() {
        let (few_low, few_high) = rate(3, 3).bounds();
        let (many_low, many_high) = rate(30, 30).bounds();
        assert!(few_low < many_low && few_high <= 1.0 && many_high <= 1.0);
        assert!((0.50..0.55).contains(&few_low), "{few_low}");
        assert_eq!(rate(0, 0).bounds(), (0.0, 1.0));
        assert_eq!(rate(9, 3), rate(3, 3), "what cannot be is cut down");
    }

    #[test]
    fn a_difference_without_runs_may_be_anything() {
        assert_eq!(difference(rate(0, 0), rate(0, 0)), (-1.0, 1.0));
        let (low, high) = difference(rate(10, 10), rate(0, 10));
        assert!(low > 0.6 && high > 0.99, "{low} {high}");
        let (low, high) = difference(rate(5, 10), rate(5, 10));
        assert!(low < 0.0 && high > 0.0);
    }
}
