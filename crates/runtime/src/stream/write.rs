//! Puts events into the thread's current chunk: in full, short, or in one word.

use core::arch::x86_64::{_mm_set_epi64x, _mm_storeu_si128};
use core::sync::atomic::{Ordering::*, compiler_fence};
use unpick_events::Address;
use unpick_events::access::PAST_WORDS;
use unpick_events::file::file_field;
use unpick_events::header::{HEADER_WORDS, Header};
use unpick_events::kind::access_flags;
use unpick_events::short::{self, SHORT_WORDS, Short, Tiny};

use super::Stream;
use super::pasts::{LastAccess, MOST_PAST, Pasts, past_of};
use super::slots::{Slot, Story};
use crate::sys;
use crate::thread::Thread;

/// An event that refers to a slot or has one is not longer than this.
const MOST_WORDS: usize = HEADER_WORDS + 1 + MOST_PAST * PAST_WORDS;

pub(super) fn append_full(thread: &Thread, mut header: Header, payload: &[u64]) {
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

pub(super) fn note_stamp(thread: &Thread, stamp: u32) {
    if stamp != 0 {
        thread.stream.stamp.set(stamp);
    }
}

/// Makes the event at `at` part of the stream.
fn publish(at: *mut u64, first_word: u64) {
    compiler_fence(Release);
    // SAFETY: `at` was given by `reserve`. Volatile, so that it stays one store after all others.
    unsafe { at.write_volatile(first_word) };
}

/// Writes an event, short if its slot has the story; `None` if there is no room for it, else where its word of LONG
/// is (null if it has none).
pub(super) fn write(
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
    let (era, at) = (thread.stream.era.get(), thread.stream.next.get());
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
    slot.event = at;
    slot.object = header.object.0;
    slot.ordinal = ordinal;
    note_stamp(thread, header.stamp);
    thread.count_event();
    Some(if long.is_some() { place } else { core::ptr::null_mut() })
}

/// Gives the latest event of a slot a word of LONG, if it was told short and nothing has come after it. Gives where that
/// word is. The event stays whole if the process dies at any moment: its two words change by one instruction, and as long as
/// the third is 0 that says nothing.
pub(super) fn grow_last(thread: &Thread, slot: &Slot, long: u64) -> Option<*mut u64> {
    let stream = &thread.stream;
    if slot.era != stream.era.get() || !has_room(stream, SHORT_WORDS) {
        return None;
    }
    // SAFETY: the era says that the event lies in the current chunk.
    let first = unsafe { slot.event.read() };
    let words = match first as u8 {
        tag if tag == short::SHORT | short::TINY => 1,
        tag if tag & !short::CONTINUED == short::SHORT => SHORT_WORDS,
        _ => return None,
    };
    if slot.event.wrapping_add(words) != stream.next.get() {
        return None;
    }
    let told = Short {
        flags: first as u8 & short::CONTINUED | short::LONG,
        slot: (first >> 8) as u8,
        object: Address(slot.object),
        stamp: slot.stamp,
        ordinal: slot.ordinal,
    };
    let packed = told.pack();
    let place = slot.event.wrapping_add(SHORT_WORDS);
    // SAFETY: there is room for two more words, which are this thread's, behind an event of one or two.
    unsafe {
        let both = _mm_set_epi64x(packed[1] as i64, packed[0] as i64);
        compiler_fence(Release);
        _mm_storeu_si128(slot.event.cast(), both);
        compiler_fence(Release);
        place.write(long);
    }
    stream.next.set(place.wrapping_add(1));
    Some(place)
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
pub(super) fn write_access(
    thread: &Thread,
    mut header: Header,
    long: Option<u64>,
    past: &[LastAccess],
) -> Option<*mut u64> {
    header.words = HEADER_WORDS + long.is_some() as usize + past.len() * PAST_WORDS;
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
    for access in past {
        past_of(access).pack().into_iter().for_each(&mut put);
    }
    publish(at, packed[0]);
    Some(at.wrapping_add(HEADER_WORDS))
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
