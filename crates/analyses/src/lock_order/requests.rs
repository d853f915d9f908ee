//! Requests: moments in which a thread that holds locks asks for another one and would wait for it.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;
use unpick_events::{Site, ThreadId};
use unpick_recording::{Action, Event, Recording};

use super::lives::{Lives, Lock};
use crate::knowledge::Knowledge;
use crate::locks_held::{HeldLock, LockChange, Moment, ThreadLocks};
use crate::thread_order::ThreadOrder;

/// A thread asks for a lock while it holds others.
#[derive(Debug, Clone)]
pub struct Request {
    pub thread: ThreadId,
    pub wanted: Wanted,
    pub held: Vec<Wanted>,
}

/// A lock that is held or asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted {
    pub lock: Lock,
    pub told: HeldLock,
}

impl Wanted {
    /// Whether one cannot have the lock while the other has it.
    pub fn excludes(&self, other: &Wanted) -> bool {
        self.lock == other.lock && !(self.told.shared && other.told.shared)
    }
}

impl Request {
    /// The moment it was made.
    pub fn moment(&self) -> Moment {
        Moment { thread: self.thread, ordinal: self.wanted.told.acquisition }
    }

    /// Which of the locks it holds another one cannot have.
    pub fn in_the_way_of(&self, wanted: &Wanted) -> Option<usize> {
        self.held.iter().position(|held| held.excludes(wanted))
    }

    /// Whether both hold a lock that only one of them can hold.
    pub fn has_common_lock_with(&self, other: &Request) -> bool {
        self.held.iter().any(|held| other.in_the_way_of(held).is_some())
    }

    fn sameness(&self, stage: usize) -> Sameness {
        let of = |one: &Wanted| (one.lock, one.told.shared, one.told.site);
        let held = self.held.iter().map(of).collect();
        Sameness { thread: self.thread, stage, wanted: of(&self.wanted), held }
    }
}

/// What makes two requests the same: nothing that is asked here tells them apart.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Sameness {
    thread: ThreadId,
    /// Starts and joins that the thread has seen.
    stage: usize,
    wanted: (Lock, bool, Site),
    held: Vec<(Lock, bool, Site)>,
}

/// All different requests of a recording, in the order they were made.
pub fn requests(recording: &Recording, knowledge: &dyn Knowledge) -> Vec<Request> {
    let mut walk = Walk { order: ThreadOrder::of(recording), ..Walk::default() };
    for event in recording.events() {
        walk.take_in(&event, knowledge);
    }
    walk.finish()
}

#[derive(Default)]
struct Walk {
    order: ThreadOrder,
    lives: Lives,
    threads: BTreeMap<ThreadId, Asking>,
    known: FxHashSet<Sameness>,
    requests: Vec<Request>,
}

#[derive(Default)]
struct Asking {
    locks: ThreadLocks,
    /// It waits, and does not have the lock yet.
    waits: Option<Request>,
}

impl Walk {
    fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        self.lives.take_in(event);
        let asking = self.threads.entry(event.thread).or_default();
        let before = asking.locks.held().len();
        let change = asking.locks.take_in(event, knowledge);
        let wanted = match (change, event.action) {
            (Some(LockChange::Taken { .. }), _) => {
                asking.waits = None;
                asking.locks.held().last().copied().filter(|_| may_wait(event))
            }
            (_, Action::LockWait { lock, flags }) if !flags.is_timed() => Some(HeldLock {
                lock,
                kind: flags.what(),
                shared: flags.is_shared(),
                site: event.site,
                context: event.context,
                acquisition: event.ordinal,
            }),
            _ => return,
        };
        let Some(request) = wanted.and_then(|wanted| {
            request(event.thread, wanted, &asking.locks.held()[..before], &mut self.lives)
        }) else {
            return;
        };
        // Who gets the lock tells better where it was asked for.
        match change {
            None => asking.waits = Some(request),
            Some(_) => self.add(request),
        }
    }

    fn add(&mut self, request: Request) {
        if self.known.insert(request.sameness(self.order.stage_at(request.moment()))) {
            self.requests.push(request);
        }
    }

    fn finish(mut self) -> Vec<Request> {
        let waiting = std::mem::take(&mut self.threads).into_values();
        waiting.filter_map(|asking| asking.waits).for_each(|request| self.add(request));
        self.requests
    }
}

/// Whether who took the lock would have waited for it without limit.
fn may_wait(event: &Event<'_>) -> bool {
    match event.action {
        Action::Acquire { flags, .. } => !flags.is_try() && !flags.is_timed(),
        _ => true,
    }
}

/// None: it holds no lock, or has this one already.
fn request(
    thread: ThreadId,
    wanted: HeldLock,
    held: &[HeldLock],
    lives: &mut Lives,
) -> Option<Request> {
    if held.is_empty() || held.iter().any(|held| held.lock == wanted.lock) {
        return None;
    }
    let mut known = |told: HeldLock| Wanted { lock: lives.lock(told.lock), told };
    Some(Request {
        thread,
        wanted: known(wanted),
        held: held.iter().copied().map(&mut known).collect(),
    })
}
