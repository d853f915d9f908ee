//! The events of one thread, written into chunks of the recording.
//!
//! Only the thread itself writes, and only while it is marked busy, so nothing here needs atomics. An event's
//! first word is written last: until then the stream ends before it, also if the process dies in between.
//!
//! The thread remembers what it told lately, by site and past. An access that goes on in step with one of those is
//! not told again but lengthens it; any other event that differs only in where and when is told short.

use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{Ordering::*, compiler_fence};
use unpick_events::access::{PAST_WORDS, Past, PastKind};
use unpick_events::file::file_field;
use unpick_events::header::{HEADER_WORDS, Header};
use unpick_events::kind::access_flags;
use unpick_events::short::{self, SHORT_WORDS, Short, Tiny};
use unpick_events::{Address, Context, Kind, Site, ThreadId};

use crate::sys;
use crate::thread::{Thread, full_time};

pub struct Stream {
    next: Cell<*mut u64>,
    end: Cell<*mut u64>,
    /// Start of the current chunk, to give its pages back when it is full.
    chunk: Cell<(*mut u8, usize)>,
    sequence: Cell<u32>,
    slots: UnsafeCell<[Slot; SLOTS]>,
    /// The slot of the event that was told or lengthened last.
    last_slot: Cell<u8>,
    trails: UnsafeCell<[Trail; TRAILS]>,
    /// The latest stamp in the chunk.
    stamp: Cell<u32>,
    /// Changes with the chunk, never back: an event told short refers to one in its own chunk.
    era: Cell<u32>,
    /// Changes when the thread synchronises: an access from before is not lengthened.
    period: Cell<u32>,
}

/// The last event that was told of a story.
#[derive(Clone, Copy)]
struct Slot {
    story: Story,
    era: u32,
    /// Of the latest event in this era: where it was, and the ordinal of its first past.
    object: u64,
    ordinal: u32,
    period: u32,
    /// Low bits of the ordinals of the pasts that are listed.
    times: u32,
    stamp: u32,
    /// As in `Pasts`.
    recorded: u64,
    /// The word of LONG, if the event has one.
    long: *mut u64,
    /// Start of the last element.
    last: u64,
    /// From element to element.
    step: i64,
}

/// Where the next element of a loop over memory is expected, and what is known of it: the short cut to lengthening.
#[derive(Clone, Copy)]
struct Trail {
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
    pub context: u32,
    pub writes: bool,
}

/// As many loops as run at the same time, inside each other.
const TRAILS: usize = 16;
const NO_TRAIL: Trail = Trail {
    next: Element { address: 0, said: [0; 2], site: 0, context: 0, writes: false },
    period: 0,
    stamp: 0,
    step: 0,
    long: core::ptr::null_mut(),
    slot: 0,
};

/// What two events have in common if one of them can be told short: all but where and when, packed to be compared fast.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Story {
    /// Site; context.
    code: u64,
    /// Sites of the past accesses that are listed.
    past_sites: u64,
    /// Threads of those; flags; unit; kind; kinds of those.
    rest: u64,
}

/// Accesses with more past than this are told one by one, in full.
const MOST_PAST: usize = 2;
/// An event that refers to a slot or has one is not longer than this.
const MOST_WORDS: usize = HEADER_WORDS + 1 + MOST_PAST * PAST_WORDS;

/// A loop over memory has a few sites, which should not share a place. Numbers of slots have eight bits, and 0 is none.
const SLOTS: usize = 128;
const NO_SLOT: Slot = Slot {
    story: Story { code: 0, past_sites: 0, rest: 0 },
    era: 0,
    object: 0,
    ordinal: 0,
    period: 0,
    times: 0,
    stamp: 0,
    recorded: 0,
    long: core::ptr::null_mut(),
    last: 0,
    step: 0,
};

/// The last access of another thread, as the shadow knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastAccess {
    pub kind: PastKind,
    /// It has an event of its own: no need to list it.
    pub is_recorded: bool,
    pub thread: u16,
    pub time: u16,
    pub site: u32,
}

pub const NO_PAST: LastAccess =
    LastAccess { kind: PastKind::Read, is_recorded: true, thread: 0, time: 0, site: 0 };

