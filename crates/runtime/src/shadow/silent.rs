//! Accesses that concern nobody but the thread that makes them: the fast path of every hook.
//!
//! No lock is taken, and only fields are written that are the thread's own: see `cell`.

use core::sync::atomic::Ordering::Relaxed;

use super::cell::{
    BYTES_MASK, BYTES_SHIFT, Cell, GRANULE, INDEX_MASK, INDIRECT, KEPT_IN_FULL, LOCKED, PER_BYTE,
    SHAPE_MASK, SOLE, SPLIT, WIDE, shape_of_bytes,
};
use super::granule::Granule;
use super::pool::byte_cells;
use super::recent;
use super::region::{cell, lower_cell, mark_touched};
use super::shapes::{gather, is_per_byte, is_wide};
use crate::thread::{Hot, Pass, Thread};

/// Whether a read of exactly the bytes of `shape` passes in silence; if so it is noted.
///
/// Before the thread is known there may be no shadow to look at.
#[inline(always)]
pub fn read_silently(pass: Pass, address: u64, shape: u32, site: u32) -> bool {
    if pass.key == 0 {
        return false;
    }
    let cell = cell_of(address, shape);
    let state = cell.raw_state() & pass.kept;
    let key = pass.key | shape;
    if state == key {
        cell.set_read(site, pass.time);
        return true;
    }
    if state == key & !SOLE {
        cell.set_guest_read(site, pass.time);
        return true;
    }
    false
}

/// As `read_silently`, for a write.
#[inline(always)]
pub fn write_silently(pass: Pass, address: u64, shape: u32, site: u32) -> bool {
    if pass.key == 0 {
        return false;
    }
    let cell = cell_of(address, shape);
    if cell.raw_state() & pass.kept != pass.key | shape {
        return false;
    }
    cell.set_write(site, pass.time);
    true
}

/// The cell that speaks of exactly the bytes of `shape`, if any does.
#[inline(always)]
pub(super) fn cell_of(address: u64, shape: u32) -> &'static Cell {
    if shape == GRANULE { lower_cell(address) } else { cell(address) }
}

/// A further read by one of several readers also passes in silence.
#[inline(always)]
pub fn read_among_readers(hot: &Hot, address: u64, shape: u32, site: u32) -> bool {
    if hot.key.get() == 0 || hot.kept.get() == KEPT_IN_FULL {
        return false;
    }
    let state = cell_of(address, shape).raw_state();
    if state & (INDIRECT | LOCKED | PER_BYTE) != INDIRECT {
        return false;
    }
    recent::note_again(hot, state & INDEX_MASK, address, shape, site)
}

/// One byte of a quad. It passes if it has a cell of its own, or if what it changes in the cell it shares with
/// its neighbours is there already.
#[inline(always)]
pub fn byte_silently(hot: &Hot, address: u64, site: u32, writes: bool) -> bool {
    if hot.key.get() == 0 {
        return false;
    }
    let mut cell = cell(address);
    let state = cell.raw_state();
    if is_per_byte(state) && state & LOCKED == 0 {
        cell = &byte_cells(state & INDEX_MASK)[address as usize & 3];
    }
    bytes_silently(hot, cell, address, 1 << (address & 3), site, writes)
}

/// The first access to eight or four bytes in their life makes them the thread's. The thread is busy.
///
/// The same as `touch` does, without what it needs for all other cases.
#[inline]
pub fn claim(thread: &Thread, address: u64, shape: u32, site: u32, writes: bool) -> bool {
    let mine = cell_of(address, shape);
    let is_new = |state: u32| if shape == GRANULE { state == 0 } else { state & !SPLIT == 0 };
    if !is_new(mine.raw_state()) {
        return false;
    }
    let Some(granule) = Granule::try_lock(thread, address) else { return false };
    let may_be_covered = granule.low.raw_state() & (INDIRECT | WIDE) != 0;
    if !is_new(mine.raw_state() & !LOCKED) || may_be_covered {
        return false;
    }
    mark_touched(address);
    become_sole(thread, mine, shape, site, writes);
    true
}

/// The first access to a byte in its life, where that is easy: its quad is new too, or all that is known of the quad is
/// what this access would say, as in a loop over bytes. The thread is busy.
pub fn claim_byte(thread: &Thread, address: u64, site: u32, writes: bool) -> bool {
    let quad = cell(address);
    let byte = shape_of_bytes(1 << (address & 3));
    if !may_be_new(thread, quad.raw_state(), address, byte) {
        return false;
    }
    let Some(granule) = Granule::try_lock(thread, address) else { return false };
    if is_wide(granule.low) {
        return false;
    }
    let state = quad.state();
    if is_per_byte(state) {
        let cells = byte_cells(state & INDEX_MASK);
        let mine = &cells[address as usize & 3];
        let is_new = mine.state() == 0;
        if is_new {
            become_sole(thread, mine, byte, site, writes);
            // The last byte of a loop over them makes all four say the same.
            if address & 3 == 3 {
                gather(thread, quad, cells);
            }
        }
        return is_new;
    }
    if state == 0 {
        mark_touched(address);
        become_sole(thread, quad, byte, site, writes);
        return true;
    }
    let joins = state & byte == 0
        && state & !SHAPE_MASK == thread.number() as u32 | SOLE
        && says_only(quad, site, thread.hot().time.get(), writes);
    if joins {
        quad.set_state(state | byte);
    }
    joins
}

