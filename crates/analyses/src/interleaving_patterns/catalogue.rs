//! The patterns: 17 of the papers, and 15 of our own.
//!
//! The papers have two variables only where each thread does the same to both: writes both, or reads both. Much code decides by one variable
//! what it does to another: it checks a lease and appends to a journal, reads a table and writes a cache. So P18 to P32 are the other ways in which
//! two pairs make a cycle that no serial order has. Left out is one that only hands values on (written by one thread and read by the other, then back): a
//! question and its answer are no harm.

use serde::{Deserialize, Serialize};

/// What an access does to its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    Read,
    Write,
}

impl AccessKind {
    pub fn of_write(is_write: bool) -> AccessKind {
        if is_write { AccessKind::Write } else { AccessKind::Read }
    }
}

/// The first or the second variable of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Variable {
    X,
    Y,
}

/// One access of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Step {
    pub kind: AccessKind,
    /// 1 or 2: which of the two threads.
    pub role: u8,
    pub variable: Variable,
}

/// What kind of bug a pattern is a sign of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Class {
    Order,
    SingleVariable,
    MultiVariable,
}

/// A pattern, by its number in the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub struct PatternId(u8);

const fn r(role: u8, variable: Variable) -> Step {
    Step { kind: AccessKind::Read, role, variable }
}

const fn w(role: u8, variable: Variable) -> Step {
    Step { kind: AccessKind::Write, role, variable }
}

use Variable::{X, Y};

const STEPS: [&[Step]; 32] = [
    &[r(1, X), w(2, X)],
    &[w(1, X), r(2, X)],
    &[w(1, X), w(2, X)],
    &[r(1, X), w(2, X), r(1, X)],
    &[w(1, X), w(2, X), r(1, X)],
    &[w(1, X), r(2, X), w(1, X)],
    &[r(1, X), w(2, X), w(1, X)],
    &[w(1, X), w(2, X), w(1, X)],
    &[w(1, X), w(2, X), w(2, Y), w(1, Y)],
    &[w(1, X), w(2, Y), w(2, X), w(1, Y)],
    &[w(1, X), w(2, Y), w(1, Y), w(2, X)],
    &[w(1, X), r(2, X), r(2, Y), w(1, Y)],
    &[w(1, X), r(2, Y), r(2, X), w(1, Y)],
    &[r(1, X), w(2, X), w(2, Y), r(1, Y)],
    &[r(1, X), w(2, Y), w(2, X), r(1, Y)],
    &[r(1, X), w(2, Y), r(1, Y), w(2, X)],
    &[w(1, X), r(2, Y), w(1, Y), r(2, X)],
    &[r(1, X), w(2, X), w(2, Y), w(1, Y)],
    &[r(1, X), w(2, Y), w(2, X), w(1, Y)],
    &[r(1, X), w(2, Y), w(1, Y), w(2, X)],
    &[r(1, X), w(2, X), r(2, Y), w(1, Y)],
    &[r(1, X), r(2, Y), w(2, X), w(1, Y)],
    &[r(1, X), r(2, Y), w(1, Y), w(2, X)],
    &[w(1, X), r(2, X), w(2, Y), w(1, Y)],
    &[w(1, X), w(2, Y), r(2, X), w(1, Y)],
    &[w(1, X), w(2, Y), w(1, Y), r(2, X)],
    &[w(1, X), w(2, X), r(2, Y), w(1, Y)],
    &[w(1, X), r(2, Y), w(2, X), w(1, Y)],
    &[w(1, X), r(2, Y), w(1, Y), w(2, X)],
    &[w(1, X), w(2, X), w(2, Y), r(1, Y)],
    &[w(1, X), w(2, Y), w(2, X), r(1, Y)],
    &[w(1, X), w(2, Y), r(1, Y), w(2, X)],
];

/// The last one that the papers have.
const LAST_OF_PAPERS: u8 = 17;

/// The most accesses a pattern has.
pub const MOST_STEPS: usize = 4;

