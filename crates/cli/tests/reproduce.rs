//! From a finding to a forced order and back: `reproduce`, `confirm`, `pin` and `check`, on small programs.
//!
//! While they are hunted, the programs take turns at failing and passing (`fixtures/reproduce/turns.h`); afterwards they are left alone, and
//! fail practically never unless they are forced.

mod ran;
mod schemas;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use ran::Ran;
use schemas::assert_valid;
use serde_json::Value;
use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/reproduce");
/// Makes a hunt's runs take turns.
const TURNS: &str = "TURNS";

impl Ran {
    #[track_caller]
    fn ends_with(self, code: i32) -> Ran {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    fn says(self, words: &str) -> Ran {
        assert!(self.stdout.contains(words), "{words}\n{}{}", self.stdout, self.stderr);
        self
    }
}

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null());
    command.env_remove("UNPICK_CC").env_remove(TURNS);
    command
}

/// A program of the fixtures, built and hunted.
struct Hunted {
    folder: TempDir,
}

impl Hunted {
    fn new(name: &str) -> Hunted {
        let hunted = Hunted { folder: tempfile::tempdir().unwrap() };
        let source = fs::read_to_string(format!("{FIXTURES}/{name}.c")).unwrap();
        build(hunted.folder.path(), name, &source);
        let program = format!("./{name}");
        let hunt = ["hunt", "--no-delays", "--no-confirm", "--quiet", "--timeout", "3s"];
        let enough = ["--failing", "3", "--passing", "3", "--runs", "20", "--", &program];
        let mut hunt = command(hunted.folder.path(), &[&hunt[..], &enough].concat());
        Ran::from(hunt.env(TURNS, "yes").output().unwrap()).ends_with(66);
        hunted
    }

    /// The bank, for tests that leave its findings as they are.
    fn bank() -> &'static Hunted {
        static BANK: OnceLock<Hunted> = OnceLock::new();
        BANK.get_or_init(|| Hunted::new("bank"))
    }

    fn unpick(&self, arguments: &[&str]) -> Ran {
        command(self.folder.path(), arguments).output().unwrap().into()
    }

    fn json(&self, arguments: &[&str], schema: &str, code: i32) -> Value {
        let ran = self.unpick(&[arguments, &["--json", "-"]].concat()).ends_with(code);
        let value = serde_json::from_str(&ran.stdout).unwrap();
        assert_valid(&value, schema);
        value
    }

    /// The text of a reproducer.
    fn pin(&self, which: &[&str]) -> String {
        self.unpick(&[&["pin"], which].concat()).ends_with(0).stdout
    }
}

/// Builds `NAME.c` with this text.
fn build(folder: &Path, name: &str, source: &str) {
    fs::copy(format!("{FIXTURES}/turns.h"), folder.join("turns.h")).unwrap();
    let file = format!("{name}.c");
    fs::write(folder.join(&file), source).unwrap();
    let arguments = ["cc", "-g", "-O1", "-pthread", &file, "-o", name];
    Ran::from(command(folder, &arguments).output().unwrap()).ends_with(0);
}

/// A later version of a program, beside a reproducer of the first one.
struct Later {
    folder: TempDir,
}

impl Later {
    /// `changes`: what of the source is replaced by what.
    fn of(name: &str, reproducer: &str, changes: &[(&str, &str)]) -> Later {
        let later = Later { folder: tempfile::tempdir().unwrap() };
        let mut source = fs::read_to_string(format!("{FIXTURES}/{name}.c")).unwrap();
        for (old, new) in changes {
            assert!(source.contains(old), "{old}");
            source = source.replace(old, new);
        }
        build(later.folder.path(), name, &source);
        later.write("bug.toml", reproducer);
        later
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    /// The number of the first line with this text.
    fn line_of(&self, file: &str, text: &str) -> usize {
        let source = fs::read_to_string(self.folder.path().join(file)).unwrap();
        source.lines().position(|line| line.contains(text)).unwrap() + 1
    }

    fn check(&self, arguments: &[&str]) -> Ran {
        let arguments = [&["check", "--quiet"], arguments].concat();
        command(self.folder.path(), &arguments).output().unwrap().into()
    }
}

/// A reproducer of the bank's lost update.
fn lost_update() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| Hunted::bank().pin(&["1"]))
}

