//! Invariants files: what is written is read again, what makes no sense is refused by line, and merging is a sum.

mod exercise;

use std::fs;
use std::path::{Path, PathBuf};

use exercise::exercise;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::RngSeed;
use unpick_analyses::invariants::{Checks, Trained};
use unpick_invariants::{Hardware, Invariants, Labels, SiteWords};

fn corpus() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut paths: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.into_iter().map(|path| (path.clone(), fs::read_to_string(path).unwrap())).collect()
}

fn bank() -> String {
    let (_, text) = corpus().into_iter().find(|(path, _)| path.ends_with("bank.toml")).unwrap();
    text
}

fn read(text: &str) -> Invariants {
    Invariants::from_toml(text, "bank.toml").unwrap_or_else(|problem| panic!("{problem}"))
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
fn a_site_that_passing_runs_have_violated_holds_no_invariant() {
    let invariants = read(&bank());
    assert_eq!((invariants.sites.len(), invariants.count()), (3, 2));
    let tolerant = read(&bank().replace("unchanged = 10", "leaves-after = 31"));
    assert_eq!(tolerant.count(), 3);
}

fn words(file: &str, line: u32, text: &str) -> SiteWords {
    SiteWords {
        module: "bank".to_owned(),
        file: Some(file.to_owned()),
        function: Some("deposit".to_owned()),
        line: Some(line),
        text: Some(text.to_owned()),
        deed: Some("write".to_owned()),
        occurrence: 1,
        offset: None,
    }
}

#[test]
fn a_site_is_known_again_when_its_line_has_moved_and_not_when_it_was_rewritten() {
    let invariants = read(&bank());
    let moved = words("/elsewhere/src/bank.c", 99, "account.balance  =  old+amount;");
    assert!(invariants.is_invariant(&moved.key()));
    let rewritten = words("src/bank.c", 13, "account.balance += amount;");
    assert!(!invariants.is_invariant(&rewritten.key()));
    let second =
        SiteWords { occurrence: 2, ..words("src/bank.c", 13, "account.balance = old + amount;") };
    assert!(!invariants.is_invariant(&second.key()));
}

/// Why the bank's file is refused after `from` was replaced by `to`.
#[track_caller]
fn refused(from: &str, to: &str) -> String {
    let text = bank();
    assert!(text.contains(from), "{from}");
    match Invariants::from_toml(&text.replacen(from, to, 1), "bank.toml") {
        Err(problem) => problem.to_string(),
        Ok(_) => panic!("accepted: {to}"),
    }
}

#[test]
fn what_makes_no_sense_is_refused_by_line() {
    let cases = [
        (
            "challenged = 12",
            "challenged = 371",
            "line 7: `challenged` is 371, but checked only 370",
        ),
        (
            "violated-runs = 30",
            "violated-runs = 38",
            "line 17: `violated-runs` is 38, but runs only 37",
        ),
        ("runs = 37\nchecked", "runs = 38\nchecked", "`runs` is 38, but all runs only 37"),
        ("line = 13", "line = 0", "line 7: lines count from 1"),
        ("line = 13", "line = \"13\"", "line 10"),
        ("deed = \"memcpy\"", "did = \"memcpy\"", "unknown field `did`"),
        ("program = \"bank\"", "program = \"\"", "whose invariants are they"),
        ("runs = 37\n", "", "missing field `runs`"),
        ("function = \"append\"\n", "", "needs a `function`, a `file` or an `offset`"),
        ("[[site]]", "[[site]", "line 7"),
        ("runs = 37", "runs = -37", "line 3"),
        ("runs = 37", "runs = 4294967296", "line 3"),
        ("checked = 370", "checked = 99999999999999999999", "line 14"),
        ("checked = 370", "checked = 3.7e2", "line 14"),
        ("unchanged = 10", "unchanged = 10\nunchanged = 11", "line 5"),
        ("unchanged = 10", "leaves-after = 0", "`leaves-after` counts from 1"),
        (
            "\n[[site]]",
            "\n[hardware]\nline-size = 60\ncache-size = 32768\n[[site]]",
            "`hardware`: a line has a power of two of bytes",
        ),
        ("\n[[site]]", "\n[hardware]\nline-size = 64\n[[site]]", "missing field `cache-size`"),
    ];
    for (from, to, expected) in cases {
        let told = refused(from, to);
        assert!(told.contains(expected), "{to}: {told}");
        assert!(told.contains("bank.toml") && told.contains("left as it is"), "{told}");
    }
}

#[test]
fn a_site_that_is_there_twice_is_refused_with_both_lines() {
    let text = bank();
    let first = &text
        [text.find("[[site]]").unwrap()..text.find("\n[[site]]\nfunction = \"wait\"").unwrap()];
    let twice = Invariants::from_toml(&format!("{text}\n{first}"), "bank.toml").unwrap_err();
    let told = twice.to_string();
    assert!(told.contains("line 37: the same site as in line 7"), "{told}");
}

#[test]
fn a_site_that_was_deleted_is_a_new_one_again() {
    let text = bank();
    let (head, sites) = text.split_at(text.find("[[site]]").unwrap());
    let (_, others) = sites.split_at(sites.find("\n[[site]]").unwrap());
    let mut edited = read(&format!("{head}{others}"));
    assert_eq!((edited.sites.len(), edited.runs), (2, 37));
    let deleted = words("src/bank.c", 13, "account.balance = old + amount;");
    assert!(!edited.is_invariant(&deleted.key()), "nobody is told of it any more");
    edited.absorb(&read(&text)).unwrap();
    assert!(edited.is_invariant(&deleted.key()), "until it is trained again");
}

#[test]
fn the_largest_numbers_can_be_put_together() {
    let most = i64::MAX.to_string();
    let text = bank().replace("checked = 370", &format!("checked = {most}"));
    let text = text.replace("challenged = 12", &format!("challenged = {most}"));
    let text = text.replace("runs = 37", &format!("runs = {}", u32::MAX));
    let one = read(&text);
    let sum = merged(&[&one, &one, &one]);
    assert_eq!(sum.runs, u32::MAX);
    assert_eq!(read(&sum.to_toml()).count(), one.count(), "and written, and read again");
}

#[test]
fn other_hardware_is_not_merged() {
    let mut one = read(&bank());
    let mut other = one.clone();
    other.hardware = Some(Hardware { line_size: 64, cache_size: 32768 });
    assert_eq!(read(&other.to_toml()), other, "a file says which caches they were");
    let told = one.absorb(&other).unwrap_err().to_string();
    assert!(told.contains("no simulated hardware") && told.contains("--line-size 64"), "{told}");
    assert_eq!(one, read(&bank()), "nothing was taken over");
    assert!(other.check_software().is_err() && one.check_software().is_ok());
}

#[test]
fn another_version_is_named() {
    let told = refused("invariants = 1", "invariants = 7\nnews = true");
    assert!(told.contains("version 7, this build reads version 1"), "{told}");
}

#[test]
fn other_programs_and_other_labels_are_not_merged() {
    let mut one = read(&bank());
    let other = Invariants::new("shop", Labels::default(), 1);
    let told = one.absorb(&other).unwrap_err().to_string();
    assert!(told.contains("another program: bank") && told.contains("shop"), "{told}");
    let labels = Labels { fail_if: vec!["exit = 3".to_owned()], oracle: None };
    let told = one.absorb(&Invariants::new("bank", labels, 1)).unwrap_err().to_string();
    assert!(
        told.contains("--fail-if 'exit = 3'") && told.contains("exit code and signals"),
        "{told}"
    );
    assert_eq!(one, read(&bank()), "nothing was taken over");
}

fn trained() -> impl Strategy<Value = Trained> {
    (1..5u32, 0..3u64, 0..3u64, any::<bool>()).prop_map(|(runs, more, challenged, violated)| {
        let violated = u64::from(violated).min(challenged);
        Trained {
            runs,
            violated_runs: violated as u32,
            checks: Checks { checked: challenged + more, challenged, violated },
        }
    })
}

fn invariants() -> impl Strategy<Value = Invariants> {
    let site = (0..6u32, trained());
    prop::collection::vec(site, 0..6).prop_map(|sites| {
        let mut invariants = Invariants::new("bank", Labels::default(), 1);
        invariants.runs = 10;
        for (line, trained) in sites {
            let words = words("bank.c", line + 1, &format!("line {line};"));
            invariants.sites.insert(words.key(), (words, trained));
        }
        invariants
    })
}

fn merged(parts: &[&Invariants]) -> Invariants {
    let mut sum = parts[0].clone();
    parts[1..].iter().for_each(|part| sum.absorb(part).unwrap());
    sum
}

proptest! {
    #![proptest_config(ProptestConfig { rng_seed: RngSeed::Fixed(5), ..ProptestConfig::default() })]

    #[test]
    fn what_is_written_is_read_again(invariants in invariants()) {
        prop_assert_eq!(read(&invariants.to_toml()), invariants);
    }

    #[test]
    fn merging_is_a_sum_in_any_order(a in invariants(), b in invariants(), c in invariants()) {
        let one = merged(&[&a, &b, &c]);
        prop_assert_eq!(&one, &merged(&[&c, &a, &b]));
        prop_assert_eq!(one.runs, 30);
        let held = |part: &Invariants, key: &_| !part.sites.contains_key(key) || part.is_invariant(key);
        for key in one.sites.keys() {
            let held = [&a, &b, &c].iter().all(|part| held(part, key));
            prop_assert_eq!(one.is_invariant(key), held, "who violated it anywhere, violated it");
        }
    }

    #[test]
    fn any_damage_is_told(at in 0..2000usize, byte in any::<u8>()) {
        let mut text = bank().into_bytes();
        let at = at % text.len();
        text[at] = byte;
        exercise(&text);
    }

    #[test]
    fn files_edited_by_hand_are_read_without_harm(
        which in any::<Index>(),
        edits in prop::collection::vec(edit(), 1..5),
    ) {
        let corpus = corpus();
        let (_, text) = which.get(&corpus);
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        edits.iter().for_each(|edit| apply(edit, &mut lines));
        exercise(lines.join("\n").as_bytes());
    }
}

/// What people do to files.
#[derive(Debug, Clone)]
enum Edit {
    Deleted(Index),
    Twice(Index),
    Moved(Index, Index),
    /// Another value behind the `=` of a line.
    Value(Index, &'static str),
    Cut(Index, Index),
}

fn edit() -> impl Strategy<Value = Edit> {
    const VALUES: [&str; 12] = [
        "-1",
        "0",
        "1",
        "1e9",
        "4294967296",
        "9223372036854775807",
        "99999999999999999999",
        "\"\"",
        "\"\\u0000\"",
        "[]",
        "{ x = 1 }",
        "nan",
    ];
    let at = any::<Index>;
    prop_oneof![
        at().prop_map(Edit::Deleted),
        at().prop_map(Edit::Twice),
        (at(), at()).prop_map(|(from, to)| Edit::Moved(from, to)),
        (at(), prop::sample::select(&VALUES[..])).prop_map(|(at, value)| Edit::Value(at, value)),
        (at(), at()).prop_map(|(line, at)| Edit::Cut(line, at)),
    ]
}

fn apply(edit: &Edit, lines: &mut Vec<String>) {
    if lines.is_empty() {
        return;
    }
    let count = lines.len();
    match edit {
        Edit::Deleted(at) => drop(lines.remove(at.index(count))),
        Edit::Twice(at) => lines.insert(at.index(count), lines[at.index(count)].clone()),
        Edit::Moved(from, to) => lines.swap(from.index(count), to.index(count)),
        Edit::Value(at, value) => {
            let line = &mut lines[at.index(count)];
            if let Some((key, _)) = line.split_once('=') {
                *line = format!("{key}= {value}");
            }
        }
        Edit::Cut(line, at) => {
            let line = &mut lines[line.index(count)];
            let end = at.index(line.chars().count() + 1);
            *line = line.chars().take(end).collect();
        }
    }
}