impl PatternId {
    pub const P1: PatternId = PatternId(1);
    pub const P2: PatternId = PatternId(2);
    pub const P3: PatternId = PatternId(3);
    pub const P4: PatternId = PatternId(4);
    pub const P5: PatternId = PatternId(5);
    pub const P6: PatternId = PatternId(6);
    pub const P7: PatternId = PatternId(7);
    pub const P8: PatternId = PatternId(8);
    pub const P9: PatternId = PatternId(9);
    pub const P10: PatternId = PatternId(10);
    pub const P11: PatternId = PatternId(11);
    pub const P12: PatternId = PatternId(12);
    pub const P13: PatternId = PatternId(13);
    pub const P14: PatternId = PatternId(14);
    pub const P15: PatternId = PatternId(15);
    pub const P16: PatternId = PatternId(16);
    pub const P17: PatternId = PatternId(17);

    pub fn all() -> impl Iterator<Item = PatternId> {
        (1..=STEPS.len() as u8).map(PatternId)
    }

    /// Whether the papers have it.
    pub fn is_of_papers(self) -> bool {
        self.0 <= LAST_OF_PAPERS
    }

    /// 1 to 32.
    pub fn number(self) -> u8 {
        self.0
    }

    /// `P1` to `P32`.
    pub fn name(self) -> String {
        format!("P{}", self.0)
    }

    /// The pattern with this name.
    pub fn from_name(name: &str) -> Option<PatternId> {
        PatternId::all().find(|pattern| pattern.name() == name)
    }

    /// The pattern with this number.
    pub fn from_number(number: u8) -> Option<PatternId> {
        (1..=STEPS.len() as u8).contains(&number).then_some(PatternId(number))
    }

    /// Its accesses, in order.
    pub fn steps(self) -> &'static [Step] {
        STEPS[usize::from(self.0) - 1]
    }

    pub fn class(self) -> Class {
        match self.steps().len() {
            2 => Class::Order,
            3 => Class::SingleVariable,
            _ => Class::MultiVariable,
        }
    }

    /// The step by which the harm is done: a thread has seen, or left behind, what no serial order gives. What comes after
    /// it only proves it.
    pub fn harmful_step(self) -> usize {
        match self.0 {
            // The value in between has been read.
            6 => 1,
            // Both values have been read that do not belong together.
            12 | 13 | 16 => 2,
            _ => self.steps().len() - 1,
        }
    }

    /// The places of its two pairs among its accesses; a pattern of class order is one pair.
    pub fn pairs(self) -> Vec<[usize; 2]> {
        match self.class() {
            Class::Order => vec![[0, 1]],
            Class::SingleVariable => vec![[0, 1], [1, 2]],
            Class::MultiVariable => [X, Y].map(|variable| self.places_of(variable)).to_vec(),
        }
    }

    fn places_of(self, variable: Variable) -> [usize; 2] {
        let steps = self.steps().iter();
        let mut places = steps.enumerate().filter(|(_, step)| step.variable == variable);
        let mut next = || places.next().map_or(0, |(place, _)| place);
        [next(), next()]
    }

    /// The pair of accesses of these kinds, by different threads; `None` for two reads.
    pub fn of_pair(first: AccessKind, second: AccessKind) -> Option<PatternId> {
        match (first, second) {
            (AccessKind::Read, AccessKind::Write) => Some(PatternId::P1),
            (AccessKind::Write, AccessKind::Read) => Some(PatternId::P2),
            (AccessKind::Write, AccessKind::Write) => Some(PatternId::P3),
            (AccessKind::Read, AccessKind::Read) => None,
        }
    }
}

impl From<PatternId> for u8 {
    fn from(pattern: PatternId) -> u8 {
        pattern.0
    }
}

impl TryFrom<u8> for PatternId {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        PatternId::from_number(number).ok_or("there are patterns 1 to 32")
    }
}

/// How two pairs stand to each other. The first one begins first, and the second one goes back: its
/// first access is by the thread of the first one's second access, and the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Arrangement {
    /// One variable: the second pair begins with the access that ends the first.
    Shared,
    /// Two variables, one pair after the other.
    InTurn,
    /// Two variables; the second pair begins inside the first and ends after it.
    Crossed,
    /// Two variables, the second pair lies inside the first.
    Inside,
}

