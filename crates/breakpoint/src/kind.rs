//! What a breakpoint is made for, and what a thread brings to it to be compared with what the others bring.

use std::any::Any;
use std::sync::Arc;

/// What a breakpoint is made for: the word of its constructor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Conflict,
    Deadlock,
    Atomicity,
    Own,
    Rendezvous,
}

#[cfg(feature = "enabled")]
impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Conflict => "conflict",
            Kind::Deadlock => "deadlock",
            Kind::Atomicity => "atomicity",
            Kind::Own => "own",
            Kind::Rendezvous => "rendezvous",
        }
    }

    /// Whichever thread of a deadlock takes its second lock first, both will wait for ever.
    pub fn is_ordered(self) -> bool {
        self != Kind::Deadlock
    }
}

/// What an arrival brings to be compared with what the others bring. Objects are known by address.
#[cfg_attr(not(feature = "enabled"), expect(dead_code, reason = "nobody looks at what is brought"))]
#[derive(Clone)]
pub enum Brings {
    Nothing,
    Object(usize),
    Locks { held: usize, wanted: usize },
    State(Arc<dyn Any + Send + Sync>),
}
