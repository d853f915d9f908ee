//! `unpick record` from the outside: exit codes, signals, refusals, what is stored.
//!
//! The programs are shell scripts that put an event file into the run folder, as the runtime would.

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use unpick_events::file::{file_field, lost};
use unpick_events::{Kind, ThreadId};
use unpick_recording::writer::{Draft, Writer};
use unpick_recording::{Outcome, Run};

/// A folder with a store, a script and an event file of four events for it to copy.
struct Scene {
    folder: TempDir,
}

impl Scene {
    fn new() -> Scene {
        Scene { folder: tempfile::tempdir().unwrap() }.with_events(&writer())
    }

    fn with_events(self, writer: &Writer) -> Scene {
        fs::write(self.path("ready.events"), writer.to_bytes()).unwrap();
        self
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn script(&self, text: &str) -> PathBuf {
        let path = self.path("program");
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A script that records, then does what `text` says.
    fn recording_script(&self, text: &str) -> PathBuf {
        let ready = self.path("ready.events");
        self.script(&format!("cp {} \"$UNPICK_RUN_DIR\"/4242-0.events\n{text}", ready.display()))
    }

    fn record(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
        command.arg("record").args(arguments).current_dir(self.folder.path());
        command
    }

    fn run(&self, number: u32) -> Run {
        Run::open(self.path(&format!(".unpick/runs/{number:04}"))).unwrap()
    }
}

fn writer() -> Writer {
    let mut writer = Writer::new();
    for thread in [1, 2] {
        writer.write(ThreadId(thread), Draft::new(Kind::ThreadStart).word(1));
        writer.write(ThreadId(thread), Draft::access(Kind::Write, 0x1000, 4));
    }
    writer
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn path_text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn the_program_keeps_its_streams_and_its_exit_code() {
    let scene = Scene::new();
    let program = scene.recording_script("read line; echo out $line $1; echo err >&2; exit 7");
    let mut child = scene
        .command(&["--", path_text(&program), "argument"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"typed\n").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stdout), "out typed argument\n", "nothing of ours on standard output");
    assert!(text(&output.stderr).starts_with("err\n"));

    let info = scene.run(1).info().clone();
    assert_eq!(info.outcome, Outcome::Exit { code: 7 });
    assert_eq!(info.command, [path_text(&program), "argument"]);
}

#[test]
fn the_summary_counts_and_names_the_next_command() {
    let scene = Scene::new();
    let program = scene.recording_script("");
    let output = scene.record(&[path_text(&program)]);
    assert_eq!(
        text(&output.stderr),
        "unpick: process 4242: 4 events of 2 threads, 12.0 KiB, complete\nunpick: next: unpick dump 1\n"
    );
    let quiet = scene.record(&["--quiet", "--", path_text(&program)]);
    assert_eq!(text(&quiet.stderr), "");
    assert_eq!(quiet.status.code(), Some(0));
    let elsewhere = scene.record(&["--store", "my runs", "--", path_text(&program)]);
    assert!(text(&elsewhere.stderr).contains("next: unpick dump --store 'my runs' 1"));
}

#[test]
fn an_incomplete_recording_says_why() {
    let mut writer = writer();
    writer.set(file_field::LOST, lost::LIMIT);
    writer.set(file_field::DROPPED, 5);
    let scene = Scene::new().with_events(&writer);
    let output = scene.record(&[path_text(&scene.recording_script(""))]);
    let stderr = text(&output.stderr);
    assert!(stderr.contains("INCOMPLETE"), "{stderr}");
    assert!(
        stderr.contains("5 events were dropped: record again with a higher --limit"),
        "{stderr}"
    );
}

#[test]
fn the_unused_end_of_an_event_file_is_cut_off() {
    let scene = Scene::new();
    let used = fs::metadata(scene.path("ready.events")).unwrap().len();
    let program = scene.recording_script("truncate -s 1G $UNPICK_RUN_DIR/4242-0.events");
    scene.record(&[path_text(&program)]);
    assert_eq!(fs::metadata(&scene.run(1).event_files()[0]).unwrap().len(), used);
}

#[test]
fn options_reach_the_runtime_and_the_description_of_the_run() {
    let scene = Scene::new();
    let program = scene.recording_script("echo $UNPICK_OPTIONS");
    let options =
        ["--full", "--limit", "2MiB", "--seed", "9", "--delay-access", "1%", "--delay-sync", "0.5"];
    let more =
        ["--delay-start", "1", "--delay-min", "0", "--delay-max", "2us", "--", path_text(&program)];
    let output = scene.record(&[&options[..], &more].concat());
    assert_eq!(
        text(&output.stdout),
        "full limit=2097152 seed=9 access=10000 sync=500000 start=1000000 shortest=0 longest=2000 \
         targets=0 budget=0\n"
    );
    let run = scene.run(1);
    assert_eq!((run.info().seed, run.info().options.delay_sync_ppm), (9, 500_000));
}

#[test]
fn a_program_killed_by_a_signal_gives_the_exit_code_a_shell_would() {
    let scene = Scene::new();
    let output = scene.record(&[path_text(&scene.recording_script("kill -SEGV $$"))]);
    assert_eq!(output.status.code(), Some(128 + 11));
    assert_eq!(scene.run(1).info().outcome, Outcome::Signal { number: 11 });
}

/// Unpick survives the signal itself: see `a_disk_that_is_full_in_the_middle_leaves_nothing_behind`.
#[test]
fn a_program_takes_too_large_files_as_it_would_without_us() {
    let scene = Scene::new();
    let program = scene.recording_script("kill -XFSZ $$; exit 3");
    assert_eq!(scene.record(&[path_text(&program)]).status.code(), Some(128 + 25));
    let ignoring = Command::new("sh")
        .args(["-c", r#"trap "" XFSZ; exec "$0" record "$1""#, env!("CARGO_BIN_EXE_unpick")])
        .arg(&program)
        .current_dir(scene.folder.path())
        .output()
        .unwrap();
    assert_eq!(ignoring.status.code(), Some(3), "{}", text(&ignoring.stderr));
}

#[test]
fn a_termination_request_is_passed_on_and_the_run_is_put_away() {
    let scene = Scene::new();
    let program =
        scene.recording_script("trap 'exit 5' TERM; echo ready; while :; do sleep 0.01; done");
    let arguments = ["--", path_text(&program)];
    let mut child = scene.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = [0; 6];
    child.stdout.take().unwrap().read_exact(&mut ready).unwrap();
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(kill.success());
    assert_eq!(child.wait().unwrap().code(), Some(5));
    assert_eq!(scene.run(1).info().outcome, Outcome::Exit { code: 5 });
}

#[test]
fn a_daemon_that_outlives_the_program_does_not_hold_the_run_up() {
    let scene = Scene::new();
    let program = scene.recording_script("sleep 20 >/dev/null 2>&1 </dev/null &");
    let started = Instant::now();
    scene.record(&[path_text(&program)]);
    assert!(started.elapsed() < Duration::from_secs(10));
}

#[test]
fn a_program_that_records_nothing_is_told_how_to_be_built() {
    let scene = Scene::new();
    let output = scene.record(&[path_text(&scene.script("exit 0"))]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("nothing was recorded (exit 0)"));
    assert!(text(&output.stderr).contains("unpick cc"));
    assert!(!scene.path(".unpick/runs/0001").exists(), "an empty run is not kept");

    let failing = scene.record(&[path_text(&scene.script("exit 3"))]);
    assert_eq!(failing.status.code(), Some(3), "its own exit code says more");
    let native = scene.record(&["/bin/true"]);
    assert!(text(&native.stderr).contains("is not built with Unpick"), "{}", text(&native.stderr));
}

#[test]
fn a_runtime_that_could_not_begin_is_our_fault_and_says_why() {
    let scene = Scene::new();
    let fail = "echo 'the recording cannot be created (error 28)' > $UNPICK_RUN_DIR/17.failed";
    let output = scene.record(&[path_text(&scene.script(fail))]);
    assert_eq!(output.status.code(), Some(70));
    assert!(text(&output.stderr).contains("why:     the recording cannot be created (error 28)"));

    let half = scene.record(&[path_text(&scene.recording_script(fail))]);
    assert_eq!(half.status.code(), Some(0));
    assert!(text(&half.stderr).contains("process 17 was not recorded"));
}

#[test]
fn what_cannot_run_is_refused_before_anything_is_made() {
    let scene = Scene::new();
    let refused = |arguments: &[&str]| {
        let output = scene.record(arguments);
        assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
        text(&output.stderr)
    };
    assert!(refused(&["./nowhere"]).contains("there is no such file"));
    assert!(refused(&["surely-no-such-program"]).contains("no folder in PATH"));
    assert!(refused(&["./ready.events"]).contains("chmod +x ./ready.events"));
    assert!(refused(&["/tmp"]).contains("it is a folder"));
    assert!(refused(&["--delay-min", "2ms", "--", "true"]).contains("shortest delay"));
    assert!(refused(&["--limit", "lots", "--", "true"]).contains("expected a size"));
    assert!(!scene.path(".unpick").exists());
}

#[test]
fn a_program_for_another_machine_is_refused() {
    let scene = Scene::new();
    let mut bytes = fs::read("/bin/true").unwrap();
    bytes[18..20].copy_from_slice(&243_u16.to_le_bytes());
    let path = scene.path("foreign");
    fs::write(&path, bytes).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let output = scene.record(&[path_text(&path)]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("it is built for RISC-V, this is x86-64"));
}

#[test]
fn a_program_with_another_sanitizer_is_refused() {
    let scene = Scene::new();
    fs::write(scene.path("a.c"), "int main(void) { return 0; }").unwrap();
    for (option, name) in [("thread", "ThreadSanitizer"), ("address", "AddressSanitizer")] {
        let built = Command::new("gcc")
            .args([&format!("-fsanitize={option}"), "a.c", "-o", "sanitized"])
            .current_dir(scene.folder.path())
            .output();
        if !built.is_ok_and(|output| output.status.success()) {
            assert!(std::env::var_os("CI").is_none(), "gcc cannot build with {name} here");
            eprintln!("skipped: gcc cannot build with {name} here");
            continue;
        }
        let output = scene.record(&["./sanitized"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(text(&output.stderr).contains(&format!("it carries {name}")));
    }
}

#[test]
fn a_program_that_refuses_to_run_is_not_told_to_be_built() {
    let scene = Scene::new();
    let output = scene.record(&[path_text(&scene.script("exit 70"))]);
    assert_eq!(output.status.code(), Some(70));
    let stderr = text(&output.stderr);
    assert!(stderr.contains("cannot be recorded, for the reason it has printed"), "{stderr}");
    assert!(!stderr.contains("built"), "{stderr}");
}

#[test]
fn a_store_that_cannot_be_written_stops_the_run_before_it_begins() {
    let scene = Scene::new();
    fs::write(scene.path("file"), "").unwrap();
    let program = scene.recording_script("touch started");
    let output = scene.record(&["--store", "file/store", "--", path_text(&program)]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("is a file, not a directory"));
    assert!(!scene.path("started").exists());
}

#[test]
fn runs_at_the_same_time_get_folders_of_their_own() {
    let scene = Scene::new();
    let program = scene.recording_script("sleep 0.1");
    let start = || scene.command(&["--quiet", "--", path_text(&program)]).spawn().unwrap();
    let children: Vec<_> = (0..6).map(|_| start()).collect();
    for mut child in children {
        assert_eq!(child.wait().unwrap().code(), Some(0));
    }
    for number in 1..=6 {
        assert_eq!(scene.run(number).event_files().len(), 1);
    }
}

#[test]
fn many_processes_of_one_thread_are_told_in_one_line() {
    let mut lonely = Writer::new();
    lonely.write(ThreadId(1), Draft::new(Kind::ThreadStart).word(1));
    let scene = Scene::new();
    fs::write(scene.path("lonely.events"), lonely.to_bytes()).unwrap();
    let copies = format!(
        "for n in 1 2 3 4 5 6 7 8 9; do cp {} \"$UNPICK_RUN_DIR\"/$n-0.events; done",
        scene.path("lonely.events").display()
    );
    let output = scene.record(&[path_text(&scene.recording_script(&copies))]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stderr),
        "unpick: process 4242: 4 events of 2 threads, 12.0 KiB, complete\n\
         unpick: 9 recordings of one thread each, complete\n\
         unpick: next: unpick dump 1\n"
    );
}
