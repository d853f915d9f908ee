//! What a hook tries, in turn, when an access did not pass in silence, before it calls `touch`. The thread is busy.

use unpick_events::Kind;

use super::cell::{GRANULE, INDIRECT, KEPT};
use super::meet::{meet, meet_byte, meet_span};
use super::region::{lower_cell, upper_of};
use super::silent::{claim, claim_byte, span_silently};
use super::touch::{Access, bytes_of};
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
