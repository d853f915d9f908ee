//! What a thread was waiting for after its last event.
//!
//! A wait is told before it begins. Library code inside of it may use futexes, and inside a barrier of Rust a lock; any other
//! event says that the wait is over.

use unpick_events::{Address, Context, Site, ThreadId};
use unpick_recording::{Action, Event, LockFlags, LockKind, Recording};

use crate::knowledge::Knowledge;
use crate::locks_held::HeldLock;

use super::Seen;

/// An object, and the call that waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub object: Address,
    pub site: Site,
    pub context: Context,
}

impl At {
    fn of(object: Address, event: &Event<'_>) -> At {
        At { object, site: event.site, context: event.context }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// `lock` says how it is wanted, and where.
    Lock {
        lock: HeldLock,
        limited: bool,
    },
    Condition {
        condition: At,
        mutex: HeldLock,
    },
    End {
        thread: ThreadId,
        at: At,
    },
    Barrier(At),
    Semaphore(At),
    Once(At),
    Unpark(At),
    Futex(At),
}

impl Waiting {
    fn at(&self) -> At {
        match *self {
            Waiting::Lock { lock, .. } => {
                At { object: lock.lock, site: lock.site, context: lock.context }
            }
            Waiting::Condition { condition: at, .. }
            | Waiting::End { at, .. }
            | Waiting::Barrier(at)
            | Waiting::Semaphore(at)
            | Waiting::Once(at)
            | Waiting::Unpark(at)
            | Waiting::Futex(at) => at,
        }
    }

    pub fn site(&self) -> Site {
        self.at().site
    }

    pub fn context(&self) -> Context {
        self.at().context
    }
}

/// What the events of a thread say of where it is.
#[derive(Debug)]
pub struct LastSeen {
    pub waiting: Option<Waiting>,
    /// Of its last event that has a place.
    pub site: Site,
    pub context: Context,
    /// A once that the thread begins or waits for: which of both, only what follows tells.
    perhaps: Option<Waiting>,
    /// The lock that the thread last tried to get by atomic accesses.
    tried: Option<HeldLock>,
}

/// Whether a thread waits for something after all events that were recorded of it.
pub fn waits_at_end(recording: &Recording, knowledge: &dyn Knowledge, thread: ThreadId) -> bool {
    let at_end = Seen { thread, next_ordinal: u64::MAX, running: None, calls: None };
    last_seen(recording, knowledge, &at_end).waiting.is_some()
}

/// Walks over the events of a thread up to the moment it was seen.
pub fn last_seen(recording: &Recording, knowledge: &dyn Knowledge, seen: &Seen) -> LastSeen {
    let mut last =
        LastSeen { waiting: None, site: Site(0), context: Context(0), perhaps: None, tried: None };
    let events = recording.stream(seen.thread);
    for event in events.take_while(|event| event.ordinal < seen.next_ordinal) {
        last.take_in(&event, recording, knowledge);
    }
    last
}

impl LastSeen {
    fn take_in(&mut self, event: &Event<'_>, recording: &Recording, knowledge: &dyn Knowledge) {
        let is_at_barrier = matches!(self.waiting, Some(Waiting::Barrier(_)));
        let leaves = matches!(event.action, Action::BarrierLeave { .. });
        if is_remark(&event.action) || is_at_barrier && !leaves {
            return;
        }
        if event.site.0 != 0 {
            (self.site, self.context) = (event.site, event.context);
        }
        match event.action {
            Action::FutexWait { word } => self.futex_wait(word, event, recording, knowledge),
            Action::FutexWoken { .. } | Action::FutexWake { .. } => self.forget_futex(),
            _ => {
                self.note_try(event, knowledge);
                self.perhaps = match event.action {
                    Action::OnceBegin { once } => Some(Waiting::Once(At::of(once, event))),
                    _ => None,
                };
                self.waiting = begins_to_wait(event).map(|wait| self.at_first_try(wait));
                // From here on the wait itself says what is wanted.
                self.tried = self.tried.filter(|_| self.waiting.is_none());
            }
        }
    }

