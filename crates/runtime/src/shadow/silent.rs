//! Accesses that concern nobody but the thread that makes them: the fast path of every hook.
//!
//! No lock is taken, and only fields are written that are the thread's own: see `cell`.

use core::sync::atomic::Ordering::Relaxed;

use super::cell::{BYTES_SHIFT, INDEX_MASK, LOCKED, SOLE};
use super::pool;
use super::region::cell;
use super::recent;
use super::touch::is_readers;
use crate::thread::Hot;

/// Whether a read of exactly the bytes of `shape` passes in silence; if so it is noted.
///
/// Before the thread is known there may be no shadow to look at.
#[inline(always)]
pub fn read_silently(hot: &Hot, address: u64, shape: u32, site: u32) -> bool {
    let key = hot.key.get();
    if key == 0 {
        return false;
    }
    let cell = cell(address);
    let state = cell.raw_state() & hot.kept.get();
    let key = key | shape;
    if state == key {
        cell.set_read(site, hot.time.get());
        return true;
    }
    if state == key & !SOLE {
        cell.set_guest_read(site, hot.time.get());
        return true;
    }
    false
}

/// As `read_silently`, for a write.
#[inline(always)]
pub fn write_silently(hot: &Hot, address: u64, shape: u32, site: u32) -> bool {
    let key = hot.key.get();
    if key == 0 {
        return false;
    }
    let cell = cell(address);
    if cell.raw_state() & hot.kept.get() != key | shape {
        return false;
    }
    cell.set_write(site, hot.time.get());
    true
}

/// A further read by one of several readers also passes in silence.
#[inline]
pub fn read_among_readers(hot: &Hot, address: u64, shape: u32, site: u32) -> bool {
    if hot.key.get() == 0 || hot.kept.get() == !0 {
        return false;
    }
    let cell = cell(address);
    let state = cell.raw_state();
    if !is_readers(state) || state & LOCKED != 0 {
        return false;
    }
    let set = pool::readers(state & INDEX_MASK);
    if (set.shape.load(Relaxed) as u32) << BYTES_SHIFT != shape {
        return false;
    }
    let is_member = recent::is_member(set, hot.key.get() as u16);
    if is_member {
        recent::note(hot, state & INDEX_MASK, site);
    }
    is_member
}
