//! What orders accesses firmly that have no lock in common, and what only by which thread came to a lock first.

mod racing;

use proptest::prelude::*;
use racing::{Deed, record, traces};
use unpick_analyses::races::{Deed as StepDeed, RacingPair};
use unpick_analyses::races_lockset::{firmness, races};
use unpick_analyses::{races_happens_before, races_lockset::Firmness};
use unpick_events::access::PastKind;
use unpick_events::kind::lock_flags;
use unpick_events::{Kind, MemoryOrder, Past, Site, ThreadId};
use unpick_recording::Recording;
use unpick_recording::writer::{Draft, Writer};

const DATA: u64 = 0x1000;
const QUEUE: u64 = 0x2000;
const LOCK: u64 = 0x3000;
const OTHER_LOCK: u64 = 0x4000;
const OBJECT: u64 = 0x5000;

#[derive(Default)]
struct Trace(Writer);

impl Trace {
    /// Two threads that were created by the first.
    fn begun() -> Trace {
        Trace::default().object(1, Kind::ThreadCreate, 2).object(1, Kind::ThreadCreate, 3)
    }

    fn event(mut self, thread: u16, draft: Draft) -> Trace {
        self.0.write(ThreadId(thread), draft);
        self
    }

    fn object(self, thread: u16, kind: Kind, object: u64) -> Trace {
        self.event(thread, Draft::new(kind).object(object))
    }

    /// Thread 2 and 3 write the data at sites 20 and 30.
    fn data(self, thread: u16) -> Trace {
        let site = 10 * u32::from(thread);
        self.event(thread, Draft::access(Kind::Write, DATA, 4).site(site))
    }

    fn access(self, thread: u16, kind: Kind, at: u64) -> Trace {
        self.event(thread, Draft::access(kind, at, 4).site(100 + u32::from(thread)))
    }

    fn lock(self, thread: u16, lock: u64) -> Trace {
        self.event(thread, Draft::new(Kind::Acquire).object(lock).flags(lock_flags::IS_MUTEX))
    }

    fn unlock(self, thread: u16, lock: u64) -> Trace {
        self.event(thread, Draft::new(Kind::Release).object(lock).flags(lock_flags::IS_MUTEX))
    }

    /// Takes a lock, accesses something, gives it back.
    fn under(self, thread: u16, lock: u64, kind: Kind, at: u64) -> Trace {
        self.lock(thread, lock).access(thread, kind, at).unlock(thread, lock)
    }

    /// The same, together with other readers.
    fn beside_readers(self, thread: u16, lock: u64, kind: Kind, at: u64) -> Trace {
        let flags = lock_flags::IS_RWLOCK | lock_flags::SHARED;
        let step = |kind| Draft::new(kind).object(lock).flags(flags);
        let trace = self.event(thread, step(Kind::Acquire)).access(thread, kind, at);
        trace.event(thread, step(Kind::Release))
    }

    /// Of the one pair that lockset reports of the data, and happens-before does not.
    fn firmness(self) -> Firmness {
        let recording = Recording::from_bytes(&self.0.to_bytes(), "trace").unwrap();
        let is_data = |site: Site| site.0 < 100;
        let is_of_data = |pair: &&RacingPair| is_data(pair.first.site) && is_data(pair.second.site);
        let unordered = races_happens_before::races(&recording, &recording).into_pairs();
        assert_eq!(unordered.iter().find(is_of_data), None, "happens-before finds nothing");
        let pairs = races(&recording, &recording).into_pairs();
        let pairs: Vec<_> = pairs.iter().filter(is_of_data).collect();
        assert_eq!(pairs.len(), 1, "{pairs:?}");
        firmness(&recording, &recording, &pairs)[0]
    }

    fn ordered_by(self) -> Option<StepDeed> {
        let Firmness { is_loose, ordered_by } = self.firmness();
        assert!(!is_loose);
        ordered_by.map(|step| step.deed)
    }
}

#[test]
fn two_sections_of_a_lock_with_nothing_in_common_might_have_come_the_other_way_round() {
    let trace = Trace::begun().data(2).under(2, LOCK, Kind::Write, QUEUE);
    let trace = trace.under(3, LOCK, Kind::Write, QUEUE + 8).data(3);
    assert_eq!(trace.firmness(), Firmness { is_loose: true, ordered_by: None });
}

#[test]
fn what_is_handed_over_under_a_lock_orders_what_was_done_before() {
    let trace = Trace::begun().data(2).under(2, LOCK, Kind::Write, QUEUE);
    let by = trace.under(3, LOCK, Kind::Read, QUEUE).data(3).firmness().ordered_by.unwrap();
    assert_eq!((by.deed, by.object.unwrap().0), (StepDeed::HandOver, LOCK));
    // Two that only read tell each other nothing.
    let trace = Trace::begun().data(2).under(2, LOCK, Kind::Read, QUEUE);
    assert!(trace.under(3, LOCK, Kind::Read, QUEUE).data(3).firmness().is_loose);
}

#[test]
fn who_looks_once_more_has_still_handed_over_what_it_did_before() {
    let begun = || Trace::begun().data(2);
    // Another reader is not kept out by the second look, but by the first section, which was alone.
    let alone_then_beside_readers = begun().under(2, LOCK, Kind::Read, QUEUE);
    let trace = alone_then_beside_readers.beside_readers(2, LOCK, Kind::Read, QUEUE);
    let trace = trace.beside_readers(3, LOCK, Kind::Write, QUEUE).data(3);
    assert_eq!(trace.ordered_by(), Some(StepDeed::HandOver));
    // Who reads is handed over what was written, not what was read after that.
    let written_then_read = begun().under(2, LOCK, Kind::Write, QUEUE);
    let trace = written_then_read.under(2, LOCK, Kind::Read, QUEUE);
    assert_eq!(
        trace.under(3, LOCK, Kind::Read, QUEUE).data(3).ordered_by(),
        Some(StepDeed::HandOver)
    );
}

