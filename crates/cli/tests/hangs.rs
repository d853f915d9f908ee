//! Runs that hang, from `unpick hunt` to `unpick show --run`: programs that hang for sure, in C and in Rust.
//!
//! A time limit is long enough for threads to get where they hang on a busy machine.

mod schemas;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use schemas::assert_valid;
use serde_json::{Value, json};
use tempfile::TempDir;

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
/// Of a program that needs milliseconds.
const TIMEOUT: &str = "4s";

fn unpick(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    // What the cargo that runs this test was told is not meant for the one under test.
    for variable in
        ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO"]
    {
        command.env_remove(variable);
    }
    command.env_remove("UNPICK_CC").current_dir(folder).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A hunt of one or more runs, all of which hang.
struct Hung {
    folder: TempDir,
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

impl Hung {
    fn hunt(folder: TempDir, options: &[&str], program: &[&str]) -> Hung {
        let arguments =
            [&["hunt", "--timeout", TIMEOUT, "--no-delays"], options, &["--"], program].concat();
        let output = unpick(folder.path(), &arguments);
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Hung { folder, code: output.status.code(), stdout, stderr }
    }

    fn unpick(&self, arguments: &[&str]) -> String {
        let output = unpick(self.folder.path(), arguments);
        assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    /// The only process of the first run, at the moment it hung.
    fn process(&self) -> Value {
        let hang = self.json(&["show", "--run", "1", "--json", "-"]);
        assert_valid(&hang, "hang.schema.json");
        assert_eq!(hang["processes"].as_array().unwrap().len(), 1, "{hang:#}");
        hang["processes"][0].clone()
    }

    fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.unpick(arguments)).unwrap()
    }
}

/// Builds `tests/fixtures/hangs/NAME.c`.
fn build_c(folder: &TempDir, name: &str) {
    let source = format!("{FIXTURES}/hangs/{name}.c");
    let built = unpick(folder.path(), &["cc", "-g", "-O1", "-pthread", &source, "-o", name]);
    assert!(built.status.success(), "{}", text(&built.stderr));
}

fn hung_c_program(name: &str, options: &[&str]) -> Hung {
    let folder = tempfile::tempdir().unwrap();
    build_c(&folder, name);
    Hung::hunt(folder, options, &[&format!("./{name}")])
}

/// The program of `tests/fixtures/rust-hangs`.
fn rust_program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        // Stays, with what is built in it, for the next test run.
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("rust-hangs");
        for file in ["Cargo.toml", "Cargo.lock", "src/main.rs"] {
            let goal = folder.join(file);
            fs::create_dir_all(goal.parent().unwrap()).unwrap();
            let text = fs::read(Path::new(FIXTURES).join("rust-hangs").join(file)).unwrap();
            if fs::read(&goal).ok().as_ref() != Some(&text) {
                fs::write(goal, text).unwrap();
            }
        }
        let built = unpick(&folder, &["cargo", "build", "--message-format=json"]);
        assert!(built.status.success(), "{}", text(&built.stderr));
        let messages = text(&built.stdout);
        let mut messages =
            messages.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let program = messages.find_map(|message| Some(message["executable"].as_str()?.into()));
        program.expect("cargo tells where the program is")
    })
}

fn hung_rust_program(way: &str) -> Hung {
    let folder = tempfile::tempdir().unwrap();
    Hung::hunt(folder, &["--runs", "1"], &[rust_program().to_str().unwrap(), way])
}

/// What a thread waits for and holds: `lock NAME` and the names of locks.
fn waits_and_holds(thread: &Value) -> (String, Vec<String>) {
    let wait = &thread["waits_for"];
    let name = wait["name"].as_str().unwrap_or_default();
    let wait = format!("{} {name}", wait["what"].as_str().unwrap_or("nothing"));
    let locks = thread["holds"].as_array().unwrap().iter();
    let names = locks.filter_map(|lock| lock["name"].as_str().map(str::to_owned));
    (wait.trim_end().to_owned(), names.collect())
}

fn threads(process: &Value) -> &[Value] {
    process["threads"].as_array().unwrap()
}

