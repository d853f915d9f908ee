//! The firm order: what comes before what, whichever thread comes to a lock first.
//!
//! Takes   the events of a recording in their order.      Gives  as `ThreadClocks` does, what threads know of each other, and by what step they learned it.
//! Misses  that a thread which was handed something under a lock might have done the same without it: such an order counts as firm.
//! Invents freedom where threads tell each other something by locks alone, and by no variable that the recording has.
//! Cost    as `ThreadClocks`; and per access under a lock a look-up, with a step for each lock held and what was there under it since the last write.
//!
//! All synchronisation counts as in happens-before, but for locks: a critical section comes after an earlier one of the same lock
//! - from the first access on that is in conflict with one inside the earlier section: something is handed over there, and in the
//!   other order the later section would have found something else;
//! - if it begins after the beginning of the earlier one by other means: then that had the lock first in any case.
//!
//! Two sections with nothing in common might as well have come the other way round. Method: the order "doesn't commute" (Roemer, Genc and
//! Bond 2018, after Kini, Mathur and Viswanathan's WCP 2017); its rule for releases is asked where sections begin.

use unpick_events::{Address, Past, ThreadId};
use unpick_recording::{AccessKind, Action, Event};

use super::clocks::VectorClock;
use super::order::ThreadClocks;
use super::sections::{OpenSection, SectionNumber, Sections};
use crate::knowledge::Knowledge;
use crate::locks_held::LockChange;
use crate::races::{ByteMap, Deed, Lives, PAST_TURN, SyncStep, step_of, stretches};

/// Of how many threads and locks accesses to some bytes are kept; the oldest go.
const MOST_TOUCHES: usize = 32;

/// The order, followed event by event.
#[derive(Debug, Default)]
pub struct FirmOrder {
    clocks: ThreadClocks,
    sections: Sections,
    /// The latest critical sections in which bytes were accessed.
    touched: ByteMap<Vec<Touch>>,
    learned: Learned,
    /// What the thread at hand knew before: memory that is used again.
    before: VectorClock,
    /// The sections that hand something over at the event at hand: memory that is used again.
    handed: Vec<SectionNumber>,
}

/// By which step a thread last learned something of another.
#[derive(Debug, Default)]
struct Learned {
    /// By the number of who learned, and then of whom.
    steps: Vec<Vec<Option<SyncStep>>>,
}

impl Learned {
    fn of(&self, thread: ThreadId, other: ThreadId) -> Option<SyncStep> {
        *self.steps.get(usize::from(thread.0))?.get(usize::from(other.0))?
    }

    fn note(&mut self, thread: ThreadId, other: ThreadId, step: SyncStep) {
        let [thread, other] = [thread, other].map(|number| usize::from(number.0));
        if self.steps.len() <= thread {
            self.steps.resize(thread + 1, Vec::new());
        }
        let of_thread = &mut self.steps[thread];
        if of_thread.len() <= other {
            of_thread.resize(other + 1, None);
        }
        of_thread[other] = Some(step);
    }
}

/// An access to some bytes inside a critical section.
#[derive(Debug, Clone, Copy)]
struct Touch {
    section: SectionNumber,
    lock: Address,
    thread: ThreadId,
    writes: bool,
    /// Together with readers.
    shared: bool,
}

impl Touch {
    /// Whether something is handed over from one to a later one: the latter would have found something else before it.
    fn hands_over_to(&self, later: &Touch) -> bool {
        self.lock == later.lock
            && (self.writes || later.writes)
            && !(self.shared && later.shared)
            && self.thread != later.thread
    }

    /// Whether who is handed something by `earlier` is handed it by this one as well: it conflicts with as much, and comes after it.
    fn stands_for(&self, earlier: &Touch, sections: &Sections) -> bool {
        let conflicts_with_as_much =
            (self.writes || !earlier.writes) && (!self.shared || earlier.shared);
        let comes_after = || {
            earlier.thread == self.thread
                || earlier.hands_over_to(self) && sections.has_ended(earlier.section)
        };
        self.lock == earlier.lock && conflicts_with_as_much && comes_after()
    }
}

impl FirmOrder {
    /// Takes in the part of an event that takes something: an access at the event comes after it.
    pub fn acquire(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let thread = event.thread;
        self.clocks.meet(event);
        if is_plain_access(event) {
            return self.access(event);
        }
        match knowledge.lock_change(event) {
            Some(LockChange::Taken { lock, shared, .. }) => {
                let began = self.clocks.period(thread);
                self.follow_sections_that_began_before(event, lock, shared);
                self.sections.begin(thread, lock, shared, event.ordinal, began);
            }
            Some(_) => {}
            None if is_step_of_lock(event, knowledge) => {}
            None => {
                self.learn(thread, step_of(event, knowledge), |clocks| {
                    clocks.acquire(event, knowledge);
                });
                self.access(event);
            }
        }
    }

