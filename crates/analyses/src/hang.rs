//! What the threads of a run that hung were doing: what each waits for, which locks it holds, and who waits for whom.
//!
//! Takes   the recordings of the run's processes, and each thread as it was when the time was over (`Seen`).
//! Gives   a `HungRun`, in terms that hold beyond the process. Threads that wait for each other in a circle are a sure
//!         deadlock: a thread is taken for the holder of a lock only while it holds it, and waits with a time limit do not count.
//!         Where there is no circle: the order in which a wakeup was lost, by a test that was out of date (`stale_tests`) or by the order of
//!         locks (`notifications`), if that can be told.
//! Misses  waits and locks of a process whose recording lacks events; waits in code that is not instrumented; who could post a semaphore or wake a futex.
//! Invents a lock of parking_lot as what a thread waits for, if it took another one by handing over.
//! Cost    one walk over the events of the threads that are alive; over all events, if some wait at a condition and there is no circle.

mod circles;
mod notifications;
mod sleepers;
mod stale_tests;
mod terms;
mod waits;

use std::collections::BTreeMap;

use unpick_events::{Address, Site, ThreadId};
use unpick_recording::Recording;

use crate::knowledge::Knowledge;
use crate::locks_held::{HeldLock, Moment, locks_held};
use crate::ranking::{CodeBook, ExampleLock, ExampleMemory};

use circles::circles;
pub use notifications::Deed;
use notifications::{Forgotten, Step, lost_notification};
use sleepers::Sleeper;
use stale_tests::lost_wakeup;
pub(crate) use terms::Terms;
pub(crate) use waits::waits_at_end;
use waits::{LastSeen, Waiting, last_seen};

/// A thread at the moment its run hung.
#[derive(Debug, Clone)]
pub struct Seen {
    pub thread: ThreadId,
    /// The number its next event would have had.
    pub next_ordinal: u64,
    /// Whether the kernel had it running; none: not known.
    pub running: Option<bool>,
    /// Its call stack, if it could be read from the process.
    pub calls: Option<SeenCalls>,
}

#[derive(Debug, Clone)]
pub struct SeenCalls {
    /// Outermost first.
    pub sites: Vec<Site>,
    /// The return address of the call that the innermost function makes, or made last.
    pub inside: Option<u64>,
}

/// A run that hung. Sites and modules are numbered by the code book.
#[derive(Debug, Default)]
pub struct HungRun {
    pub code: CodeBook,
    pub processes: Vec<HungProcess>,
}

#[derive(Debug)]
pub struct HungProcess {
    pub process: u32,
    pub threads: Vec<HungThread>,
    /// Threads that wait for each other: each for the next, the last for the first.
    pub circles: Vec<Vec<u16>>,
    /// If there is no circle.
    pub lost: Option<LostNotification>,
}

/// A thread waits at a condition, and the notification for it is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostNotification {
    /// Who waits.
    pub thread: u16,
    /// What was done, in this order.
    pub steps: Vec<LostStep>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostStep {
    pub thread: u16,
    pub deed: Deed,
    pub place: Whereabouts,
    /// The condition's mutex, where the thread took it before; none: that is the step itself, or is not known. Of a test, a write and the
    /// wait that follows: the outermost lock by which the thread came there.
    pub lock: Option<ExampleLock>,
    /// Of a test and a write.
    pub variable: Option<LostVariable>,
}

/// What a thread tested before it waited.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostVariable {
    pub memory: ExampleMemory,
    pub bytes: u64,
    /// How far behind the condition it is, if both are parts of one object.
    pub behind_condition: Option<i64>,
}

#[derive(Debug)]
pub struct HungThread {
    pub thread: u16,
    pub running: Option<bool>,
    pub wait: Option<Wait>,
    pub place: Whereabouts,
    pub locks: Vec<ExampleLock>,
}

/// Where a thread is.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Whereabouts {
    /// None: nothing is known.
    pub site: Option<u32>,
    /// Call sites, outermost first.
    pub stack: Vec<u32>,
    /// It is there now; else that is where it was last seen.
    pub is_now: bool,
}

