//! Which addresses are starts of heap blocks: one bit for each 16 bytes, and one for each 64 KiB that ever had any.
//!
//! A bit stays when its block is freed, so that a use after free still finds the block, and goes when other
//! memory takes the place.

use core::sync::atomic::{AtomicU64, Ordering::*};

use crate::shadow::region;

const SEGMENT_BITS: u32 = 16;
const SEGMENT_BYTES: u64 = 1 << SEGMENT_BITS;
/// What one word of start bits covers.
const WORD_BYTES: u64 = 64 * 16;
const ANY_WORDS: usize = 1 << (region::ADDRESS_BITS - SEGMENT_BITS - 6);

/// One bit for each segment in which a block ever started.
static ANY: [AtomicU64; ANY_WORDS] = [const { AtomicU64::new(0) }; ANY_WORDS];
/// The largest block there has been: the start of an address's block is not farther below.
static LARGEST: AtomicU64 = AtomicU64::new(0);

/// A block of this size starts at `address`.
pub fn set(address: u64, bytes: u64) {
    let (word, bit) = region::start_bit(address);
    set_bit(word, bit);
    let (word, bit) = segment_bit(address);
    set_bit(word, bit);
    if bytes > LARGEST.load(Relaxed) {
        LARGEST.fetch_max(bytes, Relaxed);
    }
}

/// Blocks often start where others did: then no atomic instruction is needed.
fn set_bit(word: &AtomicU64, bit: u32) {
    if word.load(Relaxed) & (1 << bit) == 0 {
        word.fetch_or(1 << bit, Relaxed);
    }
}

fn segment_bit(address: u64) -> (&'static AtomicU64, u32) {
    let index = (address >> SEGMENT_BITS) as usize % (ANY_WORDS * 64);
    (&ANY[index / 64], (index % 64) as u32)
}

fn has_any(address: u64) -> bool {
    let (word, bit) = segment_bit(address);
    word.load(Relaxed) & (1 << bit) != 0
}

/// Removes the starts in a range and says each of them.
pub fn take_all_in(from: u64, to: u64, mut each: impl FnMut(u64)) {
    let mut at = from;
    while at < to {
        if !has_any(at) {
            at = (at | (SEGMENT_BYTES - 1)).saturating_add(1);
            continue;
        }
        let next = (at | (WORD_BYTES - 1)).saturating_add(1);
        take_in_word(at, to.min(next) - 1, &mut each);
        at = next;
    }
}

/// `first` and `last` lie in what one word covers.
fn take_in_word(first: u64, last: u64, each: &mut impl FnMut(u64)) {
    let (word, low) = region::start_bit(first.next_multiple_of(16).min(last));
    let (_, high) = region::start_bit(last);
    if first.next_multiple_of(16) > last {
        return;
    }
    let inside = (u64::MAX >> (63 - high)) & (u64::MAX << low);
    let mut found = word.load(Relaxed) & inside;
    if found == 0 {
        return;
    }
    word.fetch_and(!found, Relaxed);
    while found != 0 {
        each((first & !(WORD_BYTES - 1)) + found.trailing_zeros() as u64 * 16);
        found &= found - 1;
    }
}

/// The nearest start at or below `address`.
pub fn at_or_below(address: u64) -> Option<u64> {
    let lowest = address.saturating_sub(LARGEST.load(Relaxed));
    let mut at = address;
    loop {
        if has_any(at)
            && let Some(start) = in_segment_below(at)
        {
            return (start >= lowest).then_some(start);
        }
        at = (at & !(SEGMENT_BYTES - 1)).checked_sub(1)?;
        if at < lowest {
            return None;
        }
    }
}

fn in_segment_below(address: u64) -> Option<u64> {
    let segment = address & !(SEGMENT_BYTES - 1);
    let mut at = address;
    loop {
        let (word, bit) = region::start_bit(at);
        let below = word.load(Relaxed) & (u64::MAX >> (63 - bit));
        if below != 0 {
            return Some((at & !(WORD_BYTES - 1)) + (63 - below.leading_zeros()) as u64 * 16);
        }
        at = (at & !(WORD_BYTES - 1)).checked_sub(1).filter(|at| *at >= segment)?;
    }
}
