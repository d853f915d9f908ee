//! Why a thread waits at a condition for ever: the order in which its notification was lost.
//!
//! Takes   the events of a process that hung, in order, and which threads still wait at conditions.
//! Gives   of the earliest such wait, what threads did, step by step, if that explains it:
//!         - **overtaken**: the thread waits; another takes the mutex and notifies nobody; only then the one takes it that notified from
//!           there before, and does not this time: what the other one changed keeps it from seeing that somebody waits;
//!         - **too early**: another thread notified, and woke nobody; only then the thread began to wait. If the thread had the mutex already, it
//!           had looked whether to wait: such a wait is looked for first, then the earliest wait is explained.
//! Misses  notifications that woke another thread than the one that needed them.
//! Invents an explanation, where the thread that notified before had another reason not to: forcing the order tells.
//! Cost    one walk over all events.

use std::collections::BTreeMap;

use unpick_events::{Address, Context, Site, ThreadId};
use unpick_recording::{Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::locks_held::{Attempt, HeldLock, LockChange};

use super::Seen;
use super::waits::Waiting;

/// What a thread did on the way to a lost notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// It began to wait at the condition.
    Waits,
    /// It took the condition's mutex.
    Locks,
    /// It notified those who wait, all or one.
    Notifies,
    /// It read a variable, to find out whether to wait.
    Tests,
    /// It wrote that variable.
    Writes,
}

/// A step, in terms of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub thread: ThreadId,
    pub deed: Deed,
    pub site: Site,
    pub context: Context,
    /// Where the thread last took the mutex before, if it did. Of a test, a write and the wait that follows: the outermost lock by which
    /// the thread came there.
    pub lock: Option<HeldLock>,
    /// Of a test and a write: what was accessed, and how many bytes.
    pub bytes: Option<(Address, u64)>,
}

/// A thread that waits at a condition, and nobody notifies it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forgotten {
    pub thread: ThreadId,
    pub condition: Address,
    pub mutex: Address,
}

impl Forgotten {
    /// None: the thread waits for something else.
    pub fn of(thread: ThreadId, waiting: &Waiting) -> Option<Forgotten> {
        match waiting {
            Waiting::Condition { condition, mutex } => {
                Some(Forgotten { thread, condition: condition.object, mutex: mutex.lock })
            }
            _ => None,
        }
    }
}

/// The steps by which a notification was lost, in their order, and who waits for it.
pub fn lost_notification(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    seen: &[Seen],
    forgotten: &[Forgotten],
) -> Option<(ThreadId, Vec<Step>)> {
    if forgotten.is_empty() {
        return None;
    }
    let notes = Notes::of(recording, knowledge, seen);
    let started = forgotten.iter().filter_map(|one| Some((notes.start_of(one)?, one)));
    let mut started: Vec<(usize, &Forgotten)> = started.collect();
    started.sort_by_key(|(start, _)| *start);
    // Idle threads wait as well, often since before: what was missed while a thread was about to wait explains more.
    let missed =
        started.iter().find_map(|(start, one)| Some((one.thread, notes.missed(*start, one)?)));
    // Who began to wait later may only have been left alone by who began before.
    let earliest = || {
        let (start, first) = *started.first()?;
        Some((first.thread, notes.explain(start, first)?))
    };
    missed.or_else(earliest)
}

/// Something that happened to a condition or a mutex.
#[derive(Debug, Clone, Copy)]
struct Note {
    thread: ThreadId,
    what: What,
    site: Site,
    context: Context,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Took(HeldLock),
    Waits(Address),
    Woke(Address),
    Notified(Address),
}

/// In the order in which it happened.
struct Notes(Vec<Note>);

impl Notes {
    /// Notes what threads did before they were seen.
    fn of(recording: &Recording, knowledge: &dyn Knowledge, seen: &[Seen]) -> Notes {
        let ends: BTreeMap<ThreadId, u64> =
            seen.iter().map(|seen| (seen.thread, seen.next_ordinal)).collect();
        let mut taking = Taking::default();
        let mut notes = Vec::new();
        for event in recording.events() {
            let is_before = ends.get(&event.thread).is_none_or(|end| event.ordinal < *end);
            if is_before && let Some(what) = taking.note(&event, knowledge) {
                let (site, context) = match what {
                    What::Took(lock) => (lock.site, lock.context),
                    _ => (event.site, event.context),
                };
                notes.push(Note { thread: event.thread, what, site, context });
            }
        }
        Notes(notes)
    }

    /// Where the wait begins that did not end.
    fn start_of(&self, one: &Forgotten) -> Option<usize> {
        let begins =
            |note: &Note| note.thread == one.thread && note.what == What::Waits(one.condition);
        self.0.iter().rposition(begins)
    }

