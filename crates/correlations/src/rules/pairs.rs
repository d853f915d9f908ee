//! Counts, for every pair of variables that enough functions touch, which accesses are together in how many functions.

use std::collections::{HashMap, HashSet};

use super::{Thresholds, Together, together};
use crate::database::{Database, Function};

/// Variables of one function that are looked at pairwise; a function with more says little about any two.
const WIDEST: usize = 400;

/// One direction: per pair of types, `left * 3 + right`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tally {
    /// Functions in which they are together.
    pub support: [u16; 9],
    /// Functions in which they are together by one macro or call alone: no evidence for or against.
    pub neutral: [u16; 9],
}

/// Both directions of a pair.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PairCounts {
    pub forth: Tally,
    pub back: Tally,
}

impl Tally {
    /// What a callee adds counts once, not once per caller: it was one decision to write it.
    fn add(&mut self, found: Together, is_new_callee: bool) {
        let (support, neutral) = match is_new_callee {
            true => (found.own | found.by_callee, found.dependent),
            false => (found.own, found.dependent | found.by_callee),
        };
        for at in 0..9 {
            self.support[at] = self.support[at].saturating_add(support >> at & 1);
            self.neutral[at] = self.neutral[at].saturating_add(neutral >> at & 1);
        }
    }
}

/// Pairs that enough functions have, the smaller number first; in order.
pub fn count_pairs(database: &Database, thresholds: &Thresholds) -> Vec<((u32, u32), PairCounts)> {
    let mut counts = candidates(database, thresholds.min_support);
    let mut callees = HashSet::new();
    for function in &database.functions {
        count_in(function, thresholds.max_distance, &mut counts, &mut callees);
    }
    let mut all: Vec<_> = counts.into_iter().collect();
    all.sort_unstable_by_key(|(pair, _)| *pair);
    all
}

fn count_in(
    function: &Function,
    max_distance: u32,
    counts: &mut HashMap<(u32, u32), PairCounts>,
    callees: &mut HashSet<(u32, u32, u32)>,
) {
    let variables: Vec<_> = function.by_variable().take(WIDEST).collect();
    for (at, xs) in variables.iter().enumerate() {
        for ys in &variables[at + 1..] {
            let (x, y) = (xs[0].variable, ys[0].variable);
            let Some(pair) = counts.get_mut(&(x, y)) else { continue };
            let directions = [(&mut pair.forth, xs, ys, (x, y)), (&mut pair.back, ys, xs, (y, x))];
            for (tally, lefts, rights, (left, right)) in directions {
                let found = together(lefts, rights, max_distance);
                let is_new = found.by_callee != 0 && callees.insert((left, right, found.callee));
                tally.add(found, is_new);
            }
        }
    }
}

/// Pairs of variables that half of the functions asked for touch themselves, wherever in the function.
fn candidates(database: &Database, min_support: usize) -> HashMap<(u32, u32), PairCounts> {
    let mut functions_of: HashMap<(u32, u32), usize> = HashMap::new();
    for function in &database.functions {
        let own: Vec<u32> = function
            .by_variable()
            .take(WIDEST)
            .filter(|touches| touches.iter().any(|touch| touch.source.is_own()))
            .map(|touches| touches[0].variable)
            .collect();
        for (at, &x) in own.iter().enumerate() {
            for &y in &own[at + 1..] {
                *functions_of.entry((x, y)).or_default() += 1;
            }
        }
    }
    functions_of
        .into_iter()
        .filter(|(_, count)| 2 * count >= min_support)
        .map(|(pair, _)| (pair, PairCounts::default()))
        .collect()
}
