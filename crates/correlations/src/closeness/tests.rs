use proptest::prelude::*;

use super::*;
use crate::access_sets::SetsBuilder;
use crate::correlation::AccessType;

const NAMES: [&str; 4] = ["T::x", "T::y", "T::z", "T::mutex"];
const MIN_SUPPORT: usize = 3;

/// Accesses of one statement, as variable and whether it is written; perhaps under a condition on a variable.
#[derive(Debug, Clone)]
struct Statement {
    under: Option<usize>,
    accesses: Vec<(usize, bool)>,
}

/// Statements divided by `;`, `z?` before one under a condition: `w:x r:y; z? w:x`.
fn function(text: &str) -> Vec<Statement> {
    let number = |letter: &str| "xyzm".find(letter).unwrap();
    let statement = |text: &str| {
        let (under, accesses) = match text.split_once('?') {
            Some((under, rest)) => (Some(number(under.trim())), rest),
            None => (None, text),
        };
        let access = |word: &str| {
            let (how, variable) = word.split_once(':').unwrap();
            (number(variable), how == "w")
        };
        Statement { under, accesses: accesses.split_whitespace().map(access).collect() }
    };
    text.split(';').map(statement).collect()
}

fn database(functions: &[Vec<Statement>]) -> Database {
    let mut sets = SetsBuilder::default();
    let file = sets.file("a.c");
    let variables = NAMES.map(|name| sets.variable(name));
    for (number, function) in functions.iter().enumerate() {
        sets.begin_function(number as u64 + 1, format!("f{number}"), file, 1, false);
        for statement in function {
            sets.next_statement();
            let held = sets.conditions_held();
            if let Some(under) = statement.under {
                sets.enter_condition(variables[under], NAMES[under].to_owned());
            }
            for &(variable, is_write) in &statement.accesses {
                let how = if is_write { kind::WRITE } else { kind::READ };
                sets.access(variables[variable], how, (1, 1), 0);
            }
            sets.leave_conditions(held);
        }
        sets.end_function();
    }
    Database::of(vec![sets.finish()])
}

fn rule(left: u32, right: u32) -> Rule {
    Rule {
        left: (AccessType::Any, left),
        right: (AccessType::Any, right),
        support: 0,
        left_functions: 0,
        right_functions: 0,
        score: 0.0,
    }
}

fn is_close_by(functions: &[&str], right: u32, condition: Option<u32>) -> bool {
    let functions: Vec<_> = functions.iter().map(|text| function(text)).collect();
    let database = database(&functions);
    let thresholds = Thresholds { min_support: MIN_SUPPORT, ..Thresholds::for_size(10) };
    let rule = rule(0, right);
    let counts = closeness_of(&database, &rule, condition);
    is_close(&database, &thresholds, &rule, condition, &counts)
}

#[test]
fn a_length_and_its_buffer_are_close_by_the_statements_that_have_both() {
    let (used, filled, alone) = ("r:x r:y; r:z", "w:x; w:y; r:z", "w:x; r:z");
    assert!(is_close_by(&[used, used, filled, filled, alone, alone], 1, None));
    assert!(!is_close_by(&[filled, filled, filled, filled, alone, alone], 1, None));
}

#[test]
fn a_flag_and_what_it_is_about_are_close_by_the_condition() {
    let (asks, filled, alone) = ("r:y; y? w:x", "w:x; w:y; r:z", "w:x; r:z");
    assert!(is_close_by(&[asks, asks, filled, alone, alone], 1, None));
    // A condition on another variable does not relate them.
    let other = "r:z; z? w:x; z? r:y";
    assert!(!is_close_by(&[other, other, filled, alone, alone], 1, None));
}

#[test]
fn two_that_are_hardly_ever_written_apart_are_close() {
    let (both, alone) = ("w:x; w:y", "w:x; r:z");
    assert!(is_close_by(&[both, both, both, alone], 1, None));
    assert!(!is_close_by(&[both, both, both, alone, alone], 1, None), "three of five");
    assert!(!is_close_by(&[both, both], 1, None), "fewer than a correlation needs");
}

#[test]
fn two_that_few_functions_relate_are_weak() {
    let (both, alone) = ("w:x r:y", "w:x; r:z");
    let functions = |alones: usize| [vec![both; 3], vec![alone; alones]].concat();
    assert!(is_close_by(&functions(7), 1, None), "three of ten");
    assert!(!is_close_by(&functions(8), 1, None), "three of eleven");
}

#[test]
fn a_lock_need_not_be_related_to_what_it_protects() {
    let (locked, alone) = ("r:m; w:x; r:z", "w:x; r:z");
    assert!(is_close_by(&[locked, locked, alone, alone], 3, None));
    assert!(!is_close_by(&[locked, alone, alone, alone], 3, None));
}

#[test]
fn under_a_condition_only_writes_count() {
    let (related, both, elsewhere) = ("z? r:x r:y", "z? w:x; z? w:y", "w:x; r:z");
    assert!(!is_close_by(&[related, related, related], 1, Some(0)));
    // What is written elsewhere is no evidence against it.
    assert!(is_close_by(&[both, both, both, elsewhere, elsewhere, elsewhere], 1, Some(0)));
}

/// The same from the statements, pair by pair.
fn naive(functions: &[Vec<Statement>], x: usize, y: usize) -> Closeness {
    let mut counts = Closeness::default();
    for function in functions {
        let all: Vec<(usize, usize, bool, Option<usize>)> = function
            .iter()
            .enumerate()
            .flat_map(|(at, statement)| {
                statement
                    .accesses
                    .iter()
                    .map(move |&(variable, is_write)| (at, variable, is_write, statement.under))
            })
            .collect();
        // What an accessor does is done by its callers.
        if all.len() <= 2 && all.iter().all(|access| access.1 == all[0].1) {
            continue;
        }
        let of = |wanted: usize| all.iter().filter(move |access| access.1 == wanted);
        let wrote = |wanted: usize| of(wanted).any(|access| access.2);
        let (has_x, has_y) = (of(x).count() > 0, of(y).count() > 0);
        let pairs = of(x).flat_map(|one| of(y).map(move |other| (one, other)));
        let relates = pairs
            .filter(|(one, other)| one.0 == other.0 || one.3 == Some(y) || other.3 == Some(x))
            .count();
        counts.either += usize::from(has_x || has_y);
        counts.both += usize::from(has_x && has_y);
        counts.related += usize::from(relates > 0);
        counts.write_either += usize::from(wrote(x) || wrote(y));
        counts.write_both += usize::from(wrote(x) && wrote(y));
    }
    counts
}

fn some_functions() -> impl Strategy<Value = Vec<Vec<Statement>>> {
    let accesses = proptest::collection::vec((0_usize..4, any::<bool>()), 0..3);
    let statement = (proptest::option::of(0_usize..4), accesses)
        .prop_map(|(under, accesses)| Statement { under, accesses });
    proptest::collection::vec(proptest::collection::vec(statement, 0..5), 0..8)
}

proptest! {
    #[test]
    fn counts_are_those_of_the_statements(functions in some_functions(), x in 0_u32..4, by in 1_u32..4) {
        let y = (x + by) % 4;
        let counts = closeness_of(&database(&functions), &rule(x, y), None);
        prop_assert_eq!(counts, naive(&functions, x as usize, y as usize));
        let turned = closeness_of(&database(&functions), &rule(y, x), None);
        prop_assert_eq!(counts, turned, "there is no direction");
    }
}