/// At most two past accesses, packed as `Story` has them.
#[derive(Clone, Copy)]
pub struct Pasts {
    /// Sites of those that are listed; 0 in place of one that is not.
    sites: u64,
    /// Their threads (16 bits each) and kinds (two bits each, the highest).
    who: u64,
    /// Their times.
    times: u32,
    /// Site, thread and time of one that is not listed, because it is recorded.
    recorded: u64,
}

impl Pasts {
    pub const NONE: Pasts = Pasts { sites: 0, who: 0, times: 0, recorded: 0 };

    /// One that is listed.
    #[inline(always)]
    pub fn one(kind: PastKind, thread: u16, site: u32, time: u16) -> Pasts {
        Pasts {
            sites: site as u64,
            who: thread as u64 | (kind as u64) << KINDS_SHIFT,
            times: time as u32,
            recorded: 0,
        }
    }

    /// Two that are listed, of one thread: a write, then a read.
    #[inline(always)]
    pub fn write_and_read(thread: u16, sites: u64, times: (u16, u16)) -> Pasts {
        let kinds = PastKind::Write as u64 | (PastKind::Read as u64) << 2;
        Pasts {
            sites,
            who: thread as u64 | (thread as u64) << 16 | kinds << KINDS_SHIFT,
            times: times.0 as u32 | (times.1 as u32) << 16,
            recorded: 0,
        }
    }

    /// One that is recorded.
    #[inline(always)]
    pub fn recorded(thread: u16, site: u32, time: u16) -> Pasts {
        let recorded = site as u64 | (thread as u64) << 32 | (time as u64) << 48;
        Pasts { recorded, ..Pasts::NONE }
    }

    fn of(list: &[LastAccess]) -> Pasts {
        let mut pasts = Pasts::NONE;
        for past in list {
            pasts.add(past);
        }
        pasts
    }

    fn add(&mut self, past: &LastAccess) {
        if past.is_recorded {
            self.recorded = Pasts::recorded(past.thread, past.site, past.time).recorded;
            return;
        }
        let place = self.count() as u32;
        self.sites |= (past.site as u64) << (32 * place);
        self.who |=
            (past.thread as u64) << (16 * place) | (past.kind as u64) << (KINDS_SHIFT + 2 * place);
        self.times |= (past.time as u32) << (16 * place);
    }

    /// How many are listed.
    #[inline(always)]
    fn count(&self) -> usize {
        (self.who >> KINDS_SHIFT & 0b11 != 0) as usize
            + (self.who >> (KINDS_SHIFT + 2) != 0) as usize
    }

    /// The ordinal of the first or second.
    #[inline(always)]
    fn ordinal(&self, index: usize) -> u32 {
        full_time((self.who >> (16 * index)) as u16, (self.times >> (16 * index)) as u16)
    }

    fn get(&self, index: usize) -> LastAccess {
        LastAccess {
            kind: match self.who >> (KINDS_SHIFT + 2 * index as u32) & 0b11 {
                1 => PastKind::Read,
                2 => PastKind::Write,
                _ => PastKind::Free,
            },
            is_recorded: false,
            thread: (self.who >> (16 * index)) as u16,
            time: (self.times >> (16 * index)) as u16,
            site: (self.sites >> (32 * index)) as u32,
        }
    }
}

const KINDS_SHIFT: u32 = 60;

/// An access that is to be recorded.
pub struct Told {
    pub kind: Kind,
    pub flags: u16,
    pub site: u32,
    pub context: Context,
    pub address: u64,
    pub bytes: u64,
}

impl Stream {
    pub const fn new() -> Self {
        Self {
            next: Cell::new(core::ptr::null_mut()),
            end: Cell::new(core::ptr::null_mut()),
            chunk: Cell::new((core::ptr::null_mut(), 0)),
            sequence: Cell::new(0),
            slots: UnsafeCell::new([NO_SLOT; SLOTS]),
            last_slot: Cell::new(0),
            trails: UnsafeCell::new([NO_TRAIL; TRAILS]),
            stamp: Cell::new(0),
            era: Cell::new(1),
            period: Cell::new(1),
        }
    }

    /// Ready for a new thread, or for the same one in a new file.
    pub fn reset(&self) {
        self.next.set(core::ptr::null_mut());
        self.end.set(core::ptr::null_mut());
        self.chunk.set((core::ptr::null_mut(), 0));
        self.sequence.set(0);
        self.begin_era();
    }

