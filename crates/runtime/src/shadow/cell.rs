//! What is known about four bytes of the program's memory, in sixteen bytes of ours.
//!
//! ```text
//! byte 0        4        8     10    12       16
//!      +--------+--------+-----+-----+--------+
//!      | write  | read   |read |write| state  |
//!      | site   | site   |time |time |        |
//!      +--------+--------+-----+-----+--------+
//!
//! state 31 30 29                              0
//!      +--+--+--+-----------------------------+
//!      |1 |L |B |    index of a block         |  B=0: a set of readers; B=1: one cell for each byte
//!      +--+--+--+-----------------------------+
//!      |0 |L | flags 26..20 | bytes 19..16 | thread 15..0 |   thread 0: nothing is known
//!      +--+--+-----------------------------------------+
//! ```
//!
//! * `SOLE`: the thread may read and write in silence, because it was the last to write (or nobody else ever
//!   came): write fields hold its last write, read fields its last read since (site 0: none; `RECORDED`: none,
//!   and the write has an event of its own).
//! * not `SOLE`: another thread wrote last, that is recorded already, and the thread has read since: the
//!   *write* fields hold its last read. They, and not the read fields, because the previous owner may
//!   still be about to store its own last read there. The read site is the stamp of the thread's first read.
//! * A thread changes the site and time fields of a state that names it with plain stores of exactly those
//!   fields; `state` itself is changed only by who holds its lock bit. So a store that comes late never
//!   destroys what somebody else has put into `state`.
//! * In a set of readers of bytes that nobody has written, the write site is 0. If it is not, the first reader has written: it
//!   found itself alone, and its store came after the second reader's. That store has removed its read (`recent::has_late_write`).
//! * `bytes` says which of the four bytes the cell speaks of; of the others nothing is known.
//! * `WIDE`: the cell speaks of eight bytes; the one of the upper four then says nothing.
//! * `SPLIT`, only in the cell of the lower four bytes of a granule: that of the upper four may say something too. So
//!   one look tells whether anything is known of eight bytes.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering::*};

pub const INDIRECT: u32 = 1 << 31;
pub const LOCKED: u32 = 1 << 30;
pub const PER_BYTE: u32 = 1 << 29;
pub const INDEX_MASK: u32 = PER_BYTE - 1;

/// In place of a read site: nothing came after the write, which is recorded. No code is at this address.
pub const RECORDED: u32 = 1;

/// Allocation facts are stored in this cell; it speaks of no bytes.
pub const META: u32 = 1 << 25;
pub const SPLIT: u32 = 1 << 24;
pub const FREED: u32 = 1 << 23;
/// More than one thread has touched the bytes in this life.
pub const SHARED: u32 = 1 << 22;
pub const SOLE: u32 = 1 << 21;
pub const WIDE: u32 = 1 << 20;
pub const BYTES_SHIFT: u32 = 16;
pub const BYTES_MASK: u32 = 0xf << BYTES_SHIFT;
pub const THREAD_MASK: u32 = 0xffff;
/// The bits that say which bytes a state speaks of.
pub const SHAPE_MASK: u32 = WIDE | BYTES_MASK;
/// The shape of an aligned access of four bytes, and of eight.
pub const QUAD: u32 = BYTES_MASK;
pub const GRANULE: u32 = WIDE | BYTES_MASK;

/// The bits of a state that matter for silence: in a recording of every shared access, and else.
pub const KEPT_IN_FULL: u32 = !SPLIT;
pub const KEPT: u32 = !(SPLIT | SHARED);

#[repr(C, align(16))]
#[derive(Debug)]
pub struct Cell {
    pub write_site: AtomicU32,
    pub read_site: AtomicU32,
    pub read_time: AtomicU16,
    pub write_time: AtomicU16,
    state: AtomicU32,
}

const _: () = assert!(size_of::<Cell>() == 16);

impl Cell {
    pub const fn new() -> Self {
        Self {
            write_site: AtomicU32::new(0),
            read_site: AtomicU32::new(0),
            read_time: AtomicU16::new(0),
            write_time: AtomicU16::new(0),
            state: AtomicU32::new(0),
        }
    }

    /// The state as it stands, with `LOCKED` and `SPLIT`.
    #[inline(always)]
    pub fn raw_state(&self) -> u32 {
        self.state.load(Relaxed)
    }

