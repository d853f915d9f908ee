//! Bytes on thread stacks: a frame that returns ends the life of the bytes it gave away.

use core::ops::Range;
use core::sync::atomic::{AtomicU16, AtomicU64, Ordering::*};
use unpick_events::header::Header;
use unpick_events::kind::access_flags::LIBRARY;
use unpick_events::{Address, Context, Kind, Site};

use crate::frames::Left;
use crate::shadow::{self, Access, touch};
use crate::stream;
use crate::thread::{MAX_THREADS, Thread, thread_with_number, threads_so_far};

/// Which thread's stack an address may belong to, by its 64 KiB page; a later thread takes a slot over.
static OWNERS: [AtomicU16; 1 << 16] = [const { AtomicU16::new(0) }; 1 << 16];
/// Of a very large stack only this much, from its top, is known.
const MOST_KNOWN: u64 = 64 << 20;

/// By the number of a thread: what its creator gave it of its own stack, while the thread has not ended and the frame has not returned; else 0.
static GIVEN: [AtomicU64; MAX_THREADS + 1] = [const { AtomicU64::new(0) }; MAX_THREADS + 1];
/// So many of the latest threads are asked whether they were given a part of a frame that is gone.
const ASKED: usize = 64;

/// A thread's stack is from `low` to `high`: its bytes begin a new life, also those above the first frame, where its thread-local variables
/// are: the C library gives the memory of a thread that has ended to a new one, and nothing of the program's orders the two. The thread is busy.
pub fn begin(thread: &Thread, low: u64, high: u64) {
    let low = low.max(high.saturating_sub(MOST_KNOWN));
    thread.stack.set((low, high));
    let mut page = low >> 16;
    while page <= high >> 16 {
        OWNERS[page as usize & 0xffff].store(thread.number(), Relaxed);
        page += 1;
    }
    shadow::range::forget(thread, low, high - low);
}

/// The bytes at `address` have become shared. If they are on a stack, the frame must say when it is gone.
pub fn note_shared(address: u64) {
    let owner = OWNERS[(address >> 16) as usize & 0xffff].load(Relaxed);
    let Some(thread) = thread_with_number(owner) else { return };
    let (low, high) = thread.stack.get();
    if (low..high).contains(&address) {
        thread.note_shared_stack(address);
    }
}

/// A thread is created with this argument. If that is on the stack of its creator, the frame must say when it is gone.
pub fn give(creator: &Thread, number: u16, argument: u64) {
    let (low, high) = creator.stack.get();
    if (low..high).contains(&argument) {
        creator.note_shared_stack(argument);
        GIVEN[number as usize].store(argument, Relaxed);
    }
}

/// A thread has ended, or could not be created: it uses nothing that it was given any more.
pub fn needs_nothing(number: u16) {
    GIVEN[number as usize].store(0, Relaxed);
}

/// What threads that have not ended were given of these bytes.
fn given_within(bytes: Range<u64>) -> impl Iterator<Item = &'static AtomicU64> {
    let latest = threads_so_far().min(MAX_THREADS as u32) as usize;
    let asked = GIVEN.get(latest.saturating_sub(ASKED)..=latest).unwrap_or(&[]);
    asked.iter().filter(move |given| bytes.contains(&given.load(Relaxed)))
}

/// The lowest byte of a frame that is being left which was given to a thread that has not ended, and the end of the frame. It is told once.
fn given_of(left: &Left, low: u64, live: u64) -> Option<Range<u64>> {
    given_within(low..live).next()?;
    let end = left.end(low, live)?;
    let lowest = given_within(low..end).map(|given| given.swap(0, Relaxed)).min()?;
    Some(lowest..end)
}

/// A function has returned and everything below `live` is gone, part of it shared. What a thread that has not ended was given of it is
/// written once more, as by a `free`: if that thread still uses it, nobody waited for it. The thread is not busy.
#[cold]
pub fn frames_gone(thread: &Thread, live: u64, left: Option<Left>) {
    let (low, high) = thread.stack.get();
    let live = live.min(high);
    let given = left.and_then(|left| Some((given_of(&left, low, live)?, left.site)));
    begin_new_life(thread, live, Site(given.as_ref().map_or(0, |(_, site)| *site)));
    if let Some((Range { start: address, end }, site)) = given {
        let (kind, flags, bytes) = (Kind::Write, LIBRARY, end - address);
        touch(thread, &Access { kind, flags, address, bytes, site });
    }
}

/// The outermost function of a thread that is known has returned: nothing but its own frame is gone.
#[cold]
pub fn outermost_gone(thread: &Thread, left: Option<Left>) {
    let (low, high) = thread.stack.get();
    let Some(left) = left.filter(|_| given_within(low..high).next().is_some()) else { return };
    if let Some(end) = left.end(low, high) {
        frames_gone(thread, end, Some(left));
    }
}

fn begin_new_life(thread: &Thread, live: u64, site: Site) {
    let Some(_busy) = thread.enter() else { return };
    let (low, _) = thread.stack.get();
    let lowest = thread.lowest_shared();
    if lowest < low || live <= lowest {
        return;
    }
    let header = Header {
        kind: Kind::StackGone,
        words: 0,
        flags: 0,
        stamp: thread.recorder.draw_stamp(),
        object: Address(lowest),
        unit: 0,
        slot: 0,
        site,
        context: Context(0),
    };
    stream::append(thread, header, &[live - lowest]);
    shadow::touch::forget(thread, lowest, live - lowest);
    thread.raise_shared_stack(live);
}