    fn begin_era(&self) {
        self.era.set(self.era.get().wrapping_add(1).max(1));
        self.stamp.set(0);
        self.close_accesses();
    }

    /// What is recorded from now on stands after everything before.
    fn close_accesses(&self) {
        self.period.set(self.period.get().wrapping_add(1).max(1));
    }
}

impl Default for Stream {
    fn default() -> Self {
        Self::new()
    }
}

/// Records an event: `header` (its `words` and `slot` are filled in here) and `payload`. The thread must be busy.
pub fn append(thread: &Thread, header: Header, payload: &[u64]) {
    if payload.is_empty() {
        append_bare(thread, &header);
    } else {
        append_full(thread, header, payload);
    }
    thread.stream.close_accesses();
}

fn append_full(thread: &Thread, mut header: Header, payload: &[u64]) {
    header.words = HEADER_WORDS + payload.len();
    header.slot = 0;
    let Some(at) = reserve(thread, header.words) else { return };
    let packed = header.pack();
    for (index, word) in packed[1..].iter().chain(payload).enumerate() {
        // SAFETY: `reserve` gave `header.words` words at `at` to this thread, and this writes words 1.. of them.
        unsafe { at.add(index + 1).write(*word) };
    }
    publish(at, packed[0]);
    note_stamp(thread, header.stamp);
    thread.count_event();
}

fn note_stamp(thread: &Thread, stamp: u32) {
    if stamp != 0 {
        thread.stream.stamp.set(stamp);
    }
}

/// An event without further words: short if the same was told before of another object.
fn append_bare(thread: &Thread, header: &Header) {
    let story = Story::of(header, &Pasts::NONE);
    let (slot, number) = slot_for(thread, &story);
    if write(thread, slot, number, &story, header, None, &Pasts::NONE).is_some() {
        slot.period = 0;
    }
}

/// Makes the event at `at` part of the stream.
fn publish(at: *mut u64, first_word: u64) {
    compiler_fence(Release);
    // SAFETY: `at` was given by `reserve`. Volatile, so that it stays one store after all others.
    unsafe { at.write_volatile(first_word) };
}

/// Records an access with what was known of its bytes before, in a list of any length.
///
/// A stamp is drawn here, and only when a new event is needed: a longer one must have begun after `not_before`.
/// Gives the stamp under which the access is recorded.
pub fn append_access(thread: &Thread, told: &Told, past: &[LastAccess], not_before: u32) -> u32 {
    if past.len() > MOST_PAST {
        return append_with_list(thread, told, past);
    }
    tell(thread, told, &Pasts::of(past), not_before)
}

/// Records an access that crossed no thread. It stands for itself, and ends what was open.
pub fn append_unstamped(thread: &Thread, told: &Told) {
    append_bare(thread, &Header { unit: told.bytes as u8, ..told.header() });
    thread.stream.close_accesses();
}

/// As `append_access`, for at most two past accesses.
#[inline]
pub fn tell(thread: &Thread, told: &Told, past: &Pasts, not_before: u32) -> u32 {
    let mut header = told.header();
    let story = Story::of(&header, past);
    let (slot, number) = slot_for(thread, &story);
    thread.stream.last_slot.set(number);
    let step = told.address.wrapping_sub(slot.last) as i64;
    let in_step = slot.period == thread.stream.period.get()
        && slot.story == story
        && slot.times == past.times
        && slot.recorded == past.recorded
        && (step == slot.step || step == header.unit as i64);
    if in_step && step == slot.step && slot.stamp > not_before && lengthen(slot, told) {
        return slot.stamp;
    }
    let long = told.long_word(in_step, step);
    header.stamp = thread.recorder.draw_stamp();
    let Some(long) = write(thread, slot, number, &story, &header, long, past) else {
        return header.stamp;
    };
    slot.times = past.times;
    slot.recorded = past.recorded;
    slot.stamp = header.stamp;
    // The order of atomics is exact: each is told alone.
    slot.period = if told.is_atomic() { 0 } else { thread.stream.period.get() };
    slot.long = long;
    slot.last = told.address;
    slot.step = if told.is_range() { told.bytes as i64 } else { step };
    header.stamp
}

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

/// The slot with this number, which is not 0.
#[allow(clippy::mut_from_ref)]
fn numbered(thread: &Thread, number: u8) -> &mut Slot {
    // SAFETY: as in `slot_for`.
    unsafe { &mut (*thread.stream.slots.get())[(number as usize).wrapping_sub(1) % SLOTS] }
}

