//! What a hook tries, in turn, when an access did not pass in silence, before it calls `touch`. The thread is busy.

use unpick_events::Kind;

use super::cell::{GRANULE, INDIRECT, KEPT, QUAD, SOLE};
use super::meet::{meet, meet_byte, meet_locked, meet_span};
use super::region::{lower_cell, upper_of};
use super::shapes::bytes_of;
use super::silent::{cell_of, claim, claim_byte, span_silently};
use super::touch::{Access, MAY_LOCK};
use crate::thread::Thread;

/// Four or eight aligned bytes.
pub fn note_aligned(thread: &Thread, address: u64, shape: u32, site: u32, kind: Kind) -> bool {
    is_allowed(thread)
        && (claim(thread, address, shape, site, kind == Kind::Write)
            || meet(thread, address, shape, site, kind)
            || kind == Kind::Read && read_in_parts(thread, address, shape, site))
}

/// A few bytes of any alignment, of which some did not pass in silence. If it gives up, `access` is what is left of it.
pub fn note_span(thread: &Thread, access: &mut Access) -> bool {
    is_allowed(thread) && meet_span(thread, access)
}

/// An atomic access in a granule that is locked. What may be a step of a lock is left to `touch` where nobody else is
/// concerned.
pub(super) fn note_atomic(thread: &Thread, access: &Access) -> bool {
    let shape = match (access.bytes, access.address & 7) {
        (8, 0) => GRANULE,
        (4, 0 | 4) => QUAD,
        _ => return false,
    };
    is_allowed(thread)
        && (access.flags & MAY_LOCK == 0 && note_own(thread, shape, access)
            || meet_locked(thread, shape, access))
}

/// The thread is the last writer, and nobody has come since.
fn note_own(thread: &Thread, shape: u32, access: &Access) -> bool {
    let mine = cell_of(access.address, shape);
    let is_own = mine.state() & KEPT == thread.number() as u32 | SOLE | shape;
    if is_own {
        mine.set_access(access.site, thread.hot().time.get(), access.writes());
    }
    is_own
}

pub fn note_byte(thread: &Thread, address: u64, site: u32, kind: Kind) -> bool {
    is_allowed(thread)
        && (claim_byte(thread, address, site, kind == Kind::Write)
            || meet_byte(thread, address, site, kind))
}

/// Neither is every access to shared bytes recorded nor are delays wanted there.
pub fn is_allowed(thread: &Thread) -> bool {
    thread.hot().kept.get() == KEPT
}

/// Bytes that several cells speak of, all of which know the thread. If the cells say the same now, `touch` makes them one.
fn read_in_parts(thread: &Thread, address: u64, shape: u32, site: u32) -> bool {
    span_silently(thread.hot(), address, bytes_of(shape), site, false)
        && !(shape == GRANULE && halves_agree(address))
}

fn halves_agree(address: u64) -> bool {
    let lower = lower_cell(address);
    let upper = upper_of(lower);
    (lower.raw_state() | upper.raw_state()) & INDIRECT == 0 && lower.says_the_same(upper)
}
