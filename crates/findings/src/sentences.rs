//! Why an interleaving is wrong, in one or two plain sentences.
//!
//! Takes   a pattern and its accesses with names.      Gives  text for people.

use unpick_analyses::PatternId;
use unpick_analyses::ranking::RunCounts;

use crate::finding::{AccessKind, FindingAccess};

/// What is known about the order of a pair the other way round.
#[derive(Debug, Clone, Copy, Default)]
pub struct OtherWayRound {
    /// In how many passing runs it happened.
    pub passed: u32,
}

/// Says what is wrong about the accesses of a pattern.
pub fn sentence(
    pattern: PatternId,
    accesses: &[FindingAccess],
    other_way_round: OtherWayRound,
    runs: &RunCounts,
) -> String {
    let told = Told { accesses };
    match pattern.number() {
        1..=3 => format!("{} {}", told.pair(pattern), order(other_way_round, runs)),
        4..=8 => told.triple(pattern),
        _ => told.two_variables(pattern),
    }
}

/// Says what would be wrong about an order that no run had.
pub fn unseen_sentence(pattern: PatternId, accesses: &[FindingAccess]) -> String {
    let told = Told { accesses };
    match pattern.number() {
        1..=3 => format!(
            "{} In all runs that were left alone it was the other way round: this order was forced.",
            told.pair(pattern)
        ),
        4..=8 => format!("{} {FORCED}", told.triple(pattern)),
        _ => format!("{} {FORCED}", told.two_variables(pattern)),
    }
}

/// The same of an access in a gap that passing runs had, too.
pub fn shown_sentence(pattern: PatternId, accesses: &[FindingAccess], passing: u32) -> String {
    let told = Told { accesses };
    let runs = if passing == 1 { "1 passing run" } else { &format!("{passing} passing runs") };
    format!(
        "{} {runs} had this order as well, by these or other threads: it was forced wherever threads came to it.",
        told.triple(pattern)
    )
}

/// Says of a read that it came before a write that failing runs did not live to make.
pub fn missing_sentence(
    accesses: &[FindingAccess],
    missing: u32,
    other_way_round: OtherWayRound,
    runs: &RunCounts,
) -> String {
    let told = Told { accesses };
    let text = format!(
        "{reader} read {what} before {writer} wrote it: it saw the initial value. {missing} of the {failed} failing runs ended before \
         the write; in {passed} of the {all_passed} passing runs the write came first.",
        reader = told.who(0),
        what = told.what(0),
        writer = told.who(1),
        failed = runs.failed,
        passed = other_way_round.passed,
        all_passed = runs.passed,
    );
    capitalised(text)
}

/// Says which of two accesses came first.
pub fn pair_sentence(pattern: PatternId, accesses: &[FindingAccess]) -> String {
    Told { accesses }.pair(pattern)
}

const FORCED: &str = "No run that was left alone had this order: it was forced.";

/// Which order passing runs had.
fn order(other_way_round: OtherWayRound, runs: &RunCounts) -> String {
    match other_way_round.passed {
        0 => "No passing run shows these two accesses the other way round next to each other."
            .to_owned(),
        passed => format!(
            "They came the other way round in {passed} of the {} runs that passed.",
            runs.passed
        ),
    }
}

struct Told<'a> {
    accesses: &'a [FindingAccess],
}

