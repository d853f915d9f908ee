//! `unpick dump` from the outside, on recordings made by the test writer: every kind of event, filters, JSON.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use boon::{Compiler, SchemaIndex, Schemas};
use serde_json::Value;
use tempfile::TempDir;
use unpick_events::access::PastKind;
use unpick_events::file::{file_field, lost};
use unpick_events::kind::{access_flags, lock_flags};
use unpick_events::{Kind, MemoryOrder, Past, Site, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Outcome, RunInfo, RunOptions};

const MAIN: ThreadId = ThreadId(1);
const WORKER: ThreadId = ThreadId(2);

/// A store with one run, whose recording has an event of every kind.
fn store(writer: &Writer) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let run = folder.path().join(".unpick/runs/0001");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("4242-0.events"), writer.to_bytes()).unwrap();
    let info = RunInfo {
        command: vec!["./bank".to_owned(), "10".to_owned()],
        working_folder: "/src".into(),
        started_ms: 1,
        duration_ms: 12,
        outcome: Outcome::Signal { number: 6 },
        options: RunOptions::default(),
        seed: 99,
        unpick_version: "0.1.0".to_owned(),
        format_version: 1,
        label: None,
        why: None,
        hunt: None,
        written_as: None,
        stdin: None,
        judged_by: None,
    };
    info.write(&run).unwrap();
    folder
}

fn every_kind() -> Writer {
    let mut writer = Writer::new();
    let past = Past { kind: PastKind::Write, thread: MAIN, site: Site(0x77), ordinal: 1 };
    for &kind in Kind::ALL {
        let draft = Draft::new(kind).site(0x10).context(5);
        let draft = match kind {
            Kind::Read => Draft::access(kind, 0x1000, 4).site(0x10).past(past),
            Kind::Write => Draft::access(kind, 0x1000, 1 << 20)
                .flags(access_flags::FREE | access_flags::LIBRARY),
            Kind::ReadWrite => {
                Draft::access(kind, 0x1000, 8).flags(MemoryOrder::AcquireRelease as u16)
            }
            Kind::ThreadStart | Kind::Forked => draft.object(1).word(100),
            Kind::KernelThread => draft.object(77).word(0x4000),
            Kind::ThreadEnd => draft.word(200),
            Kind::ConditionWait => draft.object(0x2000).word(0x3000),
            Kind::Acquire => draft.object(0x3000).flags(lock_flags::IS_RWLOCK | lock_flags::SHARED),
            Kind::Block => draft.object(0x5000).word(64).word(1 | 7 << 32),
            Kind::StackGone => draft.object(0x7000).word(128),
            Kind::Module => draft
                .object(0x9000)
                .word(0x9000)
                .word(0x1000)
                .text("")
                .text("/no/such\u{1b}/module"),
            Kind::Stack => draft.call_sites(&[1, 2, 3]),
            Kind::Fact => draft.text("compiler").text("gcc"),
            _ => draft.object(0x2),
        };
        writer.write(if (kind as u8).is_multiple_of(2) { MAIN } else { WORKER }, draft);
    }
    writer.write(MAIN, Draft::new(Kind::Delay).object(5).unstamped());
    writer.write(MAIN, Draft::strided(Kind::Write, 0x40_0100, 4, 3, -0x40));
    writer
}

