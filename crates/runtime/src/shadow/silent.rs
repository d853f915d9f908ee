//! Accesses that concern nobody but the thread that makes them: the fast path of every hook.
//!
//! No lock is taken, and only fields are written that are the thread's own: see `cell`.

use core::sync::atomic::Ordering::Relaxed;

use super::cell::{
    BYTES_MASK, BYTES_SHIFT, Cell, GRANULE, INDEX_MASK, INDIRECT, KEPT_IN_FULL, LOCKED, PER_BYTE,
    SOLE, SPLIT, WIDE, shape_of_bytes,
};
use super::pool::byte_cells;
use super::recent;
use super::region::{cell, lower_cell, mark_touched};
use super::touch::{Granule, is_per_byte};
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
fn cell_of(address: u64, shape: u32) -> &'static Cell {
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
#[inline]
pub fn read_byte_silently(hot: &Hot, address: u64, site: u32) -> bool {
    let Some((cell, state, alone)) = cell_of_byte(hot, address) else { return false };
    let (key, time) = (hot.key.get(), hot.time.get());
    if state == key {
        if alone {
            cell.set_read(site, time);
        }
        return alone
            || (cell.read_site.load(Relaxed) == site
                && cell.read_time.load(Relaxed) == time as u16);
    }
    if state == key & !SOLE {
        if alone {
            cell.set_guest_read(site, time);
        }
        return alone
            || (cell.write_site.load(Relaxed) == site
                && cell.write_time.load(Relaxed) == time as u16);
    }
    false
}

/// As `read_byte_silently`, for a write.
#[inline]
pub fn write_byte_silently(hot: &Hot, address: u64, site: u32) -> bool {
    let Some((cell, state, alone)) = cell_of_byte(hot, address) else { return false };
    let time = hot.time.get();
    if state != hot.key.get() {
        return false;
    }
    if alone {
        cell.set_write(site, time);
    }
    alone
        || (cell.write_site.load(Relaxed) == site
            && cell.read_site.load(Relaxed) == 0
            && cell.write_time.load(Relaxed) == time as u16)
}

/// The cell that speaks of a byte, its state but for the shape, and whether it speaks of no other byte.
#[inline]
fn cell_of_byte(hot: &Hot, address: u64) -> Option<(&'static Cell, u32, bool)> {
    if hot.key.get() == 0 {
        return None;
    }
    let mut cell = cell(address);
    let mut state = cell.raw_state();
    if is_per_byte(state) && state & LOCKED == 0 {
        cell = &byte_cells(state & INDEX_MASK)[address as usize & 3];
        state = cell.raw_state();
    }
    let byte = shape_of_bytes(1 << (address & 3));
    let state = state & hot.kept.get();
    (state & byte != 0).then_some((cell, state & !BYTES_MASK, state & BYTES_MASK == byte))
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
    mine.clear();
    let time = thread.hot().time.get();
    if writes {
        mine.set_write(site, time)
    } else {
        mine.set_read(site, time)
    }
    mine.set_state(thread.number() as u32 | SOLE | shape);
    true
}

/// A few bytes of any alignment, all of them the thread's own. If it gives up halfway, what it has noted is right
/// and will be noted again.
#[inline]
pub fn span_silently(hot: &Hot, address: u64, bytes: u64, site: u32, writes: bool) -> bool {
    if hot.key.get() == 0 {
        return false;
    }
    let end = address + bytes;
    let mut at = address;
    while at < end {
        let next = ((at | 3) + 1).min(end);
        let mask = ((1_u32 << (next - at)) - 1) << (at & 3);
        if !quad_silently(hot, at, mask, site, writes) {
            return false;
        }
        at = next;
    }
    true
}

/// Some bytes of one quad.
#[inline]
fn quad_silently(hot: &Hot, address: u64, mask: u32, site: u32, writes: bool) -> bool {
    let cell = cell(address);
    let state = cell.raw_state();
    if is_per_byte(state) && state & LOCKED == 0 {
        let bytes = byte_cells(state & INDEX_MASK).iter().enumerate();
        return bytes
            .filter(|(index, _)| mask & (1 << index) != 0)
            .all(|(index, byte)| own_silently(hot, byte, 1 << index, site, writes));
    }
    own_silently(hot, cell, mask, site, writes)
}

/// The bytes of `mask` in a cell that is the thread's own: it changes the cell if that speaks of no other bytes, and
/// passes if nothing would change.
#[inline(always)]
fn own_silently(hot: &Hot, cell: &Cell, mask: u32, site: u32, writes: bool) -> bool {
    let state = cell.raw_state() & hot.kept.get();
    let (known, time) = ((state & BYTES_MASK) >> BYTES_SHIFT, hot.time.get());
    if state & !BYTES_MASK != hot.key.get() || known & mask != mask {
        return false;
    }
    if known == mask {
        if writes {
            cell.set_write(site, time)
        } else {
            cell.set_read(site, time)
        }
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
