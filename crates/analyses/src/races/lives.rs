//! Where the lives of bytes end, as the events tell it.

use rustc_hash::FxHashMap;
use unpick_recording::{Action, Event};

/// Knows which heap block is at an address.
#[derive(Debug, Default)]
pub struct Lives {
    /// Serial numbers of the blocks by address.
    blocks: FxHashMap<u64, u32>,
}

impl Lives {
    /// The bytes whose accesses so far belong to a life that is over: start and length.
    pub fn ended_by(&mut self, event: &Event<'_>) -> Option<(u64, u64)> {
        match event.action {
            Action::Block { address, size, serial, .. } => {
                let before = self.blocks.insert(address.0, serial);
                (before != Some(serial)).then_some((address.0, size))
            }
            Action::StackGone { lowest, length } => Some((lowest.0, length)),
            _ => None,
        }
    }

    /// The bytes in which no lock or other object is any more, after the event. A block is told of only when it is shared: a lock in it
    /// may have been used before, so the beginning of a life says nothing here.
    pub fn objects_ended_by(event: &Event<'_>) -> Option<(u64, u64)> {
        match event.action {
            Action::StackGone { lowest, length } => Some((lowest.0, length)),
            Action::Access { address, length, flags, count: 1, .. } if flags.is_free() => {
                Some((address.0, length))
            }
            _ => None,
        }
    }
}
