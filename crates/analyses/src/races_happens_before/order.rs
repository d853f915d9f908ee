//! The order that synchronisation makes between threads, followed event by event.
//!
//! Takes   the events of a recording in their order.      Gives  the period of each thread, and what it knows of others.
//! Misses  the flag of a fiber switch that says that it orders nothing. Atomics of several sizes over the same bytes: an acquire
//!         finds what was released at its own address only.
//! Cost    one vector clock per object and per thread; one join or copy of it per synchronisation.
//!
//! A thread's period ends where it gives something away; what it does afterwards is not ordered by that. Rules, where libraries leave
//! a choice:
//! - A condition variable orders nothing by itself: its mutex does. A wait may end without a signal, so to rely on one is a race.
//! - Readers of an rwlock do not order each other, but all of them come before the next writer.
//! - Atomics as C++20 has them: a store begins a release sequence or ends one, read-modify-writes of any thread continue it;
//!   relaxed ones count by the fences of their threads. Consume is acquire.
//! - Locks of Rust are atomics on their word, and library events where they were contended: both are one object (`Takers`).

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::{Address, MemoryOrder, Past, ThreadId};
use unpick_recording::{AccessFlags, AccessKind, Action, Event, LockKind};

use super::barriers::Barriers;
use super::clocks::VectorClock;
use super::takers::Takers;
use crate::knowledge::Knowledge;
use crate::races::{PAST_TURN, RaceAccess};

/// Of the structure whose count the threads of Rust's `thread::scope` decrease when they end: its owner looks at the count.
const SCOPE_WORDS: u64 = 4;

/// What all threads know of each other.
#[derive(Debug, Default)]
pub struct ThreadClocks {
    /// By number.
    threads: Vec<ThreadClock>,
    objects: FxHashMap<u64, Object>,
    barriers: Barriers,
    /// Objects of `HappensBefore`.
    annotated: FxHashSet<u64>,
    /// All of Rust's `unpark`s so far.
    unparks: VectorClock,
    /// Who has taken words by atomic accesses.
    takers: Takers,
    /// Who may be running the initialiser of a once.
    initialisers: FxHashMap<u64, ThreadId>,
}

#[derive(Debug, Default)]
struct ThreadClock {
    knows: VectorClock,
    /// The number of the event with which each period but the last ended.
    ends: Vec<u64>,
    /// The number of its first event in this recording; none: it has none yet.
    first: Option<u64>,
    latest: u64,
    /// What it knew at its last release fence.
    fenced: Option<VectorClock>,
    /// What relaxed reads found, for the next acquire fence.
    glimpsed: VectorClock,
    /// The locks it holds together with other readers.
    read_locks: Vec<Address>,
}

/// What was given away at an object.
#[derive(Debug, Default)]
struct Object {
    /// By who had it alone; of an atomic, by the release sequence of its value.
    released: VectorClock,
    /// By readers since.
    by_readers: VectorClock,
}

impl ThreadClock {
    /// The period in which the thread was just before its event of this number.
    fn period_at(&self, ordinal: u64) -> u32 {
        1 + self.ends.partition_point(|end| *end < ordinal) as u32
    }
}

impl ThreadClocks {
    /// Takes in the part of an event that takes something: an access at the event comes after it.
    pub fn acquire(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        self.meet(event);
        let thread = event.thread;
        match event.action {
            Action::Access { kind, address, flags, .. }
                if is_atomic(flags) && kind != AccessKind::Write =>
            {
                self.read_atomic(thread, address, flags.memory_order());
                if kind == AccessKind::ReadWrite && acquires(flags.memory_order()) {
                    self.takers.took(address.0, thread);
                }
            }
            Action::Acquire { lock, flags } => {
                if flags.what() == LockKind::Rust {
                    self.overtake(thread, lock);
                }
                self.lock(thread, lock, flags.is_shared());
            }
            Action::ThreadJoin { thread: other } => self.learn_of(thread, other),
            Action::BarrierLeave { barrier } => {
                if let Some(gathered) = self.barriers.leave(thread, barrier) {
                    self.clock(thread).knows.join(&gathered);
                }
            }
            Action::SemaphoreWait { semaphore: object } | Action::OnceDone { once: object } => {
                self.take_from(thread, object);
            }
            Action::HappensAfter { object: Address(0) } => {
                let unparks = std::mem::take(&mut self.unparks);
                self.clock(thread).knows.join(&unparks);
                self.unparks = unparks;
            }
            Action::HappensAfter { object } => self.take_from(thread, object),
            Action::Fence { order } if acquires(order) => {
                let clock = self.clock(thread);
                let glimpsed = std::mem::take(&mut clock.glimpsed);
                clock.knows.join(&glimpsed);
            }
            _ => {}
        }
        if knowledge.unparks(event) {
            self.unparks.join(&self.threads[usize::from(thread.0)].knows);
        }
    }

