//! The next element of a loop over memory that another thread wrote.
//!
//! The same as `touch` does when an access lengthens one that is recorded already, without what it needs for all
//! other cases. Anything unusual is left to `touch`.

use core::sync::atomic::Ordering::Relaxed;
use unpick_events::Kind;
use unpick_events::access::PastKind;

use super::cell::*;
use super::pool::byte_cells;
use super::region::cell;
use super::touch::{gather, is_per_byte};
use crate::frames;
use crate::heap;
use crate::stream::{self, LastAccess, NO_PAST, Step};
use crate::thread::Thread;

/// Notes an access to all bytes of `shape` if it is the next element of an open access. The thread is busy.
pub fn follow(thread: &Thread, address: u64, shape: u32, site: u32, kind: Kind) -> bool {
    let (low, mine) = (cell(address & !7), cell(address));
    if !is_candidate(thread, mine.raw_state(), shape, kind) || !low.try_lock() {
        return false;
    }
    let followed = is_candidate(thread, mine.state(), shape, kind)
        && step(thread, mine, address, shape, site, kind);
    low.unlock();
    followed
}

/// As `follow`, for one byte that has a cell of its own.
pub fn follow_byte(thread: &Thread, address: u64, site: u32, kind: Kind) -> bool {
    let (low, quad) = (cell(address & !7), cell(address));
    if !is_per_byte(quad.raw_state()) || !low.try_lock() {
        return false;
    }
    let followed = is_per_byte(quad.state()) && {
        let bytes = byte_cells(quad.state() & INDEX_MASK);
        let mine = &bytes[address as usize & 3];
        let shape = shape_of_bytes(1 << (address & 3));
        let followed = is_candidate(thread, mine.state(), shape, kind)
            && step(thread, mine, address, shape, site, kind);
        // The last byte of a loop over them makes all four say the same again.
        if followed && address & 3 == 3 {
            gather(thread, quad, bytes);
        }
        followed
    };
    low.unlock();
    followed
}

/// The last writer's bytes, or, for a write, bytes this thread alone has read since.
fn is_candidate(thread: &Thread, state: u32, shape: u32, kind: Kind) -> bool {
    if state & (INDIRECT | FREED | META | COVERED | SHAPE_MASK) != shape {
        return false;
    }
    let is_own = state & THREAD_MASK == thread.number() as u32;
    if state & SOLE != 0 { !is_own } else { is_own && kind == Kind::Write }
}

fn step(thread: &Thread, cell: &Cell, address: u64, shape: u32, site: u32, kind: Kind) -> bool {
    let state = cell.state();
    if state & SHARED == 0 && !heap::is_settled(thread, address) {
        return false;
    }
    let Some(context) = frames::known_context(thread) else { return false };
    let (past, not_before) = if state & SOLE != 0 {
        (last_accesses(cell), 0)
    } else {
        ([NO_PAST; 2], cell.read_site.load(Relaxed))
    };
    if past[0].kind != PastKind::Write && state & SOLE != 0 {
        return false;
    }
    let unit = if shape == GRANULE { 8 } else { (shape >> BYTES_SHIFT).count_ones() as u16 };
    let Some(stamp) =
        stream::step(thread, &Step { kind, unit, site, context, address, past, not_before })
    else {
        return false;
    };
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
