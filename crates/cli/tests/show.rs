//! From recordings to `unpick show`: names of code, variables and locks, after the recordings are gone; and what can be wrong
//! with the file of findings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use unpick_analyses::{Collector, Formula, LabelledRun, Options, RunPatterns, conclude};
use unpick_events::Label;
use unpick_findings::{Choices, Findings, Packages, describe};
use unpick_names::{CodeNames, KnownRecording};
use unpick_recording::{Recording, Run};

/// A teller looks at a balance and writes it back later; another one comes before, after or in between.
const BANK: &str = r#"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
struct account { long number, balance; pthread_mutex_t lock; };
static struct account *account;
static sem_t looked, paid;
static long look(void) {
  pthread_mutex_lock(&account->lock);
  long seen = account->balance;
  pthread_mutex_unlock(&account->lock);
  return seen;
}
static void put(long value) {
  pthread_mutex_lock(&account->lock);
  account->balance = value;
  pthread_mutex_unlock(&account->lock);
}
static void *other_teller(void *argument) {
  sem_wait(&looked);
  put(look() + 1);
  sem_post(&paid);
  return argument;
}
static void let_other_teller_go(void) {
  sem_post(&looked);
  sem_wait(&paid);
}
int main(int count, char **arguments) {
  char when = count > 1 ? arguments[1][0] : 'b';
  pthread_t thread;
  account = calloc(1, sizeof *account);
  pthread_mutex_init(&account->lock, 0);
  sem_init(&looked, 0, 0);
  sem_init(&paid, 0, 0);
  pthread_create(&thread, 0, other_teller, 0);
  if (when == 'b') let_other_teller_go();
  long seen = look();
  if (when == 'i') let_other_teller_go();
  put(seen + 1);
  if (when == 'a') let_other_teller_go();
  pthread_join(thread, 0);
  return look() == 2 ? 0 : 1;
}
"#;

fn unpick(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    command.args(arguments).current_dir(folder).env("COLUMNS", "80").output().unwrap()
}

fn record(folder: &Path, when: &str) {
    let output = unpick(folder, &["record", "--", "./bank", when]);
    let expected = i32::from(when == "in between");
    assert_eq!(output.status.code(), Some(expected), "{}", String::from_utf8_lossy(&output.stderr));
}

fn patterns_of(run: &Path, names: &CodeNames) -> RunPatterns {
    let mut collector = Collector::new(Options::default());
    for file in Run::open(run).unwrap().event_files() {
        let recording = Recording::open(file).unwrap();
        collector.add(&recording, &KnownRecording::new(&recording, names));
    }
    collector.finish()
}

/// Runs two that pass and two that fail, keeps the findings, and drops the recordings.
fn hunt(folder: &Path) -> Findings {
    fs::write(folder.join("bank.c"), BANK).unwrap();
    let built = unpick(folder, &["cc", "-g", "-O1", "bank.c", "-o", "bank", "-pthread"]);
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    for when in ["before", "after", "in between", "in between"] {
        record(folder, when);
    }
    let names = CodeNames::new();
    let runs: Vec<RunPatterns> = (1..=4)
        .map(|number| patterns_of(&folder.join(format!(".unpick/runs/{number:04}")), &names))
        .collect();
    fs::remove_dir_all(folder.join(".unpick/runs")).unwrap();
    let labels = [Label::Pass, Label::Pass, Label::Fail, Label::Fail];
    let labelled = runs
        .iter()
        .zip(labels)
        .zip(1..)
        .map(|((patterns, label), number)| LabelledRun { number, label, patterns });
    let choices = Choices {
        working_folder: folder.canonicalize().unwrap(),
        most_findings: 10,
        most_supporters: 5,
        correlations: Vec::new(),
        packages: Packages::default(),
    };
    describe(&conclude(labelled, Formula::Jaccard).unwrap(), &names, &choices)
}

/// A folder with a store that has findings and no runs.
fn hunted() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("show");
        // What an earlier test run left.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let findings = hunt(&folder);
        fs::write(folder.join(".unpick/findings.json"), findings.to_json()).unwrap();
        folder
    })
}

fn printed(arguments: &[&str]) -> String {
    let output = unpick(hunted(), arguments);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_finding_is_shown_with_code_variable_and_locks() {
    let text = printed(&["show", "1"]);
    for expected in [
        "long seen = account->balance;",
        "account->balance = value;",
        "reads account.balance",
        "writes account.balance",
        "in look",
        "holds account.lock",
        "account.balance: heap, allocated at bank.c:32",
        "other_teller",
        "10 |   long seen = account->balance;",
    ] {
        assert!(text.contains(expected), "{expected} is not in:\n{text}");
    }
    assert!(!text.contains('\x1b'), "not a terminal");
}

#[test]
fn the_list_comes_first_and_a_command_last() {
    let text = printed(&["show"]);
    assert!(text.starts_with("4 runs: 2 failed, 2 passed."), "{text}");
    assert!(text.lines().last().unwrap().starts_with("next: unpick show"), "{text}");
}

#[test]
fn json_is_what_the_hunt_wrote_or_one_finding_of_it() {
    let all = Findings::from_json(&printed(&["show", "--json", "-"])).unwrap();
    let stored = fs::read_to_string(hunted().join(".unpick/findings.json")).unwrap();
    assert_eq!(Ok(&all), Findings::from_json(&stored).as_ref());
    assert_eq!(printed(&["show", "1", "--json", "one.json"]), "");
    let one = fs::read_to_string(hunted().join("one.json")).unwrap();
    assert_eq!(Findings::from_json(&one).unwrap().findings, all.findings[..1]);
}

/// What is said when the store holds this file of findings.
fn problem(content: Option<&str>, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    if let Some(content) = content {
        fs::create_dir(folder.path().join(".unpick")).unwrap();
        fs::write(folder.path().join(".unpick/findings.json"), content).unwrap();
    }
    let output = unpick(folder.path(), arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn what_cannot_be_shown_is_a_problem_with_a_next_step() {
    let none = r#"{"schema": "unpick-findings/1", "runs": {"total": 0, "passed": 0, "failed": 0, "unusable": 0},
        "formula": "jaccard", "findings": []}"#;
    let cases: [(Option<&str>, &[&str], &str); 6] = [
        (None, &["show"], "there are no findings yet"),
        (Some(none), &["show", "1"], "there is no finding 1"),
        (Some(none), &["show", "0"], "there is no finding 0"),
        (
            Some("{\"schema\": \"unpick-findings/9\"}"),
            &["show"],
            "`unpick-findings/9`, this build reads",
        ),
        (Some("{\"schema\": \"unpick-findings/1\", \"runs\""), &["show"], "the file is damaged"),
        (Some("[]"), &["show"], "the file is damaged"),
    ];
    for (content, arguments, expected) in cases {
        let (code, text) = problem(content, arguments);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(expected) && text.contains("next:"), "{expected}\n{text}");
    }
    assert_eq!(problem(Some(none), &["show"]).0, Some(0), "a hunt without findings is no problem");
}