/// A look without the lock, which tells nearly always.
fn may_be_new(thread: &Thread, quad: u32, address: u64, byte: u32) -> bool {
    if is_per_byte(quad) {
        return byte_cells(quad & INDEX_MASK)[address as usize & 3].raw_state() == 0;
    }
    let known = quad & !(SPLIT | SHAPE_MASK);
    quad & byte == 0 && (known == 0 || known == thread.number() as u32 | SOLE)
}

/// A cell of which nothing was known speaks of the thread's first access. `shape` may have more flags.
pub fn become_sole(thread: &Thread, cell: &Cell, shape: u32, site: u32, writes: bool) {
    cell.clear();
    cell.set_access(site, thread.hot().time.get(), writes);
    cell.set_state(thread.number() as u32 | SOLE | shape);
}

/// Whether a cell of a sole owner knows of one access and nothing else.
pub fn says_only(cell: &Cell, site: u32, time: u32, writes: bool) -> bool {
    if writes {
        cell.write_site.load(Relaxed) == site
            && cell.read_site.load(Relaxed) == 0
            && cell.write_time.load(Relaxed) == time as u16
    } else {
        cell.write_site.load(Relaxed) == 0
            && cell.read_site.load(Relaxed) == site
            && cell.read_time.load(Relaxed) == time as u16
    }
}

/// A few bytes of any alignment that the thread knows. If it gives up halfway, what it has noted is right
/// and will be noted again.
#[inline]
pub fn span_silently(hot: &Hot, address: u64, bytes: u64, site: u32, writes: bool) -> bool {
    if hot.key.get() == 0 {
        return false;
    }
    let end = address + bytes;
    let mut at = address;
    while at < end {
        if at & 7 == 0 && end - at >= 8 && granule_silently(hot, at, site, writes) {
            at += 8;
            continue;
        }
        let next = ((at | 3) + 1).min(end);
        let mask = ((1_u32 << (next - at)) - 1) << (at & 3);
        if !quad_silently(hot, at, mask, site, writes) {
            return false;
        }
        at = next;
    }
    true
}

/// Eight bytes that one cell speaks of.
#[inline]
fn granule_silently(hot: &Hot, address: u64, site: u32, writes: bool) -> bool {
    if writes {
        write_silently(hot.pass(), address, GRANULE, site)
    } else {
        read_silently(hot.pass(), address, GRANULE, site)
            || read_among_readers(hot, address, GRANULE, site)
    }
}

/// Some bytes of one quad.
#[inline]
pub fn quad_silently(hot: &Hot, address: u64, mask: u32, site: u32, writes: bool) -> bool {
    let cell = cell(address);
    let state = cell.raw_state();
    if !is_per_byte(state) || state & LOCKED != 0 {
        return bytes_silently(hot, cell, address, mask, site, writes);
    }
    let cells = byte_cells(state & INDEX_MASK);
    let mut rest = mask;
    while rest != 0 {
        let index = rest.trailing_zeros();
        let byte = &cells[index as usize & 3];
        if !bytes_silently(hot, byte, address, 1 << index, site, writes) {
            return false;
        }
        rest &= rest - 1;
    }
    true
}

/// The bytes of `mask` in a cell that the thread is known to: it changes the cell if that speaks of no other bytes, and
/// passes if nothing would change. `address` is in their granule.
#[inline(always)]
pub fn bytes_silently(
    hot: &Hot,
    cell: &Cell,
    address: u64,
    mask: u32,
    site: u32,
    writes: bool,
) -> bool {
    let raw = cell.raw_state();
    let state = raw & hot.kept.get();
    if !writes && raw & (INDIRECT | PER_BYTE | LOCKED) == INDIRECT {
        return hot.kept.get() != KEPT_IN_FULL
            && recent::note_again(hot, raw & INDEX_MASK, address, shape_of_bytes(mask), site);
    }
    let (known, time) = ((state & BYTES_MASK) >> BYTES_SHIFT, hot.time.get());
    if known & mask != mask {
        return false;
    }
    let (who, key) = (state & !BYTES_MASK, hot.key.get());
    if who == key {
        note_own(cell, known == mask, site, time, writes)
    } else if who == key & !SOLE && !writes {
        note_guest(cell, known == mask, site, time)
    } else {
        false
    }
}

#[inline(always)]
fn note_own(cell: &Cell, alone: bool, site: u32, time: u32, writes: bool) -> bool {
    if alone {
        cell.set_access(site, time, writes);
        return true;
    }
    if writes {
        cell.write_site.load(Relaxed) == site
            && cell.read_site.load(Relaxed) == 0
            && cell.write_time.load(Relaxed) == time as u16
    } else {
        cell.read_site.load(Relaxed) == site && cell.read_time.load(Relaxed) == time as u16
    }
}

#[inline(always)]
fn note_guest(cell: &Cell, alone: bool, site: u32, time: u32) -> bool {
    if alone {
        cell.set_guest_read(site, time);
    }
    alone || cell.write_site.load(Relaxed) == site && cell.write_time.load(Relaxed) == time as u16
}
