//! All accesses of a recording, as short as they can be told, from one walk over its events.
//!
//! Takes   a recording.      Gives  its accesses, those without an event apart; the stretches of bytes they touch; and when memory was
//!         reused. What follows from them is as in location histories (`unpick_recording::history`), which would take several walks
//!         or four times the memory.
//! Cost    40 bytes per access, of however many bytes.

use unpick_events::access::PastKind;
use unpick_events::{Address, Context, Past, Site, ThreadId};
use unpick_recording::history::HeapBlock;
use unpick_recording::{AccessKind, Action, Event, FrameEnds, Order, Recording};

use super::stamps::Stamps;
use super::stretches::{Stretch, Stretches};

/// An access.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    pub order: Order,
    pub site: Site,
    pub stack: Context,
    /// Number of the bytes it touches.
    pub stretch: u32,
    /// How often memory had been reused before the event that tells of it.
    pub reuses: u32,
    part: Part,
    pub thread: ThreadId,
    pub kind: PastKind,
    pub is_atomic: bool,
}

/// How many events of its thread lie between it and the first of the same dynamic access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Part(u32);

impl Part {
    const WITHOUT_EVENT: Part = Part(u32::MAX);

    fn after(first: u64, ordinal: u64) -> Part {
        Part(u32::try_from(ordinal.saturating_sub(first)).unwrap_or(u32::MAX).min(u32::MAX - 1))
    }
}

impl Entry {
    /// The event that began its dynamic access; none if it had no event.
    pub fn dynamic_access(&self) -> Option<u64> {
        let has_event = self.part != Part::WITHOUT_EVENT;
        has_event.then(|| self.order.ordinal().saturating_sub(self.part.0.into()))
    }

    /// Where the access stands, the same for all parts of it.
    pub fn place(&self) -> Order {
        let Some(first_part) = self.dynamic_access() else { return self.order };
        let read = Order::of_event(self.order.stamp, self.thread, first_part);
        if self.kind == PastKind::Read { read } else { read.just_after() }
    }
}

/// Memory that begins a new life.
#[derive(Debug, Clone, Copy)]
pub struct Reuse {
    /// Number of its bytes.
    pub stretch: u32,
    /// As part of this block; none if it is stack that is gone.
    pub block: Option<HeapBlock>,
}

/// The accesses of a recording.
#[derive(Debug)]
pub struct Entries {
    /// Those with events, in order.
    pub of_events: Vec<Entry>,
    /// Those without. In the order of the events that tell of them, until they are sorted.
    pub of_pasts: Vec<Entry>,
    pub reuses: Vec<Reuse>,
    pub stretches: Stretches,
    /// For each thread, the ordinal of the event that began its present dynamic access.
    first_parts: Vec<u64>,
    frame_ends: FrameEnds,
}

impl Entries {
    pub fn of(recording: &Recording) -> Entries {
        let highest = recording.threads().last().map_or(0, |thread| thread.id.0);
        let mut entries = Entries {
            of_events: Vec::new(),
            of_pasts: Vec::new(),
            reuses: Vec::new(),
            stretches: Stretches::default(),
            first_parts: vec![0; usize::from(highest) + 1],
            frame_ends: FrameEnds::default(),
        };
        let mut stamps = Stamps::before(recording);
        recording.events().for_each(|event| {
            entries.frame_ends.observe(&event);
            match event.action {
                Action::Access { .. } => entries.add_access(&event, &stamps),
                Action::Block { .. } | Action::StackGone { .. } => entries.add_reuse(&event),
                _ => {}
            }
            stamps.take_in(&event);
        });
        entries
    }

    fn add_access(&mut self, event: &Event<'_>, stamps: &Stamps) {
        let Action::Access { kind, address, length, count, step, flags, pasts, .. } = event.action
        else {
            return;
        };
        let first_part = &mut self.first_parts[usize::from(event.thread.0)];
        if !flags.is_continued() {
            *first_part = event.ordinal;
        }
        let part = Part::after(*first_part, event.ordinal);
        let bytes = Stretch::in_step(address, length, count, step);
        let Some(stretch) = self.stretches.number_of(bytes) else { return };
        let read = Entry {
            order: event.order,
            site: event.site,
            stack: event.context,
            stretch,
            reuses: self.reuses.len() as u32,
            part,
            thread: event.thread,
            kind: PastKind::Read,
            is_atomic: flags.is_atomic(),
        };
        for past in pasts.iter() {
            self.stretches.touch(stretch, past.thread);
            let kind = self.frame_ends.kind_of(past.kind, past.site);
            self.of_pasts.push(Entry { kind, ..entry_of(&past, &read, stamps) });
        }
        self.stretches.touch(stretch, event.thread);
        if kind != AccessKind::Write {
            self.of_events.push(read);
        }
        if kind != AccessKind::Read {
            let kind = if flags.is_free() { PastKind::Free } else { PastKind::Write };
            self.of_events.push(Entry { kind, order: read.order.just_after(), ..read });
        }
    }

    fn add_reuse(&mut self, event: &Event<'_>) {
        let (Address(start), length, block) = match event.action {
            Action::Block { address, size, thread, serial } => {
                let (site, context) = (event.site, event.context);
                let block =
                    HeapBlock { address, size, allocated_by: thread, serial, site, context };
                (address, size, Some(block))
            }
            Action::StackGone { lowest, length } => (lowest, length, None),
            _ => return,
        };
        let stretch = self.stretches.number_of(Stretch::new(start, length));
        self.reuses.extend(stretch.map(|stretch| Reuse { stretch, block }));
    }
}

/// A past access, of the bytes of the access whose event lists it.
fn entry_of(past: &Past, listed_by: &Entry, stamps: &Stamps) -> Entry {
    Entry {
        order: stamps.place_of(past, listed_by.order),
        site: past.site,
        stack: Context(0),
        part: Part::WITHOUT_EVENT,
        thread: past.thread,
        kind: past.kind,
        is_atomic: false,
        ..*listed_by
    }
}
