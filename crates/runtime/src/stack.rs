//! Bytes on thread stacks: a frame that returns ends the life of the bytes it gave away.

use core::sync::atomic::{AtomicU16, Ordering::*};
use unpick_events::header::Header;
use unpick_events::{Address, Context, Kind, Site};

use crate::shadow;
use crate::stream;
use crate::thread::{Thread, thread_with_number};

/// Which thread's stack an address may belong to, by its 64 KiB page; a later thread takes a slot over.
static OWNERS: [AtomicU16; 1 << 16] = [const { AtomicU16::new(0) }; 1 << 16];
/// Of a very large stack only this much, from its top, is known.
const MOST_KNOWN: u64 = 64 << 20;

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

/// A frame has returned and everything below `live` is gone, part of it shared. The thread is not busy.
#[cold]
pub fn frames_gone(thread: &Thread, live: u64) {
    let Some(_busy) = thread.enter() else { return };
    let (low, high) = thread.stack.get();
    let lowest = thread.lowest_shared();
    let live = live.min(high);
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
        site: Site(0),
        context: Context(0),
    };
    stream::append(thread, header, &[live - lowest]);
    shadow::touch::forget(thread, lowest, live - lowest);
    thread.raise_shared_stack(live);
}
