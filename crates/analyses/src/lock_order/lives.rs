//! Which lock it is, where memory is used again: another lock may come to be at the same address.

use std::collections::BTreeMap;

use unpick_events::Address;
use unpick_recording::{Action, Event};

/// A lock: its address, and how many others have been there before.
pub type Lock = (Address, u32);

/// What is known about the memory of locks so far.
#[derive(Debug, Default)]
pub struct Lives {
    /// How many locks have been at an address before.
    locks: BTreeMap<u64, u32>,
    /// Heap blocks, by address: their size, and what tells them apart.
    blocks: BTreeMap<u64, (u64, u32)>,
}

impl Lives {
    pub fn lock(&mut self, lock: Address) -> Lock {
        (lock, *self.locks.entry(lock.0).or_default())
    }

    /// Takes in an event that is no lock's.
    pub fn take_in(&mut self, event: &Event<'_>) {
        match event.action {
            Action::Access { address, length, flags, .. } if flags.is_free() => {
                self.end(address.0, length);
            }
            Action::StackGone { lowest, length } => self.end(lowest.0, length),
            Action::Block { address, size, serial, .. } => self.block(address.0, size, serial),
            _ => {}
        }
    }

    /// A block is told of when its memory is shared: only what is known to be another one ends the life of a lock.
    fn block(&mut self, address: u64, size: u64, serial: u32) {
        let before = self.blocks.insert(address, (size, serial));
        if let Some((former, _)) = before.filter(|&(_, known)| known != serial) {
            self.end(address, former.max(size));
        }
    }

    fn end(&mut self, from: u64, length: u64) {
        for (_, life) in self.locks.range_mut(from..from.saturating_add(length)) {
            *life += 1;
        }
    }
}