#[test]
fn forced_it_always_fails_and_inverted_never() {
    for name in ["bank", "one_line"] {
        let hunted = Hunted::new(name);
        let schema = "reproduce.schema.json";
        let forced = hunted.json(&["reproduce", "1", "--runs", "10", "--compare"], schema, 66);
        assert_eq!((&forced["runs"], &forced["failed"]), (&10.into(), &10.into()), "{forced:#}");
        let inverse = hunted.json(&["reproduce", "1", "--runs", "10", "--inverse"], schema, 0);
        assert_eq!((&inverse["hits"], &inverse["failed"]), (&10.into(), &0.into()), "{inverse:#}");
    }
}

#[test]
fn a_confirmed_cause_is_shown() {
    let hunted = Hunted::new("bank");
    let found = hunted.json(&["confirm", "--runs", "5"], "findings.schema.json", 66);
    assert_eq!(found["findings"][0]["confirmed"]["verdict"], "cause", "{found:#}");
    // More runs are made where those that were asked for do not decide.
    let counted = |key: &str| found["findings"][0]["confirmed"][key].as_u64().unwrap();
    let shown = format!(
        "root cause confirmed: fails {}/{} when this order is forced, {}/{} when it is\nprevented",
        counted("forced_failures"),
        counted("forced_hits"),
        counted("inverse_failures"),
        counted("inverse_hits"),
    );
    assert!(counted("forced_hits") >= 5 && counted("inverse_hits") >= 5, "{found:#}");
    hunted.unpick(&["show", "1"]).ends_with(0).says(&shown).says("unpick reproduce 1\n");
    let again = hunted.json(&["rank", "--formula", "ochiai"], "findings.schema.json", 66);
    assert_eq!(again["findings"][0]["confirmed"], found["findings"][0]["confirmed"], "{again:#}");
}

#[test]
fn a_hunt_confirms_what_it_finds_within_its_time() {
    let folder = tempfile::tempdir().unwrap();
    let source = fs::read_to_string(format!("{FIXTURES}/bank.c")).unwrap();
    build(folder.path(), "bank", &source);
    // Runs go on taking turns while they are forced: whatever the verdict, each was tried.
    let mut hunt =
        command(folder.path(), &["hunt", "--no-delays", "--failing", "3", "--passing", "3"]);
    hunt.args(["--json", "found.json", "--", "./bank"]).env(TURNS, "yes");
    Ran::from(hunt.output().unwrap()).ends_with(66).says("when this order is forced");
    for file in ["found.json", ".unpick/findings.json"] {
        let found = fs::read(folder.path().join(file)).unwrap();
        let found: Value = serde_json::from_slice(&found).unwrap();
        let runs = found["findings"][0]["confirmed"]["forced_runs"].as_u64();
        assert!(runs.is_some_and(|runs| runs >= 5), "{found:#}");
    }
}

#[test]
fn a_pinned_order_is_found_again_after_lines_have_moved() {
    let changes = [
        (
            "static long balance;",
            "static long balance;\n\nstatic int more(int count) {\n    return count + 1;\n}",
        ),
        ("    take_turn();", "    take_turn();\n    if (more(count) == 0)\n        return 3;"),
    ];
    let later = Later::of("bank", lost_update(), &changes);
    later
        .check(&["bug.toml", "--", "./bank"])
        .ends_with(66)
        .says("bug.toml: FAILS (10 of 10 failed)\n")
        .says("step 1: line 11 is now line 15\n");
}

#[test]
fn the_program_is_that_of_the_file_unless_another_is_given() {
    let later = Later::of("bank", lost_update(), &[]);
    later.check(&["bug.toml", "--runs", "3"]).ends_with(66).says("FAILS (3 of 3 failed)");
    fs::copy(later.folder.path().join("bank"), later.folder.path().join("shop")).unwrap();
    let other = "does not apply: the reproducer is for another program: ./bank";
    later.check(&["bug.toml", "--", "./shop"]).ends_with(68).says(other);
    let gone = later.check(&["bug.toml", "--", "./nowhere/bank"]).ends_with(2);
    assert!(gone.stderr.contains("there is no such file"), "{}", gone.stderr);
}

