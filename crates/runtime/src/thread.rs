//! A thread of the program as the recorder knows it: its number, its stream, its place in the shadow.
//!
//! The struct outlives its thread and is used again by a later one under a new number. What others need of a
//! thread after its end (how many events it had recorded) is kept apart, by number.

use core::cell::Cell;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering::*};
use unpick_events::file::{file_field, lost};

use crate::breakpoints;
use crate::breakpoints::activations::Activations;
use crate::breakpoints::partners::Standing;
use crate::frames::Frame;
use crate::recorder::Recorder;
use crate::shadow::cell;
use crate::shadow::pool::FreeList;
use crate::shadow::recent::{self, LastReads};
use crate::stream::Stream;
use crate::sys;

/// Thread numbers go from 1 to this.
pub const MAX_THREADS: usize = u16::MAX as usize;

/// What hooks need at every access. It lives in thread-local storage while the thread runs.
#[repr(C, align(64))]
pub struct Hot {
    /// Null before the thread is known and after its end.
    pub thread: Cell<*const Thread>,
    /// State of a cell that the thread may read and write in silence, but for its shape; 0 before the thread is known.
    pub key: Cell<u32>,
    /// Bits of a state that matter for silence: `KEPT`, or `KEPT_IN_FULL` if every shared access is wanted.
    pub kept: Cell<u32>,
    /// Number of events the thread has recorded.
    pub time: Cell<u32>,
    /// Where the next frame goes.
    pub frames_top: Cell<*mut Frame>,
    pub frames_end: Cell<*mut Frame>,
    /// The thread's own last reads of bytes with several readers.
    pub last_reads: Cell<LastReads>,
}

const _: () = assert!(size_of::<Hot>() == 64);

/// The part of the hot fields that lets an access pass in silence.
#[derive(Debug, Clone, Copy)]
pub struct Pass {
    pub key: u32,
    pub kept: u32,
    pub time: u32,
}

/// `local::pass` reads these from thread-local storage without a pointer to it.
pub const PASS_OFFSETS: (usize, usize) =
    (core::mem::offset_of!(Hot, key), core::mem::offset_of!(Hot, time));
const _: () = assert!(core::mem::offset_of!(Hot, kept) == PASS_OFFSETS.0 + 4);

impl Hot {
    pub fn pass(&self) -> Pass {
        Pass { key: self.key.get(), kept: self.kept.get(), time: self.time.get() }
    }

    pub const fn new() -> Self {
        Self {
            thread: Cell::new(core::ptr::null()),
            key: Cell::new(0),
            kept: Cell::new(!0),
            time: Cell::new(0),
            frames_top: Cell::new(core::ptr::null_mut()),
            frames_end: Cell::new(core::ptr::null_mut()),
            last_reads: Cell::new(core::ptr::null()),
        }
    }
}

impl Default for Hot {
    fn default() -> Self {
        Self::new()
    }
}

pub struct Thread {
    pub recorder: &'static Recorder,
    pub number: Cell<u16>,
    /// The thread's hot fields: in its thread-local storage, or `resting` while it does not run (fibers).
    hot: Cell<*const Hot>,
    resting: Hot,
    pub stream: Stream,
    /// `BUSY` while the recorder works for this thread: a signal handler that comes in between is not recorded.
    busy: AtomicU8,
    /// The granule whose lock bit the thread holds or is taking; for the child after a fork.
    pub locked: AtomicPtr<cell::Cell>,
    pub free_readers: FreeList,
    pub free_byte_cells: FreeList,
    pub random: Cell<u64>,
    /// The thread's stack: lowest address and end; 0 if unknown.
    pub stack: Cell<(u64, u64)>,
    lowest_shared: AtomicU64,
    highest_shared: AtomicU64,
    pub frames: Cell<*mut Frame>,
    /// Functions were entered since the last access that was told: as many calls as had not been left until then. Full recordings only.
    pub kept_calls: Cell<Option<usize>>,
    /// As in the hot fields; for other threads.
    pub last_reads: Cell<LastReads>,
    /// The other id under which the program knows the thread (`pthread_t`).
    pub handle: Cell<u64>,
    /// The serial number of the next block the thread allocates; see `heap`.
    pub next_serial: Cell<u32>,
    /// Start and end of the heap block the thread asked for last.
    pub last_block: Cell<(u64, u64)>,
    /// For breakpoints: what it waits for and holds; whether it is at one; the step before which it was let on
    /// to its next release.
    pub standing: Standing,
    pub at_place: Cell<bool>,
    /// Where the return address of the call is that makes the thread's step, and what it is.
    step_call: Cell<(u64, u64)>,
    pub let_on: Cell<Option<u8>>,
    pub activations: Activations,
    next_unused: AtomicPtr<Thread>,
}