    /// An access may be handed something by an earlier critical section.
    fn access(&mut self, event: &Event<'_>) {
        let Action::Access { kind, flags, pasts, .. } = event.action else { return };
        let thread = event.thread;
        if flags.is_free() || self.sections.open(thread).is_empty() {
            return;
        }
        let writes = kind != AccessKind::Read;
        let mut handed = std::mem::take(&mut self.handed);
        for (start, length) in stretches(event) {
            let FirmOrder { sections, touched, clocks, .. } = self;
            let knows = clocks.knows(thread);
            touched.visit(start, length, |_, _, touches| {
                for &OpenSection { number: section, lock, shared } in sections.open(thread) {
                    let new = Touch { section, lock, thread, writes, shared };
                    let from = touches.iter().filter(|touch| {
                        touch.hands_over_to(&new)
                            && sections.has_news(touch.section, touch.thread, knows)
                    });
                    handed.extend(from.map(|touch| touch.section));
                    note(touches, new, sections);
                }
            });
        }
        for past in pasts.iter().filter(|past| past.thread != thread) {
            let of_past = self.sections_of_past(thread, &past);
            handed.extend(of_past);
        }
        handed.sort_unstable();
        handed.dedup();
        handed.drain(..).for_each(|section| self.follow(event, section));
        self.handed = handed;
    }

    /// Takes in the part of an event that gives something away.
    pub fn release(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        if !is_plain_access(event) {
            self.give_away(event, knowledge);
        }
        if let Some((start, length)) = Lives::objects_ended_by(event) {
            self.clocks.forget(start, length);
        }
    }

    fn give_away(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        match knowledge.lock_change(event) {
            Some(LockChange::Released { lock }) => {
                let knows = self.clocks.knows(event.thread).clone();
                self.sections.end(event.thread, lock, event.ordinal, knows);
                self.clocks.end_period(event);
            }
            Some(_) => {}
            None if is_step_of_lock(event, knowledge) => {}
            None => match event.action {
                Action::ThreadCreate { thread } | Action::FiberSwitch { to: thread } => {
                    let step = step_of(event, knowledge);
                    self.learn(thread, step, |clocks| clocks.release(event));
                }
                _ => self.clocks.release(event),
            },
        }
    }

    /// Bytes whose life is over were accessed by nobody yet.
    pub fn forget(&mut self, start: u64, length: u64) {
        self.touched.forget(start, length);
    }

    pub fn clocks(&self) -> &ThreadClocks {
        &self.clocks
    }

    /// The step by which `thread` last learned something of `other`.
    pub fn learned(&self, thread: ThreadId, other: ThreadId) -> Option<SyncStep> {
        self.learned.of(thread, other)
    }

    /// Notes by which step `thread` learns what `change` lets it know.
    fn learn(
        &mut self,
        thread: ThreadId,
        step: Option<SyncStep>,
        change: impl FnOnce(&mut ThreadClocks),
    ) {
        let Some(step) = step else { return change(&mut self.clocks) };
        self.clocks.meet_thread(thread);
        self.before.become_like(self.clocks.knows(thread));
        change(&mut self.clocks);
        for (other, period) in self.clocks.knows(thread).all() {
            if period > self.before.of(other) {
                self.learned.note(thread, other, step);
            }
        }
    }

    /// The thread at an event comes after a critical section, which handed something over.
    fn follow(&mut self, event: &Event<'_>, section: SectionNumber) {
        let from = self.sections.thread_of(section);
        if !self.sections.has_news(section, from, self.clocks.knows(event.thread)) {
            return;
        }
        let given = self.sections.take_given(section);
        let step = SyncStep {
            deed: Deed::HandOver,
            object: Some(self.sections.lock_of(section)),
            other: Some(from),
            site: event.site,
            context: event.context,
        };
        self.learn(event.thread, Some(step), |clocks| clocks.come_after(event.thread, &given));
        self.sections.put_back(section, given);
    }

    fn follow_sections_that_began_before(
        &mut self,
        event: &Event<'_>,
        lock: Address,
        shared: bool,
    ) {
        let knows = self.clocks.knows(event.thread);
        let before = self.sections.that_began_before(event.thread, lock, shared, knows);
        before.into_iter().for_each(|section| self.follow(event, section));
    }

    /// The closed sections of locks that the thread holds now in which another made an access that has no event. It may have been made
    /// earlier than is known (see `PAST_TURN`): any section it can be in counts.
    fn sections_of_past(&self, thread: ThreadId, past: &Past) -> Vec<SectionNumber> {
        let mut found = Vec::new();
        for &OpenSection { lock, shared, .. } in self.sections.open(thread) {
            let latest = u64::from(past.ordinal);
            let earlier = |ordinal: &u64| ordinal.checked_sub(u64::from(PAST_TURN));
            let moments = std::iter::successors(Some(latest), earlier);
            let in_section = |ordinal| self.sections.of_moment(past.thread, lock, ordinal);
            let section = moments.filter_map(in_section).next();
            found.extend(section.filter(|one| !(shared && self.sections.is_shared(*one))));
        }
        found
    }
}

/// Whether an event is an access by which no lock is taken or given back, and no order made.
fn is_plain_access(event: &Event<'_>) -> bool {
    matches!(event.action, Action::Access { flags, .. } if !flags.is_atomic())
}

/// Whether an atomic access is made by a lock, to wait or to find out.
fn is_step_of_lock(event: &Event<'_>, knowledge: &dyn Knowledge) -> bool {
    matches!(event.action, Action::Access { flags, .. } if flags.is_atomic())
        && knowledge.is_lock_code(event.site)
}

fn note(touches: &mut Vec<Touch>, new: Touch, sections: &Sections) {
    touches.retain(|touch| !new.stands_for(touch, sections));
    if touches.len() == MOST_TOUCHES {
        touches.remove(0);
    }
    touches.push(new);
}
