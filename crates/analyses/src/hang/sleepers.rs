//! Threads that wait for a notification: what wakes them, and which events that is.

use unpick_events::{Address, ThreadId};
use unpick_recording::{Action, Event};

use crate::knowledge::Knowledge;

use super::waits::Waiting;

/// By what a waiting thread is woken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WokenBy {
    /// A notification of the condition, or a wake of the futex, at this address.
    Object(Address),
    /// An `unpark` of Rust.
    Unpark,
}

/// A thread that waits for a notification.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sleeper {
    pub thread: ThreadId,
    pub woken_by: WokenBy,
    pub mutex: Option<Address>,
}

impl Sleeper {
    /// None: the thread waits for something else.
    pub fn of(thread: ThreadId, waiting: &Waiting) -> Option<Sleeper> {
        let (woken_by, mutex) = match waiting {
            Waiting::Condition { condition, mutex } => {
                (WokenBy::Object(condition.object), Some(mutex.lock))
            }
            Waiting::Futex(at) => (WokenBy::Object(at.object), None),
            Waiting::Unpark(_) => (WokenBy::Unpark, None),
            _ => return None,
        };
        Some(Sleeper { thread, woken_by, mutex })
    }

    pub fn begins_to_wait(&self, event: &Event<'_>) -> bool {
        match (event.action, self.woken_by) {
            (Action::ConditionWait { condition, .. }, WokenBy::Object(object)) => {
                condition == object
            }
            (Action::FutexWait { word }, WokenBy::Object(object)) => {
                self.mutex.is_none() && word == object
            }
            (Action::ParkWait, WokenBy::Unpark) => true,
            _ => false,
        }
    }

    pub fn is_notified_by(&self, event: &Event<'_>, knowledge: &dyn Knowledge) -> bool {
        match (event.action, self.woken_by) {
            (
                Action::ConditionSignal { condition: word }
                | Action::ConditionBroadcast { condition: word }
                | Action::FutexWake { word },
                WokenBy::Object(object),
            ) => word == object,
            (Action::Access { .. }, WokenBy::Unpark) => knowledge.unparks(event),
            _ => false,
        }
    }

    /// Whether bytes are those of the condition or its mutex: not what the program tests.
    pub fn is_own_word(&self, bytes: Bytes) -> bool {
        let of_condition = match self.woken_by {
            WokenBy::Object(object) => bytes.holds(object),
            WokenBy::Unpark => false,
        };
        of_condition || self.mutex.is_some_and(|mutex| bytes.holds(mutex))
    }
}

/// Bytes of one access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bytes {
    pub address: Address,
    pub length: u64,
}

impl Bytes {
    pub fn meets(&self, other: Bytes) -> bool {
        self.address.0 < other.address.0 + other.length
            && other.address.0 < self.address.0 + self.length
    }

    fn holds(&self, address: Address) -> bool {
        self.meets(Bytes { address, length: 1 })
    }
}
