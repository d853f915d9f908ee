//! Inconsistent updates: functions that write one of two correlated variables and leave the other out.
//!
//! Takes   rules that hold in nearly all functions.      Gives  the functions that break them, the likeliest bug first.
//! Misses  functions that touch the other variable for another purpose.
//! Invents breaks where somebody else does the other half: callers and callees of callees are asked, which lowers the rank.
//! Cost    per rule, the functions with its left access.

mod weight;

use std::collections::HashMap;

use crate::conditional::ConditionalRule;
use crate::correlation::AccessType;
use crate::database::{Database, Source, Touch, types_of};
use crate::rules::{PairRules, Rule, bit_of};
use weight::Surroundings;

/// A function and what it leaves out.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundBreak {
    /// A number of [`Database::functions`].
    pub function: u32,
    pub line: u32,
    pub column: u32,
    pub rule: Rule,
    pub condition: Option<u32>,
    pub score: f64,
    /// Other rules that the same function breaks, the surest first.
    pub others: Vec<Rule>,
}

/// Breaks, the likeliest bug first; one per function.
pub fn find_breaks(
    database: &Database,
    rules: &[PairRules],
    conditional: &[ConditionalRule],
) -> Vec<FoundBreak> {
    let surroundings = Surroundings::of(database);
    let mut of_missing: HashMap<(u32, u32), Vec<FoundBreak>> = HashMap::new();
    let plain = rules.iter().flat_map(|rules| strictest(rules)).map(|rule| (rule, None));
    let under = conditional
        .iter()
        .filter(|found| found.rule.left.0 == AccessType::Write)
        .map(|found| (&found.rule, Some(found.condition)));
    for (rule, condition) in plain.chain(under) {
        for found in breaks_of(database, &surroundings, rule, condition) {
            of_missing.entry((found.function, rule.right.1)).or_default().push(found);
        }
    }
    let mut of_function: HashMap<u32, Vec<FoundBreak>> = HashMap::new();
    for found in of_missing.into_values().filter_map(strongest) {
        of_function.entry(found.function).or_default().push(found);
    }
    let mut all: Vec<FoundBreak> =
        of_function.into_values().filter_map(first_of_function).collect();
    sort(&mut all);
    all
}

/// Per direction, the rule about updates that asks for most.
fn strictest(rules: &PairRules) -> Vec<&Rule> {
    let mut chosen: Vec<&Rule> = Vec::new();
    for rule in rules.iter().filter(|rule| rule.left.0 == AccessType::Write) {
        if !chosen.iter().any(|other| other.left.1 == rule.left.1) {
            chosen.push(rule);
        }
    }
    chosen
}

fn breaks_of(
    database: &Database,
    surroundings: &Surroundings,
    rule: &Rule,
    condition: Option<u32>,
) -> Vec<FoundBreak> {
    let candidates: Vec<Candidate<'_>> = database
        .functions_with(rule.left.1)
        .iter()
        .filter_map(|&number| broken_in(database, number, rule, condition))
        .collect();
    candidates
        .iter()
        .map(|candidate| FoundBreak {
            function: candidate.function,
            line: candidate.left.line,
            column: candidate.left.column,
            rule: rule.clone(),
            condition,
            score: surroundings.score(database, candidate, rule, candidates.len()),
            others: Vec::new(),
        })
        .collect()
}

/// A function that may break a rule.
struct Candidate<'a> {
    function: u32,
    left: &'a Touch,
    /// The right variable is touched, though not as the rule asks.
    is_touched: bool,
    /// A callee touches both.
    is_helped: bool,
}

/// The left access of a function without the right one anywhere.
fn broken_in<'a>(
    database: &'a Database,
    number: u32,
    rule: &Rule,
    condition: Option<u32>,
) -> Option<Candidate<'a>> {
    let function = &database.functions[number as usize];
    let is_left = |touch: &&Touch| {
        touch.source.is_own()
            && types_of(touch.kind) >> bit_of(rule.left.0) & 1 == 1
            && condition.is_none_or(|condition| touch.under.contains(&condition))
    };
    let left = function.touches_of(rule.left.1).iter().find(is_left)?;
    let others = function.touches_of(rule.right.1);
    let is_right = |touch: &Touch| types_of(touch.kind) >> bit_of(rule.right.0) & 1 == 1;
    let gives_address = |touch: &Touch| touch.kind & crate::access_sets::kind::ADDRESS != 0;
    // One that does both does it to an object of its own choice, or of the caller's.
    let does_both = |touch: &Touch| match touch.source {
        Source::Call(callee) => database.functions[callee as usize].touches_itself(rule.left.1),
        _ => false,
    };
    let mut helpers = others.iter().filter(|touch| is_right(touch) || gives_address(touch));
    if helpers.any(|touch| !does_both(touch)) {
        return None;
    }
    Some(Candidate {
        function: number,
        left,
        is_touched: others.iter().any(|touch| touch.source.is_own()),
        is_helped: others.iter().any(does_both),
    })
}

/// The surest first, in one order on all machines.
fn sort(found: &mut [FoundBreak]) {
    let key = |found: &FoundBreak| (found.function, found.rule.right.1, found.rule.left.1);
    found.sort_by(|one, other| {
        other.score.total_cmp(&one.score).then_with(|| key(one).cmp(&key(other)))
    });
}

/// Several rules that ask for the same access make it likelier that it is missed.
fn strongest(mut found: Vec<FoundBreak>) -> Option<FoundBreak> {
    sort(&mut found);
    let also = (found.len() - 1).min(6) as i32;
    let mut first = found.into_iter().next()?;
    first.score += (1.0 - first.score) * (1.0 - 0.9_f64.powi(also));
    Some(first)
}

fn first_of_function(mut found: Vec<FoundBreak>) -> Option<FoundBreak> {
    sort(&mut found);
    let mut found = found.into_iter();
    let mut first = found.next()?;
    first.others = found.map(|other| other.rule).collect();
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Thresholds, find_rules, test_support::sets};

    fn breaks(functions: &[&str]) -> Vec<String> {
        let database = Database::of(vec![sets(functions)]);
        let thresholds = Thresholds { max_distance: 5, min_support: 3, min_confidence: 0.7 };
        let rules = find_rules(&database, &thresholds);
        find_breaks(&database, &rules, &[])
            .iter()
            .map(|found| {
                let missing = &database.variables[found.rule.right.1 as usize];
                format!("{} without {missing}", database.functions[found.function as usize].name)
            })
            .collect()
    }

    #[test]
    fn the_function_that_forgets_one_update_is_named() {
        let both = "w:x w:y";
        assert_eq!(breaks(&[both, both, both, both, "w:x w:other"]), ["f4 without T::y"]);
    }

    #[test]
    fn nobody_is_named_where_the_other_update_is_far_away() {
        let both = "w:x w:y";
        let far = "w:x -:- -:- -:- -:- -:- -:- -:- w:y";
        assert_eq!(breaks(&[both, both, both, both, far]), Vec::<String>::new());
    }

    #[test]
    fn a_break_whose_caller_does_the_rest_comes_later() {
        let both = "w:x w:y";
        // f4 is called by f6, which writes y; nobody does that for f5.
        let functions =
            [both, both, both, both, both, both, both, both, "w:x w:p", "w:x w:q", "w:y call:9"];
        assert_eq!(breaks(&functions), ["f9 without T::y", "f8 without T::y"]);
    }
}
