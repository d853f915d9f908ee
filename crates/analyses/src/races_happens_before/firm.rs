//! The firm order: what comes before what, whichever thread comes to a lock first.
//!
//! Takes   the events of a recording in their order.      Gives  as `ThreadClocks` does, what threads know of each other, and by what step they learned it.
//! Misses  that a thread which was handed something under a lock might have done the same without it: such an order counts as firm.
//! Invents freedom where threads tell each other something by locks alone, and by no variable that the recording has.
//! Cost    as `ThreadClocks`; and per access under a lock a look-up, with a step for each lock held and each thread that was there under it.
//!
//! All synchronisation counts as in happens-before, but for locks: a critical section comes after an earlier one of the same lock
//! - from the first access on that is in conflict with one inside the earlier section: something is handed over there, and in the
//!   other order the later section would have found something else;
//! - if it begins after the beginning of the earlier one by other means: then that had the lock first in any case.
//!
//! Two sections with nothing in common might as well have come the other way round. Method: the order "doesn't commute" (Roemer, Genc and
//! Bond 2018, after Kini, Mathur and Viswanathan's WCP 2017); its rule for releases is asked where sections begin.

use rustc_hash::FxHashMap;
use unpick_events::{Address, Past, ThreadId};
use unpick_recording::{AccessKind, Action, Event};

use super::clocks::VectorClock;
use super::order::ThreadClocks;
use super::sections::{SectionNumber, Sections};
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
    /// By which step a thread, the first, last learned something of another.
    learned: FxHashMap<[ThreadId; 2], SyncStep>,
    /// What the thread at hand knew before: memory that is used again.
    before: VectorClock,
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

impl FirmOrder {
    /// Takes in the part of an event that takes something: an access at the event comes after it.
    pub fn acquire(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let thread = event.thread;
        self.clocks.meet(event);
        match knowledge.lock_change(event) {
            Some(LockChange::Taken { lock, shared, .. }) => {
                let began = self.clocks.period(thread);
                self.follow_sections_that_began_before(event, lock, shared);
                self.sections.begin(thread, lock, shared, event.ordinal, began);
            }
            Some(_) => {}
            None if is_step_of_lock(event, knowledge) => {}
            None => self.learn(thread, step_of(event, knowledge), |clocks| {
                clocks.acquire(event, knowledge);
            }),
        }
        self.access(event, knowledge);
    }

    /// An access may be handed something by an earlier critical section.
    fn access(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let Action::Access { kind, flags, pasts, .. } = event.action else { return };
        let is_of_lock =
            || knowledge.lock_change(event).is_some() || is_step_of_lock(event, knowledge);
        if flags.is_free() || !self.sections.has_open(event.thread) || is_of_lock() {
            return;
        }
        let writes = kind != AccessKind::Read;
        let mut handed: Vec<SectionNumber> = Vec::new();
        for (start, length) in stretches(event) {
            let FirmOrder { sections, touched, clocks, .. } = self;
            let knows = clocks.knows(event.thread);
            touched.visit(start, length, |_, _, touches| {
                for open in sections.open(event.thread) {
                    let lock = sections.lock_of(open);
                    let from = touches.iter().filter(|touch| {
                        touch.lock == lock
                            && touch.thread != event.thread
                            && (touch.writes || writes)
                            && !(touch.shared && sections.is_shared(open))
                            && sections.has_news(touch.section, knows)
                    });
                    handed.extend(from.map(|touch| touch.section));
                    let (thread, shared) = (event.thread, sections.is_shared(open));
                    note(touches, Touch { section: open, lock, thread, writes, shared });
                }
            });
        }
        for past in pasts.iter().filter(|past| past.thread != event.thread) {
            let of_past = self.sections_of_past(event.thread, &past);
            handed.extend(of_past);
        }
        handed.sort_unstable();
        handed.dedup();
        handed.into_iter().for_each(|section| self.follow(event, section));
    }

    /// Takes in the part of an event that gives something away.
    pub fn release(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
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
        if let Some((start, length)) = Lives::objects_ended_by(event) {
            self.clocks.forget(start, length);
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
        self.learned.get(&[thread, other]).copied()
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
                self.learned.insert([thread, other], step);
            }
        }
    }

    /// The thread at an event comes after a critical section, which handed something over.
    fn follow(&mut self, event: &Event<'_>, section: SectionNumber) {
        if !self.sections.has_news(section, self.clocks.knows(event.thread)) {
            return;
        }
        let given = self.sections.take_given(section);
        let step = SyncStep {
            deed: Deed::HandOver,
            object: Some(self.sections.lock_of(section)),
            other: Some(self.sections.thread_of(section)),
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
        for open in self.sections.open(thread) {
            let lock = self.sections.lock_of(open);
            let latest = u64::from(past.ordinal);
            let earlier = |ordinal: &u64| ordinal.checked_sub(u64::from(PAST_TURN));
            let moments = std::iter::successors(Some(latest), earlier);
            let in_section = |ordinal| self.sections.of_moment(past.thread, lock, ordinal);
            let section = moments.filter_map(in_section).next();
            let is_shared = |section| self.sections.is_shared(section);
            found.extend(section.filter(|one| !(is_shared(*one) && is_shared(open))));
        }
        found
    }
}

/// Whether an atomic access is made by a lock, to wait or to find out.
fn is_step_of_lock(event: &Event<'_>, knowledge: &dyn Knowledge) -> bool {
    matches!(event.action, Action::Access { flags, .. } if flags.is_atomic())
        && knowledge.is_lock_code(event.site)
}

fn note(touches: &mut Vec<Touch>, new: Touch) {
    let told = |touch: &Touch| (touch.lock, touch.thread, touch.writes, touch.shared);
    if let Some(at) = touches.iter().position(|touch| told(touch) == told(&new)) {
        touches.remove(at);
    } else if touches.len() == MOST_TOUCHES {
        touches.remove(0);
    }
    touches.push(new);
}
