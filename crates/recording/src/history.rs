//! Location histories: for every stretch of bytes, who touched it, in order, life by life.
//!
//! Takes   a recording.      Gives  one `Location` per stretch of bytes that the same accesses touch.
//! Misses  accesses the runtime kept no trace of: between two events it remembers only a thread's last
//!         read and last write.
//! Cost    about 100 bytes of memory per access, and per event that tells of many accesses in step; `Histories::within` bounds it to a part of the memory.
//!
//! Locations are exact to the byte: a wide access that overlaps a narrow one is in the histories of both
//! halves. Accesses in step, told by one event, are each in the history of their bytes, with one order. An access that had no event of its own stands after the last event its thread had recorded
//! before it. A read-modify-write is a read, then a write.
//!
//! Memory that is reused starts a new life: at a `Block` event (unless it names the block that is there)
//! and at `StackGone`. Freeing is the last access of a life by right; accesses after
//! it and before the reuse stay in that life, because they are uses after free. The end of a frame (`FrameEnds`) frees what it left to others. An access without an event
//! belongs to the life of the event that lists it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use unpick_events::access::PastKind;
use unpick_events::{Address, Context, Past, Site, ThreadId};

use crate::action::{AccessFlags, AccessKind, Action};
use crate::event::{Event, Order};
use crate::frame_ends::FrameEnds;
use crate::placement::Placement;
use crate::recording::Recording;

/// One access, as the history of a location shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Access {
    pub thread: ThreadId,
    pub site: Site,
    /// Unknown for an access without an event.
    pub context: Context,
    pub kind: PastKind,
    /// Where it stands among everything.
    pub order: Order,
    /// The ordinal of the event that tells of it; of the first, where several do. Accesses of one
    /// thread that share it are parts of one dynamic access.
    pub dynamic_access: Option<u64>,
    /// All bytes of the event, of which the location may be a part.
    pub address: Address,
    pub length: u64,
    /// It had an event with a stamp: its place is exact. Else it stands as early as it can.
    pub stamped: bool,
    /// Flags of its event; none if it had no event.
    pub flags: AccessFlags,
}

impl Access {
    pub fn is_write(&self) -> bool {
        self.kind != PastKind::Read
    }
}

/// A heap block, as its `Block` event describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapBlock {
    pub address: Address,
    pub size: u64,
    pub allocated_by: ThreadId,
    /// Tells blocks apart that had the same place.
    pub serial: u32,
    pub site: Site,
    pub context: Context,
}

impl HeapBlock {
    /// The same block, perhaps resized.
    fn is_same_as(&self, other: &HeapBlock) -> bool {
        self.address == other.address && self.serial == other.serial
    }
}

/// One use of a location between two reuses of its memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Life {
    /// The heap block it was part of, if it was.
    pub block: Option<HeapBlock>,
    /// In order; never empty.
    pub accesses: Vec<Access>,
}

/// A stretch of bytes all of which were touched by the same accesses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub bytes: Range<u64>,
    /// In order; never empty.
    pub lives: Vec<Life>,
}

/// The histories of all locations of a recording.
#[derive(Debug)]
pub struct Histories {
    /// In the order of the events that tell of them.
    items: Vec<Item>,
    /// Lowest byte and index of every item, sorted: small, because sorting moves them.
    by_start: Vec<(u64, usize)>,
    /// What was asked for.
    bytes: Range<u64>,
}

/// Something that happened to stretches of bytes: `count` of them, `step` apart, the first from `start` to `end`.
#[derive(Debug, Clone, Copy)]
struct Item {
    start: u64,
    end: u64,
    count: u32,
    step: u32,
    what: What,
}

#[derive(Debug, Clone, Copy)]
enum What {
    Touched(Access),
    Allocated(HeapBlock),
    Gone,
}

impl Histories {
    /// The histories of all locations.
    pub fn of(recording: &Recording) -> Histories {
        Self::within(recording, 0..u64::MAX)
    }

    /// The histories of the locations inside `bytes`, for recordings too large to handle at once.
    pub fn within(recording: &Recording, bytes: Range<u64>) -> Histories {
        let placement = Placement::of(recording);
        let mut collector = Collector::new(recording, &placement, bytes.clone());
        recording.events().for_each(|event| collector.take_in(&event));
        let items = collector.items;
        let mut by_start: Vec<_> =
            items.iter().map(|item| item.start.max(bytes.start)).zip(0..).collect();
        by_start.sort_unstable();
        Histories { items, by_start, bytes }
    }

    /// One location after the other, by address.
    pub fn locations(&self) -> Locations<'_> {
        Locations {
            histories: self,
            waiting: &self.by_start,
            further: BinaryHeap::new(),
            active: Vec::new(),
            position: 0,
        }
    }
}

/// Takes the items out of the events.
struct Collector<'p> {
    placement: &'p Placement,
    bytes: Range<u64>,
    items: Vec<Item>,
    /// For each thread, the ordinal of the event that began its present dynamic access.
    first_parts: Vec<u64>,
    frame_ends: FrameEnds,
}

