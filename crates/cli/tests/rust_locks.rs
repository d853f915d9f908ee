//! Locks of Rust's std and of parking_lot, from `unpick cargo` to the dump: who waited for a lock, got it and gave it up.

mod cargo_project;

use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

use cargo_project::{copied, executable};
use serde_json::Value;
use unpick_analyses::{Collector, Formula, LabelledRun, Options, conclude};
use unpick_events::Label;
use unpick_findings::Names;
use unpick_names::{CodeNames, KnownRecording};
use unpick_recording::{Recording, Run};

fn unpick(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    // What the cargo that runs this test was told is not meant for the one under test.
    for variable in
        ["CARGO_TARGET_DIR", "CARGO_BUILD_TARGET", "RUSTFLAGS", "RUSTC_WRAPPER", "CARGO"]
    {
        command.env_remove(variable);
    }
    let output = command.current_dir(folder).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}\n{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// What is known of a recording of the fixture.
struct Recorded {
    dump: Vec<Value>,
    accesses: Vec<KnownAccess>,
}

/// An access, and the locks its thread held.
struct KnownAccess {
    thread: u16,
    atomic: bool,
    variable: String,
    locks: Vec<String>,
}

fn dumped() -> &'static [Value] {
    &recorded().dump
}

fn recorded() -> &'static Recorded {
    static RECORDED: OnceLock<Recorded> = OnceLock::new();
    RECORDED.get_or_init(|| {
        let folder = copied("rust-locks");
        let built = unpick(&folder, &["cargo", "build", "--message-format=json"]);
        let program = executable(&built);
        let store = tempfile::tempdir().unwrap();
        let store = store.path().to_str().unwrap();
        let recorded =
            unpick(&folder, &["record", "--store", store, "--", program.to_str().unwrap()]);
        assert_eq!(String::from_utf8_lossy(&recorded.stdout), "1 1 1\n");
        let dump = unpick(&folder, &["dump", "--json", "--store", store]);
        let lines = String::from_utf8(dump.stdout).unwrap();
        let dump = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Recorded { dump, accesses: accesses_of(&Path::new(store).join("runs/0001")) }
    })
}

/// The accesses of all patterns of a run.
fn accesses_of(run: &Path) -> Vec<KnownAccess> {
    let names = CodeNames::new();
    let mut collector = Collector::new(Options::default());
    for file in Run::open(run).unwrap().event_files() {
        let recording = Recording::open(file).unwrap();
        collector.add(&recording, &KnownRecording::new(&recording, &names));
    }
    let patterns = collector.finish();
    let run = LabelledRun { number: 1, label: Label::Fail, patterns: &patterns };
    let conclusion = conclude(std::iter::once(run), Formula::Jaccard).unwrap();
    let examples = conclusion.evidence.iter().filter_map(|evidence| evidence.example.as_ref());
    let accesses = examples.flat_map(|example| &example.accesses).map(|access| KnownAccess {
        thread: access.thread,
        atomic: access.atomic,
        variable: names.variable(access, &conclusion.code).unwrap_or_default(),
        locks: access
            .locks
            .iter()
            .map(|lock| {
                let shared = if lock.shared { " shared" } else { "" };
                format!("{}{shared}", names.lock(lock, &conclusion.code).unwrap_or_default())
            })
            .collect(),
    });
    accesses.collect()
}

/// What happened to a lock, in order: thread and step. Atomic accesses by the names their functions give them.
fn story(lock: &str) -> Vec<String> {
    let of_lock = |event: &&Value| {
        event["type"] == "event" && event["object"].as_str().is_some_and(|name| name.contains(lock))
    };
    let step = |event: &Value| -> Option<String> {
        let flags = event["flags"].as_array().map_or(&[][..], Vec::as_slice);
        let has = |flag: &str| flags.iter().any(|one| one == flag);
        let shared = if has("shared") { " shared" } else { "" };
        let step = match event["kind"].as_str()? {
            kind @ ("LockWait" | "Acquire" | "Release") => {
                assert!(has("rust"), "{event}");
                format!("{kind}{shared}")
            }
            // How std puts threads to sleep.
            "FutexWait" | "FutexWoken" | "FutexWake" => return None,
            "Read" | "Write" | "ReadWrite" => event["rust_lock"]["step"].as_str()?.to_owned(),
            kind => kind.to_owned(),
        };
        Some(format!("T{} {step}", event["thread"]))
    };
    dumped().iter().filter(of_lock).filter_map(step).collect()
}