/// The pattern that two pairs make; each pair is given as P1, P2 or P3.
pub fn of_two_pairs(
    first: PatternId,
    second: PatternId,
    arrangement: Arrangement,
) -> Option<PatternId> {
    use Arrangement::{Crossed, InTurn, Inside, Shared};
    let number = match (first.0, second.0, arrangement) {
        (1, 2, Shared) => 4,
        (3, 2, Shared) => 5,
        (2, 1, Shared) => 6,
        (1, 3, Shared) => 7,
        (3, 3, Shared) => 8,
        (3, 3, InTurn) => 9,
        (3, 3, Crossed) => 10,
        (3, 3, Inside) => 11,
        (2, 1, InTurn) => 12,
        (2, 1, Crossed) => 13,
        (2, 1, Inside) => 17,
        (1, 2, InTurn) => 14,
        (1, 2, Crossed) => 15,
        (1, 2, Inside) => 16,
        (1, 3, InTurn) => 18,
        (1, 3, Crossed) => 19,
        (1, 3, Inside) => 20,
        (1, 1, InTurn) => 21,
        (1, 1, Crossed) => 22,
        (1, 1, Inside) => 23,
        (2, 3, InTurn) => 24,
        (2, 3, Crossed) => 25,
        (2, 3, Inside) => 26,
        (3, 1, InTurn) => 27,
        (3, 1, Crossed) => 28,
        (3, 1, Inside) => 29,
        (3, 2, InTurn) => 30,
        (3, 2, Crossed) => 31,
        (3, 2, Inside) => 32,
        _ => return None,
    };
    Some(PatternId(number))
}

impl Arrangement {
    /// The ways in which pairs on two variables can stand to each other.
    pub const OF_TWO_VARIABLES: [Arrangement; 3] =
        [Arrangement::InTurn, Arrangement::Crossed, Arrangement::Inside];

    /// Puts the accesses of both pairs into the order of the pattern; a shared access is there once.
    pub fn in_order<T: Copy>(self, first: [T; 2], second: [T; 2]) -> [Option<T>; MOST_STEPS] {
        let ([a, b], [c, d]) = (first, second);
        match self {
            Arrangement::Shared => [Some(a), Some(b), Some(d), None],
            Arrangement::InTurn => [Some(a), Some(b), Some(c), Some(d)],
            Arrangement::Crossed => [Some(a), Some(c), Some(b), Some(d)],
            Arrangement::Inside => [Some(a), Some(c), Some(d), Some(b)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every way to lay out two pairs gives the pattern whose steps are just that layout.
    #[test]
    fn what_two_pairs_make_has_the_steps_the_table_says() {
        let mut made = Vec::new();
        for first in [PatternId::P1, PatternId::P2, PatternId::P3] {
            for second in [PatternId::P1, PatternId::P2, PatternId::P3] {
                for arrangement in [
                    Arrangement::Shared,
                    Arrangement::InTurn,
                    Arrangement::Crossed,
                    Arrangement::Inside,
                ] {
                    let Some(pattern) = of_two_pairs(first, second, arrangement) else { continue };
                    made.push(pattern);
                    assert_eq!(
                        laid_out(first, second, arrangement),
                        pattern.steps(),
                        "{pattern:?}"
                    );
                }
            }
        }
        made.sort();
        assert_eq!(made, PatternId::all().skip(3).collect::<Vec<_>>());
    }

    fn laid_out(first: PatternId, second: PatternId, arrangement: Arrangement) -> Vec<Step> {
        let variable = if arrangement == Arrangement::Shared { X } else { Y };
        let [a, b] = [first.steps()[0], first.steps()[1]];
        let turned = |step: Step| Step { role: 3 - step.role, variable, ..step };
        let [c, d] = [turned(second.steps()[0]), turned(second.steps()[1])];
        arrangement.in_order([a, b], [c, d]).into_iter().flatten().collect()
    }

    #[test]
    fn the_pairs_of_a_pattern_are_by_two_threads_on_one_variable() {
        for pattern in PatternId::all() {
            for [first, second] in pattern.pairs() {
                let (first, second) = (pattern.steps()[first], pattern.steps()[second]);
                assert_eq!(first.variable, second.variable);
                assert_ne!(first.role, second.role);
                assert!(PatternId::of_pair(first.kind, second.kind).is_some());
            }
        }
    }
}
