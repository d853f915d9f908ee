//! Why a thread waits for ever for a notification: it tested a variable, another thread then wrote it, and only then the first began to wait.
//!
//! Takes   the events of a process that hung, and which threads wait for a notification: at a condition, at a futex, for an unpark.
//! Gives   the steps of a lost wakeup: test, write, notification if there was one, wait. The write is between the test and the wait, and the
//!         thread never read the variable again: what it decided by was out of date.
//! Misses  tests of several variables of which none alone is out of date; variables in code that is not instrumented.
//! Invents a test, where the thread read the variable for another purpose shortly before it waited: forcing the order shows it (0011).
//! Cost    one walk over all events, and one more for the calls that led to the test.

use unpick_events::access::PastKind;
use unpick_events::{Context, Site, ThreadId};
use unpick_recording::{AccessKind, Action, Event, Order, Recording};

use crate::knowledge::{Knowledge, State};
use crate::locks_held::{HeldLock, LockChange, Moment, locks_held};

use super::Seen;
use super::notifications::{Deed, Step};
use super::sleepers::{Bytes, Sleeper, WokenBy};

/// The steps of a lost wakeup.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LostWakeup {
    pub thread: ThreadId,
    pub steps: Vec<Step>,
    /// Who wrote the variable notified as well, before the wait.
    pub is_notified: bool,
}

/// The lost wakeup of one of these threads. Those that were notified after the write come first, then those that began to wait first.
pub fn lost_wakeup(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    seen: &[Seen],
    sleepers: &[Sleeper],
) -> Option<LostWakeup> {
    let mut waits: Vec<Wait> =
        sleepers.iter().filter_map(|one| Wait::of(*one, recording, knowledge, seen)).collect();
    if waits.is_empty() {
        return None;
    }
    waits.sort_by_key(|wait| wait.start.order);
    let end_of = |thread| seen.iter().find(|seen| seen.thread == thread).map(|s| s.next_ordinal);
    for event in recording.events() {
        if end_of(event.thread).is_none_or(|end| event.ordinal < end) {
            waits.iter_mut().for_each(|wait| wait.observe(&event, knowledge));
        }
    }
    let mut explained: Vec<(bool, &Wait, Loss)> = waits
        .iter()
        .filter_map(|wait| wait.loss().map(|l| (l.notify.is_none(), wait, l)))
        .collect();
    explained.sort_by_key(|(is_silent, ..)| *is_silent);
    let (is_silent, wait, loss) = explained.first()?;
    let steps = wait.steps(loss, recording, knowledge);
    Some(LostWakeup { thread: wait.sleeper.thread, steps, is_notified: !is_silent })
}

/// An event of a thread, as much of it as steps need.
#[derive(Debug, Clone, Copy)]
struct Point {
    thread: ThreadId,
    ordinal: u64,
    order: Order,
    site: Site,
    context: Context,
}

impl Point {
    fn of(event: &Event<'_>) -> Point {
        let Event { thread, ordinal, order, site, context, .. } = *event;
        Point { thread, ordinal, order, site, context }
    }
}

/// A read of the waiting thread, and what others did to the same bytes since.
#[derive(Debug, Clone)]
struct Test {
    bytes: Bytes,
    site: Site,
    /// How many events the thread had recorded.
    ordinal: u64,
    /// By each thread the last one.
    writes: Vec<Point>,
    /// The last write that its thread notified after, and the notification.
    notified: Option<(Point, Point)>,
}

/// The test that was out of date.
#[derive(Debug, Clone, Copy)]
struct Loss<'w> {
    test: &'w Test,
    write: Point,
    notify: Option<Point>,
}

/// The wait of a thread that nobody ended.
struct Wait {
    sleeper: Sleeper,
    start: Point,
    /// The event by which the thread took the mutex that it waits with, or came back from its wait before.
    locked: Option<u64>,
    /// The event by which it last came back from a wait for a notification, or gave another lock back: what it read before is no test.
    awake: u64,
    tests: Vec<Test>,
    is_notified_later: bool,
}

