//! Where the shadow of an address is.
//!
//! ```text
//! 0x0800_0000_0000  cells of the lower four bytes of each eight, 16 bytes each               16 TiB
//! 0x1800_0000_0000  cells of the upper four: apart, for most granules need only the first    16 TiB
//! 0x2800_0000_0000  block starts: one bit for each 16 bytes of program memory             64 GiB
//! 0x2810_0000_0000  reader blocks                                                         32 GiB
//! 0x2818_0000_0000  byte blocks                                                           32 GiB
//! 0x2820_0000_0000  touched pages: one bit for each page of cells (2 KiB of program memory)  512 MiB
//! ```
//!
//! Only the low 43 bits of an address are used. The places where Linux puts things differ in them: low
//! executables (0x0000_0040…), position-independent ones (0x55…, 0x56…), mappings and stacks (0x7e…, 0x7f…),
//! and mappings without a stack limit (0x2a…, above the last region here). Nothing is committed until touched.

use super::cell::Cell;
use crate::sys;

pub const ADDRESS_BITS: u32 = 43;
pub const CELLS: usize = 0x0800_0000_0000;
const CELLS_BYTES: usize = 4 << ADDRESS_BITS;
/// From the cell of the lower four bytes of a granule to that of the upper ones.
const UPPER: usize = CELLS_BYTES / 2;
pub const STARTS: usize = CELLS + CELLS_BYTES;
const STARTS_BYTES: usize = 1 << (ADDRESS_BITS - 7);
pub const READERS: usize = 0x2810_0000_0000;
pub const BYTE_BLOCKS: usize = 0x2818_0000_0000;
pub const POOL_BYTES: usize = 32 << 30;
const TOUCHED: usize = 0x2820_0000_0000;
/// Bytes of program memory whose cells fill one page (of either half).
pub const BYTES_PER_PAGE: u64 = 1 << 11;
const TOUCHED_BYTES: usize = 1 << (ADDRESS_BITS - 14);

const _: () = assert!(STARTS == 0x2800_0000_0000 && STARTS + STARTS_BYTES <= READERS);
const _: () = assert!(UPPER == 1 << (ADDRESS_BITS + 1));

/// Reserves all regions. Nothing else of this module may be used before, or if it fails.
pub fn reserve() -> Result<(), i32> {
    for (start, bytes) in [
        (CELLS, CELLS_BYTES),
        (STARTS, STARTS_BYTES),
        (READERS, POOL_BYTES),
        (BYTE_BLOCKS, POOL_BYTES),
        (TOUCHED, TOUCHED_BYTES),
    ] {
        sys::map_private(Some(start), bytes)?;
    }
    Ok(())
}

/// The cell of the four bytes around `address`.
#[inline(always)]
pub fn cell(address: u64) -> &'static Cell {
    let upper = (address & 4) << (UPPER.trailing_zeros() - 2);
    // SAFETY: `reserve` mapped every cell of both halves, for ever, and a `Cell` is made of atomics.
    unsafe { &*((lower_address(address) + upper as usize) as *const Cell) }
}

/// The cell of the lower four of the eight bytes around `address`, which often speaks of them all.
#[inline(always)]
pub fn lower_cell(address: u64) -> &'static Cell {
    // SAFETY: as in `cell`.
    unsafe { &*(lower_address(address) as *const Cell) }
}

/// The cell of the upper four bytes of a granule, by that of the lower ones.
#[inline(always)]
pub fn upper_of(lower: &Cell) -> &'static Cell {
    // SAFETY: as in `cell`: a lower cell lies in the first half, and what is `UPPER` further in the second.
    unsafe { &*((core::ptr::from_ref(lower) as usize + UPPER) as *const Cell) }
}

#[inline(always)]
fn lower_address(address: u64) -> usize {
    CELLS + ((address & !7) << (64 - ADDRESS_BITS) >> (64 - ADDRESS_BITS) << 1) as usize
}

/// The shadow of a range that begins and ends with a granule: two stretches of this many bytes.
pub fn shadow_of(address: u64, bytes: u64) -> ([usize; 2], usize) {
    let lower = lower_address(address);
    ([lower, lower + UPPER], 2 * bytes as usize)
}

/// The word of block-start bits for `address`, and the bit in it.
#[inline]
pub fn start_bit(address: u64) -> (&'static core::sync::atomic::AtomicU64, u32) {
    let index = (address << (64 - ADDRESS_BITS) >> (64 - ADDRESS_BITS)) >> 4;
    // SAFETY: `reserve` mapped the whole region and `index / 64` words lie inside it.
    let word =
        unsafe { &*((STARTS + (index / 64 * 8) as usize) as *const core::sync::atomic::AtomicU64) };
    (word, (index % 64) as u32)
}

/// The word of touched-page bits for `address`, and the bit in it.
#[inline]
pub fn touched_bit(address: u64) -> (&'static core::sync::atomic::AtomicU64, u32) {
    let index = (address << (64 - ADDRESS_BITS) >> (64 - ADDRESS_BITS)) / BYTES_PER_PAGE;
    // SAFETY: as in `start_bit`.
    let word = unsafe {
        &*((TOUCHED + (index / 64 * 8) as usize) as *const core::sync::atomic::AtomicU64)
    };
    (word, (index % 64) as u32)
}

/// A cell of which nothing was known is about to be used: who forgets a range need not look at other pages.
#[inline]
pub fn mark_touched(address: u64) {
    use core::sync::atomic::Ordering::Relaxed;
    let (word, bit) = touched_bit(address);
    if word.load(Relaxed) & (1 << bit) == 0 {
        word.fetch_or(1 << bit, Relaxed);
    }
}