/// Nothing is done for the thread.
const IDLE: u8 = 0;
const BUSY: u8 = 1;
/// As `IDLE`, but its next event is waited for.
const WATCHED: u8 = 2;

impl Thread {
    #[inline]
    pub fn hot(&self) -> &Hot {
        let hot = self.hot.get();
        if hot.is_null() {
            return &self.resting;
        }
        // SAFETY: `run_on` sets it to the thread-local fields of the running thread and `rest` clears it before
        // they go; only the thread itself asks.
        unsafe { &*hot }
    }

    /// From now on the thread runs with these hot fields.
    pub fn run_on(&self, hot: &Hot) {
        copy_hot(&self.resting, hot);
        hot.thread.set(self);
        self.hot.set(hot);
    }

    /// The thread stops running: its hot fields are kept with it, and the place where they were knows no thread.
    pub fn rest(&self) {
        let hot = self.hot();
        copy_hot(hot, &self.resting);
        hot.thread.set(core::ptr::null());
        hot.key.set(0);
        self.hot.set(core::ptr::null());
    }

    #[inline]
    pub fn number(&self) -> u16 {
        self.number.get()
    }

    /// Some thread shares bytes at `address` of this thread's stack.
    pub fn note_shared_stack(&self, address: u64) {
        self.highest_shared.fetch_max(address, Relaxed);
        self.lowest_shared.fetch_min(address, Relaxed);
    }

    /// The lowest address on the thread's stack that others know of; `u64::MAX` if none.
    #[inline(always)]
    pub fn lowest_shared(&self) -> u64 {
        self.lowest_shared.load(Relaxed)
    }

    /// Everything below `live` is gone.
    pub fn raise_shared_stack(&self, live: u64) {
        if self.highest_shared.load(Relaxed) >= live {
            self.lowest_shared.store(live, Relaxed);
        } else {
            self.forget_shared_stack();
        }
    }

    fn forget_shared_stack(&self) {
        self.highest_shared.store(0, Relaxed);
        self.lowest_shared.store(u64::MAX, Relaxed);
    }

    /// Counts one more event.
    #[inline]
    pub fn count_event(&self) {
        let hot = self.hot();
        let count = hot.time.get().wrapping_add(1);
        hot.time.set(count);
        if count.is_multiple_of(COUNTED_AT_ONCE) {
            event_count(self.number()).store(count, Relaxed);
        }
    }

