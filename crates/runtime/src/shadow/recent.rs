//! The last reads of each thread from bytes that have several readers.
//!
//! Readers of the same bytes on different cores must not write to one cache line at every read. So each thread
//! has an array of its own, with a place for every set of readers there can be (memory is used only where it
//! was touched), and its slot in the set is brought up to date only when somebody needs it: `settle`.
//! A place that is not 0 is newer than the slot, and says that the thread is a member: it is cleared when the set
//! is given back.
//!
//! ```text
//! 63     56 55     48 47          32 31            0
//! +--------+---------+--------------+---------------+
//! | check  |  shape  |     time     |     site      |
//! +--------+---------+--------------+---------------+
//! ```
//!
//! `check` are some bits of the address: a thread that races with a write may note its read right after its
//! place was cleared, and must not take itself for a member of the next set with that number.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::*};

use super::cell::{BYTES_SHIFT, Cell, INDEX_MASK, INDIRECT};
use super::granule::Granule;
use super::pool::{self, Readers, byte_cells, readers};
use super::region;
use super::sets::next_block;
use super::shapes::is_per_byte;
use crate::sys;
use crate::thread::{Hot, Thread, thread_with_number};

/// A thread's last reads, by the number of the set.
pub type LastReads = *const AtomicU64;

const ARRAY_BYTES: usize = (INDEX_MASK as usize + 1) * size_of::<AtomicU64>();

/// An array for a new thread; null if there is no memory.
pub fn map_array() -> LastReads {
    sys::map_private(None, ARRAY_BYTES)
        .map_or(core::ptr::null(), |memory| memory.cast_const().cast())
}

fn place(array: LastReads, index: u32) -> Option<&'static AtomicU64> {
    // SAFETY: an array that is not null has a place for every index and is never unmapped.
    (!array.is_null()).then(|| unsafe { &*array.add((index & INDEX_MASK) as usize) })
}

/// The part of a place that tells which bytes it is about.
#[inline(always)]
fn subject(address: u64, shape: u32) -> u64 {
    (address >> 3 & 0xff) << 56 | ((shape >> BYTES_SHIFT) as u64) << 48
}

const SUBJECT_MASK: u64 = 0xffff << 48;

/// Notes a read by a member of the set number `index`.
pub fn note(hot: &Hot, index: u32, address: u64, shape: u32, site: u32) {
    if let Some(place) = place(hot.last_reads.get(), index) {
        place.store(
            subject(address, shape) | (hot.time.get() as u16 as u64) << 32 | site as u64,
            Relaxed,
        );
    }
}

/// Notes a read if the thread has noted one of the same bytes in the same set before.
#[inline(always)]
pub fn note_again(hot: &Hot, index: u32, address: u64, shape: u32, site: u32) -> bool {
    // SAFETY: a thread that is known has an array, with a place for every index, which is never unmapped.
    let place = unsafe { &*hot.last_reads.get().add((index & INDEX_MASK) as usize) };
    let subject = subject(address, shape);
    if place.load(Relaxed) & SUBJECT_MASK != subject {
        return false;
    }
    place.store(subject | (hot.time.get() as u16 as u64) << 32 | site as u64, Relaxed);
    true
}

/// What a thread noted in the set number `index` is of no use any more.
fn clear(number: u16, index: u32) {
    if let Some(thread) = thread_with_number(number)
        && let Some(place) = place(thread.last_reads.get(), index)
        && place.load(Relaxed) != 0
    {
        place.store(0, Relaxed);
    }
}

/// Brings all slots of a set up to date. The caller holds the lock of the granule.
pub fn settle(cell: &Cell, index: u32) {
    for_each_member(cell, index, |number, slot| {
        if let Some(thread) = thread_with_number(number) {
            slot.settle(place(thread.last_reads.get(), index));
        }
    });
}

/// The set is settled and changes its shape, or is given back: its members' places are cleared.
pub fn clear_all(index: u32) {
    clear(readers(index).home.load(Relaxed), index);
    let mut block = Some(readers(index));
    while let Some(here) = block {
        for slot in &here.slots {
            clear(slot.thread.load(Acquire), index);
        }
        block = next_block(here);
    }
}