    fn explain(&self, start: usize, one: &Forgotten) -> Option<Vec<Step>> {
        let notified = What::Notified(one.condition);
        if self.0[start..].iter().any(|note| note.what == notified) {
            return None;
        }
        let by_others =
            |at: &usize| self.0[*at].what == notified && self.0[*at].thread != one.thread;
        let before: Vec<usize> = (0..start).filter(by_others).collect();
        let usual: Vec<Site> =
            before.iter().filter_map(|at| Some(self.lock_before(*at, one)?.site)).collect();
        let later: Vec<&Note> =
            self.0[start..].iter().filter(|note| note.took(one.mutex)).collect();
        // Where nobody has notified yet, whoever comes next may be the one to do so.
        let first = later.first().map(|note| note.thread);
        let is_usual = |note: &&&Note| match usual.is_empty() {
            true => Some(note.thread) != first,
            false => usual.contains(&note.site),
        };
        match later.iter().position(|note| is_usual(&note)) {
            // Who should notify came first, saw the thread waiting, and did not care.
            Some(0) => None,
            Some(at) => self.overtaken(start, one, later[0], later[at]),
            None => self.too_early(start, one, *before.last()?),
        }
    }

    /// Another thread notified after this one had taken the mutex, so that it must have looked whether to wait, and before it waited.
    fn missed(&self, start: usize, one: &Forgotten) -> Option<Vec<Step>> {
        let awake = |note: &Note| {
            note.thread == one.thread
                && (note.took(one.mutex) || note.what == What::Woke(one.condition))
        };
        let since = self.0[..start].iter().rposition(awake)?;
        let notifies =
            |note: &Note| note.thread != one.thread && note.what == What::Notified(one.condition);
        let notified = since + self.0[since..start].iter().rposition(notifies)?;
        let is_notified_later =
            self.0[start..].iter().any(|note| note.what == What::Notified(one.condition));
        if is_notified_later { None } else { self.too_early(start, one, notified) }
    }

    fn overtaken(
        &self,
        start: usize,
        one: &Forgotten,
        other: &Note,
        notifier: &Note,
    ) -> Option<Vec<Step>> {
        let are_different = other.thread != notifier.thread
            && [other.thread, notifier.thread].iter().all(|thread| *thread != one.thread);
        let steps = || {
            let waits = self.step(start, Deed::Waits, one);
            vec![waits, step_of(other, Deed::Locks, None), step_of(notifier, Deed::Locks, None)]
        };
        are_different.then(steps)
    }

    /// What woke somebody was not lost.
    fn too_early(&self, start: usize, one: &Forgotten, notified: usize) -> Option<Vec<Step>> {
        let woke = What::Woke(one.condition);
        if self.0[notified..start].iter().any(|note| note.what == woke) {
            return None;
        }
        let locked = self.lock_before(start, one)?;
        let waits = self.step(start, Deed::Waits, one);
        let locks = Step {
            deed: Deed::Locks,
            site: locked.site,
            context: locked.context,
            lock: None,
            ..waits
        };
        Some(vec![locks, self.step(notified, Deed::Notifies, one), waits])
    }

    fn step(&self, at: usize, deed: Deed, one: &Forgotten) -> Step {
        step_of(&self.0[at], deed, self.lock_before(at, one))
    }

    /// Where the thread of a note last took the mutex before it.
    fn lock_before(&self, at: usize, one: &Forgotten) -> Option<HeldLock> {
        let thread = self.0[at].thread;
        let own = self.0[..at].iter().rev().filter(|note| note.thread == thread);
        own.filter_map(|note| match note.what {
            What::Took(lock) if lock.lock == one.mutex => Some(lock),
            _ => None,
        })
        .next()
    }
}

fn step_of(note: &Note, deed: Deed, lock: Option<HeldLock>) -> Step {
    Step { thread: note.thread, deed, site: note.site, context: note.context, lock, bytes: None }
}

impl Note {
    fn took(&self, mutex: Address) -> bool {
        matches!(self.what, What::Took(lock) if lock.lock == mutex)
    }
}

/// What each thread is doing, to tell locks that it takes from those that it gets back after a wait.
#[derive(Default)]
struct Taking {
    attempts: BTreeMap<ThreadId, Attempt>,
    gets_back: BTreeMap<ThreadId, Address>,
}

impl Taking {
    fn note(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) -> Option<What> {
        match event.action {
            Action::ConditionWait { condition, mutex } => {
                self.gets_back.insert(event.thread, mutex);
                Some(What::Waits(condition))
            }
            Action::ConditionWake { condition } => Some(What::Woke(condition)),
            // A condition of Rust is a futex; those of locks are no conditions, and nobody asks for them.
            Action::ConditionSignal { condition }
            | Action::ConditionBroadcast { condition }
            | Action::FutexWake { word: condition } => Some(What::Notified(condition)),
            _ => self.lock_taken(event, knowledge).map(What::Took),
        }
    }

    fn lock_taken(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) -> Option<HeldLock> {
        let attempt = self.attempts.entry(event.thread).or_default();
        let change = knowledge.lock_change(event);
        let Some(LockChange::Taken { lock, kind, shared }) = change else {
            if change.is_none() {
                attempt.note(event, knowledge);
            }
            return None;
        };
        let (site, context) = attempt.place_of(lock, event);
        if self.gets_back.get(&event.thread) == Some(&lock) {
            self.gets_back.remove(&event.thread);
            return None;
        }
        Some(HeldLock { lock, kind, shared, site, context, acquisition: event.ordinal })
    }
}
