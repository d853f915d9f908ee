//! What is known of a heap block, kept in the shadow of the eight bytes before it.
//!
//! Those bytes belong to the allocator (glibc keeps the size of the block there) and the program never touches
//! them. The states of their two cells say `META`; the other fields hold:
//!
//! ```text
//!          write site   read site     times                         state
//! first    site         context       size, bits 0..32              META, ANNOUNCED, freeing thread
//! second   serial       freeing site  size, bits 32..48; thread     META, FREED, time of freeing
//! ```

use core::sync::atomic::Ordering::Relaxed;

use crate::shadow::cell::{Cell, FREED, INDIRECT, META, SHARED, THREAD_MASK};
use crate::shadow::region;

/// What is known of a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub address: u64,
    pub bytes: u64,
    pub site: u32,
    pub context: u32,
    pub thread: u16,
    pub serial: u32,
}

/// Where a block was freed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    pub thread: u16,
    pub site: u32,
    /// The low bits of the thread's event count.
    pub time: u16,
}

/// In the first cell's state, next to `META`: the block has been recorded.
const ANNOUNCED: u32 = SHARED;
/// Blocks nearer to zero cannot be.
const LOWEST_BLOCK: u64 = 4096;

/// The two cells before a block.
pub struct Facts {
    first: &'static Cell,
    second: &'static Cell,
}

impl Facts {
    pub fn before(address: u64) -> Option<Self> {
        let is_possible = address >= LOWEST_BLOCK && address.is_multiple_of(8);
        is_possible
            .then(|| Self { first: region::cell(address - 8), second: region::cell(address - 4) })
    }

    fn are_there(&self) -> bool {
        let says_meta = |cell: &Cell| cell.state() & (INDIRECT | META) == META;
        says_meta(self.first) && says_meta(self.second)
    }

    pub fn read(&self, address: u64) -> Option<Block> {
        if !self.are_there() {
            return None;
        }
        let low = self.first.read_time.load(Relaxed) as u64;
        let middle = self.first.write_time.load(Relaxed) as u64;
        let high = self.second.read_time.load(Relaxed) as u64;
        Some(Block {
            address,
            bytes: low | middle << 16 | high << 32,
            site: self.first.write_site.load(Relaxed),
            context: self.first.read_site.load(Relaxed),
            thread: self.second.write_time.load(Relaxed),
            serial: self.second.write_site.load(Relaxed),
        })
    }

    pub fn write(&self, block: &Block) {
        region::mark_touched(block.address - 8);
        self.first.write_site.store(block.site, Relaxed);
        self.first.read_site.store(block.context, Relaxed);
        self.second.write_site.store(block.serial, Relaxed);
        self.second.write_time.store(block.thread, Relaxed);
        self.set_size(block.bytes);
        self.first.set_state(META);
        self.second.set_state(META);
    }

    pub fn set_size(&self, bytes: u64) {
        self.first.read_time.store(bytes as u16, Relaxed);
        self.first.write_time.store((bytes >> 16) as u16, Relaxed);
        self.second.read_time.store((bytes >> 32) as u16, Relaxed);
    }

    /// The block is no more; nothing is known.
    pub fn clear(&self) {
        if self.are_there() {
            // In this order: see `SPLIT`.
            self.second.clear();
            self.first.clear();
        }
    }

    /// The block is recorded and not freed.
    #[inline]
    pub fn are_settled(&self) -> bool {
        self.first.state() & (INDIRECT | META | ANNOUNCED) == META | ANNOUNCED
            && self.second.state() & (INDIRECT | META | FREED) == META
    }

    pub fn is_announced(&self) -> bool {
        self.first.state() & ANNOUNCED != 0
    }

    pub fn set_announced(&self) {
        self.first.set_state(self.first.state() | ANNOUNCED);
    }

    pub fn end(&self) -> Option<End> {
        let state = self.second.state();
        (self.are_there() && state & FREED != 0).then(|| End {
            thread: (self.first.state() & THREAD_MASK) as u16,
            site: self.second.read_site.load(Relaxed),
            time: (state & THREAD_MASK) as u16,
        })
    }

    pub fn set_end(&self, end: End) {
        self.second.read_site.store(end.site, Relaxed);
        self.first.set_state(self.first.state() | end.thread as u32);
        self.second.set_state(META | FREED | end.time as u32);
    }
}
