//! Locks and the other ways threads wait for each other: the same answers as without us, and the right events.

mod support;

use support::{Program, of_thread, synchronisation};
use unpick_events::{Kind, ThreadId};
use unpick_recording::{AccessKind, Action, Recording};

/// What thread 2 recorded, without its start and end.
fn second_thread(run: &support::Run) -> Vec<String> {
    let mut lines = of_thread(&run.recording(), 2);
    assert_eq!(lines.remove(0), "ThreadStart 1");
    assert_eq!(lines.pop().as_deref(), Some("ThreadEnd"));
    lines
}

#[test]
fn every_kind_of_mutex_answers_as_without_us() {
    let run = Program::build("mutexes.c").check();
    let recording = run.recording();
    let main = of_thread(&recording, 1);
    let releases =
        |name: &str| main.iter().filter(|line| **line == format!("Release {name}")).count();
    assert_eq!(releases("a"), 1, "{main:#?}");
    assert_eq!(releases("b recursive"), 3, "the fourth unlock fails: {main:#?}");
    assert_eq!(releases("c"), 1, "the second unlock fails: {main:#?}");
    assert_eq!(releases("d"), 1, "got from its dead owner, then given up: {main:#?}");
    let second = second_thread(&run);
    assert!(
        second.iter().all(|line| !line.starts_with("Release") && !line.starts_with("Acquire")),
        "{second:#?}"
    );
    assert!(second.contains(&"LockWait a timed".to_owned()), "{second:#?}");
}

#[test]
fn a_wait_for_a_mutex_is_recorded_before_its_acquisition() {
    let run = Program::build("mutex_wait.c").check();
    assert_eq!(second_thread(&run), ["LockWait a", "Acquire a", "Release a"]);
    assert_eq!(
        of_thread(&run.recording(), 1),
        ["ThreadStart 0", "Acquire a", "ThreadCreate 2", "Release a", "ThreadJoin 2", "Exit 0"]
    );
}

#[test]
fn a_deadlock_shows_who_waits_for_what() {
    let run = Program::build("deadlock.c").check();
    let lines = synchronisation(&run.recording());
    let last: Vec<_> = lines.iter().filter(|line| line.contains("LockWait")).collect();
    assert_eq!(last.len(), 2, "{lines:#?}");
    // Letters are given as objects come, and which thread comes first differs.
    for thread in ["1 Acquire", "2 Acquire"] {
        let acquired = lines.iter().filter(|line| line.starts_with(thread));
        assert_eq!(acquired.count(), 1, "{lines:#?}");
    }
}

#[test]
fn reader_writer_locks_tell_reading_from_writing() {
    let run = Program::build("rwlocks.c").check();
    assert_eq!(
        second_thread(&run),
        [
            "LockWait a timed",
            "LockWait a timed",
            "Acquire a shared",
            "Acquire a shared try",
            "Release a shared",
            "Release a shared"
        ]
    );
    let main = of_thread(&run.recording(), 1);
    assert!(
        main.contains(&"Acquire a".to_owned()) && main.contains(&"Release a".to_owned()),
        "{main:#?}"
    );
    assert_eq!(
        main.iter().filter(|line| line.as_str() == "Acquire a shared timed").count(),
        2,
        "{main:#?}"
    );
}

#[test]
fn conditions_barriers_semaphores_and_onces_are_recorded_on_both_sides() {
    let run = Program::build("meetings.c").check();
    let recording = run.recording();
    let (main, second) = (of_thread(&recording, 1).join("\n"), of_thread(&recording, 2).join("\n"));
    for kind in ["BarrierArrive", "BarrierLeave", "OnceDone"] {
        assert!(main.contains(kind) && second.contains(kind), "{kind}: {main}\n\n{second}");
    }
    assert_eq!((main.clone() + &second).matches("OnceBegin").count(), 1);
    assert_eq!(main.matches("SemaphorePost").count(), 2);
    assert_eq!(second.matches("SemaphoreWait").count(), 2, "not the three that failed: {second}");
    assert!(second.contains("ConditionSignal"));
    assert_eq!(main.matches("ConditionWait").count(), main.matches("ConditionWake").count());
    assert_eq!(main.matches("by-condition").count(), 2 * main.matches("ConditionWake").count());
}