    /// As `enter`, for work that loses nothing if it is not done.
    pub fn enter_quietly(&self) -> Option<Busy<'_>> {
        if self.busy.load(Relaxed) != IDLE { None } else { self.enter() }
    }

    /// The next event of the thread is told to the breakpoints. For it to show, no access passes in silence until then.
    /// `slot` is where the return address of the call is that makes the step.
    pub fn watch_next_event(&self, slot: u64, site: u64) {
        if self.busy.load(Relaxed) != BUSY {
            self.step_call.set((slot, site));
            self.hot().key.set(0);
            self.busy.store(WATCHED, Relaxed);
        }
    }

    /// The thread is watched: this is its next event, unless it is still the call that makes the step. Gives how to leave it.
    #[cold]
    fn event_after_step(&self) -> u8 {
        if self.is_making_step() {
            return WATCHED;
        }
        self.busy.store(IDLE, Relaxed);
        self.hot().key.set(self.number() as u32 | cell::SOLE);
        breakpoints::next_event(self);
        IDLE
    }

    /// Whether the call that led to the last place has not returned: its return address is still on the stack.
    fn is_making_step(&self) -> bool {
        let (slot, site) = self.step_call.get();
        let here = 0_u8;
        if slot <= (&raw const here) as u64 {
            return false;
        }
        // SAFETY: the slot is above the stack pointer on the stack of the running thread, where all is mapped.
        unsafe { (slot as *const u64).read_volatile() == site }
    }

    /// Marks the recorder as working for this thread. `None` if it already is: a signal handler came in between.
    #[inline]
    pub fn enter(&self) -> Option<Busy<'_>> {
        let after = match self.busy.load(Relaxed) {
            IDLE => IDLE,
            WATCHED => self.event_after_step(),
            _ => {
                self.recorder.mark_lost(lost::SIGNAL);
                self.recorder.add(file_field::DROPPED, 1);
                return None;
            }
        };
        self.busy.store(BUSY, Relaxed);
        core::sync::atomic::compiler_fence(SeqCst);
        Some(Busy { thread: self, after })
    }
}

/// The recorder works for a thread until this is dropped.
pub struct Busy<'a> {
    thread: &'a Thread,
    after: u8,
}

impl Drop for Busy<'_> {
    #[inline]
    fn drop(&mut self) {
        core::sync::atomic::compiler_fence(SeqCst);
        self.thread.busy.store(self.after, Relaxed);
    }
}

fn copy_hot(from: &Hot, to: &Hot) {
    to.thread.set(from.thread.get());
    to.key.set(from.key.get());
    to.kept.set(from.kept.get());
    to.time.set(from.time.get());
    to.frames_top.set(from.frames_top.get());
    to.frames_end.set(from.frames_end.get());
    to.last_reads.set(from.last_reads.get());
}

/// Others learn of a thread's events in steps of this many, so that it rarely takes away what they look at.
const COUNTED_AT_ONCE: u32 = 256;

/// By number: how many events the thread has recorded, rounded down. A cache line each, so that threads do not slow
/// each other.
#[repr(align(64))]
struct EventCount(AtomicU32);

static EVENT_COUNTS: [EventCount; MAX_THREADS + 1] =
    [const { EventCount(AtomicU32::new(0)) }; MAX_THREADS + 1];
static THREADS: [AtomicPtr<Thread>; MAX_THREADS + 1] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; MAX_THREADS + 1];
static NUMBERS: AtomicU32 = AtomicU32::new(0);
static BEGUN: AtomicU32 = AtomicU32::new(0);
static UNUSED: AtomicPtr<Thread> = AtomicPtr::new(core::ptr::null_mut());
static UNUSED_LOCK: AtomicBool = AtomicBool::new(false);

pub fn event_count(number: u16) -> &'static AtomicU32 {
    &EVENT_COUNTS[number as usize].0
}

/// The full event count of a thread of which a cell keeps the low 16 bits. Right as long as the thread has
/// recorded fewer than some 65000 events since.
pub fn full_time(number: u16, low: u16) -> u32 {
    let most = event_count(number).load(Relaxed).wrapping_add(COUNTED_AT_ONCE - 1);
    let guess = most & !0xffff | low as u32;
    if guess > most { guess.wrapping_sub(0x1_0000) } else { guess }
}

/// The thread with this number, while it lives.
pub fn thread_with_number(number: u16) -> Option<&'static Thread> {
    // SAFETY: threads are never unmapped.
    unsafe { THREADS[number as usize].load(Acquire).as_ref() }
}

/// How many threads there have been.
pub fn threads_so_far() -> u32 {
    NUMBERS.load(Relaxed)
}

/// Whether a thread has been created and does not run yet.
pub fn is_one_coming() -> bool {
    BEGUN.load(Relaxed) < NUMBERS.load(Relaxed)
}

