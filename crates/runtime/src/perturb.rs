//! Delays put in on purpose, so that rare interleavings become frequent.
//!
//! Off unless asked for. Each thread draws from its own sequence, which depends on the seed and the thread's
//! number alone. Delays at chosen places of the code (`breakpoints::delays`) are made here too.
//!
//! All delays of a process together are bounded by a budget, and those at one access site by a part of it, so that a loop over
//! memory that is shared by chance does not use up the time of a run. They end for good when the program begins to fail
//! (`end`): threads that are being delayed go on at once.

use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::*};
use unpick_events::file::file_field;
use unpick_events::header::Header;
use unpick_events::{Address, Context, Kind, Site};

use crate::shadow::cell::{INDIRECT, SHARED, THREAD_MASK};
use crate::shadow::{Access, region};
use crate::stream;
use crate::sys;
use crate::thread::Thread;

/// Where a delay may be put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    Access,
    Synchronisation,
    ThreadStart,
}

/// How often and how long. Probabilities are parts per million.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Policy {
    pub access: u32,
    pub synchronisation: u32,
    pub thread_start: u32,
    /// How many arrivals a delay plan delays; the plan itself says which.
    pub targets: u32,
    /// Nanoseconds; 0 only yields.
    pub shortest: u64,
    pub longest: u64,
    /// Nanoseconds that all delays together may take; 0: no bound.
    pub budget: u64,
    pub seed: u64,
}

static ON: AtomicBool = AtomicBool::new(false);
static PROBABILITY: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
static SHORTEST: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);

/// Nanoseconds that may still be spent on delays.
static LEFT: AtomicU64 = AtomicU64::new(u64::MAX);
/// Nanoseconds spent at access sites, by their low bits, and the most that may be spent at one.
static SPENT_AT: [AtomicU64; SITE_SLOTS] = [const { AtomicU64::new(0) }; SITE_SLOTS];
static MAX_AT_ONE_SITE: AtomicU64 = AtomicU64::new(u64::MAX);
const SITE_SLOTS: usize = 256;
/// One site may use up this part of the budget.
const SITE_PART: u64 = 4;

/// 1: there are no more delays. Threads that are being delayed wait for it to change.
static ENDED: AtomicU32 = AtomicU32::new(0);

pub fn set(policy: Policy) {
    for (place, parts) in
        PROBABILITY.iter().zip([policy.access, policy.synchronisation, policy.thread_start])
    {
        place.store(parts, Relaxed);
    }
    SHORTEST.store(policy.shortest, Relaxed);
    LONGEST.store(policy.longest.max(policy.shortest), Relaxed);
    SEED.store(policy.seed, Relaxed);
    if policy.budget != 0 {
        LEFT.store(policy.budget, Relaxed);
        MAX_AT_ONE_SITE.store(policy.budget / SITE_PART, Relaxed);
    }
    ON.store(policy.access | policy.synchronisation | policy.thread_start != 0, Release);
}

/// Whether delays at shared accesses are wanted: then these may not pass in silence.
pub fn at_accesses() -> bool {
    ON.load(Relaxed) && PROBABILITY[0].load(Relaxed) != 0
}

/// No more delays for the rest of the run: it fails, and what follows belongs to failing, not to what led there.
pub fn end() {
    ON.store(false, Relaxed);
    if ENDED.swap(1, Release) == 0 {
        sys::wake_all(&ENDED);
    }
}

/// Perhaps delays a thread that is about to touch bytes others have touched.
#[inline]
pub fn before_access(thread: &Thread, access: &Access) {
    if ON.load(Relaxed) && is_shared(thread, access.address) {
        perhaps_delay_access(thread, access.site);
    }
}

fn is_shared(thread: &Thread, address: u64) -> bool {
    let state = region::cell(address).state();
    state & (INDIRECT | SHARED) != 0
        || (state != 0 && state & THREAD_MASK != thread.number() as u32)
}

#[inline]
pub fn at(thread: &Thread, place: Place) {
    if ON.load(Relaxed)
        && let Some(length) = draw(thread, place)
    {
        delay(thread, length);
    }
}

#[cold]
fn perhaps_delay_access(thread: &Thread, site: u32) {
    let Some(length) = draw(thread, Place::Access) else { return };
    let spent = &SPENT_AT[site as usize % SITE_SLOTS];
    if spent.fetch_add(length, Relaxed) <= MAX_AT_ONE_SITE.load(Relaxed) {
        delay(thread, length);
    }
}

/// How long the thread is to be delayed, if it is.
#[cold]
fn draw(thread: &Thread, place: Place) -> Option<u64> {
    let drawn = next_random(thread);
    if drawn % 1_000_000 >= PROBABILITY[place as usize].load(Relaxed) as u64 {
        return None;
    }
    let (shortest, longest) = (SHORTEST.load(Relaxed), LONGEST.load(Relaxed));
    Some(shortest + next_random(thread) % (longest - shortest + 1))
}

/// Delays the running thread, if the budget allows it.
#[cold]
pub fn delay(thread: &Thread, length: u64) {
    if ENDED.load(Relaxed) != 0 || !spend(length) {
        return;
    }
    if length == 0 {
        sys::yield_now()
    } else {
        sys::wait_for_change(&ENDED, 0, length)
    }
    thread.recorder.add(file_field::DELAYED, length);
    record(thread, length);
}

/// Takes the length of a delay out of the budget. The first that does not fit is the end of all delays.
fn spend(length: u64) -> bool {
    let fits = LEFT.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(length)).is_ok();
    if !fits {
        ON.store(false, Relaxed);
    }
    fits
}

fn record(thread: &Thread, length: u64) {
    let Some(_busy) = thread.enter() else { return };
    let header = Header {
        kind: Kind::Delay,
        words: 0,
        flags: 0,
        stamp: 0,
        object: Address(length),
        unit: 0,
        slot: 0,
        site: Site(0),
        context: Context(0),
    };
    stream::append(thread, header, &[]);
}

/// SplitMix64 over the seed and the thread's number.
fn next_random(thread: &Thread) -> u64 {
    let mut state = thread.random.get();
    if state == 0 {
        state = SEED.load(Relaxed) ^ (thread.number() as u64) << 48 | 1;
    }
    state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    thread.random.set(state);
    let mut mixed = state;
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}