/// What a thread waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wait {
    Lock {
        /// Where it was taken is that of the waiting call.
        lock: ExampleLock,
        limited: bool,
        /// As far as that is known.
        held_by: Vec<u16>,
    },
    Condition {
        condition: ExampleMemory,
        mutex: ExampleLock,
    },
    End {
        thread: u16,
    },
    Barrier(ExampleMemory),
    Semaphore(ExampleMemory),
    Once(ExampleMemory),
    /// An `unpark` of Rust.
    Unpark,
    Futex(ExampleMemory),
}

impl HungRun {
    /// Takes in a process of the run.
    pub fn add(
        &mut self,
        process: u32,
        recording: &Recording,
        knowledge: &dyn Knowledge,
        seen: &[Seen],
    ) {
        // Where events are missing, a release may be among them, or the end of a wait.
        let is_whole = recording.is_complete();
        let all = if is_whole { seen } else { &[] };
        let held = held_by_thread(recording, knowledge, all);
        let mut teller =
            Teller { terms: Terms::new(&mut self.code, recording, knowledge), held: &held };
        let mut threads = Vec::new();
        let mut waited_for = BTreeMap::new();
        let (mut forgotten, mut sleepers) = (Vec::new(), Vec::new());
        for seen in seen {
            let mut last = last_seen(recording, knowledge, seen);
            last.waiting = last.waiting.filter(|_| is_whole);
            waited_for.insert(seen.thread.0, teller.waited_for(seen.thread, last.waiting.as_ref()));
            let waiting = last.waiting.as_ref();
            forgotten.extend(waiting.and_then(|wait| Forgotten::of(seen.thread, wait)));
            sleepers.extend(waiting.and_then(|wait| Sleeper::of(seen.thread, wait)));
            threads.push(teller.thread(seen, &last));
        }
        let circles = circles(&waited_for);
        if !circles.is_empty() {
            (forgotten, sleepers) = (Vec::new(), Vec::new());
        }
        let lost = lost_order(recording, knowledge, seen, &forgotten, &sleepers);
        let lost = lost.map(|(thread, steps)| teller.lost(thread, &steps, &threads));
        self.processes.push(HungProcess { process, threads, circles, lost });
    }
}

/// A test that was out of date explains the most, if a notification followed it; without one it may be chance, but comes before what only the
/// order of locks says.
fn lost_order(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    seen: &[Seen],
    forgotten: &[Forgotten],
    sleepers: &[Sleeper],
) -> Option<(ThreadId, Vec<Step>)> {
    let stale = lost_wakeup(recording, knowledge, seen, sleepers);
    let known = stale.map(|lost| (lost.thread, lost.steps));
    known.or_else(|| lost_notification(recording, knowledge, seen, forgotten))
}

fn held_by_thread(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    seen: &[Seen],
) -> BTreeMap<ThreadId, Vec<HeldLock>> {
    let mut moments: Vec<Moment> = seen
        .iter()
        .map(|seen| Moment { thread: seen.thread, ordinal: seen.next_ordinal })
        .collect();
    moments.sort_unstable();
    let held = locks_held(recording, knowledge, &moments);
    moments.iter().map(|moment| moment.thread).zip(held).collect()
}

/// Puts what was seen into terms that hold beyond the process.
struct Teller<'t> {
    terms: Terms<'t>,
    held: &'t BTreeMap<ThreadId, Vec<HeldLock>>,
}

