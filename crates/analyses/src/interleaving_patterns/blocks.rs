//! The heap blocks of a recording by address, for what has no history: locks.
//!
//! Takes   the `Block` events of a recording.      Gives  the block around an address, if there is no doubt.
//! Misses  blocks at addresses that were used for different blocks one after the other.
//! Cost    one walk over all events.

use std::collections::BTreeMap;

use unpick_recording::history::HeapBlock;
use unpick_recording::{Action, Event, Recording};

/// All blocks that the recording tells of.
#[derive(Debug, Default)]
pub struct Blocks {
    by_address: BTreeMap<u64, Vec<HeapBlock>>,
    largest: u64,
}

impl Blocks {
    pub fn of(recording: &Recording) -> Blocks {
        let mut blocks = Blocks::default();
        for block in recording.streams().flatten().filter_map(|event| block_of(&event)) {
            blocks.largest = blocks.largest.max(block.size);
            blocks.by_address.entry(block.address.0).or_default().push(block);
        }
        blocks
    }

    /// The block around an address; nothing if blocks of different kinds were there.
    pub fn only_one_at(&self, address: u64) -> Option<HeapBlock> {
        let near = self.by_address.range(address.saturating_sub(self.largest)..=address);
        let mut around = near
            .flat_map(|(_, blocks)| blocks)
            .filter(|block| address - block.address.0 < block.size);
        let first = around.next()?;
        around.all(|other| is_alike(first, other)).then_some(*first)
    }
}

fn is_alike(one: &HeapBlock, other: &HeapBlock) -> bool {
    let told = |block: &HeapBlock| (block.address, block.size, block.site, block.context);
    told(one) == told(other)
}

fn block_of(event: &Event<'_>) -> Option<HeapBlock> {
    let Action::Block { address, size, thread, serial } = event.action else { return None };
    let (site, context) = (event.site, event.context);
    Some(HeapBlock { address, size, allocated_by: thread, serial, site, context })
}
