//! What an event lists of the threads a cell knows, however many they are.

use core::mem::MaybeUninit;
use core::sync::atomic::Ordering::*;
use unpick_events::access::PastKind;

use super::cell::*;
use super::pool::Readers;
use crate::stream::{LastAccess, Pasts};

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
        self.push(LastAccess { kind, thread, time, site });
    }

    fn push(&mut self, access: LastAccess) {
        if let Some(place) = self.list.get_mut(self.count) {
            place.write(access);
            self.count += 1;
        }
    }

    /// The last read of the first thread of a set, unless that is `me`; before it a write that came late, if there is one.
    pub fn add_home(&mut self, cell: &Cell, set: &Readers, me: u16) {
        let home = set.home.load(Relaxed);
        if home == me {
            return;
        }
        // One look at both sites: a write that comes late removes the read before it, but one of them is there.
        let Said { write_site, read_site, write_time, read_time, .. } = Said::of(cell.says());
        if set.unwritten.load(Relaxed) == 0 {
            return self.add(PastKind::Read, home, write_site, write_time);
        }
        if write_site != 0 {
            self.add(PastKind::Write, home, write_site, write_time);
        }
        if read_site != 0 {
            self.add(PastKind::Read, home, read_site, read_time);
        }
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

/// The parts of what a cell says.
struct Said {
    write_site: u32,
    read_site: u32,
    write_time: u16,
    read_time: u16,
    state: u32,
}

impl Said {
    #[inline(always)]
    fn of(said: [u64; 2]) -> Said {
        Said {
            write_site: said[0] as u32,
            read_site: (said[0] >> 32) as u32,
            write_time: (said[1] >> 16) as u16,
            read_time: said[1] as u16,
            state: (said[1] >> 32) as u32,
        }
    }
}

/// What an event says of the one thread a cell names, by what the cell says.
#[inline(always)]
pub(super) fn past_of_owner(said: [u64; 2]) -> Pasts {
    let Said { write_site, read_site, write_time, read_time, state } = Said::of(said);
    let thread = state as u16;
    if state & FREED != 0 {
        return Pasts::one(PastKind::Free, thread, write_site, write_time);
    }
    if state & SOLE == 0 {
        return Pasts::one(PastKind::Read, thread, write_site, write_time);
    }
    match (write_site, read_site) {
        (0, 0 | RECORDED) => Pasts::NONE,
        (0, _) => Pasts::one(PastKind::Read, thread, read_site, read_time),
        (_, 0) => Pasts::one(PastKind::Write, thread, write_site, write_time),
        (_, RECORDED) => Pasts::recorded(thread, write_site, write_time),
        _ => Pasts::write_and_read(thread, said[0], (write_time, read_time)),
    }
}
