//! Threads begin and end in every way there is; exceptions and cancellation pass through our frames.

mod support;

use support::{Program, count, of_thread};
use unpick_recording::events::Kind;

#[test]
fn ten_thousand_threads_are_each_recorded_from_start_to_end() {
    let run = Program::build("many_threads.c").check();
    let recording = run.recording();
    assert!(recording.is_complete(), "{:?}", recording.incompleteness());
    assert_eq!(recording.threads().len(), 10_001);
    assert_eq!(count(&recording, Kind::ThreadCreate), 10_000);
    assert_eq!(count(&recording, Kind::ThreadStart), 10_001);
    assert_eq!(count(&recording, Kind::ThreadJoin), 9_900);
    // The last detached threads may still be ending when the process does.
    assert!(count(&recording, Kind::ThreadEnd) >= 9_900);
}

#[test]
fn a_thread_ends_after_its_last_destructor_however_it_ended() {
    let run = Program::build("thread_ends.c").check();
    let recording = run.recording();
    let exiting = of_thread(&recording, 2);
    assert_eq!(
        exiting.iter().filter(|line| line.starts_with("Acquire")).count(),
        3,
        "{exiting:#?}"
    );
    assert_eq!(exiting.last().map(String::as_str), Some("ThreadEnd"), "{exiting:#?}");
    let main = of_thread(&recording, 1);
    assert_eq!(main.iter().filter(|line| line.starts_with("ThreadJoin")).count(), 3, "{main:#?}");
    assert!(main.contains(&"ThreadDetach 5".to_owned()), "{main:#?}");
    assert_eq!(
        main.last().map(String::as_str),
        Some("ThreadEnd"),
        "main left by pthread_exit: {main:#?}"
    );
}

#[test]
fn a_thread_cancelled_in_a_condition_wait_has_its_mutex_back() {
    let recording = Program::build("thread_ends.c").check().recording();
    let mut cancelled = of_thread(&recording, 3);
    cancelled.retain(|line| !line.starts_with("LockWait"));
    assert_eq!(
        cancelled,
        [
            "ThreadStart 1",
            "Acquire a",
            "Release a by-condition",
            "ConditionWait b a",
            "ConditionWake b",
            "Acquire a by-condition",
            "Release a",
            "ThreadEnd"
        ]
    );
}

#[test]
fn exceptions_pass_through_call_once_and_destructors_run() {
    let run = Program::build_with("exceptions.cc", &["-std=c++17"]).check();
    let recording = run.recording();
    assert!(recording.is_complete(), "{:?}", recording.incompleteness());
    let main = of_thread(&recording, 1);
    let onces: Vec<_> =
        main.iter().filter(|line| line.starts_with("Once")).map(String::as_str).collect();
    let of_call_once = ["OnceBegin a", "OnceBegin a", "OnceDone a", "OnceDone a"];
    let of_pthread_once = ["OnceBegin b", "OnceBegin b", "OnceDone b"];
    let of_async = ["OnceBegin c", "OnceDone c"];
    assert_eq!(onces, [&of_call_once[..], &of_pthread_once[..], &of_async[..]].concat());
    let exiting = of_thread(&recording, 2);
    assert!(
        exiting.iter().any(|line| line.starts_with("Acquire")),
        "in a thread_local destructor: {exiting:#?}"
    );
}

#[test]
fn local_statics_are_initialised_once_and_who_waits_for_that_says_so() {
    let recording = Program::build_with("guards.cc", &["-std=c++17"]).check().recording();
    let onces = |thread| {
        let mut lines = of_thread(&recording, thread);
        lines.retain(|line| line.starts_with("Once"));
        lines
    };
    let of_slow = ["OnceBegin a", "OnceDone a"];
    let of_moody = ["OnceBegin b", "OnceBegin b", "OnceDone b"];
    assert_eq!(onces(1), [&of_slow[..], &of_moody[..]].concat());
    // On a busy machine it may come when all is done, and then asks nobody, or gets its answer at once.
    let mut other = onces(2);
    other.retain(|line| line != "OnceWait a");
    assert!(other.is_empty() || other == ["OnceDone a"], "{other:?}");
}

#[test]
fn an_exception_nobody_catches_terminates_as_without_us() {
    let run = Program::build("terminate.cc").check();
    assert!(!run.recording().header().orderly_exit);
}

#[test]
fn annotations_and_fibers_are_recorded() {
    let recording = Program::build("annotated.c").check().recording();
    assert_eq!(
        of_thread(&recording, 1),
        [
            "ThreadStart 0",
            "HappensBefore a",
            "HappensAfter a",
            "Acquire b",
            "Release b",
            "HappensBefore a",
            "ThreadCreate 2",
            "FiberSwitch 2",
            "Exit 0"
        ]
    );
    assert_eq!(of_thread(&recording, 2), ["ThreadStart 1", "FiberSwitch 1", "ThreadEnd"]);
    assert_eq!(count(&recording, Kind::Write), 1, "one fiber wrote `object`, then the other");
}

#[test]
fn a_thread_made_by_clone_becomes_known_by_what_it_does() {
    let recording = Program::build("clones.c").check().recording();
    assert_eq!(recording.threads().len(), 2);
    let lines = of_thread(&recording, 2);
    assert_eq!(lines, ["ThreadStart 0", "SemaphorePost a"]);
}

#[test]
fn a_signal_that_comes_before_a_thread_runs_does_not_make_it_two() {
    let recording = Program::build("early_signals.c").check().recording();
    assert_eq!(recording.threads().len(), 201);
    for thread in 2..=201 {
        let lines = of_thread(&recording, thread);
        assert_eq!(lines.first().map(String::as_str), Some("ThreadStart 1"), "{lines:#?}");
    }
}

#[test]
fn creation_leaves_masks_of_signals_as_they_are_without_us() {
    let run = Program::build("early_signals.c").check_with(&["masks"], "");
    let output = String::from_utf8_lossy(&run.output.stdout).into_owned();
    assert!(output.ends_with("done\n"), "{output}");
}

#[test]
fn delays_asked_for_are_made_and_recorded() {
    let program = Program::build("thread_ends.c");
    let options = "seed=7 sync=500000 start=1000000 shortest=0 longest=20000";
    let recording = program.check_with(&[], options).recording();
    assert!(count(&recording, Kind::Delay) >= 4, "at least one for each thread's start");
    assert_eq!(recording.header().seed, 7);
}
