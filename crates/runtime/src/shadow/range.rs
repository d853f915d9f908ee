//! Many bytes at once: library calls that copy, blocks that are freed, memory that begins a new life.
//!
//! Whole granules that concern nobody else pass in silence, as in `silent`; granules of which nothing is known are
//! taken with one short lock each, as are those that another thread touched last (`meet_run`); only the rest goes through
//! `touch`, in stretches as long as possible.

use core::sync::atomic::Ordering::Relaxed;
use unpick_events::Kind;
use unpick_events::kind::access_flags;

use super::cell::{Cell, FREED, GRANULE, INDIRECT, LOCKED, SHAPE_MASK, SOLE, SPLIT, may_be_split};
use super::granule::Granule;
use super::meet::meet_run;
use super::quick::note_span;
use super::region::{BYTES_PER_PAGE, lower_cell, mark_touched, shadow_of, touched_bit, upper_of};
use super::silent::{become_sole, read_among_readers, span_silently};
use super::touch::{self, Access, touch};
use crate::sys;
use crate::thread::{Hot, Thread};

/// Longer accesses cannot be meant: the program is about to crash, and we must not keep it from doing so.
const LONGEST: u64 = 1 << 40;
/// Bytes that nobody touched before they are freed are marked as freed too, but only so many of a block.
const MOST_MARKED_UNTOUCHED: u64 = 128;
/// From here on, pages of cells are given back to the system, not cleared.
const GIVEN_BACK: u64 = 4 << 20;

/// Up to this many bytes are better looked at one by one than walked through granule by granule.
pub const FEW: u64 = 16;

/// Notes an access of any length.
pub fn touch_range(thread: &Thread, access: &Access) {
    if access.bytes <= FEW {
        let Access { address, bytes, site, .. } = *access;
        if !span_silently(thread.hot(), address, bytes, site, access.writes()) {
            touch_few(thread, *access);
        }
        return;
    }
    let began = thread.hot().time.get();
    if access.kind == Kind::Read {
        walk(thread, access, began, u64::MAX, |at, last| {
            read_run(thread.hot(), at, last, access.site)
        });
    } else {
        walk(thread, access, began, u64::MAX, |at, last| {
            write_run(thread.hot(), at, last, access.site)
        });
    }
}

/// Notes an access to a few bytes that did not pass in silence.
pub fn touch_few(thread: &Thread, mut access: Access) {
    let is_noted = thread.enter_quietly().is_some_and(|_busy| note_span(thread, &mut access));
    if !is_noted {
        touch(thread, &access);
    }
}

/// Reads granules in silence, from `at` on, as far as that goes; gives the first where it did not.
#[inline(always)]
fn read_run(hot: &Hot, mut at: u64, last: u64, site: u32) -> u64 {
    let (key, kept, time) = (hot.key.get() | GRANULE, hot.kept.get(), hot.time.get());
    while at < last {
        let cell = lower_cell(at);
        let state = cell.raw_state() & kept;
        if state == key {
            cell.set_read(site, time);
        } else if state == key & !SOLE {
            cell.set_guest_read(site, time);
        } else if !read_among_readers(hot, at, GRANULE, site)
            && !span_silently(hot, at, 8, site, false)
        {
            break;
        }
        at += 8;
    }
    at
}

/// As `read_run`, for writes.
#[inline(always)]
fn write_run(hot: &Hot, mut at: u64, last: u64, site: u32) -> u64 {
    let (key, kept, time) = (hot.key.get() | GRANULE, hot.kept.get(), hot.time.get());
    while at < last && lower_cell(at).raw_state() & kept == key {
        lower_cell(at).set_write(site, time);
        at += 8;
    }
    at
}

