//! Heap blocks: where each was allocated, and the end of its life.
//!
//! A block is recorded only once some of its bytes become shared, so that a program that allocates much and
//! shares little costs little space.
//!
//! Freeing is a write to all bytes of the block. Where others know of bytes, that is recorded and marked at
//! once. Bytes that only the freeing thread has touched get no mark of their own: the block's facts say
//! that it is freed, and who comes later looks there (`mark_if_freed`). The two cannot miss each other: the
//! freeing thread writes the facts before it looks at the cells, the other one locks its cell before it looks at
//! the facts.

pub mod facts;
pub mod starts;

use core::sync::atomic::{AtomicU32, Ordering::*, fence};
use unpick_events::header::Header;
use unpick_events::kind::access_flags;
use unpick_events::{Address, Context, Kind, Site};

use self::facts::{Block, End, Facts};
use crate::frames;
use crate::shadow::cell::{Cell, FREED, THREAD_MASK};
use crate::shadow::{Access, range};
use crate::stream;
use crate::thread::Thread;

/// What is known of freed blocks larger than this is forgotten at once: their pages usually go back to the system.
const LARGEST_KEPT: u64 = 4 << 20;
/// How many serial numbers a thread takes at a time.
const SERIAL_BATCH: u32 = 256;

static SERIALS: AtomicU32 = AtomicU32::new(0);

/// A block was allocated: its bytes begin a new life.
pub fn allocated(thread: &Thread, address: u64, bytes: u64, site: u32) {
    let Some(_busy) = thread.enter() else { return };
    let Some(facts) = Facts::before(address) else { return };
    forget_range(thread, address - 8, bytes.saturating_add(8));
    let context = frames::context(thread).0;
    let serial = next_serial(thread);
    facts.write(&Block { address, bytes, site, context, thread: thread.number(), serial });
    starts::set(address, bytes);
}

/// Unique in the process; drawn in batches, because one counter for all threads would slow them down.
fn next_serial(thread: &Thread) -> u32 {
    let mut serial = thread.next_serial.get();
    if serial.is_multiple_of(SERIAL_BATCH) {
        serial = SERIALS.fetch_add(SERIAL_BATCH, Relaxed);
    }
    thread.next_serial.set(serial.wrapping_add(1));
    serial
}

/// Memory of an allocator whose blocks have no header we could use: its bytes begin a new life.
pub fn allocated_elsewhere(thread: &Thread, address: u64, bytes: u64) {
    if let Some(_busy) = thread.enter() {
        forget_range(thread, address, bytes);
    }
}

/// A block is about to be freed: the last write to its bytes.
pub fn freed(thread: &Thread, address: u64, site: u32) {
    let Some(facts) = Facts::before(address) else { return };
    let Some(block) = facts.read(address) else { return };
    // A second `free` leaves the first as it is and meets it in the cells.
    if facts.end().is_none() {
        facts.set_end(End { thread: thread.number(), site, time: thread.hot().time.get() as u16 });
    }
    fence(SeqCst);
    let flags = access_flags::FREE | access_flags::LIBRARY;
    range::free(thread, &Access { kind: Kind::Write, flags, address, bytes: block.bytes, site });
    if block.bytes > LARGEST_KEPT
        && let Some(_busy) = thread.enter()
    {
        forget_range(thread, address - 8, block.bytes.saturating_add(8));
    }
}

/// A block was freed by a thread that is not recorded: at least it is no block any more.
pub fn freed_by_nobody(address: u64) {
    if let Some(facts) = Facts::before(address) {
        facts.clear();
    }
}

/// A block was resized where it is; what it gained begins a new life.
pub fn resized_in_place(thread: &Thread, address: u64, bytes: u64) {
    let Some(facts) = Facts::before(address) else { return };
    let Some(block) = facts.read(address) else { return };
    let Some(_busy) = thread.enter() else { return };
    if bytes > block.bytes {
        forget_range(thread, address + block.bytes.next_multiple_of(8), bytes - block.bytes);
    }
    facts.set_size(bytes);
    starts::set(address, bytes);
}

/// The size of a block that was allocated since the start and is not freed.
pub fn size_of_block(address: u64) -> Option<u64> {
    let facts = Facts::before(address)?;
    facts.read(address).filter(|_| facts.end().is_none()).map(|block| block.bytes)
}

/// Memory that was mapped, unmapped or is a new thread's stack: whatever was there is gone. The thread is busy.
pub fn forget_range(thread: &Thread, address: u64, bytes: u64) {
    let end = address.saturating_add(bytes);
    starts::take_all_in(address, end, |start| {
        if let Some(facts) = Facts::before(start) {
            facts.clear();
        }
    });
    range::forget(thread, address, bytes);
}

/// Somebody else's bytes at `address`, not yet shared, are about to be met: if their block has been freed, the last
/// access to them was that. The thread holds the lock of the cell's granule.
pub fn mark_if_freed(thread: &Thread, cell: &Cell, address: u64) {
    if let Some((facts, _)) = block_around(thread, address)
        && let Some(end) = facts.end()
        && end.thread as u32 == cell.state() & THREAD_MASK
    {
        cell.set_write(end.site, end.time as u32);
        cell.set_state(cell.state() | FREED);
    }
}

/// Records the block around `address`, if it is a block and has not been recorded. The thread is busy.
pub fn announce_block(thread: &Thread, address: u64) {
    let Some((facts, block)) = block_around(thread, address) else { return };
    if facts.is_announced() {
        return;
    }
    let header = Header {
        kind: Kind::Block,
        words: 0,
        flags: 0,
        stamp: thread.recorder.draw_stamp(),
        object: Address(block.address),
        unit: 0,
        slot: 0,
        site: Site(block.site),
        context: Context(block.context),
    };
    stream::append(
        thread,
        header,
        &[block.bytes, block.thread as u64 | (block.serial as u64) << 32],
    );
    facts.set_announced();
}

/// Whether the byte at `address` is in the block the thread asked for last, which is recorded and not freed: then there
/// is nothing to say about it. The bytes of a block become shared one after the other, so this is the common case.
#[inline]
pub fn is_settled(thread: &Thread, address: u64) -> bool {
    let (start, end) = thread.last_block.get();
    (start..end).contains(&address) && Facts::before(start).is_some_and(|facts| facts.are_settled())
}

/// The block that has a byte at `address`. Often it is the one the thread asked for last.
fn block_around(thread: &Thread, address: u64) -> Option<(Facts, Block)> {
    let (last, _) = thread.last_block.get();
    if let Some(found) = block_at(last, address) {
        return Some(found);
    }
    let found = block_at(starts::at_or_below(address)?, address)?;
    thread.last_block.set((found.1.address, found.1.address + found.1.bytes));
    Some(found)
}

/// The block that starts at `start`, if it has a byte at `address`.
fn block_at(start: u64, address: u64) -> Option<(Facts, Block)> {
    if address < start {
        return None;
    }
    let facts = Facts::before(start)?;
    let block = facts.read(start)?;
    (address - start < block.bytes.max(1)).then_some((facts, block))
}
