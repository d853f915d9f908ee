//! The units of two variables that a race detector found open, by the lines of their accesses.
//!
//! Takes   a race of several variables.      Returns  its units, each with the accesses of other threads that can come between; whether an order of accesses tears one.
//! Invents a torn unit where a line has several accesses to the variable: `count++` reads and writes, and either stands for the line.

use super::RaceFinding;
use super::orders::TornWay;
use crate::finding::{Finding, FindingAccess};

/// A file and a line; none where the line is not known: such an access is like no other.
pub(crate) type SourceLine = Option<(String, u32)>;

/// Two accesses of one thread to variables that belong together, which nothing keeps together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenUnit {
    halves: [SourceLine; 2],
    /// Accesses of other threads that can come between the two.
    remote: Vec<SourceLine>,
}

impl RaceFinding {
    /// The units of a race of several variables; none of one variable.
    pub fn open_units(&self) -> Vec<OpenUnit> {
        let mut units: Vec<OpenUnit> = Vec::new();
        let example = self.all_accesses();
        for way in [&example].into_iter().chain(&self.ways) {
            let Some(way) = TornWay::of(way) else { continue };
            let (halves, remote) = (way.unit.map(line_of), line_of(way.remote));
            match units.iter_mut().find(|unit| unit.halves == halves) {
                Some(unit) => unit.remote.push(remote),
                None => units.push(OpenUnit { halves, remote: vec![remote] }),
            }
        }
        units.retain(|unit| unit.halves.iter().all(Option::is_some));
        units
    }
}

impl OpenUnit {
    /// Whether the order of a finding tears it.
    pub fn is_torn_in(&self, finding: &Finding) -> bool {
        let accesses = finding.accesses.iter().map(|access| (access.role, line_of(access)));
        self.is_torn_by(&accesses.collect::<Vec<_>>())
    }

    /// Whether accesses in this order, each with the role of its thread, are the unit with an access of the other thread between its halves.
    pub(crate) fn is_torn_by(&self, accesses: &[(u8, SourceLine)]) -> bool {
        let is_half = |at: usize, half: usize| accesses[at].1 == self.halves[half];
        let is_remote = |(role, line): &(u8, SourceLine), own: u8| {
            *role != own && line.is_some() && self.remote.contains(line)
        };
        let ends_at = |first: usize, last: usize| {
            let own = accesses[first].0;
            accesses[last].0 == own
                && is_half(last, 1)
                && accesses[first + 1..last].iter().any(|between| is_remote(between, own))
        };
        let begins_at = |first: usize| {
            is_half(first, 0) && (first + 1..accesses.len()).any(|last| ends_at(first, last))
        };
        (0..accesses.len()).any(begins_at)
    }
}

fn line_of(access: &FindingAccess) -> SourceLine {
    access.frame.file.clone().zip(access.frame.line)
}

#[cfg(test)]
mod tests {
    use super::super::test_support::race;
    use super::*;

    fn line(line: u32) -> SourceLine {
        Some(("a.c".to_owned(), line))
    }

    /// A unit of lines 1 and 2, which lines 11 and 12 can come between.
    fn unit() -> OpenUnit {
        OpenUnit { halves: [line(1), line(2)], remote: vec![line(11), line(12)] }
    }

    fn is_torn_by(accesses: &[(u8, u32)]) -> bool {
        let accesses: Vec<_> = accesses.iter().map(|&(role, at)| (role, line(at))).collect();
        unit().is_torn_by(&accesses)
    }

    #[test]
    fn an_access_between_the_halves_tears_a_unit() {
        assert!(is_torn_by(&[(1, 1), (2, 11), (2, 12), (1, 2)]));
        assert!(is_torn_by(&[(1, 11), (2, 1), (1, 12), (2, 2)]), "by either thread");
    }

    #[test]
    fn what_comes_before_or_after_or_is_of_the_same_thread_does_not() {
        assert!(!is_torn_by(&[(2, 11), (1, 1), (1, 2), (2, 12)]));
        assert!(!is_torn_by(&[(1, 1), (1, 11), (1, 2), (2, 12)]));
        assert!(!is_torn_by(&[(1, 2), (2, 11), (2, 12), (1, 1)]), "the halves in their order");
        assert!(!is_torn_by(&[(1, 1), (2, 30), (2, 31), (1, 2)]), "another access");
    }

    #[test]
    fn the_ways_to_tear_a_unit_are_one_unit() {
        let mut one = race([1, 11], "b1", None);
        let [own, remote] = [0, 1].map(|at| one.accesses[at].clone());
        let mut second = own.clone();
        (second.order, second.frame.line) = (3, Some(2));
        let mut other = remote.clone();
        other.frame.line = Some(12);
        one.ways = vec![
            vec![own.clone(), remote, second.clone()],
            // In conflict with the second half: the first one is left out.
            vec![second, other, own],
        ];
        assert_eq!(one.open_units(), [unit()]);
        assert_eq!(race([1, 2], "b1", None).open_units(), [], "of one variable");
    }
}
