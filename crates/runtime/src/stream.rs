//! The events of one thread, written into chunks of the recording.
//!
//! Only the thread itself writes, and only while it is marked busy, so nothing here needs atomics. An event's
//! first word is written last: until then the stream ends before it, also if the process dies in between.

use core::cell::Cell;
use core::sync::atomic::{Ordering::*, compiler_fence};
use unpick_events::access::{PAST_WORDS, Past};
use unpick_events::file::file_field;
use unpick_events::header::{HEADER_WORDS, Header};
use unpick_events::kind::access_flags;

use crate::sys;
use crate::thread::Thread;

pub struct Stream {
    next: Cell<*mut u64>,
    end: Cell<*mut u64>,
    /// Start of the current chunk, to give its pages back when it is full.
    chunk: Cell<(*mut u8, usize)>,
    sequence: Cell<u32>,
    open: [Cell<OpenAccess>; OPEN],
    /// Changes when the thread synchronises: accesses opened before are closed.
    period: Cell<u32>,
}

/// The last access recorded for a site. As long as the thread does not synchronise, one that follows in step and
/// tells the same story lengthens it.
#[derive(Clone, Copy)]
struct OpenAccess {
    event: *mut u64,
    words: usize,
    stamp: u32,
    period: u32,
    /// Start of the last element.
    last: u64,
    /// From element to element.
    step: i64,
}

/// A loop over memory has a few sites.
const OPEN: usize = 16;
const NO_ACCESS: OpenAccess = OpenAccess { event: core::ptr::null_mut(), words: 0, stamp: 0, period: 0, last: 0, step: 0 };

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
            open: [const { Cell::new(NO_ACCESS) }; OPEN],
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
pub fn append_access(thread: &Thread, mut header: Header, stretch: Stretch, past: &[Past], not_before: u32) -> u32 {
    header.object = unpick_events::Address(stretch.address);
    if !is_plain(&header) {
        header.unit = stretch.bytes as u16;
        header.stamp = thread.recorder.draw_stamp();
        write_access(thread, header, None, past);
        return header.stamp;
    }
    let is_range = header.flags & access_flags::LIBRARY != 0;
    header.unit = if is_range { 1 } else { stretch.bytes as u16 };
    let open = open_for(thread, &header, past);
    let before = open.get();
    let is_open = before.period == thread.stream.period.get();
    let step = stretch.address.wrapping_sub(before.last) as i64;
    if is_open
        && step == before.step
        && before.stamp > not_before
        && lengthen(open, &header, stretch, past)
    {
        return before.stamp;
    }
    let is_next = is_open && (step == header.unit as i64 || step == before.step) && i32::try_from(step).is_ok();
    let long = if is_range {
        Some(stretch.bytes)
    } else {
        is_next.then(|| long_word(header.unit as u64, step))
    };
    if long.is_some() {
        header.flags |= access_flags::LONG;
    }
    header.stamp = thread.recorder.draw_stamp();
    let (event, words) = write_access(thread, header, long, past);
    let step = if is_range { stretch.bytes as i64 } else { step };
    let (period, stamp) = (thread.stream.period.get(), header.stamp);
    open.set(OpenAccess { event, words, stamp, period, last: stretch.address, step });
    stamp
}

/// What the word after the header says of one element: its length if the next ones follow without a gap,
/// else how many there are (low half) and the step between them (high half).
fn long_word(unit: u64, step: i64) -> u64 {
    if step == unit as i64 { unit } else { 1 | (step as i32 as u32 as u64) << 32 }
}

/// A site may touch several kinds of things in turn (the fields of a struct it copies): each has its own past.
fn open_for<'a>(thread: &'a Thread, header: &Header, past: &[Past]) -> &'a Cell<OpenAccess> {
    let past_site = past.first().map_or(0, |access| access.site.0);
    let hash = (header.site.0 ^ past_site.rotate_left(16) ^ (header.kind as u32) << 28).wrapping_mul(0x9e37_79b1);
    &thread.stream.open[hash as usize >> 28]
}

fn write_access(thread: &Thread, mut header: Header, long: Option<u64>, past: &[Past]) -> (*mut u64, usize) {
    header.words = HEADER_WORDS + long.is_some() as usize + past.len() * PAST_WORDS;
    let Some(at) = reserve(thread, header.words) else { return (core::ptr::null_mut(), 0) };
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
    for access in past {
        access.pack().into_iter().for_each(&mut put);
    }
    publish(at, packed[0]);
    thread.count_event();
    (at, header.words)
}

/// An access without a memory order: atomics always get an event and a stamp of their own.
fn is_plain(header: &Header) -> bool {
    header.flags & access_flags::ORDER_MASK == 0
}

fn lengthen(open: &Cell<OpenAccess>, header: &Header, stretch: Stretch, past: &[Past]) -> bool {
    let access = open.get();
    if access.event.is_null() {
        return false;
    }
    // SAFETY: an open access lies in the current chunk and is only ever changed by its own thread.
    let words = unsafe { core::slice::from_raw_parts_mut(access.event, access.words) };
    if !tells_the_same(words, header, past) {
        return false;
    }
    let has_gaps = words[HEADER_WORDS] >> 32 != 0;
    let more = if has_gaps { 1 } else { stretch.bytes };
    if (words[HEADER_WORDS] & u32::MAX as u64) + more > u32::MAX as u64 {
        return false;
    }
    words[HEADER_WORDS] += more;
    let step = if header.flags & access_flags::LIBRARY != 0 { stretch.bytes as i64 } else { access.step };
    open.set(OpenAccess { last: stretch.address, step, ..access });
    true
}

fn tells_the_same(words: &[u64], header: &Header, past: &[Past]) -> bool {
    let Some(last) = Header::unpack([words[0], words[1], words[2]]) else { return false };
    last.kind == header.kind
        && last.flags & !access_flags::CONTINUED == header.flags & !access_flags::CONTINUED | access_flags::LONG
        && last.unit == header.unit
        && last.site == header.site
        && last.context == header.context
        && last.words == HEADER_WORDS + 1 + past.len() * PAST_WORDS
        && past.iter().zip(words[HEADER_WORDS + 1..].chunks_exact(PAST_WORDS)).all(|(a, b)| a.pack() == b)
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
    let Some(chunk) = thread.recorder.take_chunk(thread.number(), stream.sequence.get(), ordinal) else {
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
