//! The stories a thread told lately, and the last event of each.

use unpick_events::header::Header;
use unpick_events::kind::access_flags;

use super::pasts::Pasts;
use crate::thread::Thread;

/// The last event that was told of a story.
#[derive(Clone, Copy)]
pub struct Slot {
    pub story: Story,
    pub era: u32,
    /// Of the latest event in this era: where it was, and the ordinal of its first past.
    pub object: u64,
    pub ordinal: u32,
    pub period: u32,
    /// Low bits of the ordinals of the pasts that are listed.
    pub times: u32,
    pub stamp: u32,
    /// As in `Pasts`.
    pub recorded: u64,
    /// The latest event in this era.
    pub event: *mut u64,
    /// Its word of LONG, if it has one.
    pub long: *mut u64,
    /// Start of the last element.
    pub last: u64,
    /// From element to element.
    pub step: i64,
}

/// What two events have in common if one of them can be told short: all but where and when, packed to be compared fast.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Story {
    /// Site; context.
    pub code: u64,
    /// Sites of the past accesses that are listed.
    pub past_sites: u64,
    /// Threads of those; flags; unit; kind; kinds of those.
    pub rest: u64,
}

/// A loop over memory has a few sites, which should not share a place. Numbers of slots have eight bits, and 0 is none.
pub const SLOTS: usize = 128;
pub const NO_SLOT: Slot = Slot {
    story: Story { code: 0, past_sites: 0, rest: 0 },
    era: 0,
    object: 0,
    ordinal: 0,
    period: 0,
    times: 0,
    stamp: 0,
    recorded: 0,
    event: core::ptr::null_mut(),
    long: core::ptr::null_mut(),
    last: 0,
    step: 0,
};

impl Story {
    #[inline(always)]
    pub fn of(header: &Header, past: &Pasts) -> Story {
        let flags = header.flags & !access_flags::CONTINUED;
        Story {
            code: header.site.0 as u64 | (header.context.0 as u64) << 32,
            past_sites: past.sites,
            rest: past.who
                | (flags as u64) << 32
                | (header.unit as u64) << 44
                | (header.kind as u64) << 52,
        }
    }

    #[inline(always)]
    fn hash(&self) -> u32 {
        let code = self.code as u32 ^ (self.code >> 32) as u32;
        let past = (self.past_sites as u32).rotate_left(16) ^ (self.rest as u32).rotate_left(8);
        (code ^ past ^ (self.rest >> 52) as u32).wrapping_mul(0x9e37_79b1)
    }
}

/// A site may touch several kinds of things in turn (the fields of a struct it copies): each has its own past.
#[allow(clippy::mut_from_ref)]
pub fn slot_for<'t>(thread: &'t Thread, story: &Story) -> (&'t mut Slot, u8) {
    let index = story.hash() >> (32 - SLOTS.trailing_zeros());
    // SAFETY: only the busy thread itself comes here, and not again before it is done with this one.
    (unsafe { &mut (*thread.stream.slots.get())[index as usize] }, index as u8 + 1)
}

/// The slot with this number, which is not 0.
#[allow(clippy::mut_from_ref)]
pub fn numbered(thread: &Thread, number: u8) -> &mut Slot {
    // SAFETY: as in `slot_for`.
    unsafe { &mut (*thread.stream.slots.get())[(number as usize).wrapping_sub(1) % SLOTS] }
}
