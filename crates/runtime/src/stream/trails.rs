//! The short cut to lengthening an access: a loop over memory comes to its next element.

use unpick_events::Context;

use super::slots::numbered;
use crate::thread::Thread;

/// Where the next element of a loop over memory is expected, and what is known of it: the short cut to lengthening.
#[derive(Clone, Copy)]
pub struct Trail {
    next: Element,
    period: u32,
    stamp: u32,
    step: i64,
    long: *mut u64,
    slot: u8,
}

/// An element of a loop over memory: exactly the bytes of one cell.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Element {
    pub address: u64,
    /// The cell's words before the access.
    pub said: [u64; 2],
    pub site: u32,
    pub context: Context,
    pub writes: bool,
}

/// As many loops as run at the same time, inside each other.
pub const TRAILS: usize = 16;
pub const NO_TRAIL: Trail = Trail {
    next: Element { address: 0, said: [0; 2], site: 0, context: Context(0), writes: false },
    period: 0,
    stamp: 0,
    step: 0,
    long: core::ptr::null_mut(),
    slot: 0,
};

/// Lengthens an access by `element`, if that is where a trail leads. Gives the stamp of the access.
#[inline]
pub fn follow_trail(thread: &Thread, element: &Element) -> Option<u32> {
    let trail = trail_for(thread, element);
    if trail.next != *element || trail.period != thread.stream.period.get() {
        return None;
    }
    // SAFETY: a trail of this period leads to a LONG event of the current chunk; see `lengthen`.
    let word = unsafe { &mut *trail.long };
    if *word as u32 > u32::MAX / 2 {
        return None;
    }
    *word += if *word >> 32 != 0 { 1 } else { trail.step as u64 };
    let slot = numbered(thread, trail.slot);
    if slot.long == trail.long {
        slot.last = element.address;
    }
    trail.next.address = element.address.wrapping_add_signed(trail.step);
    Some(trail.stamp)
}

/// `element` was just told: if it is part of a LONG event, the next one may follow.
#[inline]
pub fn leave_trail(thread: &Thread, element: &Element) {
    let number = thread.stream.last_slot.get();
    let slot = numbered(thread, number);
    if slot.long.is_null() || slot.period != thread.stream.period.get() {
        return;
    }
    *trail_for(thread, element) = Trail {
        next: Element { address: element.address.wrapping_add_signed(slot.step), ..*element },
        period: slot.period,
        stamp: slot.stamp,
        step: slot.step,
        long: slot.long,
        slot: number,
    };
}

#[allow(clippy::mut_from_ref)]
fn trail_for<'t>(thread: &'t Thread, element: &Element) -> &'t mut Trail {
    let hash = (element.site ^ (element.said[0] as u32).rotate_left(16)).wrapping_mul(0x9e37_79b1);
    let index = hash >> (32 - TRAILS.trailing_zeros());
    // SAFETY: as in `slot_for`.
    unsafe { &mut (*thread.stream.trails.get())[index as usize] }
}