fn dump(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_unpick"))
        .arg("dump")
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

fn lines(folder: &Path, arguments: &[&str]) -> Vec<String> {
    let output = dump(folder, arguments);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

fn problem(folder: &Path, arguments: &[&str]) -> String {
    let output = dump(folder, arguments);
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn schema() -> (Schemas, SchemaIndex) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/dump.schema.json");
    let mut schemas = Schemas::new();
    let index = Compiler::new().compile(path.to_str().unwrap(), &mut schemas).unwrap();
    (schemas, index)
}

#[test]
fn the_head_says_what_ran_and_how_it_ended() {
    let store = store(&every_kind());
    let lines = lines(store.path(), &[]);
    assert_eq!(lines[0], "run 1: ./bank 10");
    assert_eq!(lines[2], "  outcome   killed by signal 6 after 12 ms");
    assert_eq!(lines[4], "process 4242: 47 events of 2 threads");
    assert_eq!(lines[6], "  complete  yes");
}

#[test]
fn a_recording_that_ended_early_does_not_say_how_the_process_ended() {
    let mut writer = every_kind();
    writer.set(file_field::LOST, lost::LIMIT);
    writer.set(file_field::DROPPED, 1);
    writer.set(file_field::ORDERLY_EXIT, 0);
    let lines = lines(store(&writer).path(), &[]);
    assert!(
        lines.iter().any(|line| line == "  ended     not known: the recording had ended before")
    );
    assert!(lines.iter().any(|line| line.contains("1 event was dropped")));
}

#[test]
fn every_kind_has_a_line_and_past_accesses_stand_below() {
    let store = store(&every_kind());
    let lines = lines(store.path(), &[]);
    for kind in Kind::ALL {
        let name = format!(" {} ", kind.name());
        assert!(lines.iter().any(|line| format!("{line} ").contains(&name)), "{name}");
    }
    let read = lines.iter().position(|line| line.contains(" Read ")).unwrap();
    assert!(lines[read + 1].contains("T1    after write"), "{}", lines[read + 1]);
    assert!(lines.iter().any(|line| line.contains("[rwlock shared]")));
    assert!(lines.iter().any(|line| line.contains("[acquire-release]")));
    assert!(lines.iter().all(|line| !line.contains('\u{1b}')), "nothing controls the terminal");
}

#[test]
fn filters_choose_by_thread_kind_address_and_number() {
    let store = store(&every_kind());
    let events = |arguments: &[&str]| {
        let arguments = [&["--json"], arguments].concat();
        lines(store.path(), &arguments)
            .iter()
            .filter(|line| line.contains(r#""type":"event""#))
            .count()
    };
    assert_eq!(events(&[]), 47);
    assert_eq!(events(&["--thread", "2"]) + events(&["--thread", "1"]), 47);
    assert_eq!(events(&["--kind", "read", "--kind", "Delay"]), 3);
    assert_eq!(events(&["--address", "0x1005"]), 2, "the read has only four bytes");
    assert_eq!(events(&["--address", "12288"]), 2, "0x3000 is a lock and in the long write");
    assert_eq!(events(&["--address", "0x400083"]), 1, "the third of the accesses in step");
    assert_eq!(events(&["--address", "0x4000c3"]), 1);
    assert_eq!(events(&["--address", "0x4000c4"]), 0, "between them");
    assert_eq!(events(&["--address", "0x400040"]), 0, "after the last");
    assert_eq!(events(&["--limit", "7"]), 7);
}

#[test]
fn a_run_is_found_by_number_folder_and_file() {
    let store = store(&every_kind());
    let folder = ".unpick/runs/0001";
    let all = lines(store.path(), &[]);
    assert_eq!(lines(store.path(), &["1"]), all);
    assert_eq!(lines(store.path(), &[folder]), all);
    assert_eq!(lines(store.path(), &[&format!("{folder}/4242-0.events")])[..], all[4..]);
    assert_eq!(
        lines(Path::new("/"), &["--store", store.path().join(".unpick").to_str().unwrap()]),
        all
    );
}

#[test]
fn what_is_not_there_or_unreadable_is_a_problem_with_a_next_step() {
    let store = store(&every_kind());
    assert!(problem(store.path(), &["7"]).contains("the last run is 1"));
    assert!(problem(store.path(), &["nowhere"]).contains("neither the number of a run"));
    assert!(problem(store.path(), &["--kind", "Wriet"]).contains("the kinds are: Read, Write"));
    assert!(problem(Path::new("/"), &[]).contains("unpick record -- PROGRAM"));
    let damaged = store.path().join(".unpick/runs/0001/4243-0.events");
    fs::write(&damaged, b"UNPICK").unwrap();
    let output = dump(store.path(), &[]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("Acquire"), "the good one is shown");
    assert!(String::from_utf8_lossy(&output.stderr).contains("cut short"));
}

#[test]
fn a_reader_that_has_seen_enough_ends_the_dump_quietly() {
    let mut writer = Writer::new();
    (0..20_000).for_each(|_| writer.write(MAIN, Draft::new(Kind::Exec)));
    let store = store(&writer);
    let mut child = Command::new(env!("CARGO_BIN_EXE_unpick"))
        .arg("dump")
        .current_dir(store.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn json_lines_are_as_the_schema_says() {
    let store = store(&every_kind());
    let (schemas, index) = schema();
    let lines = lines(store.path(), &["--json"]);
    assert_eq!(lines.len(), 49);
    for line in &lines {
        let value: Value = serde_json::from_str(line).unwrap();
        if let Err(error) = schemas.validate(&value, index) {
            panic!("{line}\n{error:#}");
        }
    }
    let strange: Value = serde_json::from_str(r#"{"type":"event","kind":"Strange"}"#).unwrap();
    assert!(schemas.validate(&strange, index).is_err(), "the schema refuses something");
}

#[test]
fn the_schema_knows_exactly_the_kinds_there_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema/dump.schema.json");
    let schema: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let kinds = &schema["$defs"]["event"]["properties"]["kind"]["enum"];
    let known: Vec<_> = kinds.as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let there = Kind::ALL.iter().map(|kind| kind.name());
    assert!(there.eq(known));
}
