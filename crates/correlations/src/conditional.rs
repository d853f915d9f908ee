//! Conditional correlations, which MUVI misses: rules that hold under the value of a flag, or inside an `if` on one of the two variables.
//!
//! Takes   the database with the conditions around each access, thresholds.      Gives  rules with their condition.
//! Misses  conditions on more than one variable, on locals, on results of calls.
//! Invents rules where the condition only happens to be tested there; it must make a difference: without it the right access is
//!         made at most half as often.
//! Cost    per access the conditions around it times the variables nearby.

use std::collections::{HashMap, HashSet};

use crate::correlation::AccessType;
use crate::database::{Database, Function, Touch, owner, types_of};
use crate::rules::{Popularity, Rule, Thresholds, bit_of, lower_bound};

/// How much less often the right access may be made where the condition is not known to hold.
const MOST_WITHOUT: f64 = 0.5;
/// Share of the right variable's functions that the rule must explain.
const LEAST_SHARE: f64 = 0.25;

/// A rule that holds under a condition.
#[derive(Debug, Clone, PartialEq)]
pub struct ConditionalRule {
    pub rule: Rule,
    /// A number of [`Database::conditions`].
    pub condition: u32,
}

/// An access under a condition: variable, type, condition.
type Left = (u32, AccessType, u32);

/// Rules under conditions, the surest first; one per ordered pair, and none of those in `known`: left and right.
pub fn find_conditional_rules(
    database: &Database,
    thresholds: &Thresholds,
    known: &HashSet<(u32, u32)>,
) -> Vec<ConditionalRule> {
    let popularity = Popularity::of(database);
    let mut best: HashMap<(u32, u32), ConditionalRule> = HashMap::new();
    for (left, functions) in lefts(database, thresholds.min_support) {
        for found in rules_of_left(database, &popularity, thresholds, left, &functions) {
            let (x, y) = (found.rule.left.1, found.rule.right.1);
            if known.contains(&(x, y)) {
                continue;
            }
            let entry = best.entry((x, y)).or_insert_with(|| found.clone());
            if is_better(&found, entry) {
                *entry = found;
            }
        }
    }
    let mut all: Vec<ConditionalRule> = best.into_values().collect();
    all.sort_by(|one, other| {
        let key = |found: &ConditionalRule| (found.rule.left, found.rule.right, found.condition);
        other.rule.score.total_cmp(&one.rule.score).then_with(|| key(one).cmp(&key(other)))
    });
    all
}

fn is_better(one: &ConditionalRule, other: &ConditionalRule) -> bool {
    // Rules that are as sure come in no order: one of them must win on all machines.
    let key = |found: &ConditionalRule| (found.condition, found.rule.left, found.rule.right);
    one.rule.score.total_cmp(&other.rule.score).then(key(other).cmp(&key(one))).is_gt()
}

/// Accesses under a condition that enough functions make, with the functions.
fn lefts(database: &Database, min_support: usize) -> Vec<(Left, Vec<u32>)> {
    let mut functions: HashMap<Left, Vec<u32>> = HashMap::new();
    for (number, function) in database.functions.iter().enumerate() {
        for touch in function.touches.iter().filter(|touch| touch.source.is_own()) {
            for &condition in &touch.under {
                for access in AccessType::ALL {
                    let of_type = types_of(touch.kind) >> bit_of(access) & 1 == 1;
                    let is_own_test = database.conditions[condition as usize].variable
                        == touch.variable
                        && access != AccessType::Write;
                    if of_type && !is_own_test {
                        let known =
                            functions.entry((touch.variable, access, condition)).or_default();
                        if known.last() != Some(&(number as u32)) {
                            known.push(number as u32);
                        }
                    }
                }
            }
        }
    }
    let mut all: Vec<_> =
        functions.into_iter().filter(|(_, functions)| functions.len() >= min_support).collect();
    all.sort_unstable();
    all
}

fn rules_of_left(
    database: &Database,
    popularity: &Popularity,
    thresholds: &Thresholds,
    (x, access, condition): Left,
    functions: &[u32],
) -> Vec<ConditionalRule> {
    let mut support: HashMap<(u32, AccessType), usize> = HashMap::new();
    for &number in functions {
        let function = &database.functions[number as usize];
        for nearby in nearby(function, (x, access), Some(condition), thresholds.max_distance) {
            *support.entry(nearby).or_default() += 1;
        }
    }
    let tested = database.conditions[condition as usize].variable;
    support
        .into_iter()
        .filter_map(|((y, right), support)| {
            let rule = Rule {
                left: (access, x),
                right: (right, y),
                support,
                left_functions: functions.len(),
                right_functions: popularity.own(y, right),
                score: lower_bound(support, functions.len()) * weight(access, right),
            };
            let is_trivial = y == tested && right != AccessType::Write
                || [x, y].iter().any(|&variable| is_of_variant(database, variable, condition));
            let holds = support >= thresholds.min_support
                && rule.confidence() >= thresholds.min_confidence
                && support as f64 >= LEAST_SHARE * rule.right_functions as f64;
            (holds && !is_trivial && makes_a_difference(database, thresholds, &rule, condition))
                .then_some(ConditionalRule { rule, condition })
        })
        .collect()
}