impl<'p> Collector<'p> {
    fn new(recording: &Recording, placement: &'p Placement, bytes: Range<u64>) -> Self {
        let highest = recording.threads().last().map_or(0, |thread| thread.id.0);
        let first_parts = vec![0; usize::from(highest) + 1];
        Self { placement, bytes, items: Vec::new(), first_parts, frame_ends: FrameEnds::default() }
    }

    fn take_in(&mut self, event: &Event<'_>) {
        self.frame_ends.observe(event);
        match event.action {
            Action::Access { flags, .. } => {
                let first_part = &mut self.first_parts[usize::from(event.thread.0)];
                if !flags.is_continued() {
                    *first_part = event.ordinal;
                }
                let first_part = *first_part;
                self.add_access(event, first_part);
            }
            Action::Block { .. } | Action::StackGone { .. } => {
                reuse(event).into_iter().for_each(|item| self.add(item));
            }
            _ => {}
        }
    }

    fn add_access(&mut self, event: &Event<'_>, first_part: u64) {
        let Action::Access { kind, address, length, count, step, flags, pasts, .. } = event.action
        else {
            return;
        };
        let placement = self.placement;
        let start = if step < 0 { lowest_of(address, count, step) } else { address.0 };
        let (end, step) = (start + length, step.unsigned_abs());
        let item = |access| Item { start, end, count, step, what: What::Touched(access) };
        let read = Access {
            thread: event.thread,
            site: event.site,
            context: event.context,
            kind: PastKind::Read,
            order: event.order,
            dynamic_access: Some(first_part),
            address,
            length,
            stamped: event.stamp != 0,
            flags,
        };
        for past in pasts.iter() {
            let past = past_access(&past, &read, placement);
            let kind = self.frame_ends.kind_of(past.kind, past.site);
            self.add(item(Access { kind, ..past }));
        }
        if kind != AccessKind::Write {
            self.add(item(read));
        }
        if kind != AccessKind::Read {
            let kind = if flags.is_free() { PastKind::Free } else { PastKind::Write };
            self.add(item(Access { kind, order: read.order.just_after(), ..read }));
        }
    }

    fn add(&mut self, item: Item) {
        self.items.extend(clip(item, &self.bytes).filter(|item| item.start < item.end));
    }
}

/// A past access, of the bytes of the access whose event lists it.
fn past_access(past: &Past, listed_by: &Access, placement: &Placement) -> Access {
    Access {
        thread: past.thread,
        site: past.site,
        context: Context(0),
        kind: past.kind,
        order: placement.of_past(past, listed_by.order),
        dynamic_access: None,
        stamped: false,
        flags: AccessFlags(0),
        ..*listed_by
    }
}

/// The lowest address of accesses that go downwards.
fn lowest_of(address: Address, count: u32, step: i32) -> u64 {
    let way = i64::from(count.saturating_sub(1)) * i64::from(step);
    address.0.saturating_add_signed(way)
}

/// The item without its stretches outside of `bytes`.
fn clip(item: Item, bytes: &Range<u64>) -> Option<Item> {
    let step = u64::from(item.step.max(1));
    let before = bytes.start.saturating_add(1).saturating_sub(item.end).div_ceil(step);
    let not_after = bytes.end.saturating_sub(item.start).div_ceil(step);
    let count = not_after.min(item.count.into()).checked_sub(before).filter(|&count| count > 0)?;
    let way = before * u64::from(item.step);
    Some(Item { start: item.start + way, end: item.end + way, count: count as u32, ..item })
}

/// What a `Block` or `StackGone` event says about its bytes.
fn reuse(event: &Event<'_>) -> Option<Item> {
    let (start, length, what) = match event.action {
        Action::Block { address, size, thread, serial } => {
            let (site, context) = (event.site, event.context);
            let block = HeapBlock { address, size, allocated_by: thread, serial, site, context };
            (address.0, size, What::Allocated(block))
        }
        Action::StackGone { lowest, length } => (lowest.0, length, What::Gone),
        _ => return None,
    };
    Some(Item { start, end: start + length, count: 1, step: 0, what })
}

/// Iterates over the locations of a recording by address.
#[derive(Debug)]
pub struct Locations<'h> {
    histories: &'h Histories,
    /// Items whose first stretch begins at `position` or later.
    waiting: &'h [(u64, usize)],
    /// For items with several stretches, the next one: where it begins, index of the item, number of the stretch.
    further: BinaryHeap<Reverse<(u64, usize, u32)>>,
    /// The stretches that reach over `position`, by index: in the order of the events that tell of them.
    active: Vec<Stretch>,
    position: u64,
}

/// One stretch of an item.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Stretch {
    index: usize,
    start: u64,
    end: u64,
}