impl Wait {
    fn of(
        sleeper: Sleeper,
        recording: &Recording,
        knowledge: &dyn Knowledge,
        seen: &[Seen],
    ) -> Option<Wait> {
        let end = seen.iter().find(|seen| seen.thread == sleeper.thread)?.next_ordinal;
        let (mut locked, mut awake) = (None, 0);
        let mut wait = None;
        for event in recording.stream(sleeper.thread).take_while(|event| event.ordinal < end) {
            if sleeper.begins_to_wait(&event) {
                wait = Some((Point::of(&event), locked, awake));
            }
            if matches!(event.action, Action::ConditionWake { .. } | Action::HappensAfter { .. }) {
                (locked, awake) = (Some(event.ordinal), event.ordinal);
            }
            match knowledge.lock_change(&event) {
                Some(LockChange::Taken { lock, .. }) if Some(lock) == sleeper.mutex => {
                    locked = Some(event.ordinal);
                }
                // What it read under another lock, or before it gave one back, it read for something else.
                Some(LockChange::Released { lock }) if Some(lock) != sleeper.mutex => {
                    awake = event.ordinal;
                }
                _ => {}
            }
        }
        let (start, locked, awake) = wait?;
        let locked = locked.filter(|_| sleeper.mutex.is_some());
        let (tests, is_notified_later) = (Vec::new(), false);
        Some(Wait { sleeper, start, locked, awake, tests, is_notified_later })
    }

    fn observe(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        let is_own = event.thread == self.sleeper.thread;
        if event.order > self.start.order {
            let by_other = !is_own && self.sleeper.woken_by != WokenBy::Unpark;
            self.is_notified_later |= by_other && self.sleeper.is_notified_by(event, knowledge);
            return;
        }
        if !is_own && self.sleeper.is_notified_by(event, knowledge) {
            self.notify(event);
        }
        let Action::Access { kind, address, length, flags, .. } = event.action else { return };
        let bytes = Bytes { address, length };
        if is_own {
            // It looked again, or decides by what it wrote itself.
            self.tests.retain(|test| !test.bytes.meets(bytes));
        } else if kind != AccessKind::Read
            && !flags.is_free()
            && knowledge.state_of(event.site) != State::OfLibrary
            && !knowledge.is_lock_code(event.site)
            && !self.sleeper.is_own_word(bytes)
        {
            self.write(event, bytes);
        }
    }

    fn notify(&mut self, event: &Event<'_>) {
        for test in &mut self.tests {
            if let Some(write) = test.writes.iter().find(|write| write.thread == event.thread) {
                test.notified = Some((*write, Point::of(event)));
            }
        }
    }

    fn write(&mut self, event: &Event<'_>, bytes: Bytes) {
        let Action::Access { pasts, .. } = event.action else { return };
        let is_test = |kind, thread, ordinal| {
            kind == PastKind::Read && thread == self.sleeper.thread && ordinal > self.awake
        };
        let read = pasts.iter().find(|p| is_test(p.kind, p.thread, u64::from(p.ordinal)));
        if let Some(read) = read
            && !self.tests.iter().any(|test| test.bytes.meets(bytes))
        {
            let (site, ordinal) = (read.site, u64::from(read.ordinal));
            let (writes, notified) = (Vec::new(), None);
            self.tests.push(Test { bytes, site, ordinal, writes, notified });
        }
        for test in self.tests.iter_mut().filter(|test| test.bytes.meets(bytes)) {
            test.writes.retain(|write| write.thread != event.thread);
            test.writes.push(Point::of(event));
        }
    }