#[test]
fn a_deadlock_is_found_without_a_run_that_passes() {
    let hung = hung_c_program("deadlock", &["--runs", "2"]);
    assert_eq!(hung.code, Some(66), "{}{}", hung.stdout, hung.stderr);
    let circle = "held by thread 3, which waits for cache_lock at deadlock.c:22, held by thread 2: a deadlock";
    assert!(hung.stderr.contains("run 1 and 1 more hung: thread 2 waits for "), "{}", hung.stderr);
    assert!(hung.stderr.contains(circle), "{}", hung.stderr);
    assert!(hung.unpick(&["runs"]).contains(circle));
    assert!(hung.unpick(&["show"]).contains("Runs that hung"));
    assert!(
        hung.unpick(&["show", "--run", "2"]).contains("holds cache_lock, taken at deadlock.c:14")
    );

    let found = hung.json(&["show", "--json", "-"]);
    assert_valid(&found, "findings.schema.json");
    assert_eq!((&found["findings"], &found["hangs"][0]["failed_runs"]), (&json!([]), &json!(2)));
    assert_eq!(found["hangs"].as_array().unwrap().len(), 1, "{found:#}");

    let ranked = unpick(hung.folder.path(), &["rank"]);
    assert_eq!(ranked.status.code(), Some(66), "{}", text(&ranked.stderr));

    hung.unpick(&["export", "hung.unpick"]);
    hung.unpick(&["import", "--store", "elsewhere", "hung.unpick"]);
    for shown in [&["show"][..], &["show", "--run", "2"]] {
        let there = [shown, &["--store", "elsewhere"]].concat();
        let without_store = hung.unpick(&there).replace(" --store elsewhere", "");
        assert_eq!(without_store, hung.unpick(shown));
    }
}

#[test]
fn the_record_has_all_threads_with_their_waits_locks_and_calls() {
    let hung = hung_c_program("deadlock", &["--runs", "1"]);
    let process = hung.process();
    assert_eq!(process["deadlocks"], json!([[2, 3]]));
    let [main, updates, rotates] = threads(&process) else { panic!("{process:#}") };
    assert_eq!(
        (&main["waits_for"]["what"], &main["waits_for"]["threads"]),
        (&json!("end"), &json!([2]))
    );
    let log_lock = "log.lock (heap, allocated at deadlock.c:27)";
    assert_eq!(
        waits_and_holds(updates),
        (format!("lock {log_lock}"), vec!["cache_lock".to_owned()])
    );
    assert_eq!(waits_and_holds(rotates), ("lock cache_lock".to_owned(), vec![log_lock.to_owned()]));
    assert_eq!((&updates["function"], &updates["line"]), (&json!("write_log"), &json!(9)));
    assert_eq!(
        (&updates["stack"][0]["function"], &updates["stack"][0]["line"]),
        (&json!("updates"), &json!(16))
    );
    assert_eq!((&rotates["waits_for"]["threads"], &rotates["line"]), (&json!([2]), &json!(22)));
}

#[test]
fn every_other_way_to_hang_is_told_but_is_no_deadlock() {
    let hung = hung_c_program("each_its_own", &["--runs", "1"]);
    assert_eq!(hung.code, Some(67), "{}{}", hung.stdout, hung.stderr);
    assert!(
        hung.stderr.contains("run 1 hung: thread 1 waits for the end of thread 2"),
        "{}",
        hung.stderr
    );
    let process = hung.process();
    assert_eq!(process["deadlocks"], json!([]));
    let told: Vec<_> = threads(&process).iter().map(waits_and_holds).collect();
    let waits: Vec<&str> = told.iter().map(|(wait, _)| wait.as_str()).collect();
    let expected = ["end", "nothing", "nothing", "condition ready", "semaphore items", "lock kept"];
    assert_eq!(waits, expected);
    assert_eq!(told[1].1, ["kept"]);
    assert_eq!(threads(&process)[5]["waits_for"]["threads"], json!([2]));
    assert_eq!(threads(&process)[3]["waits_for"]["mutex"], "lock");
}

#[test]
fn a_thread_without_events_is_seen_where_it_is() {
    let hung = hung_c_program("each_its_own", &["--runs", "1"]);
    let process = hung.process();
    let [_, spins, reads, ..] = threads(&process) else { panic!("{process:#}") };
    if spins["is_now"] == false {
        eprintln!("skipped: the memory of other processes may not be read here");
        return;
    }
    assert_eq!((&spins["function"], &spins["activity"]), (&json!("spin"), &json!("running")));
    assert_eq!((&spins["line"], &spins["is_now"]), (&json!(11), &json!(true)));
    assert_eq!((&reads["line"], &reads["activity"]), (&json!(20), &json!("sleeping")));
}

