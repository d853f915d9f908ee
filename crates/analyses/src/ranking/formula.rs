//! Formulas for suspiciousness.

/// In how many runs something occurred, and how many there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub failed: u32,
    pub passed: u32,
    pub all_failed: u32,
    pub all_passed: u32,
}

/// How the score is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Formula {
    #[default]
    Jaccard,
    Tarantula,
    Ochiai,
}

impl Formula {
    pub const ALL: [Formula; 3] = [Formula::Jaccard, Formula::Tarantula, Formula::Ochiai];

    pub const fn name(self) -> &'static str {
        match self {
            Formula::Jaccard => "jaccard",
            Formula::Tarantula => "tarantula",
            Formula::Ochiai => "ochiai",
        }
    }

    pub fn from_name(name: &str) -> Option<Formula> {
        Formula::ALL.into_iter().find(|formula| formula.name() == name)
    }

    /// From 0 to 1. Equal fractions give equal numbers: each is one division of whole numbers.
    pub fn score(self, counts: &Counts) -> f64 {
        let Counts { failed, passed, all_failed, all_passed } = *counts;
        let [failed, passed] = [failed, passed].map(u64::from);
        let [all_failed, all_passed] = [all_failed, all_passed].map(u64::from);
        match self {
            Formula::Jaccard => ratio(failed, all_failed + passed),
            // The share of failing runs against the sum of both shares; without a passing run that share is 0.
            Formula::Tarantula if all_passed == 0 => ratio(failed, failed),
            Formula::Tarantula => {
                ratio(failed * all_passed, failed * all_passed + passed * all_failed)
            }
            Formula::Ochiai => ratio(failed * failed, all_failed * (failed + passed)).sqrt(),
        }
    }
}

/// 0 for 0 of nothing.
fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scores(failed: u32, passed: u32) -> [f64; 3] {
        let counts = Counts { failed, passed, all_failed: 4, all_passed: 16 };
        Formula::ALL.map(|formula| formula.score(&counts))
    }

    #[test]
    fn scores_are_as_worked_out_by_hand() {
        assert_eq!(scores(4, 0), [1.0, 1.0, 1.0]);
        assert_eq!(scores(0, 8), [0.0, 0.0, 0.0]);
        assert_eq!(scores(2, 4), [0.25, 2.0 / 3.0, (4.0_f64 / 24.0).sqrt()]);
        assert_eq!(scores(1, 0), [0.25, 1.0, 0.5]);
    }

    #[test]
    fn without_failing_or_passing_runs_there_is_still_a_number() {
        for formula in Formula::ALL {
            assert_eq!(
                formula.score(&Counts { passed: 3, all_passed: 3, ..Counts::default() }),
                0.0
            );
            assert_eq!(
                formula.score(&Counts { failed: 3, all_failed: 3, ..Counts::default() }),
                1.0
            );
        }
    }

    #[test]
    fn formulas_have_names() {
        for formula in Formula::ALL {
            assert_eq!(Formula::from_name(formula.name()), Some(formula));
        }
    }
}
