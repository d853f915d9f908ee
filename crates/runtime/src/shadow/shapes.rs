//! Which bytes a cell speaks of, and what happens when accesses disagree about that: cells are split, spread over the
//! bytes, and put together again.

use core::sync::atomic::Ordering::*;
use unpick_events::file::lost;

use super::cell::*;
use super::pool::{self, byte_cells, readers};
use super::recent;
use super::sets::{copy_readers, give_back_readers};
use crate::thread::Thread;

/// How many bytes a shape speaks of.
pub(super) fn bytes_of(shape: u32) -> u64 {
    if shape & WIDE != 0 { 8 } else { ((shape & BYTES_MASK) >> BYTES_SHIFT).count_ones() as u64 }
}

pub fn is_per_byte(state: u32) -> bool {
    state & (INDIRECT | PER_BYTE) == INDIRECT | PER_BYTE
}

pub fn is_readers(state: u32) -> bool {
    state & (INDIRECT | PER_BYTE) == INDIRECT
}

pub fn is_wide(cell: &Cell) -> bool {
    shape_of(cell.state()) & WIDE != 0
}

/// Which bytes a state (not per byte) speaks of.
pub(super) fn shape_of(state: u32) -> u32 {
    if is_readers(state) {
        return (readers(state & INDEX_MASK).shape.load(Relaxed) as u32) << BYTES_SHIFT;
    }
    if state & INDIRECT != 0 { 0 } else { state & SHAPE_MASK }
}

pub(super) fn known_bytes(state: u32) -> u32 {
    (shape_of(state) & BYTES_MASK) >> BYTES_SHIFT
}

/// From one cell for eight bytes to two for four.
pub(super) fn split(thread: &Thread, low: &Cell, high: &Cell, address: u64) {
    let state = low.state();
    if is_readers(state) {
        recent::settle(low, state & INDEX_MASK);
        recent::clear_all(state & INDEX_MASK);
    }
    high.clear();
    copy_with_shape(thread, low, high, QUAD, address + 4);
    if is_readers(state) {
        readers(state & INDEX_MASK).shape.store((QUAD >> BYTES_SHIFT) as u8, Relaxed);
    } else {
        low.set_state(state & !WIDE);
    }
}

/// From two cells for four bytes to one for eight, if they say the same of all their bytes.
pub(super) fn widen(low: &Cell, high: &Cell) {
    let (a, b) = (low.state(), high.state());
    let is_whole = |state: u32| state & INDIRECT == 0 && state & SHAPE_MASK == QUAD;
    if is_whole(a) && is_whole(b) && low.says_the_same(high) {
        low.set_state(a | WIDE);
        high.clear();
    }
}

/// Four cells for a byte each become one again, if they say the same.
pub(super) fn gather(thread: &Thread, cell: &Cell, bytes: &'static [Cell; 4]) {
    let mut known = 0;
    let mut example: Option<&Cell> = None;
    for byte in bytes {
        let state = byte.state();
        if state == 0 {
            continue;
        }
        if state & INDIRECT != 0 || example.is_some_and(|first| !first.says_the_same(byte)) {
            return;
        }
        known |= state & BYTES_MASK;
        example = Some(byte);
    }
    let Some(example) = example else { return };
    let index = cell.state() & INDEX_MASK;
    cell.copy_from(example);
    cell.set_state(example.state() & !BYTES_MASK | known);
    thread.free_byte_cells.give_back(&pool::BYTE_BLOCKS, index);
}

/// Copies what is known to a cell that speaks of fewer bytes.
pub(super) fn copy_with_shape(thread: &Thread, from: &Cell, to: &Cell, shape: u32, address: u64) {
    to.copy_from(from);
    let state = from.state();
    if !is_readers(state) {
        return to.set_state(state & !SHAPE_MASK | shape);
    }
    match copy_readers(thread, state & INDEX_MASK, shape) {
        Some(index) => {
            readers(index).address.store(address, Relaxed);
            to.set_state(INDIRECT | index);
        }
        None => {
            thread.recorder.mark_lost(lost::MEMORY);
            to.clear();
        }
    }
}

/// Gives each byte of a quad a cell of its own.
pub(super) fn spread(thread: &Thread, cell: &Cell, base: u64) -> bool {
    let Some(index) = thread.free_byte_cells.take(&pool::BYTE_BLOCKS) else {
        thread.recorder.mark_lost(lost::MEMORY);
        return false;
    };
    let known = known_bytes(cell.state());
    if is_readers(cell.state()) {
        recent::settle(cell, cell.state() & INDEX_MASK);
    }
    for (position, byte) in byte_cells(index).iter().enumerate() {
        byte.clear();
        if known & (1 << position) != 0 {
            let address = base + position as u64;
            copy_with_shape(thread, cell, byte, shape_of_bytes(1 << position), address);
        }
    }
    if is_readers(cell.state()) {
        give_back_readers(thread, cell.state() & INDEX_MASK);
    }
    cell.set_state(INDIRECT | PER_BYTE | index);
    true
}
