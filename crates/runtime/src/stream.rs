//! The events of one thread, written into chunks of the recording.
//!
//! Only the thread itself writes, and only while it is marked busy, so nothing here needs atomics. An event's
//! first word is written last: until then the stream ends before it, also if the process dies in between.
//!
//! The thread remembers what it told lately, by site and past. An access that goes on in step with one of those is
//! not told again but lengthens it; any other event that differs only in where and when is told short.

mod pasts;
mod slots;
mod trails;
mod write;

use core::cell::{Cell, UnsafeCell};
use unpick_events::header::Header;
use unpick_events::kind::access_flags;
use unpick_events::{Address, Context, Kind, Site};

use self::pasts::MOST_PAST;
pub use self::pasts::{LastAccess, Pasts};
use self::slots::{NO_SLOT, SLOTS, Slot, Story, slot_for};
pub use self::trails::{Element, follow_trail, leave_trail};
use self::trails::{NO_TRAIL, TRAILS, Trail};
use self::write::{append_full, grow_last, note_stamp, write, write_access};
use crate::frames;
use crate::thread::Thread;

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
    /// Site, address and time of the last event, if it is an atomic read that crossed no thread.
    last_read: Cell<(u32, u64, u32)>,
}

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
            last_read: Cell::new((0, 0, 0)),
        }
    }

    /// Ready for a new thread, or for the same one in a new file.
    pub fn reset(&self) {
        self.next.set(core::ptr::null_mut());
        self.end.set(core::ptr::null_mut());
        self.chunk.set((core::ptr::null_mut(), 0));
        self.sequence.set(0);
        self.last_read.set((0, 0, 0));
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

/// Records what the next access has to be understood by. Accesses that are open can still be lengthened. The thread must be busy.
pub fn append_remark(thread: &Thread, header: Header) {
    append_full(thread, header, &[]);
}

/// An event without further words: short if the same was told before of another object.
fn append_bare(thread: &Thread, header: &Header) {
    let story = Story::of(header, &Pasts::NONE);
    let (slot, number) = slot_for(thread, &story);
    if write(thread, slot, number, &story, header, None, &Pasts::NONE).is_some() {
        slot.period = 0;
    }
}

/// Records an access after others, in a list of any length. Gives the stamp under which it is recorded.
pub fn append_access(thread: &Thread, told: &Told, past: &[LastAccess]) -> u32 {
    if past.len() > MOST_PAST {
        return append_with_list(thread, told, past);
    }
    tell(thread, told, &Pasts::of(past), 0)
}

/// Records an access that crossed no thread. It stands for itself, and ends what was open. Of atomic reads that follow each other,
/// as in a loop that waits, the first says all.
pub fn append_unstamped(thread: &Thread, told: &Told) {
    let stream = &thread.stream;
    let is_read = told.is_atomic() && told.kind == Kind::Read;
    if is_read && stream.last_read.get() == (told.site, told.address, thread.hot().time.get()) {
        return;
    }
    frames::tell_entered(thread);
    append_bare(thread, &Header { unit: told.bytes as u8, ..told.header() });
    stream.close_accesses();
    if is_read {
        stream.last_read.set((told.site, told.address, thread.hot().time.get()));
    }
}

/// Records an access with what was known of its bytes before.
///
/// A stamp is drawn here, and only when a new event is needed: a longer one must have begun after `not_before`.
/// Gives the stamp under which the access is recorded.
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
    if in_step
        && slot.stamp > not_before
        && (step == slot.step && lengthen(slot, told) || make_long(thread, slot, told, step))
    {
        return slot.stamp;
    }
    frames::tell_entered(thread);
    let long = told.long_word(in_step, step);
    header.stamp = thread.recorder.draw_stamp();
    let Some(long) = write(thread, slot, number, &story, &header, long, past) else {
        return header.stamp;
    };
    slot.times = past.times;
    slot.recorded = past.recorded;
    slot.stamp = header.stamp;
    // In a full recording, what is told after an atomic access was made after it.
    if told.is_atomic() && thread.recorder.is_full() {
        thread.stream.close_accesses();
    }
    // The order of atomics is exact: each is told alone.
    slot.period = if told.is_atomic() { 0 } else { thread.stream.period.get() };
    slot.long = long;
    slot.last = told.address;
    slot.step = if told.is_range() { told.bytes as i64 } else { step };
    header.stamp
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

/// Records an access with a long list: always alone and in full.
fn append_with_list(thread: &Thread, told: &Told, past: &[LastAccess]) -> u32 {
    frames::tell_entered(thread);
    let mut header = told.header();
    header.stamp = thread.recorder.draw_stamp();
    let long = told.is_range().then_some(told.bytes);
    if write_access(thread, header, long, past).is_some() {
        note_stamp(thread, header.stamp);
        thread.count_event();
    }
    header.stamp
}

/// The second element of a loop: if the first is the last event of the stream, they become one, which is LONG.
fn make_long(thread: &Thread, slot: &mut Slot, told: &Told, step: i64) -> bool {
    if told.is_range() || !slot.long.is_null() {
        return false;
    }
    let Some(one) = told.long_word(true, step) else { return false };
    let two = if one >> 32 == 0 { one + told.bytes } else { one + 1 };
    let Some(long) = grow_last(thread, slot, two) else { return false };
    slot.long = long;
    slot.last = told.address;
    slot.step = step;
    true
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
