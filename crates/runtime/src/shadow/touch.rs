//! The slow path of an access: what changes in the shadow, and what goes into the recording.
//!
//! Takes   an access by a thread.   Gives  events for those of its bytes where threads met.
//!
//! For each byte, within one life of it, this keeps the set of threads that know its present value:
//! its last writer alone, or after that everybody who has read it since. An access by a thread of the set
//! changes only the thread's own last read or write. Anything else is a meeting:
//!
//! * a read by another thread records an event that lists the writer's last write and, if it came later,
//!   the writer's last read; the writer leaves the set (should it read again, that is an event of its own);
//! * a write by a thread that is not alone, or not the last writer, records an event that lists the last
//!   access of everybody else in the set; the set is then the writer alone.
//!
//! So the recording has, for each byte, every change of hands with the last access of each side.
//! Bytes nobody has written yet gather readers in silence; the first write lists them.
//!
//! Misses  the order among reads of different threads between two writes, but for each thread's first;
//!         the exact order of accesses that race with each other (the hook comes before the access).
//! Cost    a locked exchange and some hundred instructions: `silent` and `meet` see to it that few accesses come here.

use core::sync::atomic::Ordering::*;
use unpick_events::kind::access_flags;
use unpick_events::{Context, Kind};

use super::cell::*;
use super::granule::Granule;
use super::meet::leave_mark;
use super::past_list::{PastList, past_of_owner};
use super::pool::{self, Readers, byte_cells, readers};
use super::quick;
use super::recent;
use super::region::{lower_cell, mark_touched};
use super::sets::{add_reader, give_back_readers, next_block, open_set};
use super::shapes::{
    bytes_of, gather, is_per_byte, is_readers, is_wide, known_bytes, split, spread, widen,
};
use super::silent::{become_sole, says_only};
use crate::frames;
use crate::heap;
use crate::perturb;
use crate::stack;
use crate::stream::{self, LastAccess, Pasts, Told};
use crate::thread::Thread;

/// One dynamic access of the program.
#[derive(Debug, Clone, Copy)]
pub struct Access {
    pub kind: Kind,
    /// `access_flags`.
    pub flags: u16,
    pub address: u64,
    pub bytes: u64,
    pub site: u32,
}

/// In the flags of an atomic access: it may be a step of a lock that the program made of atomics, as Rust's are. Locks held
/// are known only if every such write is recorded, also where nobody else is concerned. It does not go into the recording.
pub const MAY_LOCK: u16 = 1 << 11;
/// In the flags of a compare-exchange: from here on, the memory order it has if it does not exchange. Not recorded as such.
pub const FAILURE_ORDER_SHIFT: u32 = 12;
/// All flags but that order.
pub const RECORDED_FLAGS: u16 = (1 << FAILURE_ORDER_SHIFT) - 1;

impl Access {
    pub(super) fn writes(&self) -> bool {
        self.kind != Kind::Read
    }

    /// Its first bytes are noted.
    pub(super) fn advance(&mut self, bytes: u64) {
        self.address += bytes;
        self.bytes -= bytes;
    }
}

/// Notes an access of any length and alignment.
pub fn touch(thread: &Thread, access: &Access) {
    let end = access.address.saturating_add(access.bytes);
    let mut at = access.address;
    perturb::before_access(thread, access);
    let Some(_busy) = thread.enter() else { return };
    let mut visit = Visit { thread, access, recorded: false, context: None };
    while at < end {
        let next = (at | 7) + 1;
        let bytes = next.min(end) - at;
        let Some(granule) = Granule::lock(thread, at) else { return };
        visit.granule(&granule, at, bytes);
        drop(granule);
        at = next;
    }
}

/// Notes an atomic access of at most eight aligned bytes and performs it while nobody else can note one of the
/// same bytes: the recorded order is the order of the values. `FAILED_EXCHANGE` in the flags of an access says that it
/// is a compare-exchange; it stays only if that turns out to have been a read.
pub fn touch_around<T>(thread: &Thread, access: &Access, perform: impl FnOnce() -> (T, Kind)) -> T {
    perturb::before_access(thread, access);
    let Some(_busy) = thread.enter() else { return perform().0 };
    let Some(granule) = Granule::lock(thread, access.address) else { return perform().0 };
    let (answer, kind) = perform();
    let failed = access.kind == Kind::ReadWrite
        && kind == Kind::Read
        && access.flags & access_flags::FAILED_EXCHANGE != 0;
    let flags = if failed {
        access.flags & !access_flags::ORDER_MASK | access.flags >> FAILURE_ORDER_SHIFT
    } else {
        access.flags & !access_flags::FAILED_EXCHANGE
    };
    let access = Access { kind, flags: flags & RECORDED_FLAGS, ..*access };
    if !quick::note_atomic(thread, &access) {
        let mut visit = Visit { thread, access: &access, recorded: false, context: None };
        visit.granule(&granule, access.address, access.bytes.min(8));
    }
    drop(granule);
    answer
}

