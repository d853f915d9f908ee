//! What an event lists of the threads a cell knows, however many they are.

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::*;
use unpick_events::access::PastKind;

use super::cell::*;
use super::pool::Readers;
use super::recent;
use crate::stream::{LastAccess, NO_PAST};

/// The past accesses that an event will list.
pub(super) struct PastList {
    /// Initialised up to `count`. Filling all of it each time would cost more than what is put in.
    list: [MaybeUninit<LastAccess>; Self::MOST],
    pub count: usize,
}

impl PastList {
    /// Small, because it lies on the program's stack; longer lists are recorded in parts.
    const MOST: usize = 16;

    pub fn new() -> Self {
        Self { list: [const { MaybeUninit::uninit() }; Self::MOST], count: 0 }
    }

    fn add(&mut self, kind: PastKind, thread: u16, site: u32, time: u16) {
        self.push(LastAccess { kind, is_recorded: false, thread, time, site });
    }

    fn push(&mut self, access: LastAccess) {
        if let Some(place) = self.list.get_mut(self.count) {
            place.write(access);
            self.count += 1;
        }
    }

    /// The last accesses of the one thread a cell names.
    pub fn add_owner(&mut self, cell: &Cell) {
        let state = cell.state();
        let owner = (state & THREAD_MASK) as u16;
        let (site, time) = (cell.write_site.load(Relaxed), cell.write_time.load(Relaxed));
        if state & FREED != 0 {
            return self.add(PastKind::Free, owner, site, time);
        }
        if state & SOLE == 0 {
            return self.add(PastKind::Read, owner, site, time);
        }
        for access in last_accesses(cell).into_iter().filter(|access| *access != NO_PAST) {
            self.push(access);
        }
    }

    /// The last read of the first thread of a set, unless that is `me`.
    pub fn add_home(&mut self, cell: &Cell, set: &Readers, me: u16) {
        let home = set.home.load(Relaxed);
        if home == me {
            return;
        }
        let slot = recent::home_slot(cell, set);
        self.add(PastKind::Read, home, slot.site.load(Relaxed), slot.time());
    }

    /// The last reads of the other threads in one block of a set.
    pub fn add_slots(&mut self, block: &Readers, me: u16) {
        for slot in &block.slots {
            let thread = slot.thread.load(Acquire);
            if thread != 0 && thread != me {
                self.add(PastKind::Read, thread, slot.site.load(Relaxed), slot.time.load(Relaxed));
            }
        }
    }

    pub fn has_no_room_for(&self, block: &Readers) -> bool {
        self.count + block.slots.len() > self.list.len()
    }

    pub fn as_slice(&self) -> &[LastAccess] {
        // SAFETY: `add` has initialised the first `count` entries, and no more than there are.
        unsafe { core::slice::from_raw_parts(self.list.as_ptr().cast(), self.count) }
    }
}

/// What an event would list of the owner: its last write, and its last read since.
fn last_accesses(cell: &Cell) -> [LastAccess; 2] {
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
