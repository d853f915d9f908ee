//! Delays put in on purpose, so that rare interleavings become frequent.
//!
//! Off unless asked for. Each thread draws from its own sequence, which depends on the seed and the thread's
//! number alone.

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
    /// Nanoseconds; 0 only yields.
    pub shortest: u64,
    pub longest: u64,
    pub seed: u64,
}

static ON: AtomicBool = AtomicBool::new(false);
static PROBABILITY: [AtomicU32; 3] = [const { AtomicU32::new(0) }; 3];
static SHORTEST: AtomicU64 = AtomicU64::new(0);
static LONGEST: AtomicU64 = AtomicU64::new(0);
static SEED: AtomicU64 = AtomicU64::new(0);

pub fn set(policy: Policy) {
    for (place, parts) in
        PROBABILITY.iter().zip([policy.access, policy.synchronisation, policy.thread_start])
    {
        place.store(parts, Relaxed);
    }
    SHORTEST.store(policy.shortest, Relaxed);
    LONGEST.store(policy.longest.max(policy.shortest), Relaxed);
    SEED.store(policy.seed, Relaxed);
    ON.store(policy.access | policy.synchronisation | policy.thread_start != 0, Release);
}

/// Whether delays at shared accesses are wanted: then these may not pass in silence.
pub fn at_accesses() -> bool {
    ON.load(Relaxed) && PROBABILITY[0].load(Relaxed) != 0
}

/// Perhaps delays a thread that is about to touch bytes others have touched.
#[inline]
pub fn before_access(thread: &Thread, access: &Access) {
    if ON.load(Relaxed) && is_shared(thread, access.address) {
        perhaps_delay(thread, Place::Access);
    }
}

fn is_shared(thread: &Thread, address: u64) -> bool {
    let state = region::cell(address).state();
    state & (INDIRECT | SHARED) != 0
        || (state != 0 && state & THREAD_MASK != thread.number() as u32)
}

#[inline]
pub fn at(thread: &Thread, place: Place) {
    if ON.load(Relaxed) {
        perhaps_delay(thread, place);
    }
}

#[cold]
fn perhaps_delay(thread: &Thread, place: Place) {
    let drawn = next_random(thread);
    if drawn % 1_000_000 >= PROBABILITY[place as usize].load(Relaxed) as u64 {
        return;
    }
    let (shortest, longest) = (SHORTEST.load(Relaxed), LONGEST.load(Relaxed));
    let length = shortest + next_random(thread) % (longest - shortest + 1);
    if length == 0 {
        sys::yield_now()
    } else {
        sys::sleep(length)
    }
    thread.recorder.add(file_field::DELAYED, length);
    record(thread, length);
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