    /// The test that explains the wait best: one whose writer notified, then one made with the mutex in hand, then the latest.
    fn loss(&self) -> Option<Loss<'_>> {
        let losses = self.tests.iter().filter_map(|test| self.loss_by(test));
        let best = losses
            .max_by_key(|loss| (loss.notify.is_some(), self.is_close(loss.test), loss.write.order));
        best.filter(|_| !self.is_notified_later)
    }

    /// What the thread read with the mutex in hand was for the wait. What it read before counts if the writer notified, or if there is no mutex.
    fn loss_by<'w>(&self, test: &'w Test) -> Option<Loss<'w>> {
        let (write, notify) = match test.notified {
            Some((write, notify)) => (write, Some(notify)),
            None => (*test.writes.last()?, None),
        };
        (notify.is_some() || self.is_close(test)).then_some(Loss { test, write, notify })
    }

    fn is_close(&self, test: &Test) -> bool {
        self.locked.is_none_or(|locked| test.ordinal > locked)
    }

    /// Where the thread took a lock that it holds. What it got back from a wait it took before that: there it can be kept from it.
    fn way_to(
        &self,
        lock: HeldLock,
        recording: &Recording,
        knowledge: &dyn Knowledge,
    ) -> Option<HeldLock> {
        if lock.site != self.start.site {
            return Some(lock);
        }
        let thread = self.sleeper.thread;
        let before = recording.stream(thread).take_while(|event| event.ordinal < lock.acquisition);
        let takes = |event: &Event<'_>| match knowledge.lock_change(event) {
            Some(LockChange::Taken { lock: taken, .. }) => {
                taken == lock.lock && event.site != self.start.site
            }
            _ => false,
        };
        let taken = before.filter(takes).last()?;
        Some(HeldLock { site: taken.site, context: taken.context, ..lock })
    }

    fn steps(
        &self,
        loss: &Loss<'_>,
        recording: &Recording,
        knowledge: &dyn Knowledge,
    ) -> Vec<Step> {
        let Loss { test, write, notify } = *loss;
        let own = |ordinal| Moment { thread: self.sleeper.thread, ordinal };
        let held = |moment: Moment| {
            let held = locks_held(recording, knowledge, &[moment]).pop().unwrap_or_default();
            held.into_iter().filter_map(|lock| self.way_to(lock, recording, knowledge))
        };
        let bytes = Some((test.bytes.address, test.bytes.length));
        let test_step = Step {
            thread: self.sleeper.thread,
            deed: Deed::Tests,
            site: test.site,
            context: calls_to(test, self.sleeper.thread, recording),
            lock: held(own(test.ordinal)).next(),
            bytes,
        };
        let step = |point: Point, deed, lock, bytes| Step {
            thread: point.thread,
            deed,
            site: point.site,
            context: point.context,
            lock,
            bytes,
        };
        let of_write = held(Moment { thread: write.thread, ordinal: write.ordinal }).next();
        let is_later = |lock: &HeldLock| lock.acquisition >= test.ordinal;
        // The mutex is given back by the event before the wait.
        let of_wait = held(own(self.start.ordinal.saturating_sub(1))).find(is_later);
        let mut steps = vec![test_step, step(write, Deed::Writes, of_write, bytes)];
        steps.extend(notify.map(|notify| step(notify, Deed::Notifies, None, None)));
        steps.push(step(self.start, Deed::Waits, of_wait, None));
        steps
    }
}

/// The calls that led to a test. It may have left no event: then those of another read at the same place, of the same bytes and by the same
/// thread if there is one.
fn calls_to(test: &Test, thread: ThreadId, recording: &Recording) -> Context {
    let reads = recording.events().filter(|event| event.site == test.site);
    let likeness = |event: &Event<'_>| match event.action {
        Action::Access { address, length, .. } => {
            let is_same = test.bytes.meets(Bytes { address, length });
            (is_same, event.thread == thread, event.ordinal <= test.ordinal, event.ordinal)
        }
        _ => (false, false, false, 0),
    };
    reads.max_by_key(likeness).map_or(Context(0), |event| event.context)
}
