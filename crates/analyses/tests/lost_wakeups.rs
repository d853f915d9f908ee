//! Tests that were out of date when their thread began to wait, from recordings written by hand.
//!
//! Thread 1 waits at CONDITION with the mutex LOCK, having tested FLAG; thread 2 writes FLAG and notifies.

use unpick_analyses::hang::{Deed, HungProcess, HungRun, LostStep, Seen};
use unpick_events::access::{Past, PastKind};
use unpick_events::kind::lock_flags;
use unpick_events::{Kind, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const LOCK: u64 = 0x5000;
const FLAG: u64 = 0x6000;
const CONDITION: u64 = 0x6040;

const TAKES: u32 = 10;
const TESTS: u32 = 11;
const WAITS: u32 = 12;
const WRITES: u32 = 20;
const NOTIFIES: u32 = 21;

type Events = Vec<(u16, Draft)>;

fn at(site: u32, kind: Kind, object: u64) -> Draft {
    Draft::new(kind).object(object).site(site)
}

fn takes(thread: u16, site: u32) -> Events {
    vec![(thread, at(site, Kind::Acquire, LOCK))]
}

fn tests(ordinal: u32) -> Past {
    Past { kind: PastKind::Read, thread: ThreadId(1), site: Site(TESTS), ordinal }
}

/// Another thread's write, after a test that left no event when thread 1 had so many.
fn writes(thread: u16, tested: Option<u32>) -> Events {
    let write = Draft::access(Kind::Write, FLAG, 4).site(WRITES);
    let write = match tested {
        Some(ordinal) => write.past(tests(ordinal)),
        None => write,
    };
    vec![(thread, write)]
}

fn notifies(thread: u16, kind: Kind) -> Events {
    vec![(thread, at(NOTIFIES, kind, CONDITION))]
}

fn waits() -> Events {
    vec![
        (1, at(WAITS, Kind::Release, LOCK).flags(lock_flags::BY_CONDITION)),
        (1, at(WAITS, Kind::ConditionWait, CONDITION).word(LOCK)),
    ]
}

fn hung(events: &[Events]) -> HungProcess {
    let mut writer = Writer::new();
    events.concat().into_iter().for_each(|(thread, draft)| writer.write(ThreadId(thread), draft));
    let recording = Recording::from_bytes(&writer.to_bytes(), "hang").unwrap();
    let threads = recording.threads().iter();
    let seen: Vec<Seen> = threads
        .map(|thread| Seen {
            thread: thread.id,
            next_ordinal: thread.events,
            running: None,
            calls: None,
        })
        .collect();
    let mut run = HungRun::default();
    run.add(1, &recording, &recording, &seen);
    run.processes.remove(0)
}

fn steps(events: &[Events]) -> Vec<LostStep> {
    hung(events).lost.map(|lost| lost.steps).unwrap_or_default()
}

fn deeds(events: &[Events]) -> Vec<(u16, Deed)> {
    steps(events).iter().map(|step| (step.thread, step.deed)).collect()
}

const LOST: [(u16, Deed); 4] =
    [(1, Deed::Tests), (2, Deed::Writes), (2, Deed::Notifies), (1, Deed::Waits)];

#[test]
fn a_write_and_a_notification_between_test_and_wait_are_a_lost_wakeup() {
    for kind in [Kind::ConditionSignal, Kind::ConditionBroadcast, Kind::FutexWake] {
        let events = [takes(1, TAKES), writes(2, Some(1)), notifies(2, kind), waits()];
        assert_eq!(deeds(&events), LOST, "{kind:?}");
    }
}

#[test]
fn the_steps_say_what_was_tested_and_where_the_lock_was_taken() {
    let events = [takes(1, TAKES), writes(2, Some(1)), notifies(2, Kind::ConditionSignal), waits()];
    let steps = steps(&events);
    let variable = steps[0].variable.as_ref().unwrap();
    assert_eq!((variable.bytes, variable.behind_condition), (4, Some(-0x40)));
    assert_eq!(steps[1].variable, steps[0].variable);
    assert!(steps[0].lock.is_some(), "it can be kept in front of its mutex");
    assert!(steps[1].lock.is_none() && steps[3].lock.is_none(), "it had the mutex at its test");
}

#[test]
fn a_test_that_was_made_again_is_up_to_date() {
    let again = vec![(1, Draft::access(Kind::Read, FLAG, 4).site(TESTS))];
    let events =
        [takes(1, TAKES), writes(2, Some(1)), notifies(2, Kind::ConditionSignal), again, waits()];
    assert_ne!(deeds(&events), LOST);
}

#[test]
fn a_write_before_the_wait_that_nobody_notified_of_is_told_without_a_notification() {
    let events = [takes(1, TAKES), writes(2, Some(1)), waits()];
    assert_eq!(deeds(&events), [(1, Deed::Tests), (2, Deed::Writes), (1, Deed::Waits)]);
}

#[test]
fn what_was_read_before_the_lock_counts_if_its_writer_notified() {
    let outside = [vec![(1, at(5, Kind::SemaphorePost, 0x9000))], writes(2, Some(1))];
    let silent = [&outside[..], &[takes(1, TAKES), waits()]].concat();
    assert_eq!(deeds(&silent), [], "it may have been read for anything");
    let notified = notifies(2, Kind::ConditionSignal);
    let told = [&outside[..], &[notified, takes(1, TAKES), waits()]].concat();
    assert_eq!(deeds(&told), LOST);
    let steps = steps(&told);
    assert!(steps[0].lock.is_none() && steps[3].lock.is_some(), "the lock came after the test");
}

#[test]
fn of_several_writers_the_one_that_notified_is_told() {
    let events = [
        takes(1, TAKES),
        writes(3, Some(1)),
        writes(2, None),
        notifies(2, Kind::ConditionSignal),
        waits(),
    ];
    assert_eq!(deeds(&events), LOST);
}

#[test]
fn who_is_notified_after_it_began_to_wait_has_lost_nothing_before() {
    let notified = || notifies(2, Kind::ConditionSignal);
    let events = [takes(1, TAKES), writes(2, Some(1)), notified(), waits(), notified()];
    assert_ne!(deeds(&events), LOST);
}

#[test]
fn a_write_after_the_wait_is_no_reason() {
    let events = [takes(1, TAKES), waits(), writes(2, Some(1))];
    assert_eq!(deeds(&events), []);
}

#[test]
fn the_lock_that_a_wait_gave_back_was_taken_before_that_wait() {
    let wakes = vec![
        (1, at(WAITS, Kind::ConditionWake, CONDITION)),
        (1, at(WAITS, Kind::Acquire, LOCK).flags(lock_flags::BY_CONDITION)),
    ];
    let events = [
        takes(1, TAKES),
        waits(),
        notifies(2, Kind::ConditionSignal),
        wakes,
        writes(2, Some(5)),
        notifies(2, Kind::ConditionSignal),
        waits(),
    ];
    let steps = steps(&events);
    let lock = steps[0].lock.as_ref().unwrap();
    let process = hung(&[takes(1, TAKES), writes(2, Some(1)), waits()]);
    let expected = process.lost.unwrap().steps.remove(0).lock.unwrap();
    assert_eq!((lock.site, &lock.memory), (expected.site, &expected.memory));
}

#[test]
fn a_futex_without_a_mutex_and_a_park_can_be_left_by_their_wakers() {
    let futex = || vec![(1, at(WAITS, Kind::FutexWait, CONDITION))];
    let begins = || vec![(1, at(5, Kind::SemaphorePost, 0x9000))];
    let events = [begins(), writes(2, Some(1)), notifies(2, Kind::FutexWake), futex()];
    assert_eq!(deeds(&events), LOST);
    let parks = vec![(1, at(WAITS, Kind::ParkWait, 0))];
    let events = [begins(), writes(2, Some(1)), parks];
    assert_eq!(deeds(&events), [(1, Deed::Tests), (2, Deed::Writes), (1, Deed::Waits)]);
}

#[test]
fn who_was_notified_by_a_wake_of_the_futex_was_not_overtaken() {
    let section = |thread, site| {
        vec![(thread, at(site, Kind::Acquire, LOCK)), (thread, at(site, Kind::Release, LOCK))]
    };
    let overtaken = [takes(1, TAKES), waits(), section(2, 30), section(3, 40)];
    let order = [(1, Deed::Waits), (2, Deed::Locks), (3, Deed::Locks)];
    assert_eq!(deeds(&overtaken), order, "thread 2 came before the one that may have notified");
    let notified =
        [takes(1, TAKES), waits(), section(2, 30), notifies(2, Kind::FutexWake), section(3, 40)];
    assert_eq!(deeds(&notified), []);
}

#[test]
fn what_was_read_under_another_lock_is_no_test() {
    let other = |kind| vec![(1, at(5, kind, 0x9000))];
    let events = [
        other(Kind::Acquire),
        writes(2, Some(1)),
        notifies(2, Kind::ConditionSignal),
        other(Kind::Release),
        takes(1, TAKES),
        waits(),
    ];
    assert_ne!(deeds(&events), LOST);
}
