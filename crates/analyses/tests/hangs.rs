//! Who waits for whom when a run hangs, from recordings written by hand.

use unpick_analyses::hang::{Deed, HungProcess, HungRun, Seen, SeenCalls, Wait};
use unpick_analyses::ranking::ExampleMemory;
use unpick_events::file::{file_field, lost};
use unpick_events::kind::{access_flags, lock_flags};
use unpick_events::{Kind, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const A: u64 = 0x5000;
const B: u64 = 0x6000;

fn event(kind: Kind, object: u64) -> Draft {
    Draft::new(kind).object(object).site(0x77)
}

fn seen(thread: u16, next_ordinal: u64) -> Seen {
    Seen { thread: ThreadId(thread), next_ordinal, running: None, calls: None }
}

/// All threads at the end of these events.
fn hung(events: Vec<(u16, Draft)>) -> HungProcess {
    let mut writer = Writer::new();
    events.into_iter().for_each(|(thread, draft)| writer.write(ThreadId(thread), draft));
    let recording = Recording::from_bytes(&writer.to_bytes(), "hang").unwrap();
    let all: Vec<Seen> =
        recording.threads().iter().map(|thread| seen(thread.id.0, thread.events)).collect();
    hung_in(&recording, &all)
}

fn hung_in(recording: &Recording, seen: &[Seen]) -> HungProcess {
    let mut run = HungRun::default();
    run.add(1, recording, recording, seen);
    run.processes.remove(0)
}

/// Each thread holds what the other one wants, which it wants in the way that `flags` say.
fn crossed(held: u16, wanted: u16) -> Vec<(u16, Draft)> {
    vec![
        (1, event(Kind::Acquire, A).flags(held)),
        (2, event(Kind::Acquire, B).flags(held)),
        (1, event(Kind::LockWait, B).flags(wanted)),
        (2, event(Kind::LockWait, A).flags(wanted)),
    ]
}

fn waits(process: &HungProcess) -> Vec<Option<&Wait>> {
    process.threads.iter().map(|thread| thread.wait.as_ref()).collect()
}

fn word(address: u64) -> ExampleMemory {
    ExampleMemory::Other { address }
}

#[test]
fn crossed_locks_are_a_circle_in_which_each_holds_what_the_other_wants() {
    let process = hung(crossed(0, 0));
    assert_eq!(process.circles, [[1, 2]]);
    for (thread, holder) in process.threads.iter().zip([2, 1]) {
        let Some(Wait::Lock { held_by, limited: false, .. }) = &thread.wait else { panic!() };
        assert_eq!((held_by, thread.locks.len()), (&vec![holder], 1));
    }
}

#[test]
fn a_wait_that_ends_by_itself_makes_no_circle() {
    let process = hung(crossed(0, lock_flags::TIMED));
    assert!(process.circles.is_empty());
    assert!(matches!(waits(&process)[0], Some(Wait::Lock { limited: true, .. })));
}

#[test]
fn readers_are_in_the_way_of_writers_only() {
    let shared = lock_flags::IS_RWLOCK | lock_flags::SHARED;
    assert!(hung(crossed(shared, shared)).circles.is_empty());
    assert_eq!(hung(crossed(shared, lock_flags::IS_RWLOCK)).circles, [[1, 2]]);
    assert_eq!(hung(crossed(lock_flags::IS_RWLOCK, shared)).circles, [[1, 2]]);
}

#[test]
fn a_thread_can_wait_for_a_lock_that_is_its_own() {
    let process = hung(vec![(1, event(Kind::Acquire, A)), (1, event(Kind::LockWait, A))]);
    assert_eq!(process.circles, [[1]]);
}

#[test]
fn the_end_of_a_thread_can_be_part_of_a_circle() {
    let process = hung(vec![
        (1, event(Kind::Acquire, A)),
        (1, event(Kind::ThreadJoinWait, 2)),
        (2, event(Kind::LockWait, A)),
    ]);
    assert_eq!(process.circles, [[1, 2]]);
    assert_eq!(waits(&process)[0], Some(&Wait::End { thread: 2 }));
}

#[test]
fn what_comes_after_the_moment_does_not_count() {
    let mut writer = Writer::new();
    for (thread, draft) in crossed(0, 0) {
        writer.write(ThreadId(thread), draft);
    }
    // A handler of the signal that ended the run.
    writer.write(ThreadId(1), event(Kind::Release, A));
    let recording = Recording::from_bytes(&writer.to_bytes(), "hang").unwrap();
    assert_eq!(hung_in(&recording, &[seen(1, 2), seen(2, 2)]).circles, [[1, 2]]);
    assert!(hung_in(&recording, &[seen(1, 3), seen(2, 2)]).circles.is_empty());
}

#[test]
fn where_events_are_missing_nothing_is_said_of_waits_and_locks() {
    let mut writer = Writer::new();
    for (thread, draft) in crossed(0, 0) {
        writer.write(ThreadId(thread), draft);
    }
    writer.set(file_field::LOST, lost::LIMIT);
    let recording = Recording::from_bytes(&writer.to_bytes(), "hang").unwrap();
    let process = hung_in(&recording, &[seen(1, 2), seen(2, 2)]);
    assert!(process.circles.is_empty());
    assert_eq!((waits(&process), process.threads[0].locks.len()), (vec![None, None], 0));
}

#[test]
fn a_wait_is_over_with_the_next_event_that_is_not_of_a_futex() {
    let waits_for = |further: &[Kind]| {
        let first = std::iter::once((1, event(Kind::SemaphoreBlock, A)));
        let further = further.iter().map(|&kind| (1, event(kind, B)));
        waits(&hung(first.chain(further).collect()))[0].cloned()
    };
    let semaphore = Some(Wait::Semaphore(word(A)));
    assert_eq!(waits_for(&[]), semaphore);
    assert_eq!(waits_for(&[Kind::FutexWait, Kind::FutexWoken, Kind::FutexWait]), semaphore);
    assert_eq!(waits_for(&[Kind::SemaphoreWait]), None);
    assert_eq!(waits_for(&[Kind::SemaphoreWait, Kind::FutexWait]), Some(Wait::Futex(word(B))));
    assert_eq!(waits_for(&[Kind::SemaphoreWait, Kind::FutexWait, Kind::FutexWoken]), None);
}

#[test]
fn a_once_is_waited_for_only_if_the_thread_sleeps() {
    let begun = || (1, event(Kind::OnceBegin, A));
    assert_eq!(waits(&hung(vec![begun()])), [None], "it runs the initialiser");
    let asleep = hung(vec![begun(), (1, event(Kind::FutexWait, A))]);
    assert_eq!(waits(&asleep), [Some(&Wait::Once(word(A)))]);
}

#[test]
fn a_barrier_is_waited_for_until_it_is_left_whatever_its_own_lock_does() {
    let arrived = || {
        let inside = [Kind::LockWait, Kind::FutexWait, Kind::FutexWoken, Kind::Acquire];
        let inside = inside.map(|kind| (1, event(kind, B).flags(lock_flags::IS_RUST)));
        let mut events = vec![(1, event(Kind::BarrierArrive, A))];
        events.extend(inside);
        events
    };
    let process = hung(arrived());
    assert_eq!(waits(&process), [Some(&Wait::Barrier(word(A)))]);
    let mut left = arrived();
    left.push((1, event(Kind::BarrierLeave, A)));
    let process = hung(left);
    assert_eq!((waits(&process), process.threads[0].locks.len()), (vec![None], 0));
}

#[test]
fn a_condition_that_was_signalled_wants_its_mutex_back() {
    let wait = || (1, event(Kind::ConditionWait, A).word(B));
    let asleep = hung(vec![wait(), (1, event(Kind::FutexWait, A))]);
    assert!(matches!(waits(&asleep)[0], Some(Wait::Condition { .. })));
    let signalled = hung(vec![
        (2, event(Kind::Acquire, B)),
        wait(),
        (1, event(Kind::FutexWait, A)),
        (1, event(Kind::FutexWoken, A)),
        (1, event(Kind::FutexWait, B)),
    ]);
    let Some(Wait::Lock { held_by, .. }) = waits(&signalled)[0] else { panic!("{signalled:?}") };
    assert_eq!(held_by, &[2]);
}

#[test]
fn who_does_not_wait_is_where_its_memory_says_or_else_where_it_was_last_seen() {
    let mut writer = Writer::new();
    let module = Draft::new(Kind::Module).object(0x40_0000).word(0x40_0000).word(0x2000);
    writer.write(ThreadId(1), module.text("abc").text("/bin/bank"));
    let access = Draft::access(Kind::Write, 0x9000, 4).flags(access_flags::VOLATILE);
    writer.write(ThreadId(1), access.site(0x40_0100));
    let recording = Recording::from_bytes(&writer.to_bytes(), "hang").unwrap();
    let place = |calls| {
        let mut run = HungRun::default();
        run.add(1, &recording, &recording, &[Seen { calls, ..seen(1, 2) }]);
        let place = &run.processes[0].threads[0].place;
        let offset = |site: u32| run.code.sites[site as usize].offset;
        let stack: Vec<u64> = place.stack.iter().map(|&site| offset(site)).collect();
        (place.site.map(offset), stack, place.is_now)
    };
    let calls = |inside| SeenCalls { sites: vec![Site(0x40_0200), Site(0x40_0300)], inside };
    assert_eq!(place(None), (Some(0x100), vec![], false));
    assert_eq!(place(Some(calls(Some(0x40_0400)))), (Some(0x400), vec![0x200, 0x300], true));
    let no_code = place(Some(calls(Some(3))));
    assert_eq!(no_code, (Some(0x300), vec![0x200], true), "the innermost call has to do");
}

// Lost notifications: CONDITION with the mutex A.

const CONDITION: u64 = 0x7000;

fn at(site: u32, kind: Kind, object: u64) -> Draft {
    Draft::new(kind).object(object).site(site)
}

/// The thread waits, having taken the mutex at `site` and waiting one further on.
fn waits_from(thread: u16, site: u32) -> Vec<(u16, Draft)> {
    let wait = at(site + 1, Kind::ConditionWait, CONDITION).word(A);
    vec![
        (thread, at(site, Kind::Acquire, A)),
        (thread, at(site + 1, Kind::Release, A)),
        (thread, wait),
    ]
}

/// The thread goes through a section under the mutex, and notifies in it one further on if `notifies`.
fn section(thread: u16, site: u32, notifies: bool) -> Vec<(u16, Draft)> {
    let mut events = vec![(thread, at(site, Kind::Acquire, A))];
    if notifies {
        events.push((thread, at(site + 1, Kind::ConditionSignal, CONDITION)));
    }
    events.push((thread, at(site + 2, Kind::Release, A)));
    events
}

fn wakes(thread: u16, site: u32) -> Vec<(u16, Draft)> {
    vec![
        (thread, at(site + 1, Kind::ConditionWake, CONDITION)),
        (thread, at(site + 1, Kind::Acquire, A).flags(lock_flags::BY_CONDITION)),
        (thread, at(site + 2, Kind::Release, A)),
    ]
}

/// Who did what; the places are in order of the sites.
fn deeds(events: Vec<Vec<(u16, Draft)>>) -> Option<Vec<(u16, Deed)>> {
    let lost = hung(events.concat()).lost?;
    Some(lost.steps.iter().map(|step| (step.thread, step.deed)).collect())
}

#[test]
fn who_comes_before_the_one_that_notified_so_far_takes_the_notification_away() {
    let lost = deeds(vec![
        waits_from(3, 10),
        section(2, 20, true),
        wakes(3, 10),
        waits_from(3, 10),
        section(1, 30, false),
        section(2, 20, false),
        section(2, 20, false),
        waits_from(2, 40),
    ]);
    let order = [(3, Deed::Waits), (1, Deed::Locks), (2, Deed::Locks)];
    assert_eq!(lost.as_deref(), Some(&order[..]));
}

#[test]
fn where_nobody_has_notified_yet_the_next_thread_is_taken_for_the_one_to_do_so() {
    let lost = deeds(vec![waits_from(3, 10), section(1, 30, false), section(2, 20, false)]);
    let order = [(3, Deed::Waits), (1, Deed::Locks), (2, Deed::Locks)];
    assert_eq!(lost.as_deref(), Some(&order[..]));
}

#[test]
fn a_notification_before_the_wait_is_lost() {
    let lost = deeds(vec![section(2, 20, true), waits_from(3, 10)]);
    let order = [(3, Deed::Locks), (2, Deed::Notifies), (3, Deed::Waits)];
    assert_eq!(lost.as_deref(), Some(&order[..]));
    let woken =
        deeds(vec![waits_from(4, 10), section(2, 20, true), wakes(4, 10), waits_from(3, 10)]);
    assert_eq!(woken, None, "it woke another thread");
}

#[test]
fn a_wait_that_others_saw_or_notified_is_not_explained() {
    let usual = vec![waits_from(3, 10), section(2, 20, true), wakes(3, 10), waits_from(3, 10)];
    let unseen = deeds([usual.clone(), vec![section(2, 20, false)]].concat());
    assert_eq!(unseen, None, "the one that notifies came, and did not");
    let late = deeds([usual, vec![section(1, 30, false), section(2, 20, true)]].concat());
    assert_eq!(late, None, "it was notified after all");
}

#[test]
fn who_began_to_wait_later_is_not_the_one_that_was_forgotten() {
    // Thread 2 waits because thread 3 does, which nobody notified before or since.
    let lost = deeds(vec![section(3, 50, true), waits_from(3, 10), waits_from(2, 40)]);
    assert_eq!(lost, None);
}

#[test]
fn in_a_deadlock_nothing_is_said_of_notifications() {
    let mut events = [section(2, 20, true), waits_from(3, 10)].concat();
    events.extend(crossed(0, 0).into_iter().map(|(thread, draft)| (thread + 3, draft)));
    let process = hung(events);
    assert_eq!((process.circles.len(), process.lost), (1, None));
}
