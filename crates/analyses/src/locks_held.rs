//! Which locks a thread held at some moment.
//!
//! Takes   the streams of a recording, and moments: a thread and how many events it had recorded.
//! Gives   for each moment the locks held, in the order they were taken, each with the place where it was taken.
//! Misses  locks of Rust that were taken without contention, unless `Knowledge::lock_change` recognises them;
//!         and of those, steps that left no event.
//! Invents a lock that another thread released on behalf of this one.
//! Cost    one walk over the streams of the threads that are asked for, up to the last moment asked for.

use unpick_events::{Address, Context, Site, ThreadId};
use unpick_recording::{Action, Event, LockKind, Recording};

use crate::knowledge::Knowledge;

/// What an event does to the locks its thread holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LockChange {
    Taken {
        lock: Address,
        kind: LockKind,
        shared: bool,
    },
    Released {
        lock: Address,
    },
    /// From exclusive to shared.
    Downgraded {
        lock: Address,
    },
    /// From shared to exclusive.
    Upgraded {
        lock: Address,
    },
}

/// A lock that is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HeldLock {
    pub lock: Address,
    pub kind: LockKind,
    pub shared: bool,
    /// Where it was taken.
    pub site: Site,
    pub context: Context,
    /// The number of the event by which the thread took it: tells whether a lock was given back in between.
    pub acquisition: u64,
}

/// The moment before event number `ordinal` of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Moment {
    pub thread: ThreadId,
    pub ordinal: u64,
}

/// What the recorded lock events say.
pub fn recorded_change(action: &Action<'_>) -> Option<LockChange> {
    match *action {
        Action::Acquire { lock, flags } => {
            Some(LockChange::Taken { lock, kind: flags.what(), shared: flags.is_shared() })
        }
        Action::Release { lock, .. } => Some(LockChange::Released { lock }),
        _ => None,
    }
}

/// Where a thread began to ask for a lock that is made of atomics. If it does not get it at the first try, the code that
/// waits for it is elsewhere, and is come to only then.
#[derive(Debug, Default)]
pub struct Attempt(Option<(Address, Site, Context)>);

impl Attempt {
    /// Takes in an event that took or released no lock.
    pub fn note(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let Action::Access { address, flags, .. } = event.action else { return };
        let is_further = self.0.is_some_and(|(lock, ..)| lock == address);
        if flags.is_atomic() && !is_further && knowledge.is_lock_code(event.site) {
            self.0 = Some((address, event.site, event.context));
        }
    }

    /// Where the first attempt at this lock was; else where the event is. The attempt is over.
    pub fn place_of(&mut self, lock: Address, event: &Event<'_>) -> (Site, Context) {
        let own = self.0.take().filter(|(tried, ..)| *tried == lock);
        own.map_or((event.site, event.context), |(_, site, context)| (site, context))
    }
}

/// The locks that one thread holds, from event to event.
#[derive(Debug, Default)]
pub struct ThreadLocks {
    held: Vec<HeldLock>,
    is_at_barrier: bool,
    attempt: Attempt,
}

impl ThreadLocks {
    /// Takes in the next event of the thread; gives what that did to its locks.
    pub fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) -> Option<LockChange> {
        self.is_at_barrier = match event.action {
            Action::BarrierArrive { .. } => true,
            Action::BarrierLeave { .. } => false,
            _ => self.is_at_barrier,
        };
        // A barrier of Rust has a lock inside, of which only contended steps are told.
        let change = knowledge.lock_change(event).filter(|_| !self.is_at_barrier);
        match change {
            Some(change) => apply(&mut self.held, change, event, &mut self.attempt),
            None => self.attempt.note(event, knowledge),
        }
        change
    }

    /// In the order they were taken.
    pub fn held(&self) -> &[HeldLock] {
        &self.held
    }
}

/// The locks held at each of `moments`, which must be sorted.
pub fn locks_held(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    moments: &[Moment],
) -> Vec<Vec<HeldLock>> {
    debug_assert!(moments.is_sorted());
    let mut answers = Vec::with_capacity(moments.len());
    for of_thread in moments.chunk_by(|a, b| a.thread == b.thread) {
        let mut events = recording.stream(of_thread[0].thread).peekable();
        let mut locks = ThreadLocks::default();
        for moment in of_thread {
            while let Some(event) = events.next_if(|event| event.ordinal < moment.ordinal) {
                locks.take_in(&event, knowledge);
            }
            answers.push(locks.held().to_vec());
        }
    }
    answers
}

fn apply(held: &mut Vec<HeldLock>, change: LockChange, event: &Event<'_>, attempt: &mut Attempt) {
    match change {
        LockChange::Taken { lock, kind, shared } => {
            let (site, context) = attempt.place_of(lock, event);
            let acquisition = event.ordinal;
            held.push(HeldLock { lock, kind, shared, site, context, acquisition });
        }
        // A recursive lock is in the list once for each time it was taken.
        LockChange::Released { lock } => {
            if let Some(at) = last_of(held, lock) {
                held.remove(at);
            }
        }
        LockChange::Downgraded { lock } | LockChange::Upgraded { lock } => {
            if let Some(at) = last_of(held, lock) {
                held[at].shared = matches!(change, LockChange::Downgraded { .. });
            }
        }
    }
}

fn last_of(held: &[HeldLock], lock: Address) -> Option<usize> {
    held.iter().rposition(|held| held.lock == lock)
}