#[test]
fn a_hand_over_under_another_lock_than_was_held_is_none() {
    let both = |lock| {
        let trace = Trace::begun().data(2).lock(2, OTHER_LOCK).under(2, LOCK, Kind::Write, QUEUE);
        let trace = trace.unlock(2, OTHER_LOCK).under(3, OTHER_LOCK, Kind::Write, QUEUE + 8);
        trace.under(3, lock, Kind::Read, QUEUE).data(3)
    };
    assert_eq!(both(LOCK).ordered_by(), Some(StepDeed::HandOver));
    assert_eq!(both(OTHER_LOCK).ordered_by(), Some(StepDeed::HandOver), "nested: it has both");
    let trace = Trace::begun().data(2).under(2, LOCK, Kind::Write, QUEUE);
    let trace = trace.lock(3, LOCK).unlock(3, LOCK).access(3, Kind::Read, QUEUE + 8).data(3);
    assert!(trace.firmness().is_loose);
}

#[test]
fn whatever_is_no_lock_orders_firmly() {
    let post = Trace::begun().data(2).object(2, Kind::SemaphorePost, OBJECT);
    let post = post.object(3, Kind::SemaphoreWait, OBJECT).data(3);
    assert_eq!(post.ordered_by(), Some(StepDeed::Wait));

    let barrier = Trace::begun().data(2).object(2, Kind::BarrierArrive, OBJECT);
    let barrier = barrier.object(3, Kind::BarrierArrive, OBJECT);
    let barrier =
        barrier.object(2, Kind::BarrierLeave, OBJECT).object(3, Kind::BarrierLeave, OBJECT);
    assert_eq!(barrier.data(3).ordered_by(), Some(StepDeed::Leave));

    let atomic = |kind, order: MemoryOrder| Draft::access(kind, OBJECT, 4).flags(order as u16);
    let flag = Trace::begun().data(2).event(2, atomic(Kind::Write, MemoryOrder::Release).site(101));
    let flag = flag.event(3, atomic(Kind::Read, MemoryOrder::Acquire).site(102)).data(3);
    assert_eq!(flag.ordered_by(), Some(StepDeed::AtomicRead));
}

#[test]
fn a_switch_of_fibers_orders_firmly() {
    let fibers = Trace::begun().data(2).object(2, Kind::FiberSwitch, 3).data(3);
    assert_eq!(fibers.ordered_by(), Some(StepDeed::FiberSwitch));
}

#[test]
fn who_waits_for_a_lock_that_was_taken_before_its_creation_comes_after_it() {
    let gate = |lock| {
        let trace = Trace::begun().lock(2, LOCK).object(2, Kind::SemaphorePost, OBJECT).data(2);
        let trace = trace.unlock(2, LOCK).object(3, Kind::SemaphoreWait, OBJECT);
        trace.lock(3, lock).unlock(3, lock).data(3)
    };
    assert_eq!(gate(LOCK).ordered_by(), Some(StepDeed::HandOver));
    let recording = Recording::from_bytes(&gate(OTHER_LOCK).0.to_bytes(), "trace").unwrap();
    assert_eq!(races_happens_before::races(&recording, &recording).into_pairs().len(), 1);
}

#[test]
fn what_was_put_in_before_it_was_shared_is_handed_over_too() {
    let with = |lock| {
        let trace = Trace::begun().data(2).lock(2, lock);
        let ordinal = trace.0.events_of(ThreadId(2));
        let past = Past { kind: PastKind::Write, thread: ThreadId(2), site: Site(102), ordinal };
        let trace = trace.object(2, Kind::SemaphorePost, OBJECT + 8).unlock(2, lock);
        // Both sections of the other lock are empty: they order, but not firmly.
        let trace = trace.lock(2, OTHER_LOCK).unlock(2, OTHER_LOCK);
        let trace = trace.lock(3, OTHER_LOCK).unlock(3, OTHER_LOCK).lock(3, LOCK);
        let read = Draft::access(Kind::Read, QUEUE, 4).site(103).past(past);
        trace.event(3, read).unlock(3, LOCK).data(3)
    };
    assert_eq!(with(LOCK).ordered_by(), Some(StepDeed::HandOver));
    assert!(with(OTHER_LOCK).firmness().is_loose);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Locks only add to an order: what happens-before does not order is not firm either, and without locks both are the same.
    #[test]
    fn firm_is_at_most_as_much_as_happens_before(steps in traces()) {
        let recording = record(&steps);
        let unordered = races_happens_before::races(&recording, &recording).into_pairs();
        let pairs: Vec<_> = unordered.iter().filter(|pair| !pair.first.kind().eq(&PastKind::Free)).collect();
        for (pair, firmness) in pairs.iter().zip(firmness(&recording, &recording, &pairs)) {
            prop_assert!(firmness.is_loose, "{pair:?}");
        }
        let has_locks = steps.iter().any(|step| matches!(step.deed, Deed::Lock { .. }));
        let unlocked = races(&recording, &recording).into_pairs();
        let alone: Vec<_> = unlocked.iter().filter(|one| {
            let is_it = |two: &&_| sites(one) == sites(two);
            !unordered.iter().any(|two| is_it(&two))
        }).collect();
        for (pair, firmness) in alone.iter().zip(firmness(&recording, &recording, &alone)) {
            prop_assert!(has_locks || firmness.ordered_by.is_some(), "{pair:?}");
        }
    }
}

fn sites(pair: &RacingPair) -> [u32; 2] {
    let mut sites = [pair.first.site.0, pair.second.site.0];
    sites.sort_unstable();
    sites
}
