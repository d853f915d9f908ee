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
    stretches: HashMap<ThreadId, Vec<Stretch>>,
}

/// Events with consecutive ordinals.
#[derive(Debug)]
struct Stretch {
    first_ordinal: u64,
    stamps: Vec<u32>,
}

impl Placement {
    pub fn of(recording: &Recording) -> Placement {
        let stretches = recording
            .streams()
            .map(|stream| {
                let mut stretches = Vec::new();
                let thread = stream.thread();
                stream.for_each(|event| extend(&mut stretches, event.ordinal, event.order.stamp));
                (thread, stretches)
            })
            .collect();
        Placement { stretches }
    }

    /// The place of `past`, which lies before `listed_by`, the event that lists it.
    pub fn of_past(&self, past: &Past, listed_by: Order) -> Order {
        let ordinal = u64::from(past.ordinal);
        let stamp = self.stamp_before(past.thread, ordinal);
        Order::of_past(stamp, past.thread, ordinal).min(listed_by.just_before())
    }

    /// The highest stamp among the events of `thread` before number `ordinal`.
    fn stamp_before(&self, thread: ThreadId, ordinal: u64) -> u32 {
        let Some(stretches) = self.stretches.get(&thread) else { return 0 };
        let begun = stretches.partition_point(|stretch| stretch.first_ordinal < ordinal);
        let Some(stretch) = begun.checked_sub(1).map(|index| &stretches[index]) else { return 0 };
        let last = (ordinal - stretch.first_ordinal).min(stretch.stamps.len() as u64);
        stretch.stamps[last as usize - 1]
    }
}

/// Events that are passed over because they are damaged leave holes: a new stretch begins after them.
fn extend(stretches: &mut Vec<Stretch>, ordinal: u64, stamp: u32) {
    match stretches.last_mut() {
        Some(last) if last.first_ordinal + last.stamps.len() as u64 == ordinal => {
            last.stamps.push(stamp);
        }
        _ => stretches.push(Stretch { first_ordinal: ordinal, stamps: vec![stamp] }),
    }
}
