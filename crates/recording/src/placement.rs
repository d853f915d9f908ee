//! Where an access stands that had no event of its own.
//!
//! Takes   the streams of a recording.      Gives  the stamp a thread had reached after its n-th event.
//! Cost    four bytes per event.

use std::collections::HashMap;

use unpick_events::{Past, ThreadId};

use crate::event::Order;
use crate::recording::Recording;

/// Knows for every event of every thread the highest stamp its thread had drawn by then.
#[derive(Debug)]
pub struct Placement {
    by_thread: HashMap<ThreadId, ThreadStamps>,
}

impl Placement {
    pub fn of(recording: &Recording) -> Placement {
        let by_thread = recording
            .streams()
            .map(|stream| {
                let mut stamps = ThreadStamps::default();
                let thread = stream.thread();
                stream.for_each(|event| stamps.add(event.ordinal, event.order.stamp));
                (thread, stamps)
            })
            .collect();
        Placement { by_thread }
    }

    /// The place of `past`, which lies before `listed_by`, the event that lists it.
    pub fn of_past(&self, past: &Past, listed_by: Order) -> Order {
        let ordinal = u64::from(past.ordinal);
        let stamp = self.by_thread.get(&past.thread).map_or(0, |stamps| stamps.before(ordinal));
        Order::of_past(stamp, past.thread, ordinal).min(listed_by.just_before())
    }
}

/// The highest stamp a thread had drawn by each of its events.
#[derive(Debug, Clone, Default)]
pub struct ThreadStamps {
    stretches: Vec<Stretch>,
}

/// Events with consecutive ordinals.
#[derive(Debug, Clone)]
struct Stretch {
    first_ordinal: u64,
    stamps: Vec<u32>,
}

impl ThreadStamps {
    /// The next event. Those that are passed over because they are damaged leave holes: a new stretch begins after them.
    pub fn add(&mut self, ordinal: u64, stamp: u32) {
        match self.stretches.last_mut() {
            Some(last) if last.end() == ordinal => last.stamps.push(stamp),
            _ => self.stretches.push(Stretch { first_ordinal: ordinal, stamps: vec![stamp] }),
        }
    }

    /// The number after that of the last event.
    pub fn end(&self) -> u64 {
        self.stretches.last().map_or(0, Stretch::end)
    }

    /// The highest stamp among the events before number `ordinal`; 0 if there are none.
    pub fn before(&self, ordinal: u64) -> u32 {
        let begun = self.stretches.partition_point(|stretch| stretch.first_ordinal < ordinal);
        let Some(stretch) = begun.checked_sub(1).map(|index| &self.stretches[index]) else {
            return 0;
        };
        let last = (ordinal - stretch.first_ordinal).min(stretch.stamps.len() as u64);
        stretch.stamps[last as usize - 1]
    }
}

impl Stretch {
    fn end(&self) -> u64 {
        self.first_ordinal + self.stamps.len() as u64
    }
}