/// Notes the end of a block: `access` is its last write. Bytes that nobody but the thread has touched are left
/// as they are; the block's facts say that it is freed.
pub fn free(thread: &Thread, access: &Access) {
    if access.bytes > LONGEST {
        return;
    }
    let bytes = access.bytes.next_multiple_of(8);
    let began = thread.hot().time.get();
    let marked_end = access.address.saturating_add(MOST_MARKED_UNTOUCHED);
    let quiet = thread.number() as u32 | SOLE;
    let is_quiet = |state: u32| {
        let state = state & !(SHAPE_MASK | SPLIT);
        state == 0 || state == quiet
    };
    let pass_run = |mut at: u64, last: u64| {
        while at < last {
            let lower = lower_cell(at).raw_state();
            let is_passing = if lower == 0 {
                at >= marked_end
            } else {
                is_quiet(lower)
                    && (!may_be_split(lower) || is_quiet(upper_of(lower_cell(at)).raw_state()))
            };
            if !is_passing {
                break;
            }
            at += 8;
        }
        at
    };
    each_touched_part(access.address, access.address.saturating_add(bytes), |from, end| {
        let part = Access { address: from, bytes: end - from, ..*access };
        walk(thread, &part, began, marked_end, pass_run);
    });
}

/// Goes through an access granule by granule. `pass_run` notes whole granules that pass in silence, as many as follow
/// each other, and gives the first that does not. Granules of which nothing is known are taken only before `taken_end`.
/// `began`: the thread's time when the access, of which this may be a part, began.
#[inline(always)]
fn walk(
    thread: &Thread,
    access: &Access,
    began: u32,
    taken_end: u64,
    pass_run: impl Fn(u64, u64) -> u64,
) {
    if access.bytes == 0 || access.bytes > LONGEST {
        return;
    }
    let end = access.address.saturating_add(access.bytes);
    let (first, last) = (access.address.saturating_add(7) & !7, end & !7);
    let mut rest = Rest { thread, access, from: access.address, began };
    let mut at = first;
    while at < last {
        let mut next = pass_run(at, last);
        if next == at {
            next = if is_untouched(at) {
                take_untouched(thread, access, at, last.min(taken_end))
            } else {
                rest.note_until(at);
                meet_run(thread, &rest.part_at(at), last)
            };
        }
        if next > at {
            rest.note_until(at);
            rest.from = next;
        }
        at = next.max(at + 8);
    }
    rest.note_until(end);
}

fn is_untouched(at: u64) -> bool {
    lower_cell(at).raw_state() == 0
}

/// The part of an access that did not pass in silence and is not noted yet.
struct Rest<'a> {
    thread: &'a Thread,
    access: &'a Access,
    from: u64,
    /// The thread's time when the access began: if it is another now, part of the access has been recorded.
    began: u32,
}