    /// Takes in the part of an event that gives something away: an access at the event comes before it.
    pub fn release(&mut self, event: &Event<'_>) {
        let thread = event.thread;
        match event.action {
            Action::Access { kind, address, flags, .. }
                if is_atomic(flags) && kind != AccessKind::Read =>
            {
                self.write_atomic(event, address, kind, flags);
                if releases(flags.memory_order()) {
                    self.takers.gave(address.0, thread);
                }
            }
            Action::Release { lock, .. } => self.unlock(event, lock),
            Action::ThreadCreate { thread: other } => {
                self.learn_of(other, thread);
                self.end_period(event);
            }
            // It gives nothing away; but in a new period the thread knows more.
            Action::ThreadJoin { .. } => self.end_period(event),
            Action::FiberSwitch { to } => {
                self.learn_of(to, thread);
                self.end_period(event);
            }
            Action::BarrierArrive { barrier } => {
                let knows = &mut self.threads[usize::from(thread.0)].knows;
                self.barriers.arrive(thread, barrier, knows);
                self.end_period(event);
            }
            Action::SemaphorePost { semaphore: object } => self.add_to(event, object),
            Action::OnceBegin { once } => {
                self.initialisers.insert(once.0, thread);
            }
            Action::OnceDone { once } => {
                self.initialisers.remove(&once.0);
                self.add_to(event, once);
            }
            Action::HappensBefore { object } => {
                self.annotated.insert(object.0);
                self.add_to(event, object);
            }
            Action::Fence { order } if releases(order) => {
                let clock = self.clock(thread);
                clock.fenced = Some(clock.knows.clone());
                self.end_period(event);
            }
            _ => {}
        }
    }

    /// Bytes whose life is over hold no locks and no atomics any more.
    pub fn forget(&mut self, start: u64, length: u64) {
        let end = start.saturating_add(length);
        self.takers.forget(start, end);
        if length < self.objects.len() as u64 {
            (start..end).for_each(|at| {
                self.objects.remove(&at);
            });
        } else {
            self.objects.retain(|at, _| !(start..end).contains(at));
        }
    }

    /// The period the thread is in.
    #[inline]
    pub fn period(&self, thread: ThreadId) -> u32 {
        self.knows(thread).of(thread)
    }

    /// What a thread knows of others now. It has had an event.
    #[inline]
    pub fn knows(&self, thread: ThreadId) -> &VectorClock {
        &self.threads[usize::from(thread.0)].knows
    }

    /// What a thread knows of others now; none if nothing has told of it yet.
    pub(super) fn known_to(&self, thread: ThreadId) -> Option<&VectorClock> {
        Some(&self.threads.get(usize::from(thread.0))?.knows)
    }

    /// The period of a thread in which it made an access, at the earliest. What ended it must have been taken in.
    pub(super) fn earliest_period(&self, access: &RaceAccess) -> u32 {
        let Some(clock) = self.threads.get(usize::from(access.thread.0)) else { return 1 };
        let earliest = access.moments(clock.first.unwrap_or(0)).last();
        clock.period_at(earliest.map_or(0, |moment| moment.ordinal))
    }

    /// The period of a thread in which it made a past access, at the earliest (see `PAST_TURN`): so no race is invented. None if
    /// that was before this recording begins, which is before everything in it.
    pub fn period_of_past(&self, past: &Past) -> Option<u32> {
        let clock = self.threads.get(usize::from(past.thread.0))?;
        let ordinal = u64::from(past.ordinal);
        let after_first = ordinal.checked_sub(clock.first?)?;
        let earliest = clock.first? + after_first % u64::from(PAST_TURN);
        Some(clock.period_at(earliest))
    }

    /// Takes in that a thread has had an event, and nothing of what that orders.
    pub fn meet(&mut self, event: &Event<'_>) {
        let clock = self.clock(event.thread);
        clock.first.get_or_insert(event.ordinal);
        clock.latest = event.ordinal;
    }

    fn clock(&mut self, thread: ThreadId) -> &mut ThreadClock {
        let number = usize::from(thread.0);
        while self.threads.len() <= number {
            let mut clock = ThreadClock::default();
            clock.knows.set(ThreadId(self.threads.len() as u16), 1);
            self.threads.push(clock);
        }
        &mut self.threads[number]
    }

    /// Makes sure that something is known of a thread, which may have had no event yet.
    pub(super) fn meet_thread(&mut self, thread: ThreadId) {
        self.clock(thread);
    }

    /// `thread` comes after all that is in `given`.
    pub(super) fn come_after(&mut self, thread: ThreadId, given: &VectorClock) {
        self.clock(thread).knows.join(given);
    }

    pub(super) fn end_period(&mut self, event: &Event<'_>) {
        self.end_period_at(event.thread, event.ordinal);
    }

    fn end_period_at(&mut self, thread: ThreadId, ordinal: u64) {
        let clock = self.clock(thread);
        clock.ends.push(ordinal);
        let next = clock.ends.len() as u32 + 1;
        clock.knows.set(thread, next);
    }