/// The bank with a lock held from the look at the balance until it is written back.
fn fixed(reproducer: &str) -> Later {
    fixed_and(reproducer, &[])
}

/// A lock around look and put, and some more changes.
fn fixed_and(reproducer: &str, more: &[(&str, &str)]) -> Later {
    let deposit =
        "    long seen = look();\n    if (!is_second)\n        be_slow();\n    put(seen + 1);\n";
    let fixed =
        format!("    pthread_mutex_lock(&ledger);\n{deposit}    pthread_mutex_unlock(&ledger);\n");
    let lock = "static long balance;\nstatic pthread_mutex_t ledger = PTHREAD_MUTEX_INITIALIZER;";
    let changes = [(deposit, fixed.as_str()), ("static long balance;", lock)];
    Later::of("bank", reproducer, &[&changes, more].concat())
}

#[test]
fn where_a_fix_leaves_the_order_to_several_calls_only_it_cannot_come_about() {
    let twice = "static void *twice(void *is_second) {\n    for (volatile int i = 0; i < 2; i++)\n        teller(is_second);\n    return NULL;\n}\n\nint main(";
    let changes = [
        ("int main(", twice),
        ("static void *teller(", "__attribute__((noinline)) static void *teller("),
        ("NULL, teller, NULL", "NULL, twice, NULL"),
        ("NULL, teller, &second", "NULL, twice, &second"),
        ("look() == 2", "look() == 4"),
    ];
    let later = fixed_and(lost_update(), &changes);
    let cannot = "passes: the order can no longer come about (0 of 10 failed)";
    later.check(&["bug.toml"]).ends_with(0).says(cannot);
    let across = fixed_and(&lost_update().replace("within-calls = true\n", ""), &changes);
    across.check(&["bug.toml"]).ends_with(0).says("bug.toml: passes (order forced ");
}

#[test]
fn a_fixed_program_passes() {
    let later = fixed(lost_update());
    let checked = later.check(&["bug.toml"]).ends_with(0);
    let took = later.line_of("bank.c", "pthread_mutex_lock(&ledger);");
    checked
        .says("passes: the order can no longer come about (0 of 10 failed): step ")
        .says("because others waited: thread ")
        .says(&format!(
            " waits for ledger at bank.c:{took}, which the held thread took at bank.c:{took}"
        ));
}

#[test]
fn a_join_between_the_steps_forbids_the_order() {
    let both =
        "    pthread_create(&second, NULL, teller, &second);\n    pthread_join(first, NULL);";
    let turned =
        "    pthread_join(first, NULL);\n    pthread_create(&second, NULL, teller, &second);";
    let later = Later::of("bank", lost_update(), &[(both, turned)]);
    let checked = later.check(&["bug.toml"]).ends_with(0);
    let join = later.line_of("bank.c", "pthread_join(first, NULL);");
    checked
        .says("the order can no longer come about")
        .says("because all others waited for threads to end: ")
        .says(&format!(
            "thread 1 waits for the end of thread 2 at bank.c:{join}, which is the held one"
        ));
}

#[test]
fn a_line_that_was_rewritten_is_told_and_one_in_a_renamed_function_is_found() {
    let renamed = [("look(", "peek(")];
    let later = Later::of("bank", lost_update(), &renamed);
    later.check(&["bug.toml"]).ends_with(66).says("step 1: it is now in `peek`");

    let rewritten = [("look(", "peek("), ("long seen = balance;", "long seen = 1 * balance + 0;")];
    let later = Later::of("bank", lost_update(), &rewritten);
    later
        .check(&["bug.toml"])
        .ends_with(68)
        .says("bug.toml: does not apply: step 1 of a reproducer is not in the program any more")
        .says("it was the read of `balance` in `look` at bank.c:11: `long seen = balance;`");
}

#[test]
fn code_that_no_run_reaches_says_nothing() {
    let later = Later::of("bank", lost_update(), &[]);
    let checked = later.check(&["bug.toml", "--runs", "2", "--", "./bank", "closed"]).ends_with(68);
    checked
        .says("never reached step 1, read of `balance` in `look` at bank.c:11: no thread ever came there")
        .says("next: is the bug still there? unpick hunt -- ./bank closed");
}

