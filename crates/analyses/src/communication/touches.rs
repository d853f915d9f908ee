//! The accesses of a recording to bytes that threads share, in the order they happened.
//!
//! Takes   a recording, and whose state its bytes are.      Gives  each access once, with the locations it touched.
//! Misses  locations that one thread alone touched, and state of libraries: neither communicates.
//! Cost    one walk over the events, then a few steps per access and location; 40 bytes per access.

use unpick_events::access::PastKind;
use unpick_events::{Context, Site, ThreadId};
use unpick_recording::Order;

use crate::access_pairs::LivedBytes;
use crate::code_tables::Process;

use super::entries::{Entries, Entry};
use super::lives::Lives;

/// Far more accesses than can be one; a bound only for files that lie.
const MOST_LOOKED_AT: usize = 64;

/// An access at one location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// The same for all parts of an access.
    pub order: Order,
    pub site: Site,
    pub stack: Context,
    /// Number of the location.
    pub location: u32,
    pub kind: PastKind,
}

/// All touches of a recording.
#[derive(Debug)]
pub struct Touches {
    entries: Entries,
    lives: Lives,
}

impl Touches {
    pub fn of(process: &Process<'_>) -> Touches {
        let mut entries = Entries::of(process.recording);
        let lives = Lives::of(&entries, process.knowledge);
        // Stable: of several with one place the first told comes first.
        entries.of_pasts.sort_by_key(|entry| entry.order);
        Touches { entries, lives }
    }

    pub fn location(&self, number: u32) -> LivedBytes {
        self.lives.lived_bytes(number)
    }

    /// Shows access by access: its touches, one per location.
    pub fn for_each_access(&self, mut look: impl FnMut(&[Touch])) {
        let mut turn = Turn::new(&self.lives);
        let (mut events, mut pasts) = (&self.entries.of_events[..], &self.entries.of_pasts[..]);
        while let Some(entry) = take_first(&mut events, &mut pasts) {
            if !turn.goes_on_with(entry) {
                turn.end(&mut look);
            }
            turn.take_in(entry);
        }
        turn.end(&mut look);
    }
}

/// The first of two lists in order.
fn take_first<'e>(events: &mut &'e [Entry], pasts: &mut &'e [Entry]) -> Option<&'e Entry> {
    let is_past_first = match (events.first(), pasts.first()) {
        (Some(event), Some(past)) => past.order < event.order,
        (event, _) => event.is_none(),
    };
    let from = if is_past_first { pasts } else { events };
    let (first, rest) = from.split_first()?;
    *from = rest;
    Some(first)
}

/// What one thread did without drawing a stamp. Parts of an access share their stamp, and nothing recorded stands between an access
/// and the last event before it: all that belongs together is in one turn.
struct Turn<'l> {
    lives: &'l Lives,
    stamp_and_thread: (u32, ThreadId),
    /// Each access to a location once, though several events can list it.
    touches: Vec<Touch>,
    /// Of each touch, in the order of their events.
    known: Vec<Known>,
    /// By location: one above the place of its last touch in `known`; 0 if there is none in this turn.
    last: Vec<u32>,
}

/// What tells whether two accesses to a location are one.
#[derive(Debug, Clone, Copy)]
struct Known {
    thread: ThreadId,
    order: Order,
    dynamic_access: Option<u64>,
    site: Site,
    kind: PastKind,
    /// The touch before it at the same location, as in `last`.
    before: u32,
}

impl<'l> Turn<'l> {
    fn new(lives: &'l Lives) -> Turn<'l> {
        Turn {
            lives,
            stamp_and_thread: (0, ThreadId(0)),
            touches: Vec::new(),
            known: Vec::new(),
            last: vec![0; lives.count()],
        }
    }

    fn goes_on_with(&self, entry: &Entry) -> bool {
        self.stamp_and_thread == (entry.order.stamp, entry.order.thread)
    }

    fn take_in(&mut self, entry: &Entry) {
        self.stamp_and_thread = (entry.order.stamp, entry.order.thread);
        let lives = self.lives;
        for &location in lives.bytes.of(entry.stretch) {
            if let Some(life) = lives.told_at(location, entry.reuses) {
                self.touch(entry, life);
            }
        }
    }

    fn touch(&mut self, entry: &Entry, location: u32) {
        let Entry { order, site, stack, thread, kind, .. } = *entry;
        let before = self.last[location as usize];
        let dynamic_access = entry.dynamic_access();
        let now = Known { thread, order, dynamic_access, site, kind, before };
        if !self.is_known(&now) {
            self.touches.push(Touch { order: entry.place(), site, stack, location, kind });
            self.known.push(now);
            self.last[location as usize] = self.known.len() as u32;
        }
    }

    fn is_known(&self, now: &Known) -> bool {
        let before = |known: &Known| self.known.get((known.before as usize).wrapping_sub(1));
        std::iter::successors(before(now), |known| before(known))
            .take(MOST_LOOKED_AT)
            .take_while(|earlier| are_neighbours(earlier, now))
            .any(|earlier| (earlier.site, earlier.kind) == (now.site, now.kind))
    }

    fn end(&mut self, look: &mut impl FnMut(&[Touch])) {
        self.touches.iter().for_each(|touch| self.last[touch.location as usize] = 0);
        self.known.clear();
        self.touches.sort_unstable_by_key(|touch| {
            (touch.order, touch.site, touch.kind as u8, touch.location)
        });
        let accesses = self.touches.chunk_by(|one, next| {
            (one.order, one.site, one.kind) == (next.order, next.site, next.kind)
        });
        accesses.for_each(look);
        self.touches.clear();
    }
}

/// Whether the two can be one: parts of one dynamic access, or nothing recorded between them.
fn are_neighbours(earlier: &Known, now: &Known) -> bool {
    if earlier.thread != now.thread {
        return false;
    }
    if now.dynamic_access.is_some() {
        return earlier.dynamic_access == now.dynamic_access;
    }
    let own_event = earlier.dynamic_access.is_some()
        && earlier.order.ordinal().saturating_add(1) == now.order.ordinal();
    earlier.order == now.order || own_event
}

#[cfg(test)]
mod tests;