impl Rest<'_> {
    #[inline(always)]
    fn note_until(&mut self, end: u64) {
        if self.from < end {
            self.note_stretch(end);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_stretch(&mut self, end: u64) {
        let stretch = Access { bytes: end - self.from, ..self.part_at(self.from) };
        self.from = end;
        if stretch.bytes <= FEW {
            touch_few(self.thread, stretch);
        } else {
            touch(self.thread, &stretch);
        }
    }

    /// The access from `at` on.
    fn part_at(&self, at: u64) -> Access {
        let is_recorded = self.thread.hot().time.get() != self.began;
        let more = if is_recorded { access_flags::CONTINUED } else { 0 };
        Access { address: at, flags: self.access.flags | more, ..*self.access }
    }
}

/// Takes granules of which nothing is known, from `first` on. Gives the first that was not taken.
#[inline(never)]
fn take_untouched(thread: &Thread, access: &Access, first: u64, last: u64) -> u64 {
    let freed = if access.flags & access_flags::FREE != 0 { FREED } else { 0 };
    let mut at = first;
    if let Some(_busy) = thread.enter() {
        while at < last && is_untouched(at) && take_one(thread, access, at, GRANULE | freed) {
            at += 8;
        }
    }
    at
}

fn take_one(thread: &Thread, access: &Access, at: u64, shape: u32) -> bool {
    let Some(granule) = Granule::try_lock(thread, at) else { return false };
    if granule.low.raw_state() != LOCKED {
        return false;
    }
    mark_touched(at);
    become_sole(thread, granule.low, shape, access.site, access.writes());
    true
}

/// Forgets everything about a range: its bytes begin a new life. The thread is busy.
pub fn forget(thread: &Thread, address: u64, bytes: u64) {
    if bytes > LONGEST {
        return;
    }
    let (from, end) = (address & !7, address.saturating_add(bytes));
    let (first_page, last_page) = whole_pages(from, end);
    each_touched_part(from, end, |from, end| {
        if end - from < GIVEN_BACK {
            forget_cells(thread, from, end);
        } else {
            give_blocks_back(thread, from, end);
            let (halves, bytes) = shadow_of(from, end - from);
            halves.into_iter().for_each(|start| sys::forget_pages(start, bytes));
        }
    });
    mark_untouched(first_page, last_page);
}

/// Nobody uses these bytes while they begin a new life, so plain cells are cleared without a lock; what a thread does
/// that wrongly uses them at this very moment may be lost.
fn forget_cells(thread: &Thread, from: u64, end: u64) {
    let mut at = from;
    while at < end {
        let lower = lower_cell(at);
        let state = lower.raw_state();
        if state & (INDIRECT | LOCKED) != 0 {
            touch::forget(thread, at, 8);
        } else if may_be_split(state) {
            forget_both(thread, at, lower);
        } else if state != 0 {
            lower.set_state(0);
        }
        at += 8;
    }
}

fn forget_both(thread: &Thread, at: u64, lower: &Cell) {
    let upper = upper_of(lower);
    if upper.raw_state() & INDIRECT != 0 {
        return touch::forget(thread, at, 8);
    }
    upper.set_state(0);
    lower.set_state(0);
}

/// Before pages of cells are dropped: blocks that cells refer to would be lost.
fn give_blocks_back(thread: &Thread, from: u64, end: u64) {
    let mut at = from;
    while at < end {
        let lower = lower_cell(at).raw_state();
        let upper = if may_be_split(lower) { upper_of(lower_cell(at)).raw_state() } else { 0 };
        if (lower | upper) & (INDIRECT | LOCKED) != 0 {
            touch::forget(thread, at, 8);
        }
        at += 8;
    }
}

/// The part of a range whose cells fill whole pages.
fn whole_pages(from: u64, end: u64) -> (u64, u64) {
    let first = from.next_multiple_of(BYTES_PER_PAGE).min(end);
    (first, (end & !(BYTES_PER_PAGE - 1)).max(first))
}

/// Visits a range, but for pages of cells that nobody touched since they were last forgotten.
fn each_touched_part(from: u64, end: u64, mut visit: impl FnMut(u64, u64)) {
    let (first_page, last_page) = whole_pages(from, end);
    if first_page == last_page {
        return visit(from, end);
    }
    visit(from, first_page);
    let mut at = first_page;
    while at < last_page {
        let (word, bit) = touched_bit(at);
        let bits = word.load(Relaxed) >> bit;
        if bits & 1 == 0 {
            at += (bits.trailing_zeros().min(64 - bit)) as u64 * BYTES_PER_PAGE;
            continue;
        }
        let run_end = (at + (!bits).trailing_zeros() as u64 * BYTES_PER_PAGE).min(last_page);
        visit(at, run_end);
        at = run_end;
    }
    visit(last_page, end);
}

/// Nothing is known of these whole pages any more.
fn mark_untouched(first_page: u64, last_page: u64) {
    let mut at = first_page;
    while at < last_page {
        let (word, low) = touched_bit(at);
        let pages = ((last_page - at) / BYTES_PER_PAGE).min(64 - low as u64);
        let mask = (u64::MAX >> (64 - pages)) << low;
        if word.load(Relaxed) & mask != 0 {
            word.fetch_and(!mask, Relaxed);
        }
        at += pages * BYTES_PER_PAGE;
    }
}
