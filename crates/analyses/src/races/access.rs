//! An access as race detectors keep it: small, and enough to ask the recording for the rest.

use unpick_events::access::PastKind;
use unpick_events::{Context, Past, Site, ThreadId};
use unpick_recording::{AccessFlags, AccessKind, Action, Event};

use crate::locks_held::Moment;

const WRITES: u8 = 1;
const ATOMIC: u8 = 2;
const FREES: u8 = 4;
const LIBRARY: u8 = 8;
const PAST: u8 = 16;

/// The runtime keeps the low 16 bits of when a past access was made, and takes it for as late as it can be: the truth may be earlier
/// by a multiple of this.
pub const PAST_TURN: u32 = 1 << 16;

/// One access of a thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RaceAccess {
    pub thread: ThreadId,
    what: u8,
    pub site: Site,
    /// Unknown for an access without an event.
    pub context: Context,
    /// It was made before this event of its thread, and is the one that event tells of if it has an event. (Past accesses count
    /// their threads' events in 32 bits as well.)
    ordinal: u32,
}

impl RaceAccess {
    pub fn of_event(event: &Event<'_>, kind: AccessKind, flags: AccessFlags) -> RaceAccess {
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        RaceAccess {
            thread: event.thread,
            what: flag(kind != AccessKind::Read, WRITES)
                | flag(flags.is_atomic(), ATOMIC)
                | flag(flags.is_free(), FREES)
                | flag(flags.is_library(), LIBRARY),
            site: event.site,
            context: event.context,
            ordinal: u32::try_from(event.ordinal).unwrap_or(u32::MAX),
        }
    }

    /// A full recording tells of every atomic access: one that had no event was none.
    pub fn of_past(past: &Past) -> RaceAccess {
        let what = PAST
            | match past.kind {
                PastKind::Read => 0,
                PastKind::Write => WRITES,
                PastKind::Free => WRITES | FREES,
            };
        let Past { thread, site, ordinal, .. } = *past;
        RaceAccess { thread, what, site, context: Context(0), ordinal }
    }

    pub fn writes(&self) -> bool {
        self.what & WRITES != 0
    }

    pub fn is_atomic(&self) -> bool {
        self.what & ATOMIC != 0
    }

    pub fn is_library(&self) -> bool {
        self.what & LIBRARY != 0
    }

    pub fn kind(&self) -> PastKind {
        match () {
            () if self.what & FREES != 0 => PastKind::Free,
            () if self.writes() => PastKind::Write,
            () => PastKind::Read,
        }
    }

    pub fn moment(&self) -> Moment {
        Moment { thread: self.thread, ordinal: self.ordinal.into() }
    }

    /// Whether two accesses of different threads to the same bytes need an order: one writes, and not both are atomic.
    pub fn conflicts_with(&self, other: &RaceAccess) -> bool {
        (self.what | other.what) & WRITES != 0 && self.what & other.what & ATOMIC == 0
    }

    /// Whether both are by one thread, and do the same.
    pub fn is_alike(&self, other: &RaceAccess) -> bool {
        self.thread == other.thread && (self.what ^ other.what) & !PAST == 0
    }

    /// When it can have been made, if its thread's first event has this number: what is told first, the latest. One moment, unless it has no event and
    /// its thread has had more than `PAST_TURN`.
    pub fn moments(&self, first: u64) -> impl Iterator<Item = Moment> + use<> {
        let RaceAccess { thread, what, .. } = *self;
        let earlier = move |ordinal: &u64| {
            let earlier = ordinal.checked_sub(u64::from(PAST_TURN));
            earlier.filter(|earlier| what & PAST != 0 && *earlier >= first)
        };
        let ordinals = std::iter::successors(Some(u64::from(self.ordinal)), earlier);
        ordinals.map(move |ordinal| Moment { thread, ordinal })
    }

    /// Whether whatever conflicts with `earlier` conflicts with this one too.
    pub fn covers(&self, earlier: &RaceAccess) -> bool {
        (self.writes() || !earlier.writes()) && (!self.is_atomic() || earlier.is_atomic())
    }

    /// Whether `past`, as another event lists it, is this access or an earlier one of its thread.
    pub fn is_at_or_after(&self, past: &RaceAccess) -> bool {
        let apart = past.ordinal.wrapping_sub(self.ordinal).wrapping_sub(1);
        let is_same = self.site == past.site && apart.is_multiple_of(PAST_TURN);
        self.thread == past.thread && (is_same || self.ordinal >= past.ordinal)
    }
}

/// The stretches of bytes an access event tells of: lowest byte and length of each.
pub fn stretches(event: &Event<'_>) -> impl Iterator<Item = (u64, u64)> + use<> {
    let (start, length, count, step) = match event.action {
        Action::Access { address, length, count, step, .. } => (address.0, length, count, step),
        _ => (0, 0, 0, 0),
    };
    (0..i64::from(count))
        .map(move |number| (start.saturating_add_signed(number * i64::from(step)), length))
}
