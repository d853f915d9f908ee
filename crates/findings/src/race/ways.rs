//! The same race once more: its counts, the best example of it, and the ways in which its accesses can race.

use super::RaceFinding;
use crate::finding::FindingAccess;

/// More code places for the lines of a race are not told apart: templates, inlined functions.
const MOST_WAYS: usize = 7;

impl RaceFinding {
    /// The same lines once more.
    pub(super) fn add(&mut self, other: &RaceFinding, is_new_run: bool) {
        let runs = self.runs + u32::from(is_new_run);
        let (unordered, unlocked) =
            (self.unordered + other.unordered, self.unlocked + other.unlocked);
        let loose = self.loose + other.loose;
        if self.correlated.is_none() {
            let mut ways = std::mem::take(&mut self.ways);
            ways.extend([self.all_accesses(), other.all_accesses()]);
            self.ways = ways;
        }
        if other.worth() > self.worth() {
            let ways = std::mem::take(&mut self.ways);
            *self = RaceFinding { ways, ..other.clone() };
        }
        self.tell_ways_apart();
        (self.unordered, self.unlocked, self.loose) = (unordered, unlocked, loose);
        self.runs = runs;
    }

    /// Those that race, and of several variables the one that belongs to the first.
    pub(super) fn all_accesses(&self) -> Vec<FindingAccess> {
        let left_out = self.correlated.iter().map(|correlated| &correlated.access);
        self.accesses.iter().chain(left_out).cloned().collect()
    }

    /// Leaves the ways that differ from each other, and from the example, in code or kind.
    pub(super) fn tell_ways_apart(&mut self) {
        let mut different = vec![self.all_accesses()];
        for way in std::mem::take(&mut self.ways) {
            if different.len() <= MOST_WAYS && !different.iter().any(|one| is_same_way(one, &way)) {
                different.push(way);
            }
        }
        self.ways = different.split_off(1);
    }

    /// How good an example it is: found by happens-before, or at least not ordered firmly, and with calls that are known.
    fn worth(&self) -> (bool, bool, usize) {
        let known = self.accesses.iter().filter(|access| !access.stack.is_empty()).count();
        (self.unordered > 0, self.loose > 0, known)
    }
}

/// Whether accesses are the same ones; who came first is no matter.
fn is_same_way(one: &[FindingAccess], other: &[FindingAccess]) -> bool {
    let is = |one: &FindingAccess, other: &FindingAccess| {
        one.code == other.code && one.kind == other.kind
    };
    match (one, other) {
        ([a, b], [c, d]) => is(a, c) && is(b, d) || is(a, d) && is(b, c),
        _ => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is(one, other)),
    }
}
