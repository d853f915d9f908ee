//! Blocks of 64 bytes for what does not fit into a cell: sets of readers, and one cell per byte.
//!
//! Readers and byte cells have a pool each: a store that comes late (see `cell`) into a block that was given
//! back and taken again can then only spoil a site, never a state.

use core::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::*};

use super::cell::Cell;
use super::region;

pub const SLOTS: usize = 6;

/// The last read of one thread.
#[repr(C)]
#[derive(Debug)]
pub struct Slot {
    pub site: AtomicU32,
    pub thread: AtomicU16,
    pub time: AtomicU16,
}

/// Threads that have read some bytes since they were last written. The first of them, `home`, keeps its last
/// read in the cell itself.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Readers {
    pub next: AtomicU32,
    pub home: AtomicU16,
    /// Whether `home` keeps its read in the read fields (nobody has written yet) or in the write fields.
    pub unwritten: AtomicU8,
    /// `SHAPE_MASK` of the cell, shifted down.
    pub shape: AtomicU8,
    /// First of the bytes the set is about.
    pub address: AtomicU64,
    pub slots: [Slot; SLOTS],
}

/// One cell for each of four bytes.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct ByteCells(pub [Cell; 4]);

const _: () = assert!(size_of::<Readers>() == 64 && size_of::<ByteCells>() == 64);

/// One of the two pools. Index 0 is never given out.
pub struct Pool {
    start: usize,
    next: AtomicU32,
}

pub static READERS: Pool = Pool { start: region::READERS, next: AtomicU32::new(1) };
pub static BYTE_BLOCKS: Pool = Pool { start: region::BYTE_BLOCKS, next: AtomicU32::new(1) };

const LAST_INDEX: u32 = (region::POOL_BYTES / 64 - 1) as u32;
const _: () = assert!(LAST_INDEX == super::cell::INDEX_MASK);
/// How many indices a thread takes at a time.
pub const BATCH: u32 = 32;

impl Pool {
    /// The first of `BATCH` new indices.
    pub fn take_batch(&self) -> Option<u32> {
        self.next
            .fetch_update(Relaxed, Relaxed, |next| {
                (next < LAST_INDEX - BATCH).then_some(next + BATCH)
            })
            .ok()
    }

    /// One more than the highest index given out.
    pub fn indices_so_far(&self) -> u32 {
        self.next.load(Relaxed)
    }

    /// Indices have 29 bits, and the region has room for all of them.
    #[inline(always)]
    fn address(&self, index: u32) -> usize {
        self.start + index as usize * 64
    }
}

#[inline]
pub fn readers(index: u32) -> &'static Readers {
    // SAFETY: the region is mapped for ever, the index is bounded, and the type is made of atomics.
    unsafe { &*(READERS.address(index) as *const Readers) }
}

#[inline]
pub fn byte_cells(index: u32) -> &'static [Cell; 4] {
    // SAFETY: as in `readers`.
    unsafe { &(*(BYTE_BLOCKS.address(index) as *const ByteCells)).0 }
}

/// Blocks a thread has for itself, linked through their first word.
#[derive(Debug)]
pub struct FreeList {
    first: AtomicU32,
    batch: AtomicU32,
    batch_end: AtomicU32,
}

impl FreeList {
    pub const fn new() -> Self {
        Self { first: AtomicU32::new(0), batch: AtomicU32::new(0), batch_end: AtomicU32::new(0) }
    }

    /// An index of the pool that is nobody's.
    pub fn take(&self, pool: &Pool) -> Option<u32> {
        let first = self.first.load(Relaxed);
        if first != 0 {
            self.first.store(link(pool, first).load(Relaxed), Relaxed);
            return Some(first);
        }
        if self.batch.load(Relaxed) == self.batch_end.load(Relaxed) {
            let batch = pool.take_batch()?;
            self.batch.store(batch, Relaxed);
            self.batch_end.store(batch + BATCH, Relaxed);
        }
        let index = self.batch.load(Relaxed);
        self.batch.store(index + 1, Relaxed);
        Some(index)
    }

    pub fn give_back(&self, pool: &Pool, index: u32) {
        link(pool, index).store(self.first.load(Relaxed), Relaxed);
        self.first.store(index, Relaxed);
    }
}

impl Default for FreeList {
    fn default() -> Self {
        Self::new()
    }
}

fn link(pool: &Pool, index: u32) -> &'static AtomicU32 {
    // SAFETY: the first word of both block types is an AtomicU32 inside a region mapped for ever.
    unsafe { &*(pool.address(index) as *const AtomicU32) }
}
