//! What orders accesses and what does not, trace by trace; each silent one has a twin that reports.

use unpick_analyses::races_happens_before::races;
use unpick_events::access::PastKind;
use unpick_events::kind::{access_flags, lock_flags};
use unpick_events::{Kind, MemoryOrder, Past, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const X: u64 = 0x1000;
const FLAG: u64 = 0x2000;
const LOCK: u64 = 0x3000;

#[derive(Default)]
struct Trace(Writer);

impl Trace {
    fn event(mut self, thread: u16, draft: Draft) -> Trace {
        self.0.write(ThreadId(thread), draft);
        self
    }

    fn object(self, thread: u16, kind: Kind, object: u64) -> Trace {
        self.event(thread, Draft::new(kind).object(object))
    }

    fn write(self, thread: u16, site: u32) -> Trace {
        self.event(thread, Draft::access(Kind::Write, X, 4).site(site))
    }

    fn read(self, thread: u16, site: u32) -> Trace {
        self.event(thread, Draft::access(Kind::Read, X, 4).site(site))
    }

    fn atomic(self, thread: u16, kind: Kind, at: u64, order: MemoryOrder) -> Trace {
        let site = 900 + u32::from(thread);
        self.event(thread, Draft::access(kind, at, 4).flags(order as u16).site(site))
    }

    fn past(self, thread: u16, kind: Kind, site: u32, past: Past) -> Trace {
        self.event(thread, Draft::access(kind, X, 4).site(site).past(past))
    }

    /// An access that a thread makes now, without an event.
    fn unrecorded(&self, thread: u16, kind: PastKind, site: u32) -> Past {
        let ordinal = self.0.events_of(ThreadId(thread));
        Past { kind, thread: ThreadId(thread), site: Site(site), ordinal }
    }

    /// Pairs of sites, sorted.
    fn races(self) -> Vec<[u32; 2]> {
        let recording = Recording::from_bytes(&self.0.to_bytes(), "trace").unwrap();
        let pairs = races(&recording, &recording).into_pairs();
        let mut sites: Vec<_> =
            pairs.iter().map(|pair| [pair.first.site.0, pair.second.site.0]).collect();
        sites.sort_unstable();
        sites
    }
}

#[test]
fn a_join_orders_and_without_it_there_is_a_race() {
    let begun = || Trace::default().object(1, Kind::ThreadCreate, 2).write(2, 20);
    assert_eq!(begun().object(1, Kind::ThreadJoin, 2).write(1, 10).races(), [[0; 2]; 0]);
    assert_eq!(begun().write(1, 10).races(), [[20, 10]]);
}

#[test]
fn what_the_creator_does_after_the_creation_is_not_ordered_by_it() {
    let trace = Trace::default().write(1, 10).object(1, Kind::ThreadCreate, 2).write(1, 11);
    assert_eq!(trace.read(2, 20).races(), [[11, 20]]);
}

#[test]
fn readers_of_a_lock_do_not_order_each_other() {
    let lock = |kind, shared| {
        let flags = if shared { lock_flags::SHARED } else { 0 };
        Draft::new(kind).object(LOCK).flags(lock_flags::IS_RWLOCK | flags)
    };
    let with = |first_shared, second_shared| {
        Trace::default()
            .event(1, lock(Kind::Acquire, first_shared))
            .write(1, 10)
            .event(1, lock(Kind::Release, first_shared))
            .event(2, lock(Kind::Acquire, second_shared))
            .write(2, 20)
            .event(2, lock(Kind::Release, second_shared))
            .races()
    };
    assert_eq!(with(true, true), [[10, 20]]);
    assert_eq!(with(true, false), [[0; 2]; 0]);
    assert_eq!(with(false, true), [[0; 2]; 0]);
}

#[test]
fn a_signal_alone_orders_nothing() {
    let trace = Trace::default().write(1, 10).object(1, Kind::ConditionSignal, LOCK);
    assert_eq!(trace.object(2, Kind::ConditionWake, LOCK).read(2, 20).races(), [[10, 20]]);
}

#[test]
fn an_acquire_takes_what_a_release_gave_and_a_relaxed_read_does_not() {
    let with = |order| {
        Trace::default()
            .write(1, 10)
            .atomic(1, Kind::Write, FLAG, MemoryOrder::Release)
            .atomic(2, Kind::Read, FLAG, order)
            .read(2, 20)
            .races()
    };
    assert_eq!(with(MemoryOrder::Acquire), [[0; 2]; 0]);
    assert_eq!(with(MemoryOrder::Relaxed), [[10, 20]]);
}

#[test]
fn a_release_sequence_goes_on_through_updates_and_ends_with_a_store() {
    let with = |kind| {
        Trace::default()
            .write(1, 10)
            .atomic(1, Kind::Write, FLAG, MemoryOrder::Release)
            .atomic(3, kind, FLAG, MemoryOrder::Relaxed)
            .atomic(2, Kind::Read, FLAG, MemoryOrder::Acquire)
            .read(2, 20)
            .races()
    };
    assert_eq!(with(Kind::ReadWrite), [[0; 2]; 0]);
    assert_eq!(with(Kind::Write), [[10, 20]]);
}

#[test]
fn fences_make_relaxed_atomics_count() {
    let fence = |order: MemoryOrder| Draft::new(Kind::Fence).flags(order as u16);
    let with = |released, acquired| {
        Trace::default()
            .write(1, 10)
            .event(1, fence(released))
            .atomic(1, Kind::Write, FLAG, MemoryOrder::Relaxed)
            .atomic(2, Kind::Read, FLAG, MemoryOrder::Relaxed)
            .event(2, fence(acquired))
            .read(2, 20)
            .races()
    };
    use MemoryOrder::{Acquire, Release};
    assert_eq!(with(Release, Acquire), [[0; 2]; 0]);
    assert_eq!(with(Acquire, Acquire), [[10, 20]]);
    assert_eq!(with(Release, Release), [[10, 20]]);
}

#[test]
fn atomics_race_with_plain_accesses_and_not_with_each_other() {
    let trace = Trace::default().atomic(1, Kind::Write, X, MemoryOrder::Relaxed);
    let trace = trace.atomic(2, Kind::ReadWrite, X, MemoryOrder::Relaxed).read(3, 30);
    assert_eq!(trace.races(), [[901, 30], [902, 30]]);
}

#[test]
fn who_leaves_a_barrier_comes_after_its_own_round_only() {
    let trace = Trace::default()
        .write(1, 10)
        .object(1, Kind::BarrierArrive, LOCK)
        .object(2, Kind::BarrierArrive, LOCK)
        .object(1, Kind::BarrierLeave, LOCK)
        .write(1, 11)
        .object(1, Kind::BarrierArrive, LOCK)
        .object(2, Kind::BarrierLeave, LOCK)
        .read(2, 20);
    assert_eq!(trace.races(), [[11, 20]]);
}

#[test]
fn an_access_without_an_event_counts_from_where_it_was_made() {
    let before = Trace::default();
    let past = before.unrecorded(1, PastKind::Write, 10);
    let ordered = before.object(1, Kind::ThreadCreate, 2).past(2, Kind::Read, 20, past);
    // Its thread has no event before it: what it did first is not from before the recording.
    assert_eq!(ordered.races(), [[0; 2]; 0]);
    let after = Trace::default().object(1, Kind::ThreadCreate, 2);
    let past = after.unrecorded(1, PastKind::Write, 10);
    assert_eq!(after.past(2, Kind::Read, 20, past).races(), [[10, 20]]);
}

#[test]
fn what_was_done_before_a_fork_comes_before_all_its_child_does() {
    let mut writer = Writer::new();
    writer.begin_at(ThreadId(1), 100);
    let past = |thread| Past {
        kind: PastKind::Write,
        thread: ThreadId(thread),
        site: Site(10),
        ordinal: 50,
    };
    let trace = Trace(writer).object(1, Kind::ThreadCreate, 2);
    let trace = trace.past(2, Kind::Read, 20, past(1)).past(2, Kind::Read, 21, past(7));
    assert_eq!(trace.races(), [[0; 2]; 0]);
}

#[test]
fn a_past_access_that_has_an_event_is_not_another_access() {
    let trace = Trace::default().object(1, Kind::ThreadCreate, 2);
    let trace = trace.atomic(1, Kind::Write, X, MemoryOrder::Relaxed);
    let past = trace.unrecorded(1, PastKind::Write, 901);
    let atomic = Draft::access(Kind::Read, X, 4).flags(MemoryOrder::Relaxed as u16).site(20);
    assert_eq!(trace.event(2, atomic.past(past)).races(), [[0; 2]; 0]);
}

#[test]
fn two_lives_of_a_block_do_not_race_and_its_end_does() {
    let block = |serial: u64| Draft::new(Kind::Block).object(X).word(16).word(1 | serial << 32);
    let freed = Draft::access(Kind::Write, X, 16).flags(access_flags::FREE).site(11);
    let trace = Trace::default().event(1, block(1)).write(1, 10).event(1, freed.clone());
    assert_eq!(trace.event(2, block(2)).write(2, 20).races(), [[0; 2]; 0]);
    let trace = Trace::default().event(1, block(1)).write(2, 20).event(1, freed);
    assert_eq!(trace.races(), [[20, 11]]);
}

#[test]
fn neighbouring_bytes_do_not_race() {
    let part = |kind, at, length, site| Draft::access(kind, X + at, length).site(site);
    let trace = Trace::default().event(1, part(Kind::Write, 0, 2, 10));
    let trace = trace.event(2, part(Kind::Write, 2, 2, 20)).event(3, part(Kind::Read, 1, 1, 30));
    assert_eq!(trace.races(), [[10, 30]]);
}

#[test]
fn every_element_of_accesses_in_step_is_looked_at() {
    let trace = Trace::default().event(1, Draft::strided(Kind::Write, X, 4, 3, 16).site(10));
    let trace = trace.event(2, Draft::access(Kind::Read, X + 32, 4).site(20));
    assert_eq!(trace.event(2, Draft::access(Kind::Read, X + 8, 4).site(21)).races(), [[10, 20]]);
}

#[test]
fn a_once_of_rust_that_is_found_done_comes_after_its_initialiser() {
    let with = |runs_elsewhere| {
        let once = if runs_elsewhere { FLAG } else { LOCK };
        Trace::default()
            .object(1, Kind::OnceBegin, once)
            .write(1, 10)
            .atomic(2, Kind::Read, FLAG, MemoryOrder::Acquire)
            .read(2, 20)
            .object(1, Kind::OnceDone, once)
            .races()
    };
    assert_eq!(with(true), [[0; 2]; 0]);
    assert_eq!(with(false), [[10, 20]]);
}

/// A thread gives a lock of Rust back by an atomic access, which is recorded after the other one, which waited, is told to have it.
fn overtaken(accesses_after: impl FnOnce(Trace) -> Trace) -> Vec<[u32; 2]> {
    let taken = Draft::new(Kind::Acquire).object(LOCK).flags(lock_flags::IS_RUST);
    let trace =
        Trace::default().atomic(1, Kind::ReadWrite, LOCK, MemoryOrder::Acquire).write(1, 10);
    let trace = trace.object(2, Kind::LockWait, LOCK).event(2, taken);
    accesses_after(trace).races()
}

#[test]
fn who_has_waited_for_a_lock_of_rust_comes_after_who_had_it_though_recorded_before() {
    let given = |trace: Trace| trace.atomic(1, Kind::ReadWrite, LOCK, MemoryOrder::Release);
    assert_eq!(overtaken(|trace| given(trace.write(2, 20))), [[0; 2]; 0]);
    assert_eq!(overtaken(|trace| given(trace).write(2, 20)), [[0; 2]; 0]);
    let too_late = overtaken(|trace| given(trace).write(1, 11).write(2, 20));
    assert_eq!(
        too_late,
        [[11, 20]],
        "what comes after the lock was given back is not ordered by it"
    );
}

#[test]
fn who_has_given_a_lock_of_rust_back_is_not_overtaken() {
    let given = |trace: Trace| trace.atomic(1, Kind::ReadWrite, LOCK, MemoryOrder::Release);
    let taken = Draft::new(Kind::Acquire).object(LOCK).flags(lock_flags::IS_RUST);
    let trace = Trace::default().atomic(1, Kind::ReadWrite, LOCK, MemoryOrder::Acquire);
    let trace = given(trace).write(1, 11).event(2, taken);
    assert_eq!(trace.write(2, 20).races(), [[11, 20]]);
}