impl Teller<'_> {
    fn thread(&mut self, seen: &Seen, last: &LastSeen) -> HungThread {
        let held = self.held.get(&seen.thread).cloned().unwrap_or_default();
        HungThread {
            thread: seen.thread.0,
            running: seen.running,
            wait: last.waiting.as_ref().map(|waiting| self.wait(seen.thread, waiting)),
            place: self.place(seen, last),
            locks: held.iter().map(|held| self.terms.lock(held)).collect(),
        }
    }

    /// Who waits is where its event says, unless that is inside a library the program called; who does not is where its
    /// memory says, or else where its last event was.
    fn place(&mut self, seen: &Seen, last: &LastSeen) -> Whereabouts {
        match (&last.waiting, &seen.calls) {
            (Some(waiting), Some(calls)) if self.terms.is_inside_library(waiting.site(), calls) => {
                self.terms.place_in_memory(calls)
            }
            (Some(waiting), _) => self.terms.place(waiting.site(), waiting.context(), true),
            (None, Some(calls)) => self.terms.place_in_memory(calls),
            (None, None) => self.terms.place(last.site, last.context, false),
        }
    }

    fn wait(&mut self, thread: ThreadId, waiting: &Waiting) -> Wait {
        match waiting {
            Waiting::Lock { lock, limited } => Wait::Lock {
                lock: self.terms.lock(lock),
                limited: *limited,
                held_by: self.holders(thread, lock),
            },
            Waiting::Condition { condition, mutex } => Wait::Condition {
                condition: self.terms.memory(condition.object),
                mutex: self.terms.lock(mutex),
            },
            Waiting::End { thread, .. } => Wait::End { thread: thread.0 },
            Waiting::Barrier(at) => Wait::Barrier(self.terms.memory(at.object)),
            Waiting::Semaphore(at) => Wait::Semaphore(self.terms.memory(at.object)),
            Waiting::Once(at) => Wait::Once(self.terms.memory(at.object)),
            Waiting::Unpark(_) => Wait::Unpark,
            Waiting::Futex(at) => Wait::Futex(self.terms.memory(at.object)),
        }
    }

    fn lost(&mut self, waiting: ThreadId, steps: &[Step], all: &[HungThread]) -> LostNotification {
        let condition = all.iter().find(|thread| thread.thread == waiting.0);
        let condition = condition.and_then(|thread| match &thread.wait {
            Some(Wait::Condition { condition, .. } | Wait::Futex(condition)) => Some(condition),
            _ => None,
        });
        let mut told = Vec::new();
        for step in steps {
            // Who waits is still there, and its memory may have told more.
            let place = match all.iter().find(|thread| thread.thread == step.thread.0) {
                Some(thread) if step.deed == Deed::Waits => thread.place.clone(),
                _ => self.terms.place(step.site, step.context, false),
            };
            let lock = step.lock.map(|lock| self.terms.lock(&lock));
            let variable = step.bytes.map(|bytes| self.variable(bytes, condition));
            told.push(LostStep { thread: step.thread.0, deed: step.deed, place, lock, variable });
        }
        LostNotification { thread: waiting.0, steps: told }
    }

    fn variable(
        &mut self,
        (address, bytes): (Address, u64),
        condition: Option<&ExampleMemory>,
    ) -> LostVariable {
        let memory = self.terms.memory(address);
        let behind_condition = condition.and_then(|condition| distance(condition, &memory));
        LostVariable { memory, bytes, behind_condition }
    }

    /// The threads that a thread cannot go on without.
    fn waited_for(&self, thread: ThreadId, waiting: Option<&Waiting>) -> Vec<u16> {
        match waiting {
            Some(Waiting::Lock { lock, limited: false }) => self.holders(thread, lock),
            Some(Waiting::End { thread, .. }) => vec![thread.0],
            _ => Vec::new(),
        }
    }

    /// Who holds a lock against somebody who wants it. Readers are in the way of a writer only. A thread that already holds a
    /// lock which others may hold too is not in its own way for sure.
    fn holders(&self, waiting: ThreadId, wanted: &HeldLock) -> Vec<u16> {
        let is_in_the_way = |thread: ThreadId, held: &HeldLock| {
            held.lock == wanted.lock && !(held.shared && (wanted.shared || thread == waiting))
        };
        let holders = self
            .held
            .iter()
            .filter(|(thread, locks)| locks.iter().any(|held| is_in_the_way(**thread, held)));
        holders.map(|(thread, _)| thread.0).collect()
    }
}

/// Of memory without a name, on a stack mostly: what is nearer is taken for parts of one object.
const NEAR: u64 = 4096;

/// How far the second is behind the first, if both are parts of one object: that is the same in every run.
fn distance(from: &ExampleMemory, to: &ExampleMemory) -> Option<i64> {
    let (from, to) = match (from, to) {
        (
            ExampleMemory::Static { module, offset: from },
            ExampleMemory::Static { module: other, offset: to },
        ) if module == other => (from, to),
        (
            ExampleMemory::Heap { block, offset: from },
            ExampleMemory::Heap { block: other, offset: to },
        ) if block == other => (from, to),
        (ExampleMemory::Other { address: from }, ExampleMemory::Other { address: to })
            if from.abs_diff(*to) < NEAR =>
        {
            (from, to)
        }
        _ => return None,
    };
    Some(to.wrapping_sub(*from).cast_signed())
}
