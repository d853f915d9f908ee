//! Reproducer files: what is written is read again, what makes no sense is refused and told why.

mod exercise;

use std::fs;
use std::path::{Path, PathBuf};

use exercise::exercise;
use proptest::prelude::*;
use unpick_reproduce::Reproducer;

fn corpus() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn example(name: &str) -> String {
    let (_, text) = corpus().into_iter().find(|(path, _)| path.ends_with(name)).unwrap();
    text
}

#[test]
fn every_file_of_the_corpus_is_read_without_harm() {
    for (path, text) in corpus() {
        let name = path.file_stem().unwrap().to_string_lossy();
        let is_good = !name.starts_with("found-by-fuzzing");
        assert_eq!(exercise(text.as_bytes()), is_good, "{name}");
    }
}

#[test]
fn what_is_left_out_has_the_usual_value() {
    let deadlock = Reproducer::from_toml(&example("deadlock.toml"), "deadlock.toml").unwrap();
    assert_eq!((deadlock.pause_ms, deadlock.budget_ms), (1_000, 10_000));
    assert_eq!((deadlock.bound, deadlock.ignore_first), (0, 0));
    assert!(deadlock.arguments.is_empty());
}

#[test]
fn an_order_in_which_a_thread_makes_several_accesses_can_be_one_within_calls() {
    let of = |name: &str| Reproducer::from_toml(&example(name), name).unwrap();
    let text = of("lost-update.toml").within_calls().expect("P7 is one").to_toml();
    assert!(text.contains("\nwithin-calls = true\n"), "{text}");
    assert!(Reproducer::from_toml(&text, "written.toml").unwrap().within_calls);
    assert_eq!(of("deadlock.toml").within_calls(), None);
}

/// Why the example is refused after `from` was replaced by `to`.
fn refused_in(file: &str, from: &str, to: &str) -> String {
    let text = example(file);
    assert!(text.contains(from), "{from}");
    let changed = text.replacen(from, to, 1);
    match Reproducer::from_toml(&changed, "bank.toml") {
        Err(problem) => problem.to_string(),
        Ok(_) => panic!("accepted: {to}"),
    }
}

fn refused(from: &str, to: &str) -> String {
    refused_in("lost-update.toml", from, to)
}

#[test]
fn nonsense_is_refused_and_told() {
    let cases = [
        ("pause-ms = 1000", "pause-ms = 0", "who never waits forces nothing"),
        ("budget-ms = 10000", "budget-ms = 0", "who never waits forces nothing"),
        ("pause-ms = 1000", "pause-us = 0", "who never waits forces nothing"),
        ("pause-ms = 1000", "pause-ms = 100000000", "at most an hour"),
        ("pause-ms = 1000", "pause-ms = -1", "pause-ms"),
        ("pause-ms = 1000", "patience = 1000", "unknown field `patience`"),
        ("column = 15", "colour = 15", "unknown field `colour`"),
        ("column = 15", "column = 0", "count from 1"),
        ("line = 12", "line = 0", "count from 1"),
        ("role = 1\n", "", "missing field `role`"),
        ("role = 1\n", "role = 2\n", "role 2 comes before role 1"),
        ("role = 2\n", "role = 3\n", "role 3 comes before role 2"),
        ("role = 2\n", "role = 1\n", "the steps are not those of P7"),
        ("role = 1\n", "role = 0\n", "numbered from 1"),
        ("kind = \"read\"", "kind = \"write\"", "read by role 1, write by role 2, write by role 1"),
        ("kind = \"read\"", "kind = \"wait\"", "the steps are not those of P7"),
        ("kind = \"read\"", "kind = \"look\"", "unknown variant `look`"),
        ("\"P7\"", "\"P4\"", "the steps are not those of P4"),
        ("\"P7\"", "\"P1\"", "the steps are not those of P1"),
        ("\"P7\"", "\"P33\"", "there is no pattern `P33`"),
        ("\"P7\"", "\"deadlock\"", "every step is a `wait`"),
        ("bytes = 4", "with-previous = true", "`with-previous` needs a step before it"),
        ("occurrence = 1", "occurrence = 3", "`occurrence` is 1 to `occurrences`"),
        ("occurrences = 2\n", "", "both are given or none"),
        ("function = \"store\"\ntext", "text", "needs a `file` or a `function`"),
        ("text = \"balance = value;\"", "", "needs a `line` or its `text`"),
        ("text = \"balance = value;\"", "text = \"  \"", "needs a `line` or its `text`"),
        ("program = \"./bank\"", "program = \"\"", "`program` is empty"),
        ("program = \"./bank\"", "program = 7", "program"),
        ("unpick = 1", "unpick = 2", "has version 2, this build reads version 1"),
        ("unpick = 1", "", "missing field `unpick`"),
        ("unpick = 1", "unpick = ", "TOML parse error"),
    ];
    for (from, to, why) in cases {
        let problem = refused(from, to);
        assert!(problem.contains(why), "{to}: {problem}");
        assert!(problem.contains("file: bank.toml") && problem.contains("next: "), "{problem}");
    }
}

#[test]
fn a_thread_waits_in_one_place_at_a_time() {
    let problem = refused_in("deadlock.toml", "role = 2", "role = 1");
    assert!(problem.contains("thread 1 cannot wait in two places at once"), "{problem}");
    let one = example("deadlock.toml");
    let one = &one[..one.rfind("[[step]]").unwrap()];
    let problem = Reproducer::from_toml(one, "one.toml").unwrap_err().to_string();
    assert!(problem.contains("2 to 16 steps, not 1"), "{problem}");
}

#[test]
fn a_deadlock_is_a_meeting_already() {
    let pattern = "pattern = \"deadlock\"";
    let problem = refused_in("deadlock.toml", pattern, &format!("{pattern}\nmeet = true"));
    assert!(problem.contains("in a deadlock all meet anyway"), "{problem}");
}

