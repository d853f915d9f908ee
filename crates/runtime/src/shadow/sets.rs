//! Sets of readers: made when a second thread reads, taken apart when somebody writes.

use core::sync::atomic::Ordering::*;
use unpick_events::file::lost;

use super::cell::{BYTES_SHIFT, Cell, INDIRECT, THREAD_MASK};
use super::pool::{self, Readers, SLOTS, readers};
use super::recent;
use crate::thread::Thread;

/// Turns a cell that names one reader into a set of that reader and this thread.
pub(super) fn open_set(
    thread: &Thread,
    cell: &Cell,
    address: u64,
    shape: u32,
    site: u32,
    unwritten: bool,
) {
    let Some(index) = thread.free_readers.take(&pool::READERS) else {
        return thread.recorder.mark_lost(lost::MEMORY);
    };
    let set = readers(index);
    set.next.store(0, Relaxed);
    set.home.store((cell.state() & THREAD_MASK) as u16, Relaxed);
    set.unwritten.store(unwritten as u8, Relaxed);
    set.shape.store((shape >> BYTES_SHIFT) as u8, Relaxed);
    set.slots.iter().for_each(|slot| slot.thread.store(0, Relaxed));
    set.address.store(address, Relaxed);
    add_reader(thread, set, site);
    recent::note(thread.hot(), index, address, shape, site);
    cell.set_state(INDIRECT | index);
}

pub(super) fn add_reader(thread: &Thread, set: &'static Readers, site: u32) {
    let mut block = set;
    let me = thread.number();
    loop {
        for step in 0..SLOTS {
            let slot = &block.slots[(me as usize + step) % SLOTS];
            if slot.thread.load(Relaxed) == 0 {
                slot.site.store(site, Relaxed);
                slot.time.store(thread.hot().time.get() as u16, Relaxed);
                slot.thread.store(me, Release);
                return;
            }
        }
        if block.next.load(Relaxed) == 0 && !extend(thread, block) {
            return;
        }
        block = readers(block.next.load(Relaxed));
    }
}

pub(super) fn extend(thread: &Thread, block: &Readers) -> bool {
    let Some(index) = thread.free_readers.take(&pool::READERS) else {
        thread.recorder.mark_lost(lost::MEMORY);
        return false;
    };
    let more = readers(index);
    more.next.store(0, Relaxed);
    more.slots.iter().for_each(|slot| slot.thread.store(0, Relaxed));
    block.next.store(index, Release);
    true
}

pub(super) fn copy_readers(thread: &Thread, from: u32, shape: u32) -> Option<u32> {
    let index = thread.free_readers.take(&pool::READERS)?;
    let (old, new) = (readers(from), readers(index));
    new.home.store(old.home.load(Relaxed), Relaxed);
    new.unwritten.store(old.unwritten.load(Relaxed), Relaxed);
    new.shape.store((shape >> BYTES_SHIFT) as u8, Relaxed);
    for (a, b) in old.slots.iter().zip(&new.slots) {
        b.site.store(a.site.load(Relaxed), Relaxed);
        b.time.store(a.time.load(Relaxed), Relaxed);
        b.thread.store(a.thread.load(Relaxed), Relaxed);
    }
    let next = match old.next.load(Relaxed) {
        0 => 0,
        next => copy_readers(thread, next, shape)?,
    };
    new.next.store(next, Relaxed);
    Some(index)
}

pub(super) fn give_back_readers(thread: &Thread, first: u32) {
    recent::clear_all(first);
    let mut index = first;
    while index != 0 {
        let next = readers(index).next.load(Relaxed);
        thread.free_readers.give_back(&pool::READERS, index);
        index = next;
    }
}

pub(super) fn next_block(block: &Readers) -> Option<&'static Readers> {
    match block.next.load(Acquire) {
        0 => None,
        next => Some(readers(next)),
    }
}
