//! The events of one thread, written into chunks of the recording.
//!
//! Only the thread itself writes, and only while it is marked busy, so nothing here needs atomics. An event's
//! first word is written last: until then the stream ends before it, also if the process dies in between.

use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{Ordering::*, compiler_fence};
use unpick_events::access::{PAST_WORDS, Past, PastKind};
use unpick_events::file::file_field;
use unpick_events::header::{HEADER_WORDS, Header};
use unpick_events::kind::access_flags;
use unpick_events::{Context, Kind, Site, ThreadId};

use crate::sys;
use crate::thread::{Thread, full_time};

pub struct Stream {
    next: Cell<*mut u64>,
    end: Cell<*mut u64>,
    /// Start of the current chunk, to give its pages back when it is full.
    chunk: Cell<(*mut u8, usize)>,
    sequence: Cell<u32>,
    open: UnsafeCell<[OpenAccess; OPEN]>,
    /// Changes when the thread synchronises: accesses opened before are closed.
    period: Cell<u32>,
}

/// The last access recorded for a site. As long as the thread does not synchronise, one that follows in step and
/// tells the same story lengthens it.
#[derive(Clone, Copy)]
struct OpenAccess {
    story: Story,
    event: *mut u64,
    is_long: bool,
    stamp: u32,
    period: u32,
    /// Start of the last element.
    last: u64,
    /// From element to element.
    step: i64,
}

/// What must be the same for two accesses to be told as one.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Story {
    kind: Kind,
    flags: u16,
    unit: u16,
    site: Site,
    context: Context,
    past: [LastAccess; MOST_PAST],
}

/// Accesses with more past than this are told one by one.
const MOST_PAST: usize = 2;

