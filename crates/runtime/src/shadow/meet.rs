//! Two threads meet, in the form that makes up nearly all meetings: an access to exactly the bytes a cell speaks of,
//! by a thread that comes after the one thread the cell names.
//!
//! The same as `touch` does, without what it needs for all other cases. Anything unusual is left to `touch`.

use core::sync::atomic::Ordering::Relaxed;
use unpick_events::Kind;
use unpick_events::access::PastKind;

use super::cell::*;
use super::pool::byte_cells;
use super::region::cell;
use super::touch::{Granule, gather, is_per_byte};
use crate::frames;
use crate::heap;
use crate::stream::{self, LastAccess, NO_PAST, Told};
use crate::thread::Thread;

/// Notes and records an access to all bytes of `shape`, if it is such a meeting. The thread is busy.
pub fn meet(thread: &Thread, address: u64, shape: u32, site: u32, kind: Kind) -> bool {
    let mine = cell(address);
    if !is_meeting(thread, mine.raw_state(), shape, kind) {
        return false;
    }
    let Some(_granule) = Granule::try_lock(thread, address) else { return false };
    is_meeting(thread, mine.state(), shape, kind)
        && record(thread, mine, address, shape, site, kind)
}

/// As `meet`, for one byte that has a cell of its own.
pub fn meet_byte(thread: &Thread, address: u64, site: u32, kind: Kind) -> bool {
    let quad = cell(address);
    if !is_per_byte(quad.raw_state()) {
        return false;
    }
    let Some(_granule) = Granule::try_lock(thread, address) else { return false };
    if !is_per_byte(quad.state()) {
        return false;
    }
    let bytes = byte_cells(quad.state() & INDEX_MASK);
    let mine = &bytes[address as usize & 3];
    let shape = shape_of_bytes(1 << (address & 3));
    let met = is_meeting(thread, mine.state(), shape, kind)
        && record(thread, mine, address, shape, site, kind);
    // The last byte of a loop over them makes all four say the same again.
    if met && address & 3 == 3 {
        gather(thread, quad, bytes);
    }
    met
}

/// The last writer's bytes, or, for a write, bytes this thread alone has read since.
fn is_meeting(thread: &Thread, state: u32, shape: u32, kind: Kind) -> bool {
    if state & (INDIRECT | FREED | META | SHAPE_MASK) != shape {
        return false;
    }
    let is_own = state & THREAD_MASK == thread.number() as u32;
    if state & SOLE != 0 { !is_own } else { is_own && kind == Kind::Write }
}

/// Not in a full recording, which lists nothing of shared bytes.
fn record(thread: &Thread, cell: &Cell, address: u64, shape: u32, site: u32, kind: Kind) -> bool {
    let state = cell.state();
    let is_first = state & SHARED == 0;
    if thread.recorder.is_full() || is_first && !heap::is_settled(thread, address) {
        return false;
    }
    let (past, not_before) = if state & SOLE != 0 {
        (last_accesses(cell), 0)
    } else {
        ([NO_PAST; 2], cell.read_site.load(Relaxed))
    };
    if state & SOLE != 0 && past[0].kind != PastKind::Write {
        return false;
    }
    let bytes = if shape == GRANULE { 8 } else { (shape >> BYTES_SHIFT).count_ones() as u64 };
    let context = frames::context(thread);
    let told = Told { kind, flags: 0, site, context, address, bytes };
    let stamp = stream::tell(thread, &told, &past, not_before);
    let time = thread.hot().time.get();
    if kind == Kind::Write {
        cell.set_write(site, time);
        cell.read_site.store(RECORDED, Relaxed);
        cell.set_state(thread.number() as u32 | SOLE | SHARED | shape);
    } else {
        cell.set_guest_read(site, time);
        cell.read_site.store(stamp, Relaxed);
        cell.set_state(thread.number() as u32 | SHARED | shape);
    }
    true
}

/// What an event would list of the owner: its last write, and its last read since.
pub fn last_accesses(cell: &Cell) -> [LastAccess; 2] {
    let thread = (cell.state() & THREAD_MASK) as u16;
    let read_site = cell.read_site.load(Relaxed);
    let write = LastAccess {
        kind: PastKind::Write,
        is_recorded: read_site == RECORDED,
        thread,
        time: cell.write_time.load(Relaxed),
        site: cell.write_site.load(Relaxed),
    };
    let read = LastAccess {
        kind: PastKind::Read,
        is_recorded: false,
        thread,
        time: cell.read_time.load(Relaxed),
        site: read_site,
    };
    match (write.site != 0, read_site > RECORDED) {
        (true, true) => [write, read],
        (true, false) => [write, NO_PAST],
        (false, true) => [read, NO_PAST],
        (false, false) => [NO_PAST, NO_PAST],
    }
}
