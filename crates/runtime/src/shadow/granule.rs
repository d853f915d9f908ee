//! The lock of eight bytes of program memory: a bit in the lower of their two cells.

use core::sync::atomic::Ordering::*;
use unpick_events::file::{file_field, lost};

use super::cell::{Cell, INDIRECT, SPLIT};
use super::region::{lower_cell, upper_of};
use crate::sys;
use crate::thread::Thread;

/// Eight bytes of program memory, locked.
pub(super) struct Granule<'a> {
    thread: &'a Thread,
    pub low: &'static Cell,
    pub high: &'static Cell,
    /// The upper cell was in use when the lock was taken: no need to look at it for that.
    pub was_split: bool,
}

impl<'a> Granule<'a> {
    pub(super) fn lock(thread: &'a Thread, address: u64) -> Option<Self> {
        let low = lower_cell(address);
        let high = upper_of(low);
        thread.locked.store(core::ptr::from_ref(low).cast_mut(), Relaxed);
        let mut tries = 0_u32;
        loop {
            if let Some(state) = low.try_lock() {
                return Some(Self { thread, low, high, was_split: is_split(state) });
            }
            tries += 1;
            if tries == MOST_TRIES {
                return Self::give_up(thread);
            }
            if tries.is_multiple_of(64) { sys::yield_now() } else { core::hint::spin_loop() }
        }
    }

    /// Locks the granule if nobody else is in the way.
    #[inline(always)]
    pub(super) fn try_lock(thread: &'a Thread, address: u64) -> Option<Self> {
        let low = lower_cell(address);
        let high = upper_of(low);
        thread.locked.store(core::ptr::from_ref(low).cast_mut(), Relaxed);
        if let Some(state) = low.try_lock() {
            return Some(Self { thread, low, high, was_split: is_split(state) });
        }
        thread.locked.store(core::ptr::null_mut(), Relaxed);
        None
    }

    /// Whoever holds the lock was cancelled in the middle of a hook, or is kept from running by threads of
    /// higher priority. The program goes on without this access in the recording.
    #[cold]
    fn give_up(thread: &Thread) -> Option<Self> {
        thread.locked.store(core::ptr::null_mut(), Relaxed);
        thread.recorder.mark_lost(lost::STUCK);
        thread.recorder.add(file_field::DROPPED, 1);
        None
    }
}

/// Whether a raw state says so.
#[inline(always)]
fn is_split(state: u32) -> bool {
    state & (INDIRECT | SPLIT) == SPLIT
}

/// About a second of waiting for a lock bit that is normally held for some nanoseconds.
const MOST_TRIES: u32 = 1 << 20;

impl Drop for Granule<'_> {
    fn drop(&mut self) {
        self.low.unlock(|| self.was_split || self.high.raw_state() != 0);
        self.thread.locked.store(core::ptr::null_mut(), Relaxed);
    }
}