#[test]
fn one_file_that_fails_is_enough_and_all_are_in_the_json() {
    let later = Later::of("bank", lost_update(), &[]);
    let other = lost_update().replace("long seen = balance;", "long seen = rate;");
    later.write("gone.toml", &other);
    let checked =
        later.check(&["gone.toml", "bug.toml", "--runs", "3", "--json", "-"]).ends_with(66);
    let value: Value = serde_json::from_str(&checked.stdout).unwrap();
    assert_valid(&value, "check.schema.json");
    let answers: Vec<_> = value["files"].as_array().unwrap().iter().map(|f| &f["answer"]).collect();
    assert_eq!(answers, ["does-not-apply", "fails"]);
}

#[test]
fn a_file_that_makes_no_sense_is_refused_before_anything_is_run() {
    let later = Later::of("bank", lost_update(), &[]);
    let pause = lost_update().lines().find(|line| line.starts_with("pause-ms")).unwrap();
    later.write("hasty.toml", &lost_update().replace(pause, "pause-ms = 0"));
    let refused = later.check(&["bug.toml", "hasty.toml"]).ends_with(2);
    assert!(refused.stderr.contains("who never waits forces nothing"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
    let missing = later.check(&["nowhere.toml"]).ends_with(2);
    assert!(missing.stderr.contains("a reproducer cannot be read"), "{}", missing.stderr);
}

#[test]
fn no_time_and_no_runs_are_refused() {
    let later = Later::of("bank", lost_update(), &[]);
    for option in ["--pause", "--budget", "--timeout", "--time"] {
        for refused in [
            Hunted::bank().unpick(&["reproduce", "1", option, "0"]),
            later.check(&["bug.toml", option, "0ms"]),
        ] {
            let refused = refused.ends_with(2);
            let words = [option, "expected a time of at least 1ms"];
            assert!(words.iter().all(|word| refused.stderr.contains(word)), "{}", refused.stderr);
        }
    }
    let none = later.check(&["bug.toml", "--runs", "0"]).ends_with(2);
    assert!(none.stderr.contains("0 is not in 1.."), "{}", none.stderr);
}

#[test]
fn what_makes_no_run_fail_is_not_written_unless_that_is_asked_for() {
    let hunted = Hunted::new("bank");
    let file = hunted.folder.path().join("bug.toml");
    // Left alone by its arguments, no thread comes to any step.
    let pin = ["pin", "1", "-o", "bug.toml", "--", "./bank", "closed"];
    let pinned = hunted.unpick(&pin).ends_with(68);
    let words = [
        "error: no reproducer is written: none of 5 runs forced by it failed\n",
        "no thread ever came there",
        "  next: ",
    ];
    assert!(words.iter().all(|word| pinned.stderr.contains(word)), "{}", pinned.stderr);
    assert!(!file.exists());
    let unproven = ["pin", "--unproven", "1", "-o", "bug.toml", "--", "./bank", "closed"];
    let pinned = hunted.unpick(&unproven).ends_with(0);
    assert!(pinned.stderr.contains("never seen to fail"), "{}", pinned.stderr);
    let text = fs::read_to_string(file).unwrap();
    assert!(text.contains("arguments = [\"closed\"]"), "{text}");
    assert!(text.contains("[tried]\nruns = 5\nfailed = 0\n"), "{text}");
}

#[test]
fn a_file_that_was_never_seen_to_fail_never_passes() {
    let tried = "[tried]\nruns = 5\nfailed = 5\n";
    assert!(lost_update().contains(tried), "{}", lost_update());
    for record in ["", "[tried]\nruns = 5\nfailed = 0\n"] {
        let later = fixed(&lost_update().replace(tried, record));
        let checked = later.check(&["bug.toml", "--json", "found.json"]).ends_with(69);
        checked.says("bug.toml: not checked: this file was never seen to fail (0 of 10 failed)");
        let found = fs::read_to_string(later.folder.path().join("found.json")).unwrap();
        let found: Value = serde_json::from_str(&found).unwrap();
        assert_valid(&found, "check.schema.json");
        assert_eq!(found["files"][0]["answer"], "not-checked");
        // What fails fails, whatever the file says.
        let later = Later::of("bank", &lost_update().replace(tried, record), &[]);
        later.check(&["bug.toml", "--runs", "2"]).ends_with(66).says("FAILS (2 of 2 failed)");
    }
}

#[test]
fn a_pinned_file_is_tried_unless_that_is_not_wanted() {
    let tried = Hunted::bank().unpick(&["pin", "1"]).ends_with(0);
    let words = "unpick: tried: 5 of 5 runs forced by the file failed\n";
    assert!(tried.stderr.contains(words), "{}", tried.stderr);
    assert!(lost_update().contains("within-calls = true\n"), "{}", lost_update());
    let pinned = Hunted::bank().pin(&["1", "--no-try", "--pause", "70ms", "--bound", "2"]);
    assert!(pinned.contains("pause-ms = 70\n") && pinned.contains("bound = 2\n"), "{pinned}");
    assert!(pinned.starts_with("# A reproducer of unpick"), "{pinned}");
    assert!(!pinned.contains("[tried]\n"), "{pinned}");
    let refused = Hunted::bank().unpick(&["pin", "7"]).ends_with(2);
    assert!(refused.stderr.contains("there is no finding 7"), "{}", refused.stderr);
}

#[test]
fn a_deadlock_is_forced_inverted_pinned_and_fixed() {
    let hunted = Hunted::new("deadlock");
    let forced = ["reproduce", "--run", "1", "--runs", "3"];
    let hangs = [&forced[..], &["--timeout", "3s"]].concat();
    hunted.unpick(&hangs).ends_with(66).says("3 (100 %)");
    // On a busy machine a run may take long: only those that must hang are cut short.
    let does_not = [&forced[..], &["--inverse", "--timeout", "60s"]].concat();
    hunted.unpick(&does_not).ends_with(0).says("0 (0 %)");

    let pinned = hunted.pin(&["--run", "1"]);
    let moved = [("static long moved;", "static long moved;\nstatic long unused;")];
    let later = Later::of("deadlock", &pinned, &moved);
    later.check(&["bug.toml", "--runs", "2"]).ends_with(66).says("FAILS (2 of 2 failed)");
    let crosswise = "    pthread_mutex_lock(&into);\n    pthread_mutex_lock(&from);\n";
    let in_order = "    pthread_mutex_lock(&from);\n    pthread_mutex_lock(&into);\n";
    let later = Later::of("deadlock", &pinned, &[(crosswise, in_order)]);
    later.check(&["bug.toml", "--runs", "3"]).ends_with(0).says("passes");
}

#[test]
fn a_program_that_a_script_starts_is_pinned_too() {
    let hunted = Hunted::new("bank");
    let folder = hunted.folder.path();
    fs::write(folder.join("test.sh"), "#!/bin/sh\n./bank\n").unwrap();
    Command::new("chmod").arg("+x").arg(folder.join("test.sh")).status().unwrap();
    let pinned = hunted.unpick(&["pin", "1", "--", "./test.sh"]).ends_with(0).stdout;
    assert!(pinned.contains("program = \"./test.sh\"\n"), "{pinned}");
    fs::write(folder.join("bug.toml"), pinned).unwrap();
    hunted
        .unpick(&["check", "bug.toml", "--runs", "3"])
        .ends_with(66)
        .says("FAILS (3 of 3 failed)");
}

#[test]
fn gdb_stops_when_all_are_there() {
    if Command::new("gdb").arg("--version").output().is_err() {
        assert!(std::env::var_os("CI").is_none(), "CI has gdb");
        eprintln!("skipped: there is no gdb here");
        return;
    }
    let stopped = Hunted::bank().unpick(&["reproduce", "1", "--gdb"]);
    assert!(
        stopped.stdout.contains("hit Breakpoint 1, unpick_all_are_there"),
        "{}",
        stopped.stdout
    );
    assert!(stopped.stdout.contains("unpick: all threads are there"), "{}", stopped.stdout);
}
