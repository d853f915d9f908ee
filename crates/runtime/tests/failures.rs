//! Programs that die: as they would without us, with a moment for the other threads.

mod schedule;
mod support;

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Output;

use schedule::delay_plan;
use support::{Program, limited};
use unpick_events::Kind;
use unpick_events::schedule::VARIABLE;
use unpick_recording::Recording;

#[test]
fn a_program_dies_by_its_own_signal_whatever_it_does_with_handlers() {
    let program = Program::build("fatal_signals.c");
    for how in [
        "alone", "segv", "abort", "divide", "illegal", "kill", "raise", "own", "report", "ignored",
        "ask",
    ] {
        let run = program.check_with(&[how], "");
        assert_eq!(run.recordings().len(), 1, "{how}");
    }
    assert_eq!(signal_of(&program.record(&["assert"], "").output), libc::SIGABRT);
}

/// By which signal a program died that `limited` ran.
fn signal_of(output: &Output) -> i32 {
    let code = output.status.code().map(|code| code - 128);
    output.status.signal().or(code).expect("a signal or a code")
}

#[test]
fn who_leaves_while_another_thread_dies_does_not_change_the_outcome() {
    let program = Program::build("fatal_signals.c");
    for _ in 0..5 {
        let run = program.record(&["leave"], "");
        assert_eq!(signal_of(&run.output), libc::SIGSEGV, "{:?}", run.output);
    }
}

/// The offset in the program's file of each write of the second thread, in order.
fn writes(recording: &Recording) -> Vec<u64> {
    let second = recording.threads().iter().filter(|thread| thread.id.0 == 2);
    let events = second.flat_map(|thread| recording.stream(thread.id));
    let writes = events.filter(|event| event.kind() == Kind::Write);
    writes
        .map(|event| {
            let (module, address) = recording.place_of(event.site).expect("in a module");
            address - module.bias
        })
        .collect()
}

#[test]
fn a_thread_that_is_about_to_write_does_so_before_the_process_dies() {
    assert_writes_late("late", |output| signal_of(output) == libc::SIGSEGV);
}

#[test]
fn a_thread_that_is_about_to_write_does_so_before_the_process_ends_with_a_status() {
    assert_writes_late("late-exit", |output| output.status.code() == Some(3));
}

#[test]
fn who_crashes_while_the_process_ends_with_a_status_does_not_change_the_outcome() {
    let program = Program::build("fatal_signals.c");
    for _ in 0..5 {
        let run = program.record(&["crash-at-exit"], "");
        assert_eq!(run.output.status.code(), Some(3), "{:?}", run.output);
    }
}

/// The write is delayed by a minute, and the process dies long before: only because the delay ends and the thread gets a moment is
/// the write made. The moment is short and the machine may be busy, so there are several attempts.
fn assert_writes_late(how: &str, ends_as_meant: impl Fn(&Output) -> bool) {
    const MINUTE: u64 = 60_000_000_000;
    let program = Program::build("fatal_signals.c");
    let late = *writes(&program.record(&[how], "").recording()).last().expect("it writes");
    let module = program.watched().canonicalize().expect("it is there").display().to_string();
    let file = program.folder().join("plan");
    fs::write(&file, delay_plan(&module, &[(late, 1, MINUTE)])).expect("ours");
    let is_written = |_| {
        let runs = tempfile::tempdir().expect("a folder");
        let output = limited(program.watched())
            .arg(how)
            .env("UNPICK_RUN_DIR", runs.path())
            .env("UNPICK_OPTIONS", "limit=268435456")
            .env(VARIABLE, &file)
            .output()
            .expect("it runs");
        assert!(ends_as_meant(&output), "{output:?}");
        let files = unpick_recording::event_files(runs.path()).expect("a folder");
        let recording = Recording::open(&files[0]).expect("a recording");
        writes(&recording).contains(&late)
    };
    assert!((0..20).any(is_written));
}