impl Locations<'_> {
    /// Goes to the next stretch between two borders that something reaches over.
    fn advance(&mut self) -> Option<Range<u64>> {
        self.active.retain(|stretch| stretch.end > self.position);
        if self.active.is_empty() {
            self.position = self.next_start()?;
        }
        self.take_in_what_begins_here();
        let first_end = self.active.iter().map(|stretch| stretch.end).min()?;
        let end = first_end.min(self.next_start().unwrap_or(u64::MAX));
        let start = std::mem::replace(&mut self.position, end);
        Some(start..end)
    }

    fn next_start(&self) -> Option<u64> {
        let first = self.waiting.first().map(|(start, _)| *start);
        let further = self.further.peek().map(|Reverse((start, ..))| *start);
        first.into_iter().chain(further).min()
    }

    fn take_in_what_begins_here(&mut self) {
        let nothing_before = self.active.is_empty();
        while let Some(&(start, index)) = self.waiting.first()
            && start <= self.position
        {
            self.waiting = &self.waiting[1..];
            self.take_in(index, 0);
        }
        let mut is_mixed = !nothing_before;
        while let Some(&Reverse((start, index, number))) = self.further.peek()
            && start <= self.position
        {
            self.further.pop();
            self.take_in(index, number);
            is_mixed = true;
        }
        if is_mixed {
            // A few sorted runs: the stable sort merges them in linear time.
            self.active.sort();
        }
    }

    fn take_in(&mut self, index: usize, number: u32) {
        let item = &self.histories.items[index];
        let way = u64::from(item.step) * u64::from(number);
        let (start, end) = (item.start + way, item.end + way);
        self.active.push(Stretch { index, start, end: end.min(self.histories.bytes.end) });
        if number + 1 < item.count {
            let next = start + u64::from(item.step);
            self.further.push(Reverse((next, index, number + 1)));
        }
    }

    /// What happened here, in the order of the events that tell of it.
    fn happenings(&self) -> impl Iterator<Item = What> {
        self.active.iter().map(|stretch| {
            let item = &self.histories.items[stretch.index];
            match item.what {
                What::Touched(access) if item.step != 0 => {
                    What::Touched(Access { address: Address(stretch.start), ..access })
                }
                what => what,
            }
        })
    }
}

impl Iterator for Locations<'_> {
    type Item = Location;

    fn next(&mut self) -> Option<Location> {
        loop {
            let bytes = self.advance()?;
            let lives = lives_of(self.happenings());
            if !lives.is_empty() {
                return Some(Location { bytes, lives });
            }
        }
    }
}

/// Deals what happened to one location out to the lives of its memory.
fn lives_of(happenings: impl Iterator<Item = What>) -> Vec<Life> {
    let mut lives = Vec::new();
    let mut life = Life { block: None, accesses: Vec::new() };
    for what in happenings {
        match what {
            What::Touched(access) => life.accesses.push(access),
            What::Allocated(block) if life.block.is_some_and(|now| now.is_same_as(&block)) => {}
            What::Allocated(block) => begin_life(&mut lives, &mut life, Some(block)),
            What::Gone => begin_life(&mut lives, &mut life, None),
        }
    }
    begin_life(&mut lives, &mut life, None);
    lives
}

/// Ends `life`, keeps it if anything happened in it, and begins the next.
fn begin_life(lives: &mut Vec<Life>, life: &mut Life, block: Option<HeapBlock>) {
    let ended = std::mem::replace(life, Life { block, accesses: Vec::new() });
    if !ended.accesses.is_empty() {
        lives.push(Life { accesses: in_order(ended.accesses), ..ended });
    }
}

/// By order, and each access once: several events can list the same past access, and the last access of a
/// thread that an event lists can be one that has an event itself.
fn in_order(mut accesses: Vec<Access>) -> Vec<Access> {
    accesses.sort_by_key(|access| access.order);
    let mut kept: Vec<Access> = Vec::with_capacity(accesses.len());
    for access in accesses {
        if !is_known(&kept, &access) {
            kept.push(access);
        }
    }
    kept
}

/// Far more accesses than can be one; a bound only for files that lie.
const MOST_LOOKED_AT: usize = 64;

fn is_known(kept: &[Access], access: &Access) -> bool {
    kept.iter()
        .rev()
        .take(MOST_LOOKED_AT)
        .take_while(|earlier| are_neighbours(earlier, access))
        .any(|earlier| earlier.site == access.site && earlier.kind == access.kind)
}

/// Whether the two can be one: parts of one dynamic access, or nothing recorded between them.
fn are_neighbours(earlier: &Access, access: &Access) -> bool {
    if earlier.thread != access.thread {
        return false;
    }
    if access.dynamic_access.is_some() {
        return earlier.dynamic_access == access.dynamic_access;
    }
    let own_event = earlier.dynamic_access.is_some()
        && earlier.order.ordinal().saturating_add(1) == access.order.ordinal();
    earlier.order == access.order || own_event
}
