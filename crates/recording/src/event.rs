//! One event of a recording, and its place in the order of all events.

use unpick_events::{Context, Kind, Site, ThreadId};

use crate::action::Action;

/// One thing a thread did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'r> {
    pub thread: ThreadId,
    /// Its number among the events of its thread, from 0.
    pub ordinal: u64,
    /// Its place among all events of the process; 0 = it crossed no thread.
    pub stamp: u32,
    /// Its place among everything that happened, stamped or not.
    pub order: Order,
    pub site: Site,
    pub context: Context,
    pub action: Action<'r>,
}

impl Event<'_> {
    pub fn kind(&self) -> Kind {
        self.action.kind()
    }
}

/// A place in the order of everything a process did: by stamp, then by place in the thread's stream.
///
/// What has no stamp stands right after the last stamped event of its thread. Two threads share a
/// stamp only where neither has drawn one yet; the number of the thread then decides, arbitrarily.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Order {
    /// The highest stamp the thread had drawn up to here.
    pub stamp: u32,
    pub thread: ThreadId,
    /// Place in the thread's stream, in quarters of an event: see the constructors.
    step: u64,
}

const STEPS: u64 = 4;

impl Order {
    /// Where event number `ordinal` stands.
    pub fn of_event(stamp: u32, thread: ThreadId, ordinal: u64) -> Order {
        Order { stamp, thread, step: ordinal.saturating_mul(STEPS).saturating_add(2) }
    }

    /// Where an access without an event stands, made when `ordinal` events had been recorded.
    pub fn of_past(stamp: u32, thread: ThreadId, ordinal: u64) -> Order {
        Order { stamp, thread, step: ordinal.saturating_mul(STEPS) }
    }

    /// Right after this: the write half of a read-modify-write.
    #[must_use]
    pub fn just_after(self) -> Order {
        Order { step: self.step.saturating_add(1), ..self }
    }

    /// Right before this: where an access stands that can only be placed before an event.
    #[must_use]
    pub fn just_before(self) -> Order {
        Order { step: self.step.saturating_sub(1), ..self }
    }

    /// The number of the event that stands here; of the next one, where an access without event stands.
    pub fn ordinal(self) -> u64 {
        self.step / STEPS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_past_access_stands_between_the_events_around_it() {
        let (stamp, thread) = (7, ThreadId(1));
        let before = Order::of_event(stamp, thread, 4);
        let past = Order::of_past(stamp, thread, 5);
        let after = Order::of_event(stamp, thread, 5);
        assert!(before < before.just_after());
        assert!(before.just_after() < past);
        assert!(past < after.just_before());
        assert!(after.just_before() < after);
    }
}
