//! Where the lives of bytes end, as the events tell it.

use std::collections::BTreeMap;

use unpick_recording::history::HeapBlock;
use unpick_recording::{Action, Event};

/// Knows which heap block is at an address.
#[derive(Debug, Default)]
pub struct Lives {
    /// The latest at each address.
    blocks: BTreeMap<u64, HeapBlock>,
}

impl Lives {
    /// The bytes whose accesses so far belong to a life that is over: start and length.
    pub fn ended_by(&mut self, event: &Event<'_>) -> Option<(u64, u64)> {
        match event.action {
            Action::Block { address, size, serial, thread: allocated_by } => {
                let (site, context) = (event.site, event.context);
                let block = HeapBlock { address, size, allocated_by, serial, site, context };
                let before = self.blocks.insert(address.0, block);
                let is_known = before.is_some_and(|before| before.serial == serial);
                (!is_known).then_some((address.0, size))
            }
            Action::StackGone { lowest, length } => Some((lowest.0, length)),
            _ => None,
        }
    }

    /// The heap block around an address.
    pub fn block_at(&self, address: u64) -> Option<HeapBlock> {
        let (start, block) = self.blocks.range(..=address).next_back()?;
        (address - start < block.size).then_some(*block)
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