impl Told<'_> {
    /// `thread 1 (deposit)`.
    fn who(&self, at: usize) -> String {
        let access = &self.accesses[at];
        match &access.frame.function {
            Some(function) => format!("thread {} (`{function}`)", access.role),
            None => format!("thread {}", access.role),
        }
    }

    fn what(&self, at: usize) -> String {
        match &self.accesses[at].variable {
            Some(name) => format!("`{name}`"),
            None => "the same memory".to_owned(),
        }
    }

    fn did(&self, at: usize) -> &'static str {
        match self.accesses[at].kind {
            AccessKind::Read => "read",
            AccessKind::Write => "wrote",
            AccessKind::Free => "freed",
        }
    }

    fn is_free(&self, at: usize) -> bool {
        self.accesses[at].kind == AccessKind::Free
    }

    fn pair(&self, pattern: PatternId) -> String {
        let (first, second, what) = (self.who(0), self.who(1), self.what(0));
        let text = match pattern.number() {
            _ if self.is_free(0) => {
                let used = if self.is_free(1) { "freed it again" } else { "used it" };
                format!("{first} freed {what}, and then {second} {used}.")
            }
            1 => format!("{first} read {what} before {second} {} it.", self.did(1)),
            2 => format!("{second} read {what} after {first} had written it."),
            _ => format!("{first} wrote {what} before {second} {} it.", self.did(1)),
        };
        capitalised(text)
    }

    fn triple(&self, pattern: PatternId) -> String {
        let (first, second, what) = (self.who(0), self.who(1), self.what(0));
        let between = self.did(1);
        let text = match pattern.number() {
            4 => format!(
                "{first} read {what} twice and {second} {between} it in between: the two reads see different values, \
                 which neither thread going first would give."
            ),
            5 => format!(
                "{first} wrote {what} and read it again, but {second} {between} it in between: the read sees the other \
                 thread's value instead of its own."
            ),
            6 => format!(
                "{second} read {what} between two writes of {first}: it saw a value that was not meant to be \
                 seen, which neither thread going first would give."
            ),
            7 => format!(
                "{first} read {what} and then {} it, but {second} {between} it in between: that value is lost, because the \
                 later write knows only the old one.",
                self.did(2)
            ),
            _ => format!(
                "{second} {between} {what} between two writes of {first}: its value is lost, and what {first} wrote \
                 belongs to two different states."
            ),
        };
        capitalised(text)
    }

    fn two_variables(&self, pattern: PatternId) -> String {
        let both = self.both_variables(pattern);
        let (first, second) = (self.who(0), self.who(1));
        let text = match pattern.number() {
            9..=11 => format!(
                "{first} and {second} both wrote {both}, but in different order: one variable keeps the value \
                 of the one thread, the other that of the other, and they do not fit together."
            ),
            12 | 13 | 17 => torn_apart(&second, &both, &first),
            14..=16 => torn_apart(&first, &both, &second),
            _ => self.by_one_to_the_other(pattern),
        };
        capitalised(text)
    }

    /// What a thread did to one variable goes with what it did to the other: a check and what is done because of it.
    fn by_one_to_the_other(&self, pattern: PatternId) -> String {
        let [x, y] = [0, 1].map(|pair| pattern.pairs()[pair]);
        let [first, second] = [self.who(x[0]), self.who(x[1])];
        let relation = match self.accesses[x[0]].kind {
            AccessKind::Read => {
                "what it did to the second rests on a value of the first that was out of date"
            }
            _ => "each came before the other, which neither thread going first would give",
        };
        format!(
            "{first} {did_x} {x_name} and {did_y} {y_name}; {second} {other_x} the first after it and {other_y} the second before it: {relation}.",
            did_x = self.did(x[0]),
            x_name = self.what(x[0]),
            did_y = self.did(y[1]),
            y_name = self.what(y[0]),
            other_x = self.did(x[1]),
            other_y = self.did(y[0]),
        )
    }

    /// `x and y`, by name if both have one.
    fn both_variables(&self, pattern: PatternId) -> String {
        let names = [0, 1].map(|pair| self.accesses[pattern.pairs()[pair][0]].variable.as_ref());
        match names {
            [Some(x), Some(y)] => format!("`{x}` and `{y}`"),
            _ => "two variables".to_owned(),
        }
    }
}

fn torn_apart(reader: &str, both: &str, writer: &str) -> String {
    format!(
        "{reader} read {both} while {writer} was writing them: it saw one before and one after the change, and they \
         do not fit together."
    )
}

fn capitalised(text: String) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
