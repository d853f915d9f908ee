//! Two threads meet, in the form that makes up nearly all meetings: an access to exactly the bytes a cell speaks of,
//! by a thread that comes after the one thread the cell names.
//!
//! The same as `touch` does, without what it needs for all other cases. Anything unusual is left to `touch`.

use core::sync::atomic::Ordering::Relaxed;
use unpick_events::kind::access_flags;
use unpick_events::{Context, Kind};

use super::cell::*;
use super::granule::Granule;
use super::past_list::past_of_owner;
use super::pool::byte_cells;
use super::quick;
use super::region::{cell, lower_cell};
use super::sets::open_set;
use super::shapes::{bytes_of, gather, is_per_byte};
use super::silent::{bytes_silently, cell_of, quad_silently};
use super::touch::{Access, MAY_LOCK};
use crate::frames;
use crate::heap;
use crate::stream::{self, Element, Pasts, Told};
use crate::thread::Thread;

/// Notes and records an access to all bytes of `shape`, if it is such a meeting. The thread is busy.
pub fn meet(thread: &Thread, address: u64, shape: u32, site: u32, kind: Kind) -> bool {
    let mine = cell(address);
    if !is_meeting(thread, mine.raw_state(), shape, kind) {
        return false;
    }
    let Some(_granule) = Granule::try_lock(thread, address) else { return false };
    is_meeting(thread, mine.state(), shape, kind)
        && record_plain(thread, mine, shape, address, site, kind)
}

/// As `meet`, for an atomic access to all bytes of `shape`, whose granule is locked.
pub(super) fn meet_locked(thread: &Thread, shape: u32, access: &Access) -> bool {
    let mine = cell_of(access.address, shape);
    is_meeting(thread, mine.state(), shape, access.kind)
        && record(thread, mine, shape, access).is_some()
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
        && record_plain(thread, mine, shape, address, site, kind);
    // The last byte of a loop over them makes all four say the same again.
    if met && address & 3 == 3 {
        gather(thread, quad, bytes);
    }
    met
}

/// As `meet`, for a few bytes of any alignment: those that pass in silence pass, the others must be such meetings.
/// If it gives up halfway, `access` is what is left of it.
pub fn meet_span(thread: &Thread, access: &mut Access) -> bool {
    while access.bytes > 0 {
        let (at, writes) = (access.address, access.writes());
        let bytes = access.bytes.min(4 - (at & 3));
        let mask = ((1_u32 << bytes) - 1) << (at & 3);
        if quad_silently(thread.hot(), at, mask, access.site, writes) {
            access.advance(bytes);
        } else if !meet_quad(thread, mask, access) {
            return false;
        }
    }
    true
}

/// Some bytes of a quad, at least one of which did not pass in silence.
fn meet_quad(thread: &Thread, mask: u32, access: &mut Access) -> bool {
    let quad = cell(access.address);
    let Some(_granule) = Granule::try_lock(thread, access.address) else { return false };
    let state = quad.state();
    if !is_per_byte(state) {
        return meet_part(thread, quad, mask, access);
    }
    let bytes = byte_cells(state & INDEX_MASK).iter().enumerate();
    bytes
        .filter(|(index, _)| mask & (1 << index) != 0)
        .all(|(index, byte)| meet_part(thread, byte, 1 << index, access))
}

/// The bytes of `mask`, the first of the access, of which `cell` speaks.
fn meet_part(thread: &Thread, cell: &Cell, mask: u32, access: &mut Access) -> bool {
    let (at, bytes, shape) = (access.address, mask.count_ones() as u64, shape_of_bytes(mask));
    if !bytes_silently(thread.hot(), cell, at, mask, access.site, access.writes()) {
        let part = Access { bytes, ..*access };
        if !is_meeting(thread, cell.state(), shape, access.kind)
            || record(thread, cell, shape, &part).is_none()
        {
            return false;
        }
        access.flags |= access_flags::CONTINUED;
    }
    access.advance(bytes);
    true
}

/// An access that is not part of a longer one: often the next element of a loop.
#[inline]
fn record_plain(
    thread: &Thread,
    cell: &Cell,
    shape: u32,
    address: u64,
    site: u32,
    kind: Kind,
) -> bool {
    if !is_settled(thread, address, cell.state()) {
        return false;
    }
    let access = Access { kind, flags: 0, address, bytes: bytes_of(shape), site };
    let context = frames::context(thread);
    let element = Element { address, said: cell.says(), site, context, writes: access.writes() };
    if let Some(stamp) = stream::follow_trail(thread, &element) {
        leave_mark(thread, cell, shape, &access, stamp);
        return true;
    }
    let Some(met) = record_settled(thread, cell, shape, &access, context) else { return false };
    if !met.opens_set {
        stream::leave_trail(thread, &element);
    }
    true
}

