use std::path::Path;

use super::*;

const SOURCE: &str = "\
struct Stats { jobs: Jobs, done: usize, total: usize }
static HITS: AtomicUsize = AtomicUsize::new(0);
fn finish(stats: &Mutex<Stats>) {
    let mut guard = stats.lock().unwrap();
    guard.jobs.admit(7);
    if guard.jobs.is_open() {
        bump!(guard);
    }
}
";

fn sets() -> Vec<FileSets> {
    let (outline, parsed) = rust::Outline::of(SOURCE.as_bytes());
    let types = rust::Types::of_outlines(std::iter::once(&outline));
    let (sets, _) = rust::access_sets(&parsed.unwrap(), &types, Path::new("/src/a.rs"));
    vec![outline.completed(sets)]
}

fn seen(line: u32, kinds: u8, members: &[(&str, &str)]) -> ObservedAccess {
    let frame = |function: &str, file: &str, line| ObservedFrame {
        function: function.to_owned(),
        file: file.to_owned(),
        line,
    };
    ObservedAccess {
        way: vec![
            frame("jobs::Jobs::admit", "/dependency/jobs.rs", 3),
            frame("program::finish::{closure#0}", "/src/a.rs", line),
        ],
        kind: kinds,
        global: None,
        members: members.iter().map(|(a, b)| ((*a).to_owned(), (*b).to_owned())).collect(),
        bytes: None,
    }
}

fn told(sets: &[FileSets]) -> Vec<String> {
    let name = |number: u32| &sets[0].variables[number as usize];
    let accesses = sets[0].functions[0].accesses.iter();
    accesses
        .map(|one| {
            format!("{} {} at {} in {}", one.kind, name(one.variable), one.line, one.statement)
        })
        .collect()
}

#[test]
fn a_method_that_is_taken_for_a_read_becomes_a_write() {
    let mut sets = sets();
    assert_eq!(told(&sets)[0], "1 Stats::jobs at 5 in 2");
    let write = seen(5, kind::WRITE, &[("Stats", "jobs"), ("Jobs", "count")]);
    assert_eq!(join_observed(&mut sets, std::slice::from_ref(&write)), 1);
    assert_eq!(told(&sets)[0], "3 Stats::jobs at 5 in 2");
    assert_eq!(join_observed(&mut sets, &[write]), 0, "known by now");
}

#[test]
fn what_a_macro_writes_is_added_to_its_statement() {
    let mut sets = sets();
    let before = told(&sets).len();
    let both = [kind::READ, kind::WRITE].map(|bits| seen(7, bits, &[("Stats", "done")]));
    assert_eq!(join_observed(&mut sets, &both), 1);
    assert_eq!(told(&sets)[before], "3 Stats::done at 7 in 4");
}

#[test]
fn statics_are_known_by_their_last_name() {
    let mut sets = sets();
    let hits = ObservedAccess { global: Some("program::HITS".to_owned()), ..seen(4, 3, &[]) };
    assert_eq!(join_observed(&mut sets, &[hits]), 1);
    assert!(told(&sets).contains(&"3 HITS at 4 in 1".to_owned()), "{:?}", told(&sets));
}

#[test]
fn what_the_sources_do_not_declare_or_have_elsewhere_is_left_out() {
    let mut sets = sets();
    let before = told(&sets);
    let strange = seen(5, kind::WRITE, &[("Jobs", "count")]);
    let mut elsewhere = seen(5, kind::WRITE, &[("Stats", "done")]);
    elsewhere.way[1].function = "program::another".to_owned();
    assert_eq!(join_observed(&mut sets, &[strange, elsewhere]), 0);
    assert_eq!(told(&sets), before);
}

#[test]
fn what_stands_in_the_lines_of_a_macro_is_where_its_function_begins() {
    let mut sets = sets();
    let before = told(&sets).len();
    let mut there = seen(40, kind::WRITE, &[("Stats", "done")]);
    assert_eq!(join_observed(&mut sets, &[there.clone()]), 1, "behind the last function");
    let first = sets[0].functions[0].clone();
    let another = FunctionSet { name: "another".to_owned(), line: 20, ..first };
    sets[0].functions.push(another);
    there.members[0].1 = "total".to_owned();
    assert_eq!(join_observed(&mut sets, &[there]), 1);
    assert_eq!(told(&sets)[before + 1], "2 Stats::total at 3 in 0");
}

#[test]
fn bytes_are_what_a_line_calls_them_that_names_nothing_else() {
    let mut sets = sets();
    let bytes = Some(ObservedBytes { object: 1, offset: 24, length: 8 });
    let own = |line, bits| {
        let mut one = ObservedAccess { bytes, ..seen(line, bits, &[]) };
        one.way.remove(0);
        one
    };
    let unnamed = [own(7, kind::WRITE)];
    assert_eq!(join_observed(&mut sets, &unnamed), 0, "nobody says what it is");
    let others = [own(7, kind::WRITE), own(5, kind::READ)];
    assert_eq!(join_observed(&mut sets, &others), 1);
    assert!(told(&sets).contains(&"2 Stats::jobs at 7 in 4".to_owned()), "{:?}", told(&sets));
}

#[test]
fn without_sources_functions_are_those_that_ran() {
    let observed = [
        seen(5, kind::READ, &[("Stats", "jobs"), ("Jobs", "count")]),
        seen(9, kind::WRITE, &[("Stats", "done")]),
    ]
    .map(|mut one| {
        one.way.remove(0);
        one
    });
    let sets = sets_of_observed(&observed);
    assert_eq!(sets[0].functions[0].name, "program::finish");
    assert_eq!(told(&sets), ["1 Jobs::count at 5 in 0", "2 Stats::done at 9 in 4"]);
}

#[test]
fn parts_of_paths() {
    assert_eq!(path_parts("bank::deposit<u32>::{closure#0}"), ["bank", "deposit"]);
    assert_eq!(path_parts("<bank::Account as bank::Ledger>::deposit"), ["deposit"]);
    assert_eq!(path_parts("main"), ["main"]);
    assert_eq!(path_parts("bank::Account<T>::deposit"), ["bank", "Account", "deposit"]);
}