    /// A thread asks for a lock of Rust where it tries to get it; the code that waits is come to only if that was in vain.
    fn at_first_try(&self, wait: Waiting) -> Waiting {
        match (wait, self.tried) {
            (Waiting::Lock { lock, limited }, Some(tried)) if tried.lock == lock.lock => {
                let (site, context) = (tried.site, tried.context);
                Waiting::Lock { lock: HeldLock { site, context, ..lock }, limited }
            }
            (wait, _) => wait,
        }
    }

    /// A futex inside another wait belongs to it. A condition of Rust that waits for its mutex is over: it wants the lock back.
    fn futex_wait(
        &mut self,
        word: Address,
        event: &Event<'_>,
        recording: &Recording,
        knowledge: &dyn Knowledge,
    ) {
        self.waiting = match self.waiting.or(self.perhaps) {
            Some(Waiting::Condition { mutex, .. }) if mutex.lock == word => {
                Some(Waiting::Lock { lock: mutex, limited: false })
            }
            Some(wait) if !matches!(wait, Waiting::Futex(_)) => Some(wait),
            _ => Some(
                self.wait_inside_lock(event, recording, knowledge)
                    .unwrap_or(Waiting::Futex(At::of(word, event))),
            ),
        };
    }

    fn forget_futex(&mut self) {
        let is_by_futex =
            |wait: &Waiting| matches!(wait, Waiting::Futex(_)) || self.tried.is_some();
        self.waiting = self.waiting.filter(|wait| !is_by_futex(wait));
    }

    /// parking_lot sleeps in a function that code of a lock has called: on a word of its own, for the lock it tried to get.
    fn wait_inside_lock(
        &self,
        event: &Event<'_>,
        recording: &Recording,
        knowledge: &dyn Knowledge,
    ) -> Option<Waiting> {
        let lock = self.tried?;
        let mut calls = recording.stacks().get(event.context)?.iter();
        let is_inside = calls.any(|&call| knowledge.is_lock_code(call));
        is_inside.then_some(Waiting::Lock { lock, limited: false })
    }

    fn note_try(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let Action::Access { address, flags, .. } = event.action else { return };
        if !flags.is_atomic() {
            return;
        }
        if knowledge.lock_change(event).is_some() {
            self.tried = None;
        } else if knowledge.is_lock_code(event.site) {
            let (site, context) = (event.site, event.context);
            let kind = LockKind::Rust;
            let acquisition = event.ordinal;
            self.tried =
                Some(HeldLock { lock: address, kind, shared: false, site, context, acquisition });
        }
    }
}

/// What says nothing of what the thread does now.
fn is_remark(action: &Action<'_>) -> bool {
    matches!(
        action,
        Action::Block { .. }
            | Action::Calls { .. }
            | Action::Delay { .. }
            | Action::Fact { .. }
            | Action::KernelThread { .. }
            | Action::Module { .. }
            | Action::ModuleGone { .. }
            | Action::Stack { .. }
            | Action::StackGone { .. }
    )
}

/// The wait that an event says is about to begin.
fn begins_to_wait(event: &Event<'_>) -> Option<Waiting> {
    let at = |object| At::of(object, event);
    Some(match event.action {
        Action::LockWait { lock, flags } => {
            Waiting::Lock { lock: wanted(lock, flags, event), limited: flags.is_timed() }
        }
        Action::ConditionWait { condition, mutex } => Waiting::Condition {
            condition: at(condition),
            mutex: wanted(mutex, LockFlags(0), event),
        },
        Action::ThreadJoinWait { thread } => Waiting::End { thread, at: at(Address(0)) },
        Action::BarrierArrive { barrier } => Waiting::Barrier(at(barrier)),
        Action::SemaphoreBlock { semaphore } => Waiting::Semaphore(at(semaphore)),
        Action::OnceWait { once } => Waiting::Once(at(once)),
        Action::ParkWait => Waiting::Unpark(at(Address(0))),
        _ => return None,
    })
}

fn wanted(lock: Address, flags: LockFlags, event: &Event<'_>) -> HeldLock {
    let (kind, shared, site) = (flags.what(), flags.is_shared(), event.site);
    HeldLock { lock, kind, shared, site, context: event.context, acquisition: event.ordinal }
}