fn position(story: &[String], step: &str) -> usize {
    story.iter().position(|one| one == step).unwrap_or_else(|| panic!("{step} is not in {story:?}"))
}

#[test]
fn nothing_is_missing_from_the_recording() {
    let process = dumped().iter().find(|line| line["type"] == "process").unwrap();
    assert_eq!(process["complete"], true, "{process}");
}

#[test]
fn a_contended_mutex_is_waited_for_taken_and_given_up() {
    // T1 has it first, while nobody else knows of it.
    let expected =
        ["T1 lock", "T2 LockWait", "T1 unlock", "T2 Acquire", "T2 unlock", "T1 lock", "T1 unlock"];
    assert_eq!(story("rust_locks::MUTEX.inner"), expected);
}

#[test]
fn readers_and_writers_of_a_contended_rwlock_are_told_apart() {
    let expected = [
        "T1 lock",
        "T3 LockWait shared",
        "T1 unlock",
        "T3 Acquire shared",
        "T3 unlock-shared",
        "T1 lock-shared",
        "T4 LockWait",
        "T1 unlock-shared",
        "T4 Acquire",
        "T4 unlock",
        "T1 lock-shared",
        "T1 unlock-shared",
    ];
    assert_eq!(story("rust_locks::RWLOCK.inner"), expected);
}

#[test]
fn a_condition_wait_gives_the_mutex_up_and_takes_it_again() {
    let story = story("rust_locks::READY");
    let steps = [
        "T8 Release",
        "T8 ConditionWait",
        "T1 unlock",
        "T8 ConditionWake",
        "T8 Acquire",
        "T8 unlock",
    ];
    let positions = steps.map(|step| position(&story, step));
    assert!(positions.is_sorted(), "{story:?}");
}

#[test]
fn a_once_is_begun_and_done() {
    let steps = ["T10 OnceBegin", "T10 OnceDone", "T1 look-at-once"];
    let story = story("rust_locks::ONCE");
    let positions = steps.map(|step| position(&story, step));
    assert!(positions.is_sorted(), "{story:?}");
}

#[test]
fn barriers_parking_and_the_end_of_scopes_are_there() {
    let count = |kind: &str| dumped().iter().filter(|line| line["kind"] == kind).count();
    assert_eq!((count("BarrierArrive"), count("BarrierLeave")), (2, 2));
    let scopes = 8;
    assert_eq!(count("HappensBefore"), scopes, "one thread ends in each scope");
    assert!(count("HappensAfter") >= 1, "a thread was parked");
}

/// An unlock may hand the lock over to who waits, without an access to it: so only what is sure is asked for.
#[test]
fn locks_of_parking_lot_are_recognised() {
    for (lock, waiter) in [("OTHER_MUTEX", "T5"), ("OTHER_RWLOCK", "T6")] {
        let story = story(lock);
        assert!(position(&story, &format!("{waiter} unlock")) < story.len(), "{story:?}");
    }
    let story = story("OTHER_MUTEX");
    let last_lock = story.iter().rposition(|step| step == "T1 lock").expect("T1 locks it");
    assert!(position(&story, "T1 lock") < position(&story, "T5 unlock"), "{story:?}");
    assert!(position(&story, "T5 unlock") < last_lock, "{story:?}");
    position(&self::story("OTHER_RWLOCK"), "T7 unlock-shared");
}

/// Who accessed a variable with which locks.
fn held_at(variable: &str) -> Vec<String> {
    let accesses = recorded().accesses.iter().filter(|access| access.variable == variable);
    let mut held: Vec<String> =
        accesses.map(|access| format!("T{} {}", access.thread, access.locks.join(", "))).collect();
    held.sort();
    held.dedup();
    held
}

#[test]
fn the_words_of_locks_are_no_variables() {
    // What they guard is accessed without atomics, and has the same name.
    let locks = ["MUTEX", "RWLOCK", "READY.0"];
    let is_word = |access: &&KnownAccess| {
        access.atomic && locks.iter().any(|lock| access.variable.contains(lock))
    };
    let found: Vec<_> =
        recorded().accesses.iter().filter(is_word).map(|one| &one.variable).collect();
    assert!(found.is_empty(), "{found:?}");
    assert!(!recorded().accesses.is_empty());
}

#[test]
fn locks_held_are_known_by_name_whether_they_were_waited_for_or_not() {
    // Before that, T1 handed a lock of parking_lot over: it must not seem to be held ever after.
    let expected = ["T1 rust_locks::READY.0", "T8 rust_locks::READY.0"];
    assert_eq!(held_at("rust_locks::READY.0"), expected);
}