    #[inline]
    pub fn state(&self) -> u32 {
        let state = self.state.load(Relaxed) & !LOCKED;
        if state & INDIRECT != 0 { state } else { state & !SPLIT }
    }

    /// Changes the state and keeps the lock bit. Only for who holds the lock of the granule, whose release sets `SPLIT`.
    #[inline]
    pub fn set_state(&self, state: u32) {
        self.state.store(state | self.state.load(Relaxed) & LOCKED, Relaxed);
    }

    /// Tries to set the lock bit. Gives the raw state before.
    #[inline]
    pub fn try_lock(&self) -> Option<u32> {
        let state = self.state.load(Relaxed);
        let is_locked = state & LOCKED == 0
            && self.state.compare_exchange(state, state | LOCKED, Acquire, Relaxed).is_ok();
        is_locked.then_some(state)
    }

    /// Gives up the lock of a granule whose lower cell this is. `is_split` is asked only where it matters.
    #[inline]
    pub fn unlock(&self, is_split: impl FnOnce() -> bool) {
        let state = self.state.load(Relaxed) & !LOCKED;
        let is_split = state & (INDIRECT | WIDE) == 0 && is_split();
        self.state.store(if is_split { state | SPLIT } else { state }, Release);
    }

    /// The thread's last access was this write.
    #[inline(always)]
    pub fn set_write(&self, site: u32, time: u32) {
        // One store for both sites: the read site becomes 0.
        let sites: &AtomicU64 = self.sites();
        sites.store(site as u64, Relaxed);
        self.write_time.store(time as u16, Relaxed);
    }

    #[inline(always)]
    pub fn set_read(&self, site: u32, time: u32) {
        self.read_site.store(site, Relaxed);
        self.read_time.store(time as u16, Relaxed);
    }

    /// The last access of a thread that is `SOLE`.
    #[inline(always)]
    pub fn set_access(&self, site: u32, time: u32, writes: bool) {
        if writes {
            self.set_write(site, time);
        } else {
            self.set_read(site, time);
        }
    }

    /// The last read of a thread that is not `SOLE`.
    #[inline(always)]
    pub fn set_guest_read(&self, site: u32, time: u32) {
        self.write_site.store(site, Relaxed);
        self.write_time.store(time as u16, Relaxed);
    }

    fn sites(&self) -> &AtomicU64 {
        // SAFETY: the first eight bytes are the two site fields, eight-aligned by `align(16)`, and atomics
        // of another width over the same bytes are all the code that ever touches them.
        unsafe { &*core::ptr::from_ref(self).cast::<AtomicU64>() }
    }

    pub fn copy_from(&self, other: &Cell) {
        self.sites().store(other.sites().load(Relaxed), Relaxed);
        self.read_time.store(other.read_time.load(Relaxed), Relaxed);
        self.write_time.store(other.write_time.load(Relaxed), Relaxed);
        self.set_state(other.state());
    }

    /// Whether two cells would say the same but for the bytes they speak of.
    pub fn says_the_same(&self, other: &Cell) -> bool {
        self.sites().load(Relaxed) == other.sites().load(Relaxed)
            && self.read_time.load(Relaxed) == other.read_time.load(Relaxed)
            && self.write_time.load(Relaxed) == other.write_time.load(Relaxed)
            && (self.state() ^ other.state()) & !SHAPE_MASK == 0
    }

    /// All that the cell says, to be compared.
    #[inline(always)]
    pub fn says(&self) -> [u64; 2] {
        let times =
            self.read_time.load(Relaxed) as u64 | (self.write_time.load(Relaxed) as u64) << 16;
        [self.sites().load(Relaxed), times | (self.state() as u64) << 32]
    }

    /// Nothing is known any more.
    pub fn clear(&self) {
        self.sites().store(0, Relaxed);
        self.read_time.store(0, Relaxed);
        self.write_time.store(0, Relaxed);
        self.set_state(0);
    }
}

impl Default for Cell {
    fn default() -> Self {
        Self::new()
    }
}

/// Whether the cell of the upper four bytes may say something, by the raw state of the lower one's.
#[inline(always)]
pub fn may_be_split(lower: u32) -> bool {
    lower & INDIRECT != 0 || lower & (SPLIT | META) != 0
}

/// The shape of a cell that speaks of these bytes of its quad (a bit each).
#[inline]
pub fn shape_of_bytes(mask: u32) -> u32 {
    mask << BYTES_SHIFT
}
