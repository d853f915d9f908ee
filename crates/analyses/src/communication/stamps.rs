//! Which stamps threads had drawn by when, to place accesses that had no event of their own.
//!
//! Takes   events in the order they happened.      Gives  the place of an access that an event lists.
//! Cost    four bytes per event.

use unpick_events::{Past, ThreadId};
use unpick_recording::{Event, Order, Recording, ThreadStamps};

/// The stamps of every thread, so far.
#[derive(Debug)]
pub struct Stamps {
    by_thread: Vec<OfThread>,
}

#[derive(Debug, Clone, Default)]
struct OfThread {
    /// Events that have not been taken in yet.
    to_come: u64,
    known: ThreadStamps,
}

impl Stamps {
    pub fn before(recording: &Recording) -> Stamps {
        let highest = recording.threads().last().map_or(0, |thread| thread.id.0);
        let mut by_thread = vec![OfThread::default(); usize::from(highest) + 1];
        for thread in recording.threads() {
            by_thread[usize::from(thread.id.0)].to_come = thread.events;
        }
        Stamps { by_thread }
    }

    pub fn take_in(&mut self, event: &Event<'_>) {
        self.by_thread[usize::from(event.thread.0)].take_in(event.ordinal, event.order.stamp);
    }

    /// The place of `past`, which lies before `listed_by`, the event that lists it.
    pub fn place_of(&self, past: &Past, listed_by: Order) -> Order {
        let (ordinal, latest) = (u64::from(past.ordinal), listed_by.just_before());
        match self.stamp_before(past.thread, ordinal) {
            Some(stamp) => Order::of_past(stamp, past.thread, ordinal).min(latest),
            None => latest,
        }
    }

    /// The highest stamp among the events of `thread` before number `ordinal`; none if some of them are still to come, or cannot be read.
    fn stamp_before(&self, thread: ThreadId, ordinal: u64) -> Option<u32> {
        let of_thread = self.by_thread.get(usize::from(thread.0));
        of_thread.map_or(Some(0), |of_thread| of_thread.stamp_before(ordinal))
    }
}

impl OfThread {
    fn take_in(&mut self, ordinal: u64, stamp: u32) {
        self.to_come = self.to_come.saturating_sub(1);
        self.known.add(ordinal, stamp);
    }

    fn stamp_before(&self, ordinal: u64) -> Option<u32> {
        let is_to_come = self.to_come > 0 && self.known.end() < ordinal;
        (!is_to_come).then(|| self.known.before(ordinal))
    }
}