/// A loop over memory has a few sites, which should not share a place.
const OPEN: usize = 64;
const NO_STORY: Story = Story {
    kind: Kind::Read,
    flags: 0,
    unit: 0,
    site: Site(0),
    context: Context(0),
    past: [NO_PAST; MOST_PAST],
};
const NO_ACCESS: OpenAccess = OpenAccess {
    story: NO_STORY,
    event: core::ptr::null_mut(),
    is_long: false,
    stamp: 0,
    period: 0,
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

/// How many bytes of an access have one past.
#[derive(Debug, Clone, Copy)]
pub struct Stretch {
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
            open: UnsafeCell::new([NO_ACCESS; OPEN]),
            period: Cell::new(1),
        }
    }

    /// Ready for a new thread, or for the same one in a new file.
    pub fn reset(&self) {
        self.next.set(core::ptr::null_mut());
        self.end.set(core::ptr::null_mut());
        self.chunk.set((core::ptr::null_mut(), 0));
        self.sequence.set(0);
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

/// Records an event: `header` (its `words` is filled in here) and `payload`. The thread must be busy.
pub fn append(thread: &Thread, header: Header, payload: &[u64]) {
    append_parts(thread, header, payload, &[]);
}

/// As `append`, with a payload in two parts.
pub fn append_parts(thread: &Thread, mut header: Header, first: &[u64], second: &[u64]) {
    header.words = HEADER_WORDS + first.len() + second.len();
    let Some(at) = reserve(thread, header.words) else { return };
    let packed = header.pack();
    for (index, word) in packed[1..].iter().chain(first).chain(second).enumerate() {
        // SAFETY: `reserve` gave `header.words` words at `at` to this thread, and this writes words 1.. of them.
        unsafe { at.add(index + 1).write(*word) };
    }
    publish(at, packed[0]);
    thread.count_event();
    thread.stream.close_accesses();
}

/// Makes the event at `at` part of the stream.
fn publish(at: *mut u64, first_word: u64) {
    compiler_fence(Release);
    // SAFETY: `at` was given by `reserve`. Volatile, so that it stays one store after all others.
    unsafe { at.write_volatile(first_word) };
}

/// Records an access of `stretch` with what was known of those bytes before.
///
/// `header.stamp` is drawn here, and only when a new event is needed: a longer one must have begun after `not_before`.
/// Gives the stamp under which the access is recorded.
pub fn append_access(
    thread: &Thread,
    mut header: Header,
    stretch: Stretch,
    past: &[LastAccess],
    not_before: u32,
) -> u32 {
    header.object = unpick_events::Address(stretch.address);
    let is_range = header.flags & access_flags::LIBRARY != 0;
    header.unit = if is_range { 1 } else { stretch.bytes as u16 };
    let Some(story) = story_of(&header, past) else {
        header.stamp = thread.recorder.draw_stamp();
        let long = is_range.then_some(stretch.bytes);
        write_access(thread, header, long, past);
        return header.stamp;
    };
    let open = open_for(thread, story.kind, story.site.0, story.past[0].site);
    let step = stretch.address.wrapping_sub(open.last) as i64;
    let in_step = open.period == thread.stream.period.get()
        && open.story == story
        && (step == open.step || step == header.unit as i64);
    if in_step
        && open.is_long
        && step == open.step
        && open.stamp > not_before
        && lengthen(open, stretch)
    {
        return open.stamp;
    }
    let long = if is_range {
        Some(stretch.bytes)
    } else {
        (in_step && i32::try_from(step).is_ok()).then(|| long_word(header.unit as u64, step))
    };
    header.stamp = thread.recorder.draw_stamp();
    open.event = write_access(thread, header, long, past);
    open.story = story;
    open.is_long = long.is_some();
    open.stamp = header.stamp;
    open.period = thread.stream.period.get();
    open.last = stretch.address;
    open.step = if is_range { stretch.bytes as i64 } else { step };
    header.stamp
}

/// `None` for what is always told alone: atomics, whose order is exact, and long lists.
fn story_of(header: &Header, past: &[LastAccess]) -> Option<Story> {
    if header.flags & access_flags::ORDER_MASK != 0 || past.len() > MOST_PAST {
        return None;
    }
    // Not a loop: the compiler would make it a call of `memcpy`, which is intercepted.
    let both = [past.first().copied().unwrap_or(NO_PAST), past.get(1).copied().unwrap_or(NO_PAST)];
    Some(Story {
        kind: header.kind,
        flags: header.flags & !access_flags::CONTINUED,
        unit: header.unit,
        site: header.site,
        context: header.context,
        past: both,
    })
}

/// What the word after the header says of one element: its length if the next ones follow without a gap,
/// else how many there are (low half) and the step between them (high half).
fn long_word(unit: u64, step: i64) -> u64 {
    if step == unit as i64 { unit } else { 1 | (step as i32 as u32 as u64) << 32 }
}

/// A site may touch several kinds of things in turn (the fields of a struct it copies): each has its own past.
#[allow(clippy::mut_from_ref)]
fn open_for(thread: &Thread, kind: Kind, site: u32, past_site: u32) -> &mut OpenAccess {
    let hash = (site ^ past_site.rotate_left(16) ^ (kind as u32) << 28).wrapping_mul(0x9e37_79b1);
    // SAFETY: only the busy thread itself comes here, and not again before it is done with this one.
    unsafe { &mut (*thread.stream.open.get())[hash as usize >> 26] }
}

/// A plain access that may be the next element of an open one.
pub struct Step {
    pub kind: Kind,
    pub unit: u16,
    pub site: u32,
    pub context: Context,
    pub address: u64,
    pub past: [LastAccess; MOST_PAST],
    pub not_before: u32,
}

/// Lengthens an open access by its next element. Gives its stamp, or `None` if it is not that.
pub fn step(thread: &Thread, next: &Step) -> Option<u32> {
    let open = open_for(thread, next.kind, next.site, next.past[0].site);
    let fits = open.is_long
        && open.period == thread.stream.period.get()
        && next.address.wrapping_sub(open.last) as i64 == open.step
        && open.stamp > next.not_before
        && open.story.kind == next.kind
        && open.story.flags == 0
        && open.story.unit == next.unit
        && open.story.site.0 == next.site
        && open.story.context == next.context
        && open.story.past == next.past;
    let stretch = Stretch { address: next.address, bytes: next.unit as u64 };
    (fits && lengthen(open, stretch)).then_some(open.stamp)
}

/// Writes an event; null if there is no room for it.
fn write_access(
    thread: &Thread,
    mut header: Header,
    long: Option<u64>,
    past: &[LastAccess],
) -> *mut u64 {
    let listed = past.iter().filter(|access| !access.is_recorded);
    header.words = HEADER_WORDS + long.is_some() as usize + listed.clone().count() * PAST_WORDS;
    if long.is_some() {
        header.flags |= access_flags::LONG;
    }
    let Some(at) = reserve(thread, header.words) else { return core::ptr::null_mut() };
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
    thread.count_event();
    at
}

fn past_of(access: &LastAccess) -> Past {
    Past {
        kind: access.kind,
        thread: ThreadId(access.thread),
        site: Site(access.site),
        ordinal: full_time(access.thread, access.time),
    }
}

/// Adds one more element to an open access.
fn lengthen(open: &mut OpenAccess, stretch: Stretch) -> bool {
    if open.event.is_null() {
        return false;
    }
    // SAFETY: an open access lies in the current chunk, has this word because it is long, and is only ever
    // changed by its own thread.
    let word = unsafe { &mut *open.event.add(HEADER_WORDS) };
    let has_gaps = *word >> 32 != 0;
    let more = if has_gaps { 1 } else { stretch.bytes };
    if (*word & u32::MAX as u64) + more > u32::MAX as u64 {
        return false;
    }
    *word += more;
    if open.story.flags & access_flags::LIBRARY != 0 {
        open.step = stretch.bytes as i64;
    }
    open.last = stretch.address;
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
    stream.close_accesses();
    Some(())
}
