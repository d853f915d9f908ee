//! Conditional correlations from source to list: each form of condition, in C and in Rust.

mod c_support;
mod rust_support;

use unpick_correlations::access_sets::FileSets;
use unpick_correlations::{Choices, CorrelationList, conclude};

/// Functions of each kind.
const EACH: usize = 4;

fn list(sets: Vec<FileSets>) -> CorrelationList {
    let choices = Choices { min_support: Some(3), ..Choices::default() };
    conclude(sets, &choices, Vec::new())
}

/// Functions with a body that makes both accesses under a condition, and with one that makes the first alone.
fn functions(head: &str, both: &str, alone: &str) -> String {
    (0..EACH)
        .map(|at| {
            format!(
                "{} {{ {both} }}\n{} {{ {alone} }}\n",
                head.replace('@', &format!("both{at}")),
                head.replace('@', &format!("alone{at}"))
            )
        })
        .collect()
}

#[track_caller]
fn assert_found(list: &CorrelationList, condition: &str, left: &str, right: &str) {
    let is_it = |found: &&unpick_correlations::Correlation| {
        found.condition.as_deref() == Some(condition)
            && found.left.to_string() == left
            && found.right.to_string() == right
    };
    let all: Vec<String> = list
        .correlations
        .iter()
        .map(|one| format!("{} => {} if {:?}", one.left, one.right, one.condition))
        .collect();
    let found = list.correlations.iter().find(is_it).unwrap_or_else(|| panic!("{all:?}"));
    assert_eq!((found.support, found.left_functions), (EACH, EACH));
    assert!(
        !list.correlations.iter().any(|one| one.condition.is_none()
            && one.left.to_string() == left
            && one.right.to_string() == right),
        "it holds under the condition only"
    );
}

#[track_caller]
fn assert_in_c(both: &str, condition: &str) {
    let types = "struct log { int on, state, head, size, other; };\n";
    // Who sets flag and state, so that they are no constants.
    let setters = "void set1(struct log *l) { l->on = 1; l->state = 2; } void set2(struct log *l) { l->on = 0; l->state = 3; } void set3(struct log *l) { l->on = 2; l->state = 1; }\n";
    let text = types.to_owned()
        + setters
        + &functions("void @(struct log *l)", both, "l->head += 7; l->other = 8;");
    let Some(sets) = c_support::read("a.c", &text) else { return };
    assert_eq!(sets.errors, Vec::<String>::new());
    assert_found(&list(vec![sets]), condition, "write(log::head)", "write(log::size)");
}

#[track_caller]
fn assert_in_rust(both: &str, condition: &str) {
    let types = "struct Log { on: bool, state: State, head: u32, size: u32, other: u32 }\n";
    let text =
        types.to_owned() + &functions("fn @(log: &mut Log)", both, "log.head += 7; log.other = 8;");
    assert_found(&list(read_rust(&text)), condition, "write(Log::head)", "write(Log::size)");
}

fn read_rust(text: &str) -> Vec<FileSets> {
    let (sets, missing) = rust_support::read(text);
    assert_eq!(missing, Vec::<String>::new());
    sets
}

#[test]
fn the_value_of_a_flag() {
    assert_in_c("if (l->on) { l->head = 1; l->size = 2; }", "log::on");
    assert_in_c("if (!l->on) { l->head = 1; l->size = 2; }", "!log::on");
    assert_in_c("if (l->state == 2) { l->head = 1; l->size = 2; }", "log::state == 2");
    assert_in_rust("if log.on { log.head = 1; log.size = 2; }", "Log::on");
    assert_in_rust(
        "if log.state == State::Open { log.head = 1; log.size = 2; }",
        "Log::state == State::Open",
    );
}

#[test]
fn the_other_branch() {
    assert_in_c("if (l->on) return; else { l->head = 1; l->size = 2; }", "!log::on");
    assert_in_rust("if log.on { return; } else { log.head = 1; log.size = 2; }", "!Log::on");
}

#[test]
fn an_early_return() {
    assert_in_c("if (!l->on) return; l->head = 1; l->size = 2;", "log::on");
    assert_in_rust("if !log.on { return; } log.head = 1; log.size = 2;", "Log::on");
}

#[test]
fn a_case_or_an_arm() {
    assert_in_c(
        "switch (l->state) { case 3: l->head = 1; l->size = 2; break; default: break; }",
        "log::state == 3",
    );
    assert_in_rust(
        "match log.state { State::Open => { log.head = 1; log.size = 2; } _ => {} }",
        "Log::state == State::Open",
    );
}

#[test]
fn an_enclosing_if_on_one_of_the_two() {
    assert_in_c("if (l->head) { l->head = 1; l->size = 2; }", "log::head");
    assert_in_c("if (l->size > 0) { l->head = 1; l->size = 2; }", "log::size > 0");
    assert_in_rust("if log.size > 0 { log.head = 1; log.size = 2; }", "Log::size > 0");
}

#[test]
fn a_loop_while_it_holds() {
    assert_in_c("while (l->on) { l->head = 1; l->size = 2; }", "log::on");
    assert_in_rust("while log.on { log.head = 1; log.size = 2; }", "Log::on");
}

#[test]
fn fields_of_a_variant_are_no_news_where_the_value_is_that_variant() {
    let text =
        "enum State { Busy { since: u32, by: u32 }, Idle } struct Job { state: State, n: u32 }\n"
            .to_owned()
            + &functions(
                "fn @(job: &mut Job)",
                "if let State::Busy { since, .. } = &mut job.state { job.n = 1; *since = 2; }",
                "job.n += 3;",
            );
    let list = list(read_rust(&text));
    let told: Vec<&str> =
        list.correlations.iter().filter_map(|one| one.condition.as_deref()).collect();
    assert_eq!(told, Vec::<&str>::new());
}