/// A number for a new thread, or `None` when all have been given out.
pub fn new_number(recorder: &Recorder) -> Option<u16> {
    let taken = NUMBERS
        .fetch_update(Relaxed, Relaxed, |last| (last < MAX_THREADS as u32).then_some(last + 1));
    if taken.is_err() {
        recorder.mark_lost(lost::THREADS);
    }
    recorder.set(file_field::THREADS, NUMBERS.load(Relaxed) as u64);
    taken.ok().map(|last| (last + 1) as u16)
}

/// A thread for this number, not running yet.
pub fn begin(recorder: &'static Recorder, number: u16) -> Option<&'static Thread> {
    let thread = take_unused().or_else(|| map_new(recorder))?;
    thread.number.set(number);
    thread.stream.reset();
    thread.busy.store(IDLE, Relaxed);
    thread.standing.reset();
    thread.at_place.set(false);
    thread.let_on.set(None);
    thread.activations.reset();
    thread.kept_calls.set(None);
    let hot = &thread.resting;
    hot.key.set(number as u32 | cell::SOLE);
    hot.kept.set(if recorder.is_full() || crate::perturb::at_accesses() {
        cell::KEPT_IN_FULL
    } else {
        cell::KEPT
    });
    hot.time.set(0);
    thread.forget_shared_stack();
    crate::frames::prepare(thread, hot);
    if thread.last_reads.get().is_null() {
        thread.last_reads.set(recent::map_array());
    }
    if thread.last_reads.get().is_null() {
        return None;
    }
    hot.last_reads.set(thread.last_reads.get());
    thread.random.set(0);
    THREADS[number as usize].store(core::ptr::from_ref(thread).cast_mut(), Release);
    BEGUN.fetch_add(1, Relaxed);
    Some(thread)
}

/// The thread has ended; its struct may serve a new one.
pub fn end(thread: &'static Thread) {
    recent::leave_all(thread);
    THREADS[thread.number() as usize].store(core::ptr::null_mut(), Release);
    thread.rest();
    with_unused(|first| {
        thread.next_unused.store(first, Relaxed);
        (core::ptr::from_ref(thread).cast_mut(), ())
    });
}

fn map_new(recorder: &'static Recorder) -> Option<&'static Thread> {
    let memory = sys::map_private(None, size_of::<Thread>().next_multiple_of(4096)).ok()?;
    let place = memory.cast::<Thread>();
    // SAFETY: fresh, zeroed memory of the right size and alignment, ours alone; never unmapped, hence 'static. Zero is a
    // value of every field but `recorder`; `begin` sets those where it is not the right one. Not written as a whole,
    // which would become a call of `memset`: see RULES.md.
    unsafe {
        (&raw mut (*place).recorder).write(recorder);
        Some(&*place)
    }
}

fn take_unused() -> Option<&'static Thread> {
    with_unused(|first| {
        // SAFETY: only structs made by `map_new` are in the list, and they are never unmapped.
        match unsafe { first.as_ref() } {
            Some(thread) => (thread.next_unused.load(Relaxed), Some(thread)),
            None => (first, None),
        }
    })
}

/// Runs `change` on the head of the list of unused threads, under its lock.
fn with_unused<T>(change: impl FnOnce(*mut Thread) -> (*mut Thread, T)) -> T {
    while UNUSED_LOCK.swap(true, Acquire) {
        sys::yield_now();
    }
    let (first, answer) = change(UNUSED.load(Relaxed));
    UNUSED.store(first, Relaxed);
    UNUSED_LOCK.store(false, Release);
    answer
}

/// In the child after a fork: the other threads are gone; what they had locked is free, what they were is ended.
pub fn forget_others(survivor: &Thread) {
    UNUSED_LOCK.store(false, Release);
    for number in 1..=threads_so_far().min(MAX_THREADS as u32) as u16 {
        let Some(thread) = thread_with_number(number) else { continue };
        if core::ptr::eq(thread, survivor) {
            continue;
        }
        // SAFETY: cells are mapped for ever.
        if let Some(cell) = unsafe { thread.locked.swap(core::ptr::null_mut(), Relaxed).as_ref() } {
            cell.unlock(|| true);
        }
        THREADS[number as usize].store(core::ptr::null_mut(), Release);
    }
}