fn for_each_member(cell: &Cell, index: u32, mut each: impl FnMut(u16, SlotView)) {
    let set = readers(index);
    each(set.home.load(Relaxed), home_slot(cell, set));
    let mut block = Some(set);
    while let Some(here) = block {
        for slot in &here.slots {
            let number = slot.thread.load(Acquire);
            if number != 0 {
                each(number, SlotView { site: &slot.site, time: &slot.time });
            }
        }
        block = next_block(here);
    }
}

/// Where a reader's last read is kept when it is settled: a slot of the set, or, for the first reader, fields of the cell.
#[derive(Clone, Copy)]
struct SlotView<'a> {
    site: &'a AtomicU32,
    time: &'a AtomicU16,
}

impl SlotView<'_> {
    fn settle(&self, place: Option<&AtomicU64>) {
        let Some(place) = place else { return };
        let last = place.load(Relaxed);
        if last != 0 {
            self.site.store(last as u32, Relaxed);
            self.time.store((last >> 32) as u16, Relaxed);
        }
    }
}

/// The first reader's place: the read fields as long as nobody has written, else the write fields.
fn home_slot<'a>(cell: &'a Cell, set: &Readers) -> SlotView<'a> {
    if set.unwritten.load(Relaxed) != 0 {
        SlotView { site: &cell.read_site, time: &cell.read_time }
    } else {
        SlotView { site: &cell.write_site, time: &cell.write_time }
    }
}

/// Whether the first reader has written since the set was made. It looked at the state when it was still alone, and stored its
/// site when others had come.
pub fn has_late_write(cell: &Cell, set: &Readers) -> bool {
    set.unwritten.load(Relaxed) != 0 && cell.write_site.load(Relaxed) != 0
}

/// Whether a thread is a member of a set.
pub fn is_member(set: &'static Readers, me: u16) -> bool {
    if set.home.load(Relaxed) == me {
        return true;
    }
    let mut block = Some(set);
    while let Some(here) = block {
        if here.slots.iter().any(|slot| slot.thread.load(Relaxed) == me) {
            return true;
        }
        block = next_block(here);
    }
    false
}

/// The thread ends and its array will serve another: the sets it is a member of must know its last reads.
pub fn leave_all(thread: &Thread) {
    let array = thread.last_reads.get();
    if array.is_null() {
        return;
    }
    let used =
        (pool::READERS.indices_so_far() as usize * size_of::<AtomicU64>()).next_multiple_of(PAGE);
    let mut present = [0_u8; PAGES_AT_ONCE];
    for start in (0..used).step_by(PAGES_AT_ONCE * PAGE) {
        let bytes = (used - start).min(PAGES_AT_ONCE * PAGE);
        sys::which_pages_are_present(array as usize + start, bytes, &mut present);
        for (page, _) in
            present[..bytes / PAGE].iter().enumerate().filter(|(_, flags)| **flags & 1 != 0)
        {
            leave_page(thread, array, (start / PAGE + page) * PLACES_IN_PAGE);
        }
    }
    sys::forget_pages(array as usize, used);
}

const PAGE: usize = 4096;
const PAGES_AT_ONCE: usize = 128;
const PLACES_IN_PAGE: usize = PAGE / size_of::<AtomicU64>();

fn leave_page(thread: &Thread, array: LastReads, first: usize) {
    for index in first..first + PLACES_IN_PAGE {
        if let Some(place) = place(array, index as u32)
            && place.load(Relaxed) != 0
        {
            leave(thread, index as u32, place);
        }
    }
}

/// Brings the thread's slot of one set up to date, if it is still a member.
fn leave(thread: &Thread, index: u32, place: &AtomicU64) {
    let Some(_busy) = thread.enter_quietly() else { return };
    let address = readers(index).address.load(Relaxed);
    let Some(_granule) = Granule::lock(thread, address) else { return };
    let cell = cell_of_byte(address);
    if cell.state() != INDIRECT | index {
        return;
    }
    for_each_member(cell, index, |number, slot| {
        if number == thread.number() {
            slot.settle(Some(place));
        }
    });
}

/// The cell that speaks of the byte at `address`, be it alone or with its neighbours.
fn cell_of_byte(address: u64) -> &'static Cell {
    let cell = region::cell(address);
    if is_per_byte(cell.state()) {
        &byte_cells(cell.state() & INDEX_MASK)[address as usize & 3]
    } else {
        cell
    }
}
