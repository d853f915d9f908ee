use super::test_support::sets;
use super::{Thresholds, find_rules, lower_bound, together};
use crate::access_sets::kind;
use crate::correlation::AccessType;
use crate::database::{Database, Source, Touch};

fn thresholds() -> Thresholds {
    Thresholds { max_distance: 3, min_support: 3, min_confidence: 0.7 }
}

fn leading(functions: &[&str]) -> Vec<String> {
    let database = Database::of(vec![sets(functions)]);
    let name = |variable: u32| &database.variables[variable as usize][3..];
    find_rules(&database, &thresholds())
        .iter()
        .map(|rules| {
            let rule = &rules[0];
            let (left, right) = (rule.left, rule.right);
            format!(
                "{}({}) => {}({}) {}/{}",
                left.0.word(),
                name(left.1),
                right.0.word(),
                name(right.1),
                rule.support,
                rule.left_functions
            )
        })
        .collect()
}

#[test]
fn writes_that_go_together_are_a_rule_and_one_exception_is_counted() {
    let found = leading(&["w:x w:y", "w:x w:y", "w:y w:x", "w:x w:y w:z", "w:x w:q"]);
    assert_eq!(found, ["write(y) => write(x) 4/4"]);
}

#[test]
fn accesses_too_far_apart_are_not_together() {
    let far = "w:x -:- -:- -:- w:y";
    assert_eq!(leading(&[far, far, far, far]), Vec::<String>::new());
}

#[test]
fn a_macro_is_one_piece_of_evidence_however_often_it_is_used() {
    let by_macro = "m1w:x m1w:y";
    assert_eq!(leading(&[by_macro, by_macro, by_macro, by_macro]), Vec::<String>::new());
    let mixed = "m1w:x w:y";
    assert_eq!(leading(&[mixed, mixed, mixed, mixed]).len(), 1);
}

#[test]
fn what_is_read_everywhere_goes_with_nothing() {
    let mut functions = vec!["w:x r:db"; 4];
    functions.extend(["w:a r:db", "r:db", "w:b r:db", "r:db w:db"].iter().cycle().take(40));
    assert!(leading(&functions).iter().all(|rule| !rule.contains("(x)")));
}

#[test]
fn accesses_of_a_callee_count_for_its_caller() {
    // f0 writes y and more, f1 to f4 write x and call it; f0 has key 1.
    let functions = ["w:y w:q", "w:x call:1", "w:x call:1", "w:x call:1", "w:x call:1"];
    let database = Database::of(vec![sets(&functions)]);
    let x = database.variables.iter().position(|name| name == "T::x").unwrap() as u32;
    let y = database.variables.iter().position(|name| name == "T::y").unwrap() as u32;
    for function in &database.functions[1..] {
        let found = together(function.touches_of(x), function.touches_of(y), 3);
        assert_ne!(found.by_callee & 1 << 4, 0, "write and write");
    }
}

#[test]
fn one_callee_is_one_piece_of_evidence_however_often_it_is_called() {
    let by_callee = ["w:y w:q", "w:x call:1", "w:x call:1", "w:x call:1", "w:x w:y", "w:x w:y"];
    assert_eq!(leading(&by_callee), ["write(x) => write(y) 3/3"]);
}

#[test]
fn a_function_that_goes_through_a_whole_type_says_nothing_about_two_of_its_fields() {
    let all: Vec<String> = (0..12).map(|at| format!("w:f{at}")).collect();
    let whole = all.join(" ");
    assert_eq!(leading(&[&whole, &whole, &whole, &whole]), Vec::<String>::new());
    let part = all[..6].join(" ");
    assert!(!leading(&[&part, &part, &part, &part]).is_empty());
}

#[test]
fn an_accessor_counts_for_its_callers() {
    // f0 sets y and nothing else.
    let functions = ["w:y", "w:x call:1", "w:x call:1", "w:x call:1"];
    assert_eq!(leading(&functions), ["write(y) => write(x) 3/3"]);
}

#[test]
fn types_are_told_apart() {
    let touch = |kind| Touch {
        variable: 0,
        kind,
        line: 0,
        column: 0,
        statement: 1,
        source: Source::Own,
        under: vec![],
    };
    let bits = together(&[touch(kind::READ)], &[touch(kind::WRITE)], 1).own;
    let has = |left: AccessType, right: AccessType| {
        bits >> (super::bit_of(left) * 3 + super::bit_of(right)) & 1 == 1
    };
    assert!(has(AccessType::Read, AccessType::Write) && has(AccessType::Any, AccessType::Any));
    assert!(!has(AccessType::Write, AccessType::Write) && !has(AccessType::Read, AccessType::Read));
}

#[test]
fn few_cases_are_less_sure_than_many() {
    assert!(lower_bound(3, 3) < lower_bound(30, 30));
    assert!(lower_bound(29, 30) < lower_bound(30, 30));
    assert_eq!(lower_bound(0, 0), 0.0);
}