#[test]
fn a_lost_notification_has_one_wait_and_frees_nothing() {
    let refused = |from: &str, to: &str| refused_in("lost-notification.toml", from, to);
    let freed = refused("kind = \"lock\"", "kind = \"free\"");
    assert!(freed.contains("step 2: on the way to a lost notification"), "{freed}");
    // What is tested, and what makes the test out of date, are accesses.
    let tested =
        example("lost-notification.toml").replacen("kind = \"lock\"", "kind = \"read\"", 1);
    Reproducer::from_toml(&tested, "tested.toml").unwrap();
    let twice = refused("kind = \"lock\"", "kind = \"wait\"");
    assert!(twice.contains("waits once, not 2 times"), "{twice}");
}

#[test]
fn the_lock_that_must_be_held_is_the_gate() {
    let both = "[step.holding]\nfunction = \"f\"\nline = 1\n\n[step.gate]";
    assert!(refused("[step.gate]", both).contains("has a `gate` or a `holding`"));
    let without_place =
        refused("[step.gate]", "[step.holding]\nfunction = \"f\"\n[step.elsewhere]");
    assert!(without_place.contains("unknown field `elsewhere`"), "{without_place}");
}

#[test]
fn calls_on_the_way_have_none_of_their_own() {
    let nested = "call = \"enter\"\n[[step.gate.via.via]]\nfunction = \"f\"\nline = 1\n";
    assert!(refused("call = \"enter\"", nested).contains("no `via` of their own"));
}

#[test]
fn a_wrong_file_is_told_with_line_and_column() {
    let problem = refused("line = 12", "line = twelve");
    assert!(problem.contains("line 26, column 8"), "{problem}");
}

mod generated {
    use super::*;

    const TEXT: &str = "[ -~äß\\n\\t\"']{0,24}";

    /// A place as TOML; `line` keeps it sensible.
    fn place() -> impl Strategy<Value = toml::Table> {
        let keys = proptest::sample::select(&["module", "function", "inside", "text", "call"][..]);
        let texts = proptest::collection::btree_map(keys, TEXT, 0..5);
        let numbers = (1u32.., proptest::option::of(1u32..), proptest::option::of(1u32..1000));
        (texts, TEXT, numbers).prop_map(|(texts, file, (line, column, occurrences))| {
            let mut place = toml::Table::new();
            place.extend(texts.into_iter().map(|(key, text)| (key.to_owned(), text.into())));
            place.insert("file".to_owned(), file.into());
            place.insert("line".to_owned(), i64::from(line).into());
            if let Some(column) = column {
                place.insert("column".to_owned(), i64::from(column).into());
                place.insert("distance".to_owned(), (-i64::from(column)).into());
            }
            if let Some(all) = occurrences {
                place.insert("occurrences".to_owned(), i64::from(all).into());
                place.insert("occurrence".to_owned(), i64::from(all.div_ceil(2)).into());
            }
            place
        })
    }

    fn step() -> impl Strategy<Value = toml::Table> {
        let gate = proptest::option::of((place(), proptest::collection::vec(place(), 0..4)));
        (place(), gate, 0..1_000_000i64, TEXT).prop_map(|(at, gate, bytes, variable)| {
            let mut step = toml::Table::new();
            step.insert("at".to_owned(), at.into());
            if let Some((mut gate, via)) = gate {
                gate.insert("via".to_owned(), via.into());
                step.insert("gate".to_owned(), gate.into());
            }
            step.insert("bytes".to_owned(), bytes.into());
            step.insert("variable".to_owned(), variable.into());
            step
        })
    }

    /// Reads and writes of P7, with places of any kind.
    fn reproducer() -> impl Strategy<Value = String> {
        let steps = proptest::collection::vec(step(), 3);
        let times = (1..3_600_000i64, 1..3_600_000i64, 0..1i64 << 32, 0..1i64 << 32);
        (steps, times, proptest::collection::vec(TEXT, 0..3), TEXT).prop_map(
            |(mut steps, (pause, budget, bound, ignored), arguments, sentence)| {
                let as_in_p7 = [(1, "read"), (2, "write"), (1, "write")];
                for (step, (role, kind)) in steps.iter_mut().zip(as_in_p7) {
                    step.insert("role".to_owned(), role.into());
                    step.insert("kind".to_owned(), kind.into());
                }
                let mut whole = toml::toml! { unpick = 1 program = "./bank" pattern = "P7" };
                whole.insert("pause-ms".to_owned(), pause.into());
                whole.insert("budget-ms".to_owned(), budget.into());
                whole.insert("bound".to_owned(), bound.into());
                whole.insert("ignore-first".to_owned(), ignored.into());
                whole.insert("arguments".to_owned(), arguments.into());
                whole.insert("sentence".to_owned(), sentence.into());
                whole.insert("step".to_owned(), steps.into());
                whole.to_string()
            },
        )
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_again(text in reproducer()) {
            let read = Reproducer::from_toml(&text, "made.toml");
            prop_assert!(read.is_ok(), "{}\n{text}", read.unwrap_err());
            prop_assert!(exercise(text.as_bytes()));
        }

        #[test]
        fn mutated_files_are_read_without_harm(
            which in 0..2usize,
            changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..3), 0..6),
        ) {
            let mut bytes = corpus()[which].1.clone().into_bytes();
            for (at, byte, how) in changes {
                let at = at.index(bytes.len().max(1));
                match how {
                    0 => bytes.truncate(at),
                    1 => bytes.insert(at.min(bytes.len()), byte),
                    _ if at < bytes.len() => bytes[at] = byte,
                    _ => {}
                }
            }
            exercise(&bytes);
        }
    }
}