    /// `thread` comes after all that `other` has done so far.
    fn learn_of(&mut self, thread: ThreadId, other: ThreadId) {
        let known = std::mem::take(&mut self.clock(other).knows);
        self.clock(thread).knows.join(&known);
        self.clock(other).knows = known;
    }

    fn take_from(&mut self, thread: ThreadId, object: Address) {
        self.clock(thread);
        if let Some(object) = self.objects.get(&object.0) {
            self.threads[usize::from(thread.0)].knows.join(&object.released);
        }
    }

    /// Gives what the thread knows to an object, beside what is there.
    fn add_to(&mut self, event: &Event<'_>, object: Address) {
        let knows = &self.threads[usize::from(event.thread.0)].knows;
        self.objects.entry(object.0).or_default().released.join(knows);
        self.end_period(event);
    }

    fn lock(&mut self, thread: ThreadId, lock: Address, shared: bool) {
        if shared {
            self.clock(thread).read_locks.push(lock);
        } else if let Some(object) = self.objects.get(&lock.0) {
            self.threads[usize::from(thread.0)].knows.join(&object.by_readers);
        }
        self.take_from(thread, lock);
    }

    fn unlock(&mut self, event: &Event<'_>, lock: Address) {
        let clock = self.clock(event.thread);
        let shared = clock.read_locks.iter().rposition(|held| *held == lock);
        shared.map(|at| clock.read_locks.remove(at));
        let knows = &self.threads[usize::from(event.thread.0)].knows;
        let object = self.objects.entry(lock.0).or_default();
        if shared.is_some() {
            object.by_readers.join(knows);
        } else {
            // Who has it alone knows all that was given away there before, unless its taking was not told.
            object.released.join(knows);
            object.by_readers.clear();
        }
        self.end_period(event);
    }

    fn read_atomic(&mut self, thread: ThreadId, address: Address, order: MemoryOrder) {
        if acquires(order) {
            self.take_from(thread, address);
            self.look_at_count_of_scope(thread, address);
            self.look_at_once(thread, address);
        } else if let Some(object) = self.objects.get(&address.0) {
            self.threads[usize::from(thread.0)].glimpsed.join(&object.released);
        }
    }

    /// The end of a thread of `thread::scope` is told for the whole structure that has the count in it.
    fn look_at_count_of_scope(&mut self, thread: ThreadId, address: Address) {
        if self.annotated.is_empty() {
            return;
        }
        for way in 1..SCOPE_WORDS {
            let object = address.0.saturating_sub(8 * way);
            if self.annotated.contains(&object) {
                self.take_from(thread, Address(object));
            }
        }
    }

    /// Rust's `Once` publishes before its end is told: who finds it done may come before that event, and after all its initialiser did.
    fn look_at_once(&mut self, thread: ThreadId, address: Address) {
        let Some(&running) = self.initialisers.get(&address.0) else { return };
        if running != thread {
            self.come_after_all_so_far(thread, running);
        }
    }

    /// A lock of Rust was taken by a thread that had to wait for it: see `Takers`.
    fn overtake(&mut self, thread: ThreadId, lock: Address) {
        for before in self.takers.take_from(lock.0, thread) {
            self.come_after_all_so_far(thread, before);
        }
        self.takers.took(lock.0, thread);
    }

    /// `thread` comes after all that `other` has recorded so far, but not after what it does next.
    fn come_after_all_so_far(&mut self, thread: ThreadId, other: ThreadId) {
        self.learn_of(thread, other);
        let latest = self.clock(other).latest;
        self.end_period_at(other, latest);
    }

    fn write_atomic(
        &mut self,
        event: &Event<'_>,
        address: Address,
        kind: AccessKind,
        flags: AccessFlags,
    ) {
        let clock = &self.threads[usize::from(event.thread.0)];
        let releases = releases(flags.memory_order());
        let given = if releases { Some(&clock.knows) } else { clock.fenced.as_ref() };
        let continues = kind == AccessKind::ReadWrite;
        match given {
            Some(given) => {
                let released = &mut self.objects.entry(address.0).or_default().released;
                if continues { released.join(given) } else { released.become_like(given) }
            }
            // It ends the release sequence.
            None if !continues => {
                if let Some(object) = self.objects.get_mut(&address.0) {
                    object.released.clear();
                }
            }
            None => {}
        }
        if releases {
            self.end_period(event);
        }
    }
}

/// Of an atomic access that is told in parts the first counts.
fn is_atomic(flags: AccessFlags) -> bool {
    flags.is_atomic() && !flags.is_continued()
}

fn acquires(order: MemoryOrder) -> bool {
    use MemoryOrder::{Acquire, AcquireRelease, Consume, SequentiallyConsistent};
    matches!(order, Acquire | Consume | AcquireRelease | SequentiallyConsistent)
}

fn releases(order: MemoryOrder) -> bool {
    use MemoryOrder::{AcquireRelease, Release, SequentiallyConsistent};
    matches!(order, Release | AcquireRelease | SequentiallyConsistent)
}