#[test]
fn threads_and_locks_of_c11_are_the_same_as_those_of_posix() {
    let run = Program::build("c11.c").check();
    let recording = run.recording();
    let (main, second) = (of_thread(&recording, 1).join("\n"), of_thread(&recording, 2).join("\n"));
    for line in ["ThreadCreate 2", "ThreadJoin 2", "ConditionWait", "LockWait", "ThreadDetach 4"] {
        assert!(main.contains(line), "{line}: {main}");
    }
    for line in
        ["ThreadStart 1", "Acquire", "ConditionSignal", "OnceBegin", "OnceDone", "ThreadEnd"]
    {
        assert!(second.contains(line), "{line}: {second}");
    }
}

#[test]
fn futex_calls_are_recorded_and_other_system_calls_are_exact() {
    let run = Program::build("futex.c").check();
    let recording = run.recording();
    let main = of_thread(&recording, 1);
    assert!(main.windows(2).any(|pair| pair == ["FutexWait a", "FutexWoken a"]), "{main:#?}");
    assert!(of_thread(&recording, 2).contains(&"FutexWake a".to_owned()));
}

#[test]
fn a_lock_that_is_destroyed_is_written_for_the_last_time() {
    let run = Program::build("mutexes.c").record(&[], "full");
    let recording = run.recording();
    let frees = recording
        .events()
        .filter(|event| matches!(event.action, Action::Access { flags, .. } if flags.is_free()));
    assert!(frees.count() >= 1, "destroying a mutex that two threads used is a meeting");
}

/// The accesses to the first byte of a lock from the main thread's last write on.
fn meetings_after_main(recording: &Recording, lock: u64) -> Vec<AccessKind> {
    let events = recording.events().filter_map(|event| match event.action {
        Action::Access { kind, address, length, flags, .. } => {
            let is_of_lock = (address.0..address.0 + length).contains(&lock);
            (is_of_lock && !flags.is_free()).then_some((event.thread.0, kind))
        }
        _ => None,
    });
    let events: Vec<_> = events.collect();
    let last_write = events.iter().rposition(|one| *one == (1, AccessKind::Write));
    let after = last_write.map_or(&[][..], |at| &events[at..]);
    after.iter().map(|(_, kind)| *kind).collect()
}

#[test]
fn a_mutex_that_is_destroyed_or_overwritten_while_it_is_held_is_used_after_that() {
    let run = Program::build("destroyed_early.c").check_with(&[], "full");
    let recording = run.recording();
    let locks: Vec<u64> = recording
        .events()
        .filter_map(|event| match event.action {
            Action::Acquire { lock, .. } if event.thread.0 == 2 => Some(lock.0),
            _ => None,
        })
        .collect();
    let [held, gone] = locks[..2] else { panic!("{locks:?}") };
    // The destruction is refused, and the second unlock fails: both are accesses all the same.
    for lock in [held, gone] {
        let order = meetings_after_main(&recording, lock);
        assert_eq!(order, [AccessKind::Write, AccessKind::Read]);
    }
}

#[test]
fn a_wait_that_may_last_is_told_before_it_begins() {
    let run = Program::build("waits.c").check();
    let recording = run.recording();
    let kinds = |thread| -> Vec<Kind> {
        let events = recording.stream(ThreadId(thread));
        events.map(|event| event.kind()).filter(|kind| *kind != Kind::Stack).collect()
    };
    let follows = |kinds: &[Kind], pair: [Kind; 2]| kinds.windows(2).any(|two| two == pair);
    let (main, second) = (kinds(1), kinds(2));
    assert!(follows(&main, [Kind::ThreadJoinWait, Kind::ThreadJoin]), "{main:?}");
    assert!(follows(&second, [Kind::SemaphoreBlock, Kind::SemaphoreWait]), "{second:?}");
    assert!(follows(&second, [Kind::OnceWait, Kind::OnceDone]), "{second:?}");
    for thread in [1, 2, 3] {
        let kernel_thread = recording.kernel_thread(ThreadId(thread));
        assert!(kernel_thread.is_some_and(|found| found.id > 0 && found.calls.0 != 0));
    }
}