/// As `meet`, for whole granules of a range from `access.address` on, as many as say the same as the first. Gives the first
/// that was not met.
///
/// The event of the first is lengthened when the others are noted: whoever meets one of those in the meantime
/// draws a later stamp.
pub fn meet_run(thread: &Thread, access: &Access, last: u64) -> u64 {
    let start = access.address;
    if !quick::is_allowed(thread)
        || !is_meeting(thread, lower_cell(start).raw_state(), GRANULE, access.kind)
    {
        return start;
    }
    let Some(_busy) = thread.enter_quietly() else { return start };
    let one = Access { bytes: 8, ..*access };
    let Some(met) = meet_first(thread, &one) else { return start };
    let mut at = start + 8;
    while at < last && meet_next(thread, at, &one, &met) {
        at += 8;
    }
    if at > start + 8 {
        let rest = Access { address: start + 8, bytes: at - start - 8, ..*access };
        tell(thread, &rest, frames::context(thread), &met.past, met.not_before);
    }
    at
}

fn meet_first(thread: &Thread, access: &Access) -> Option<Met> {
    let granule = Granule::try_lock(thread, access.address)?;
    let is_meeting = is_meeting(thread, granule.low.state(), GRANULE, access.kind);
    is_meeting.then(|| record(thread, granule.low, GRANULE, access)).flatten()
}

fn meet_next(thread: &Thread, address: u64, access: &Access, met: &Met) -> bool {
    let mine = lower_cell(address);
    if mine.says() != met.said || met.opens_set || !is_settled(thread, address, mine.state()) {
        return false;
    }
    let Some(_granule) = Granule::try_lock(thread, address) else { return false };
    let is_same = mine.says() == met.said;
    if is_same {
        leave_mark(thread, mine, GRANULE, access, met.stamp);
    }
    is_same
}

/// The bytes of one other thread; or, for a write, bytes this thread alone has read since the last write.
fn is_meeting(thread: &Thread, state: u32, shape: u32, kind: Kind) -> bool {
    let is_own = state & THREAD_MASK == thread.number() as u32;
    state & (INDIRECT | FREED | META | SHAPE_MASK) == shape
        && (!is_own || state & SOLE == 0 && kind != Kind::Read)
}

/// What a meeting was like.
struct Met {
    /// The cell before it.
    said: [u64; 2],
    past: Pasts,
    not_before: u32,
    stamp: u32,
    /// The cell now refers to a set of readers.
    opens_set: bool,
}

/// Gives nothing if the bytes need more than an event.
fn record(thread: &Thread, cell: &Cell, shape: u32, access: &Access) -> Option<Met> {
    is_settled(thread, access.address, cell.state())
        .then(|| record_settled(thread, cell, shape, access, frames::context(thread)))
        .flatten()
}

fn record_settled(
    thread: &Thread,
    cell: &Cell,
    shape: u32,
    access: &Access,
    context: Context,
) -> Option<Met> {
    let state = cell.state();
    let is_own = state & THREAD_MASK == thread.number() as u32;
    let opens_set = state & SOLE == 0 && access.kind == Kind::Read;
    let said = cell.says();
    let is_unwritten = state & SOLE != 0 && said[0] as u32 == 0;
    if is_unwritten {
        return None;
    }
    let (past, not_before) = if state & SOLE == 0 && (is_own || opens_set) {
        // The last write is recorded, and so is the read that made this state.
        (Pasts::NONE, cell.read_site.load(Relaxed))
    } else {
        (past_of_owner(said), 0)
    };
    let stamp = tell(thread, access, context, &past, not_before);
    if opens_set {
        open_set(thread, cell, access.address, shape, access.site, false);
    } else {
        leave_mark(thread, cell, shape, access, stamp);
    }
    Some(Met { said, past, not_before, stamp, opens_set })
}

/// Nothing needs to be said of the bytes themselves: they were shared before, or their block is known.
fn is_settled(thread: &Thread, address: u64, state: u32) -> bool {
    state & SHARED != 0 || heap::is_settled(thread, address)
}

#[inline(always)]
fn tell(thread: &Thread, access: &Access, context: Context, past: &Pasts, not_before: u32) -> u32 {
    let Access { kind, flags, address, bytes, site } = *access;
    let told = Told { kind, flags: flags & !MAY_LOCK, site, context, address, bytes };
    stream::tell(thread, &told, past, not_before)
}

/// The thread was the last to touch the bytes, which is recorded under this stamp.
#[inline(always)]
pub(super) fn leave_mark(thread: &Thread, cell: &Cell, shape: u32, access: &Access, stamp: u32) {
    let time = thread.hot().time.get();
    let shared = thread.number() as u32 | SHARED | shape;
    if access.writes() {
        cell.set_write(access.site, time);
        cell.read_site.store(RECORDED, Relaxed);
        let end_of_life = if access.flags & access_flags::FREE != 0 { FREED } else { 0 };
        cell.set_state(shared | SOLE | end_of_life);
    } else {
        cell.set_guest_read(access.site, time);
        cell.read_site.store(stamp, Relaxed);
        cell.set_state(shared);
    }
}
