//! Races of several variables, one per cause.
//!
//! Two threads that update two variables each can tear each other's units in up to eight ways: each unit by each access of the other
//! thread. What has two lines in common, and the same variables, is one.

use std::collections::BTreeSet;

use super::{Line, RaceFinding, lines_of};

/// Puts together what has the same cause; races of one variable stay as they are.
pub fn one_per_cause(found: Vec<RaceFinding>) -> Vec<RaceFinding> {
    let (torn, mut all): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|race| race.correlated.is_some());
    let mut causes: Vec<Cause> = Vec::new();
    for race in torn {
        let lines: BTreeSet<Line> = lines_of(&race).into_iter().collect();
        let variables = variables_of(&race);
        let known = causes.iter_mut().find(|cause| {
            cause.variables == variables && cause.lines.intersection(&lines).count() >= 2
        });
        match known {
            Some(cause) => {
                cause.lines.extend(lines);
                cause.race.add_way(&race);
            }
            None => causes.push(Cause { lines, variables, race }),
        }
    }
    all.extend(causes.into_iter().map(|cause| cause.race));
    all
}

struct Cause {
    lines: BTreeSet<Line>,
    variables: BTreeSet<String>,
    race: RaceFinding,
}

/// The variables, without the elements of arrays.
fn variables_of(race: &RaceFinding) -> BTreeSet<String> {
    let left_out = race.correlated.iter().map(|correlated| &correlated.access);
    let accesses = race.accesses.iter().chain(left_out);
    let names = accesses.filter_map(|access| access.variable.as_deref());
    let whole = |name: &str| name.split(['[', '+']).next().unwrap_or_default().to_owned();
    names.map(whole).collect()
}

impl RaceFinding {
    /// The same cause in another way: what either detector finds counts for both.
    fn add_way(&mut self, other: &RaceFinding) {
        let runs = self.runs.max(other.runs);
        let (unordered, unlocked) =
            (self.unordered + other.unordered, self.unlocked + other.unlocked);
        let loose = self.loose + other.loose;
        let worth = |race: &RaceFinding| {
            (race.unordered > 0 && race.unlocked > 0, race.unordered + race.loose > 0)
        };
        let mut ways = std::mem::take(&mut self.ways);
        ways.extend([self.all_accesses(), other.all_accesses()]);
        if worth(other) > worth(self) {
            *self = other.clone();
        }
        self.ways = ways;
        self.tell_ways_apart();
        (self.unordered, self.unlocked, self.loose) = (unordered, unlocked, loose);
        self.runs = runs;
    }
}