#[test]
fn all_processes_of_the_group_are_in_the_record() {
    let folder = tempfile::tempdir().unwrap();
    build_c(&folder, "deadlock");
    build_c(&folder, "each_its_own");
    let script = "./deadlock & exec ./each_its_own";
    let hung = Hung::hunt(folder, &["--runs", "1"], &["sh", "-c", script]);
    assert_eq!(hung.code, Some(66), "{}{}", hung.stdout, hung.stderr);
    let hang = hung.json(&["show", "--run", "1", "--json", "-"]);
    let processes = hang["processes"].as_array().unwrap().iter();
    let mut counts: Vec<_> = processes
        .map(|process| (threads(process).len(), process["deadlocks"].as_array().unwrap().len()))
        .collect();
    counts.sort_unstable();
    assert_eq!(counts, [(3, 1), (6, 0)]);
}

#[test]
fn locks_of_rust_and_of_parking_lot_can_be_in_a_deadlock() {
    for (way, first, second) in [("std", "ACCOUNT", "JOURNAL"), ("parking_lot", "QUEUE", "INDEX")] {
        let hung = hung_rust_program(way);
        assert_eq!(hung.code, Some(66), "{way}: {}{}", hung.stdout, hung.stderr);
        let process = hung.process();
        assert_eq!(process["deadlocks"], json!([[2, 3]]), "{way}: {process:#}");
        // Either of the two may be the second thread.
        let mut waits: Vec<String> =
            threads(&process)[1..].iter().map(|thread| waits_and_holds(thread).0).collect();
        waits.sort();
        let mut expected = [first, second].map(|lock| format!("lock rust_hangs::{lock}"));
        expected.sort();
        assert_eq!(waits, expected, "{way}");
        for thread in &threads(&process)[1..] {
            assert!(thread["file"].as_str().unwrap().ends_with("src/main.rs"), "{way}: {thread:#}");
        }
    }
}

#[test]
fn a_thread_of_rust_that_waits_for_a_signal_or_an_unpark_says_so() {
    for (way, wait) in [("condition", "condition rust_hangs::READY"), ("park", "unpark")] {
        let hung = hung_rust_program(way);
        assert_eq!(hung.code, Some(67), "{way}: {}{}", hung.stdout, hung.stderr);
        let process = hung.process();
        assert_eq!(waits_and_holds(&threads(&process)[0]).0, wait);
    }
}

#[test]
fn a_lost_wakeup_is_told_with_test_write_notification_and_wait() {
    let hung = hung_c_program("lost_wakeup", &["--runs", "1"]);
    assert_eq!(hung.code, Some(66), "{}{}", hung.stdout, hung.stderr);
    let told = "thread 1 waits for condition changed at lost_wakeup.c:25; it had tested finished at lost_wakeup.c:22, then thread 2 wrote it \
                at lost_wakeup.c:12 and notified at lost_wakeup.c:13, before it waited: a lost notification";
    assert!(hung.stderr.contains(told), "{}", hung.stderr);
    let process = hung.process();
    let steps = process["lost"]["steps"].as_array().unwrap().iter();
    let steps: Vec<_> = steps.map(|step| (&step["deed"], &step["variable"]["name"])).collect();
    let (variable, none) = (json!("finished"), Value::Null);
    let deeds = ["tests", "writes", "notifies", "waits"].map(|deed| json!(deed));
    let [test, write, notify, wait] = &deeds;
    assert_eq!(
        steps,
        [(test, &variable), (write, &variable), (notify, &none), (wait, &none)],
        "{process:#}"
    );
}

#[test]
fn a_run_that_ended_by_itself_has_not_hung() {
    let folder = tempfile::tempdir().unwrap();
    let hunt =
        Hung::hunt(folder, &["--runs", "1"], &[rust_program().to_str().unwrap(), "not at all"]);
    assert_eq!(hunt.code, Some(0), "{}", hunt.stderr);
    let shown = unpick(hunt.folder.path(), &["show", "--run", "1"]);
    assert_eq!(shown.status.code(), Some(0));
    let shown = text(&shown.stdout);
    assert!(shown.starts_with("Run 1 of hunt 1: pass, exit code 0\n"), "{shown}");
    let forced = unpick(hunt.folder.path(), &["reproduce", "--run", "1"]);
    assert_eq!(forced.status.code(), Some(2));
    assert!(text(&forced.stderr).contains("run 1 did not hang"), "{}", text(&forced.stderr));
}