/// One access under way.
struct Visit<'a> {
    thread: &'a Thread,
    access: &'a Access,
    /// Part of the access has been recorded: what follows continues it.
    recorded: bool,
    context: Option<Context>,
}

impl Visit<'_> {
    /// `bytes` bytes at `address`, all in one granule.
    fn granule(&mut self, granule: &Granule, address: u64, bytes: u64) {
        let mask = (((1_u32 << bytes) - 1) << (address & 7)) & 0xff;
        let (low, high) = (granule.low, granule.high);
        if low.state() & (INDIRECT | META) == META {
            return;
        }
        if is_wide(low) {
            if mask == 0xff {
                return self.uniform(low, address, GRANULE);
            }
            split(self.thread, low, high, address & !7);
        } else if mask == 0xff && low.state() == 0 && high.state() == 0 {
            return self.uniform(low, address, GRANULE);
        }
        let base = address & !7;
        if mask & 0xf != 0 {
            self.quad(low, base, mask & 0xf);
        }
        if mask >> 4 != 0 {
            self.quad(high, base + 4, mask >> 4);
        }
        if mask == 0xff {
            widen(low, high);
        }
    }

    /// Some of the four bytes at `base`.
    fn quad(&mut self, cell: &Cell, base: u64, mask: u32) {
        let state = cell.state();
        if is_per_byte(state) {
            return self.each_byte(cell, base, mask);
        }
        if state & (INDIRECT | META) == META {
            return;
        }
        let known = known_bytes(state);
        if known == 0 || known == mask {
            let at = base + mask.trailing_zeros() as u64;
            return self.uniform(cell, at, shape_of_bytes(mask));
        }
        if known & mask == 0 && self.would_say_the_same(cell) {
            return cell.set_state(state | shape_of_bytes(mask));
        }
        if spread(self.thread, cell, base) {
            self.each_byte(cell, base, mask);
        }
    }

    fn each_byte(&mut self, cell: &Cell, base: u64, mask: u32) {
        let cells = byte_cells(cell.state() & INDEX_MASK);
        for (index, byte) in cells.iter().enumerate() {
            if mask & (1 << index) != 0 {
                self.uniform(byte, base + index as u64, shape_of_bytes(1 << index));
            }
        }
        // Bytes that are used at any alignment are better left apart.
        if self.access.address.is_multiple_of(self.access.bytes.clamp(1, 8)) {
            gather(self.thread, cell, cells);
        }
    }

    /// Whether bytes of which nothing is known would, after this access, be as those the cell speaks of.
    fn would_say_the_same(&self, cell: &Cell) -> bool {
        let time = self.thread.hot().time.get();
        cell.state() & !SHAPE_MASK == self.thread.number() as u32 | SOLE
            && says_only(cell, self.access.site, time, self.access.writes())
    }

    /// An access to exactly the bytes that `cell` speaks of (or will speak of).
    fn uniform(&mut self, cell: &Cell, address: u64, shape: u32) {
        let state = cell.state();
        let me = self.thread.number() as u32;
        if state & !SHAPE_MASK == 0 {
            // Bytes nobody ever touched need no mark that they are freed.
            if !self.frees() {
                mark_touched(address);
                become_sole(self.thread, cell, shape, self.access.site, self.access.writes());
                self.note_lock_step(cell, address, shape);
            }
        } else if is_readers(state) {
            self.among_readers(cell, address, shape);
        } else if state & THREAD_MASK == me {
            self.own(cell, address, shape);
        } else {
            self.foreign(cell, address, shape);
        }
    }

    fn note_sole_access(&self, cell: &Cell) {
        cell.set_access(self.access.site, self.thread.hot().time.get(), self.access.writes());
    }

    /// The bytes are this thread's: nobody else has come since it wrote, or it alone has read since.
    fn own(&mut self, cell: &Cell, address: u64, shape: u32) {
        let state = cell.state();
        if state & FREED != 0 {
            return;
        }
        if state & SOLE != 0 {
            if state & SHARED != 0 {
                self.repeat(address, shape);
            }
            self.note_sole_access(cell);
            self.note_lock_step(cell, address, shape);
            return if self.frees() {
                cell.set_state(state | FREED)
            };
        }
        if self.access.writes() {
            let stamp = self.record_after_guest(cell, address, shape);
            return leave_mark(self.thread, cell, shape, self.access, stamp);
        }
        self.repeat(address, shape);
        cell.set_guest_read(self.access.site, self.thread.hot().time.get());
    }

    /// Records a write to the thread's own bytes that may be a step of a lock, unless it is recorded already; in a full recording
    /// every atomic access.
    fn note_lock_step(&mut self, cell: &Cell, address: u64, shape: u32) {
        let is_step = self.access.flags & MAY_LOCK != 0 && self.access.writes();
        let is_told = cell.state() & SHARED != 0 && self.thread.recorder.is_full();
        if !(is_step || self.tells_atomic()) || is_told {
            return;
        }
        self.tell_own(address, shape);
        self.note_sole_access(cell);
        if self.access.writes() {
            cell.read_site.store(RECORDED, Relaxed);
        }
    }

    /// Whether the access is told although it concerns nobody: a past access does not say that it was atomic, nor in which order.
    fn tells_atomic(&self) -> bool {
        self.access.flags & access_flags::ORDER_MASK != 0 && self.thread.recorder.is_full()
    }

    /// Tells of an access to bytes that are not shared. The block is announced before its first event, which is part of its life.
    fn tell_own(&mut self, address: u64, shape: u32) {
        if self.thread.recorder.is_full() {
            self.announce(address);
        }
        let told = self.told(address, shape, access_flags::REPEATED);
        stream::append_unstamped(self.thread, &told);
    }

    /// The bytes are one other thread's.
    fn foreign(&mut self, cell: &Cell, address: u64, shape: u32) {
        let is_settled = cell.state() & SHARED != 0 || heap::is_settled(self.thread, address);
        if cell.state() & FREED == 0 && !is_settled {
            heap::mark_if_freed(self.thread, cell, address);
        }
        let state = cell.state();
        if !self.access.writes() && state & SOLE != 0 && cell.write_site.load(Relaxed) == 0 {
            // A second reader of bytes that nobody has written in this life.
            if self.tells_atomic() {
                self.tell_own(address, shape);
            }
            return open_set(self.thread, cell, address, shape, self.access.site, true);
        }
        // An event that lists nothing must not lengthen one from before what it leaves out.
        let (past, not_before) = if self.is_told(state & SHARED != 0) {
            (Pasts::NONE, u32::MAX)
        } else {
            (past_of_owner(cell.says()), 0)
        };
        if !is_settled {
            self.announce(address);
        }
        if self.access.writes() || state & (SOLE | FREED) != 0 {
            let stamp = self.record_after(address, shape, &past, not_before);
            leave_mark(self.thread, cell, shape, self.access, stamp);
        } else {
            // The reader before us stays in the set, with its read where it is.
            self.record_after_guest(cell, address, shape);
            open_set(self.thread, cell, address, shape, self.access.site, false);
        }
    }

    /// The bytes have several readers.
    fn among_readers(&mut self, cell: &Cell, address: u64, shape: u32) {
        let index = cell.state() & INDEX_MASK;
        let set = readers(index);
        let me = self.thread.number();
        if self.access.writes() {
            if set.unwritten.load(Relaxed) != 0 {
                self.announce(address);
            }
            let stamp = self.record_after_readers(cell, set, address, shape);
            give_back_readers(self.thread, index);
            return leave_mark(self.thread, cell, shape, self.access, stamp);
        }
        if set.home.load(Relaxed) != me && recent::has_late_write(cell, set) {
            return self.read_after_late_write(cell, index, address, shape);
        }
        if recent::is_member(set, me) {
            // In this order: the read that is noted comes after its own event, if it has one.
            self.repeat(address, shape);
            return recent::note(self.thread.hot(), index, address, shape, self.access.site);
        }
        if set.unwritten.load(Relaxed) == 0 {
            self.record_after_guest(cell, address, shape);
        } else if self.tells_atomic() {
            self.tell_own(address, shape);
        }
        add_reader(self.thread, set, self.access.site);
        recent::note(self.thread.hot(), index, address, shape, self.access.site);
    }

    /// A read of what the first reader wrote when it took itself to be alone still: the set is over, as after any write.
    fn read_after_late_write(&mut self, cell: &Cell, index: u32, address: u64, shape: u32) {
        recent::settle(cell, index);
        let mut past = PastList::new();
        past.add_home(cell, readers(index), self.thread.number());
        self.announce(address);
        let stamp = self.record_list(address, shape, past.as_slice());
        give_back_readers(self.thread, index);
        leave_mark(self.thread, cell, shape, self.access, stamp);
    }

    /// Whether all past accesses to shared bytes are events already: in a full recording.
    fn is_told(&self, are_shared: bool) -> bool {
        are_shared && self.thread.recorder.is_full()
    }

    /// A write that ends a set of readers: an event that lists them, continued if they are many.
    fn record_after_readers(
        &mut self,
        cell: &Cell,
        set: &'static Readers,
        address: u64,
        shape: u32,
    ) -> u32 {
        if self.is_told(set.unwritten.load(Relaxed) == 0) {
            return self.record_after(address, shape, &Pasts::NONE, u32::MAX);
        }
        recent::settle(cell, cell.state() & INDEX_MASK);
        let mut past = PastList::new();
        past.add_home(cell, set, self.thread.number());
        let mut block = Some(set);
        while let Some(readers_here) = block {
            if past.has_no_room_for(readers_here) {
                self.record_list(address, shape, past.as_slice());
                past.count = 0;
            }
            past.add_slots(readers_here, self.thread.number());
            block = next_block(readers_here);
        }
        self.record_list(address, shape, past.as_slice())
    }

    /// Whether the access is the end of the bytes' life.
    fn frees(&self) -> bool {
        self.access.flags & access_flags::FREE != 0
    }

    /// The bytes become shared: say what they are part of.
    fn announce(&mut self, address: u64) {
        heap::announce_block(self.thread, address);
        stack::note_shared(address);
    }

    fn record_list(&mut self, address: u64, shape: u32, past: &[LastAccess]) -> u32 {
        let told = self.next_part(address, shape);
        stream::append_access(self.thread, &told, past)
    }

    /// Records an access to bytes whose last writer left the set when somebody read them, which is recorded
    /// already: so this event lists no past that would tell if it came before.
    fn record_after_guest(&mut self, cell: &Cell, address: u64, shape: u32) -> u32 {
        self.record_after(address, shape, &Pasts::NONE, cell.read_site.load(Relaxed))
    }

    fn record_after(&mut self, address: u64, shape: u32, past: &Pasts, not_before: u32) -> u32 {
        let told = self.next_part(address, shape);
        stream::tell(self.thread, &told, past, not_before)
    }

    /// Some bytes of the access, about to be recorded.
    fn next_part(&mut self, address: u64, shape: u32) -> Told {
        let more = if self.recorded { access_flags::CONTINUED } else { 0 };
        self.recorded = true;
        self.told(address, shape, more)
    }

    /// In a full recording, a further access to shared bytes is an event too.
    fn repeat(&mut self, address: u64, shape: u32) {
        if self.thread.recorder.is_full() {
            let told = self.told(address, shape, access_flags::REPEATED);
            stream::append_unstamped(self.thread, &told);
        }
    }

    fn told(&mut self, address: u64, shape: u32, more_flags: u16) -> Told {
        let context = *self.context.get_or_insert_with(|| frames::context(self.thread));
        Told {
            kind: self.access.kind,
            flags: self.access.flags & !MAY_LOCK | more_flags,
            site: self.access.site,
            context,
            address,
            bytes: bytes_of(shape),
        }
    }
}

/// Forgets everything about a range: its bytes begin a new life. Blocks it used are free again.
pub fn forget(thread: &Thread, address: u64, bytes: u64) {
    let end = address + bytes;
    let mut at = address & !7;
    while at < end {
        if lower_cell(at).raw_state() != 0 {
            let Some(mut granule) = Granule::lock(thread, at) else { return };
            forget_cell(thread, granule.low);
            forget_cell(thread, granule.high);
            granule.was_split = false;
        }
        at += 8;
    }
}

fn forget_cell(thread: &Thread, cell: &Cell) {
    let state = cell.state();
    if is_per_byte(state) {
        byte_cells(state & INDEX_MASK).iter().for_each(|byte| forget_cell(thread, byte));
        thread.free_byte_cells.give_back(&pool::BYTE_BLOCKS, state & INDEX_MASK);
    } else if is_readers(state) {
        give_back_readers(thread, state & INDEX_MASK);
    }
    if state & (INDIRECT | META) != META {
        cell.clear();
    }
}
