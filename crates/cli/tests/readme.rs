//! The transcripts of README.md are true: every `console` block is run and compared.
//!
//! What differs from run to run is replaced by `#` on both sides: numbers that depend on timing, which of the two
//! tellers is T2, and which delays a hunt found to be the best. A line `…` in the README stands for any number of lines. The order that the README
//! shows of the two tellers is one of about a hundred such in that run, so it is always there. The finding is always the same one:
//! with one deposit per teller no other order loses a coin.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const README: &str = include_str!("../../../README.md");

/// What is said behind these words depends on timing altogether: rates of a hunt, who was in whose way and how often.
const TIMED: [&str; 2] =
    ["failed without delays:", "the order can no longer come about (0 of 10 failed):"];

/// A command line of the README, and the lines shown below it.
struct Step {
    command: String,
    shown: Vec<String>,
}

fn steps() -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut inside = false;
    for line in README.lines() {
        match (line, line.strip_prefix("$ ")) {
            ("```console", _) => inside = true,
            ("```", _) => inside = false,
            (_, Some(command)) if inside => {
                steps.push(Step { command: command.to_owned(), shown: Vec::new() });
            }
            (output, None) if inside => {
                let step = steps.last_mut().expect("a block begins with a command");
                step.shown.push(output.to_owned());
            }
            _ => {}
        }
    }
    steps
}

/// A shell for one command at a time; only its folder is remembered.
struct Shell {
    folder: PathBuf,
    path: String,
}

impl Shell {
    fn run(&mut self, command: &str) -> Vec<String> {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.folder = self.folder.join(folder);
            assert!(self.folder.is_dir(), "{}", self.folder.display());
            return Vec::new();
        }
        let output = Command::new("sh")
            .args(["-c", &format!("exec 2>&1; {command}")])
            .current_dir(&self.folder)
            .env("PATH", &self.path)
            .env_remove("UNPICK_CC")
            .env_remove("COLUMNS")
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
    }
}

/// Without what differs from run to run, and without the width of columns.
fn settled(line: &str) -> String {
    let timed = TIMED.iter().find_map(|words| Some((line.split_once(words)?.0, words)));
    if let Some((before, words)) = timed {
        return format!("{before}{words} #");
    }
    let words: Vec<&str> = line.split_whitespace().collect();
    let settled = words.iter().enumerate().map(|(at, word)| {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or_default();
        let after = words.get(at + 1).copied().unwrap_or_default();
        settled_word(before, word, after)
    });
    settled.collect::<Vec<_>>().join(" ")
}

fn settled_word(before: &str, word: &str, after: &str) -> String {
    let follows = ["process", "event", "account:", "run", "thread"].contains(&before);
    let precedes =
        ["events", "KiB,", "MiB,", "T2", "T3", "runs:", "failed,", "passed"].contains(&after);
    if starts_with_digit(word) && (follows || precedes) {
        let end = if word.ends_with(':') { ":" } else { "" };
        return format!("#{end}");
    }
    if word == "T2" || word == "T3" {
        return "T#".to_owned();
    }
    if word == "(T2)" || word == "(T3)" {
        return "(T#)".to_owned();
    }
    match word.split_once('/') {
        Some((part, whole)) if starts_with_digit(part) && starts_with_digit(whole) => {
            "#/#".to_owned()
        }
        _ => without_column(word),
    }
}

/// `bank.c:30:19` as `bank.c:30`: compilers agree on lines, not always on columns.
fn without_column(word: &str) -> String {
    match word.rsplit_once(':') {
        Some((line, column)) if starts_with_digit(column) && line.contains(".c:") => {
            line.to_owned()
        }
        _ => word.to_owned(),
    }
}

fn starts_with_digit(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
}

/// Whether the shown lines are the actual ones, `…` standing for any lines.
fn matches(shown: &[String], actual: &[String]) -> bool {
    let pieces: Vec<&[String]> = shown.split(|line| line == "…").collect();
    let [first, middle @ .., last] = pieces.as_slice() else { return shown == actual };
    let Some(mut rest) = actual.strip_prefix(*first) else { return false };
    for piece in middle {
        let found = rest.windows(piece.len()).position(|lines| lines == *piece);
        let Some(at) = found else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

fn settled_lines(lines: &[String]) -> Vec<String> {
    lines.iter().map(|line| settled(line)).collect()
}

/// A copy of the folder, so that the examples stay clean.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &to.join(entry.file_name()));
        } else {
            fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
}

fn path_with_unpick() -> String {
    let folder = Path::new(env!("CARGO_BIN_EXE_unpick")).parent().unwrap();
    format!("{}:{}", folder.display(), std::env::var("PATH").unwrap())
}

#[test]
fn transcripts_are_what_happens() {
    let folder = tempfile::tempdir().unwrap();
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    copy(&examples, &folder.path().join("examples"));
    let mut shell = Shell { folder: folder.path().to_owned(), path: path_with_unpick() };
    let steps = steps();
    assert!(steps.iter().any(|step| step.command.starts_with("unpick dump")));
    for step in steps {
        let actual = shell.run(&step.command);
        assert!(
            matches(&settled_lines(&step.shown), &settled_lines(&actual)),
            "$ {}\nthe README shows:\n{}\nthis happened (the first 100 lines):\n{}",
            step.command,
            step.shown.join("\n"),
            actual[..actual.len().min(100)].join("\n")
        );
    }
}

#[test]
fn every_verb_is_in_the_table() {
    let output = Command::new(env!("CARGO_BIN_EXE_unpick")).arg("--help").output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let verbs = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let verbs: Vec<&str> = verbs
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(verbs.contains(&"record"), "{help}");
    for verb in verbs {
        assert!(README.contains(&format!("`unpick {verb}`")), "{verb} is not in the README");
    }
}

#[test]
fn gaps_match_any_lines_but_the_shown_ones_must_be_there_in_order() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let actual = lines("a\nb\nc\nd\ne");
    assert!(matches(&lines("a\n…\nc\nd\n…"), &actual));
    assert!(matches(&lines("a\nb\nc\nd\ne"), &actual));
    assert!(!matches(&lines("a\nc"), &actual));
    assert!(!matches(&lines("a\n…\nd\nc\n…"), &actual));
    assert!(!matches(&lines("b\n…"), &actual));
    assert!(!matches(&lines("a\n…\nd"), &actual));
}

#[test]
fn only_what_depends_on_timing_is_replaced() {
    let settled = |line: &str| settled(line);
    assert_eq!(
        settled("  31    T2  Write   account.balance   8  put bank.c:30:19"),
        "# T# Write account.balance 8 put bank.c:30"
    );
    assert_eq!(
        settled("unpick: process 39: 840 events of 3 threads, 92.0 KiB, complete"),
        "unpick: process #: # events of 3 threads, # KiB, complete"
    );
    assert_eq!(
        settled("  1  1  1.00  25/25  0/192  atomicity violation: a read"),
        "1 1 1.00 #/# #/# atomicity violation: a read"
    );
    assert_eq!(
        settled("unpick: 51 runs: 26 failed, 25 passed"),
        "unpick: # runs: # failed, # passed"
    );
    assert_eq!(settled("unpick: next: unpick dump 2"), "unpick: next: unpick dump 2");
}
