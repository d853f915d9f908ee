//! Rules: of each pair of variables, which of the 18 candidates `A1(x) => A2(y)` hold.
//!
//! Takes   the database, thresholds.      Gives  ranked rules with support and confidence; each pair leads with its strongest.
//! Misses  rules of pairs that few functions show.      Invents  rules of variables that are merely popular; `informative` drops most.
//! Cost    the square of the variables of a function, per function. Method: MUVI (Lu et al. 2007), steps 2 and 3.

mod informative;
mod pairs;

use crate::correlation::AccessType;
use crate::database::{Database, Source, Touch, types_of};
pub use informative::{Popularity, is_lock};
use pairs::{PairCounts, count_pairs};

/// The thresholds of MUVI.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Thresholds {
    /// Statements between two accesses that are still together.
    pub max_distance: u32,
    /// Functions that must show a rule.
    pub min_support: usize,
    /// Share of the functions with the left access that must have the right one.
    pub min_confidence: f64,
}

impl Thresholds {
    /// Small programs say everything a few times only; in large ones chance is at work.
    pub fn for_size(functions: usize) -> Self {
        let min_support = match functions {
            0..100 => 3,
            100..1000 => 4,
            1000..10_000 => 6,
            _ => 8,
        };
        Self { max_distance: 20, min_support, min_confidence: 0.8 }
    }
}

/// Number of a type as a bit of [`types_of`].
pub fn bit_of(access: AccessType) -> usize {
    match access {
        AccessType::Read => 0,
        AccessType::Write => 1,
        AccessType::Any => 2,
    }
}

/// A rule that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    pub left: (AccessType, u32),
    pub right: (AccessType, u32),
    pub support: usize,
    pub left_functions: usize,
    pub right_functions: usize,
    pub score: f64,
}

impl Rule {
    pub fn confidence(&self) -> f64 {
        self.support as f64 / self.left_functions as f64
    }
}

/// The rules of one pair that hold, the strongest first.
pub type PairRules = Vec<Rule>;

/// All pairs with rules that hold, the strongest first.
pub fn find_rules(database: &Database, thresholds: &Thresholds) -> Vec<PairRules> {
    let popularity = Popularity::of(database);
    let mut all: Vec<PairRules> = count_pairs(database, thresholds)
        .iter()
        .filter_map(|((x, y), counts)| {
            let mut rules = rules_of_pair(database, &popularity, thresholds, (*x, *y), counts);
            rules.sort_by(|one, other| other.score.total_cmp(&one.score));
            (!rules.is_empty()).then_some(rules)
        })
        .collect();
    let key = |rules: &PairRules| (rules[0].left, rules[0].right);
    all.sort_by(|one, other| {
        other[0].score.total_cmp(&one[0].score).then_with(|| key(one).cmp(&key(other)))
    });
    all
}

fn rules_of_pair(
    database: &Database,
    popularity: &Popularity,
    thresholds: &Thresholds,
    pair: (u32, u32),
    counts: &PairCounts,
) -> PairRules {
    let directions = [(pair.0, pair.1, &counts.forth), (pair.1, pair.0, &counts.back)];
    let mut rules = Vec::new();
    for (x, y, tally) in directions {
        for left in AccessType::ALL {
            for right in AccessType::ALL {
                let at = bit_of(left) * 3 + bit_of(right);
                let support = usize::from(tally.support[at]);
                let left_functions =
                    popularity.own(x, left).saturating_sub(usize::from(tally.neutral[at]));
                let enough = support >= thresholds.min_support
                    && support as f64 >= thresholds.min_confidence * left_functions as f64;
                if !enough {
                    continue;
                }
                let mut rule = Rule {
                    left: (left, x),
                    right: (right, y),
                    support,
                    left_functions,
                    right_functions: popularity.own(y, right),
                    score: 0.0,
                };
                if let Some(score) = informative::score(database, popularity, thresholds, &rule) {
                    rule.score = score;
                    rules.push(rule);
                }
            }
        }
    }
    rules
}

/// Which accesses to two variables are together, per pair of types: bit `left * 3 + right`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Together {
    /// The function makes both.
    pub own: u16,
    /// The function makes the left one, and one that it calls makes the right one.
    pub by_callee: u16,
    pub callee: u32,
    /// Both come from one macro: no evidence for or against.
    pub dependent: u16,
}

impl Together {
    /// All of them, whoever makes the right one.
    pub fn independent(self) -> u16 {
        self.own | self.by_callee
    }
}

/// The accesses of one function to two variables, by statement.
pub fn together(xs: &[Touch], ys: &[Touch], max_distance: u32) -> Together {
    let mut found = Together::default();
    for x in xs.iter().filter(|x| x.source.is_own()) {
        let from = ys.partition_point(|y| y.statement + max_distance < x.statement);
        for y in &ys[from..] {
            if y.statement > x.statement + max_distance {
                break;
            }
            let bits = product(types_of(x.kind), types_of(y.kind));
            match y.source {
                Source::Call(callee) => {
                    found.by_callee |= bits;
                    found.callee = callee;
                }
                _ if x.source.is_independent_of(y.source) => found.own |= bits,
                _ => found.dependent |= bits,
            }
        }
    }
    found.by_callee &= !found.own;
    found.dependent &= !found.independent();
    found
}

fn product(left: u8, right: u8) -> u16 {
    (0..3).filter(|at| left >> at & 1 == 1).fold(0, |bits, at| bits | u16::from(right) << (at * 3))
}

/// Lower end of Wilson's interval for a share, at about 95 %: how sure a confidence is.
pub fn lower_bound(successes: usize, trials: usize) -> f64 {
    if trials == 0 {
        return 0.0;
    }
    let (n, z2) = (trials as f64, 1.96_f64 * 1.96);
    let share = successes as f64 / n;
    let centre = share + z2 / (2.0 * n);
    let spread = (z2 * (share * (1.0 - share) / n + z2 / (4.0 * n * n))).sqrt();
    ((centre - spread) / (1.0 + z2 / n)).max(0.0)
}

#[cfg(test)]
pub mod test_support;
#[cfg(test)]
mod tests;