impl Told {
    fn header(&self) -> Header {
        Header {
            kind: self.kind,
            words: 0,
            flags: self.flags,
            stamp: 0,
            object: Address(self.address),
            unit: if self.is_range() { 1 } else { self.bytes as u8 },
            slot: 0,
            site: Site(self.site),
            context: self.context,
        }
    }

    fn is_range(&self) -> bool {
        self.flags & access_flags::LIBRARY != 0
    }

    fn is_atomic(&self) -> bool {
        self.flags & access_flags::ORDER_MASK != 0
    }

    /// What the word of LONG says of this access alone, if it needs one: its length if the next ones follow without
    /// a gap, else how many there are (low half) and the step between them (high half).
    fn long_word(&self, in_step: bool, step: i64) -> Option<u64> {
        if self.is_range() {
            return Some(self.bytes);
        }
        if !in_step || self.is_atomic() {
            return None;
        }
        if step == self.bytes as i64 {
            return Some(self.bytes);
        }
        i32::try_from(step).ok().map(|step| 1 | (step as u32 as u64) << 32)
    }
}

impl Story {
    #[inline(always)]
    fn of(header: &Header, past: &Pasts) -> Story {
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
fn slot_for<'t>(thread: &'t Thread, story: &Story) -> (&'t mut Slot, u8) {
    let index = story.hash() >> (32 - SLOTS.trailing_zeros());
    // SAFETY: only the busy thread itself comes here, and not again before it is done with this one.
    (unsafe { &mut (*thread.stream.slots.get())[index as usize] }, index as u8 + 1)
}

/// Writes an event, short if its slot has the story; `None` if there is no room for it, else where its word of LONG
/// is (null if it has none).
fn write(
    thread: &Thread,
    slot: &mut Slot,
    number: u8,
    story: &Story,
    header: &Header,
    long: Option<u64>,
    past: &Pasts,
) -> Option<*mut u64> {
    if !has_room(&thread.stream, MOST_WORDS) {
        begin_chunk(thread)?;
    }
    let era = thread.stream.era.get();
    let listed = past.count();
    let ordinal = if listed == 0 { 0 } else { past.ordinal(0) };
    let place = if slot.era != era || slot.story != *story {
        slot.era = era;
        slot.story = *story;
        let list = [past.get(0), past.get(1)];
        write_access(thread, Header { slot: number, ..*header }, long, &list[..listed])?
    } else if long.is_none()
        && listed < MOST_PAST
        && let Some(tiny) = tiny(thread, slot, number, header, ordinal)
    {
        let at = reserve(thread, 1)?;
        publish(at, tiny.pack());
        at
    } else {
        write_short(thread, number, header, long, past, ordinal)?
    };
    slot.object = header.object.0;
    slot.ordinal = ordinal;
    note_stamp(thread, header.stamp);
    thread.count_event();
    Some(if long.is_some() { place } else { core::ptr::null_mut() })
}

/// The event in one word, if it is near enough to those before.
fn tiny(thread: &Thread, slot: &Slot, number: u8, header: &Header, ordinal: u32) -> Option<Tiny> {
    let step = header.stamp.wrapping_sub(thread.stream.stamp.get());
    let stamp = if header.stamp == 0 { 0 } else { step };
    let ordinal = ordinal.wrapping_sub(slot.ordinal) as i32;
    let is_near = stamp <= u8::MAX as u32
        && ordinal as i16 as i32 == ordinal
        && header.flags & access_flags::CONTINUED == 0;
    let object = Tiny::object_step(slot.object, header.object.0, header.unit)?;
    is_near.then_some(Tiny { slot: number, object, stamp: stamp as u8, ordinal: ordinal as i16 })
}

/// Gives where the word after its first two is.
fn write_short(
    thread: &Thread,
    slot: u8,
    header: &Header,
    long: Option<u64>,
    past: &Pasts,
    ordinal: u32,
) -> Option<*mut u64> {
    let has_two = past.count() == MOST_PAST;
    let is_continued = header.flags & access_flags::CONTINUED != 0;
    let short = Short {
        flags: (if long.is_some() { short::LONG } else { 0 })
            | (if is_continued { short::CONTINUED } else { 0 })
            | (if has_two { short::TWO_PASTS } else { 0 }),
        slot,
        object: header.object,
        stamp: header.stamp,
        ordinal,
    };
    let at = reserve(thread, short.words())?;
    let packed = short.pack();
    let mut further = at.wrapping_add(SHORT_WORDS);
    // SAFETY: `reserve` gave `short.words()` words at `at` to this thread: the packed ones and one for each branch.
    unsafe {
        at.add(1).write(packed[1]);
        if let Some(word) = long {
            further.write(word);
            further = further.add(1);
        }
        if has_two {
            further.write(past.ordinal(1) as u64);
        }
    }
    publish(at, packed[0]);
    Some(at.wrapping_add(SHORT_WORDS))
}

/// Writes an event in full; gives where the word after its header is.
fn write_access(
    thread: &Thread,
    mut header: Header,
    long: Option<u64>,
    past: &[LastAccess],
) -> Option<*mut u64> {
    let listed = past.iter().filter(|access| !access.is_recorded);
    header.words = HEADER_WORDS + long.is_some() as usize + listed.clone().count() * PAST_WORDS;
    if long.is_some() {
        header.flags |= access_flags::LONG;
    }
    let at = reserve(thread, header.words)?;
    let packed = header.pack();
    let mut index = 1;
    let mut put = |word: u64| {
        // SAFETY: `reserve` gave `header.words` words at `at` to this thread; exactly that many are put.
        unsafe { at.add(index).write(word) };
        index += 1;
    };
    put(packed[1]);
    put(packed[2]);
    long.into_iter().for_each(&mut put);
    for access in listed {
        past_of(access).pack().into_iter().for_each(&mut put);
    }
    publish(at, packed[0]);
    Some(at.wrapping_add(HEADER_WORDS))
}

/// Records an access with a long list: always alone and in full.
fn append_with_list(thread: &Thread, told: &Told, past: &[LastAccess]) -> u32 {
    let mut header = told.header();
    header.stamp = thread.recorder.draw_stamp();
    let long = told.is_range().then_some(told.bytes);
    if write_access(thread, header, long, past).is_some() {
        note_stamp(thread, header.stamp);
        thread.count_event();
    }
    header.stamp
}

fn past_of(access: &LastAccess) -> Past {
    Past {
        kind: access.kind,
        thread: ThreadId(access.thread),
        site: Site(access.site),
        ordinal: full_time(access.thread, access.time),
    }
}

/// Adds one more element to an access that is LONG.
fn lengthen(slot: &mut Slot, told: &Told) -> bool {
    if slot.long.is_null() {
        return false;
    }
    // SAFETY: the period says that the event lies in the current chunk, and it is only ever changed by its own thread.
    let word = unsafe { &mut *slot.long };
    let has_gaps = *word >> 32 != 0;
    let more = if has_gaps { 1 } else { told.bytes };
    if (*word & u32::MAX as u64) + more > u32::MAX as u64 {
        return false;
    }
    *word += more;
    if told.is_range() {
        slot.step = told.bytes as i64;
    }
    slot.last = told.address;
    true
}

/// Space for an event of this many words, in the current chunk or a new one.
fn reserve(thread: &Thread, words: usize) -> Option<*mut u64> {
    let stream = &thread.stream;
    if !has_room(stream, words) {
        begin_chunk(thread)?;
    }
    let at = stream.next.get();
    stream.next.set(at.wrapping_add(words));
    Some(at)
}

fn has_room(stream: &Stream, words: usize) -> bool {
    (stream.end.get() as usize).wrapping_sub(stream.next.get() as usize) >= words * 8
}

fn begin_chunk(thread: &Thread) -> Option<()> {
    let stream = &thread.stream;
    let (full, bytes) = stream.chunk.get();
    let ordinal = thread.hot().time.get() as u64;
    let Some(chunk) = thread.recorder.take_chunk(thread.number(), stream.sequence.get(), ordinal)
    else {
        thread.recorder.add(file_field::DROPPED, 1);
        return None;
    };
    if !full.is_null() {
        // The data stays in the file; only our view of it goes.
        sys::forget_pages(full as usize, bytes);
    }
    let (first, end) = chunk.words();
    stream.next.set(first);
    stream.end.set(end);
    stream.chunk.set((chunk.start, chunk.bytes));
    stream.sequence.set(stream.sequence.get() + 1);
    stream.begin_era();
    Some(())
}