/// A field of an enumeration's variant is touched only where the value is that variant: `Job::state == State::Busy` says nothing about
/// `State::Busy::since`.
fn is_of_variant(database: &Database, variable: u32, condition: u32) -> bool {
    let variant = owner(&database.variables[variable as usize]);
    let text = &database.conditions[condition as usize].text;
    text.rsplit_once("== ").is_some_and(|(_, value)| value.contains("::") && value == variant)
}

/// Two reads under a condition are hardly ever meant.
fn weight(left: AccessType, right: AccessType) -> f64 {
    match (left, right) {
        (AccessType::Write, AccessType::Write) => 1.0,
        (AccessType::Write, _) | (_, AccessType::Write) => 0.8,
        _ => 0.5,
    }
}

/// What a function touches near its accesses to x, under the condition or (without one) elsewhere.
fn nearby(
    function: &Function,
    (x, access): (u32, AccessType),
    condition: Option<u32>,
    max_distance: u32,
) -> HashSet<(u32, AccessType)> {
    let is_left = |touch: &&Touch| {
        touch.source.is_own()
            && types_of(touch.kind) >> bit_of(access) & 1 == 1
            && condition.is_none_or(|condition| touch.under.contains(&condition))
    };
    let lefts: Vec<&Touch> = function.touches_of(x).iter().filter(is_left).collect();
    let mut found = HashSet::new();
    // Only what the function does itself: a callee does it under any condition.
    let own = |touch: &&Touch| touch.variable != x && touch.source.is_own();
    for touch in function.touches.iter().filter(own) {
        let is_near = lefts.iter().any(|left| {
            left.statement.abs_diff(touch.statement) <= max_distance
                && left.source.is_independent_of(touch.source)
        });
        if is_near {
            let types = types_of(touch.kind);
            let of_type = |access: &AccessType| types >> bit_of(*access) & 1 == 1;
            found.extend(AccessType::ALL.into_iter().filter(of_type).map(|a| (touch.variable, a)));
        }
    }
    found
}

fn makes_a_difference(
    database: &Database,
    thresholds: &Thresholds,
    rule: &Rule,
    condition: u32,
) -> bool {
    let ((access, x), (right, y)) = (rule.left, rule.right);
    let (mut without, mut with_right) = (0_usize, 0_usize);
    for &number in database.functions_with(x) {
        let function = &database.functions[number as usize];
        let own = function.touches_of(x).iter().filter(|touch| {
            touch.source.is_own() && types_of(touch.kind) >> bit_of(access) & 1 == 1
        });
        let mut own = own.peekable();
        if own.peek().is_none() || own.any(|touch| touch.under.contains(&condition)) {
            continue;
        }
        without += 1;
        let near = nearby(function, (x, access), None, thresholds.max_distance);
        with_right += usize::from(near.contains(&(y, right)));
    }
    without >= 2 && with_right as f64 <= MOST_WITHOUT * rule.confidence() * without as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access_sets::{SetsBuilder, kind};

    /// `c?` before a word means: under the condition that the flag is set.
    fn database(functions: &[&str]) -> Database {
        let mut sets = SetsBuilder::default();
        let file = sets.file("a.c");
        let flag = sets.variable("Log::enabled");
        for (number, function) in functions.iter().enumerate() {
            sets.begin_function(number as u64 + 1, format!("f{number}"), file, 1, false);
            for word in function.split_whitespace() {
                sets.next_statement();
                let held = sets.conditions_held();
                let plain = word.trim_start_matches("c?");
                if plain != word {
                    sets.enter_condition(flag, "Log::enabled".into());
                }
                let (how, name) = plain.split_once(':').unwrap();
                let bits = if how == "w" { kind::WRITE } else { kind::READ };
                let variable = sets.variable(&format!("Log::{name}"));
                sets.access(variable, bits, (1, 1), 0);
                sets.leave_conditions(held);
            }
            sets.end_function();
        }
        Database::of(vec![sets.finish()])
    }

    fn found(functions: &[&str]) -> Vec<String> {
        let database = database(functions);
        let thresholds = Thresholds { max_distance: 3, min_support: 3, min_confidence: 0.75 };
        find_conditional_rules(&database, &thresholds, &HashSet::new())
            .iter()
            .map(|found| {
                let name = |variable: u32| &database.variables[variable as usize];
                let condition = &database.conditions[found.condition as usize].text;
                format!("{condition}: {} => {}", name(found.rule.left.1), name(found.rule.right.1))
            })
            .collect()
    }

    #[test]
    fn a_rule_that_holds_only_under_a_flag_is_found_with_the_flag() {
        let both = "c?w:head c?w:size";
        let one = "w:head w:other";
        let rules = found(&[both, both, both, one, one, one]);
        assert!(rules.contains(&"Log::enabled: Log::head => Log::size".to_owned()), "{rules:?}");
    }

    #[test]
    fn of_rules_that_are_as_sure_the_same_one_is_told_each_time() {
        let (both, one) = ("c?w:head c?r:size", "w:head w:other");
        let database = database(&[both, both, both, one, one, one, "w:size"]);
        let thresholds = Thresholds { max_distance: 3, min_support: 3, min_confidence: 0.75 };
        let all = || find_conditional_rules(&database, &thresholds, &HashSet::new());
        let first = all();
        assert!(!first.is_empty());
        assert!((0..20).all(|_| all() == first));
    }

    #[test]
    fn a_condition_that_makes_no_difference_is_none() {
        let (under, free) = ("c?w:head c?w:size", "w:head w:size");
        assert_eq!(found(&[under, under, under, free, free, free]), Vec::<String>::new());
    }
}
