//! The outcome, as it grows: a mapped file, so that it outlives any end of the process.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering::*};
use unpick_events::schedule::{
    LetGo, MOST_OUTCOME_WORDS, MOST_SEEN, OUTCOME_MAGIC, OUTCOME_PLACE_WORDS, OUTCOME_SEEN_WORDS,
    OUTCOME_STEP_WORDS, OUTCOME_WORDS, outcome, outcome_seen,
};

use super::partners::{Sight, others_in_sight};
use super::plan::Plan;
use crate::sys;
use crate::thread::Thread;

static BASE: AtomicPtr<AtomicU64> = AtomicPtr::new(core::ptr::null_mut());

/// What is counted for want of a file.
static NOWHERE: AtomicU64 = AtomicU64::new(0);

/// Begins the outcome of `plan` in a new file; `path` ends in a zero byte.
pub fn begin(path: &[u8], plan: &Plan) -> Result<(), i32> {
    let bytes = MOST_OUTCOME_WORDS * 8;
    let flags = libc::O_RDWR | libc::O_CREAT | libc::O_EXCL | libc::O_CLOEXEC | libc::O_NOFOLLOW;
    let file = sys::open(path, flags, 0o600)?;
    let mapped = sys::set_length(file, bytes as u64).and_then(|()| sys::map_shared(file, bytes));
    sys::close(file);
    let base = mapped?;
    sys::populate(base, bytes.next_multiple_of(4096))?;
    BASE.store(base.cast(), Release);
    word(outcome::STEPS).store(plan.steps as u64, Relaxed);
    word(outcome::PLACES).store(plan.entries().len() as u64, Relaxed);
    word(outcome::STARTED_AT).store(sys::clock(libc::CLOCK_MONOTONIC), Relaxed);
    word(outcome::MAGIC).store(OUTCOME_MAGIC, Release);
    Ok(())
}

/// After a fork the file is the parent's.
pub fn leave() {
    BASE.store(core::ptr::null_mut(), Release);
}

pub fn word(at: usize) -> &'static AtomicU64 {
    let base = BASE.load(Acquire);
    if base.is_null() || at >= MOST_OUTCOME_WORDS {
        return &NOWHERE;
    }
    // SAFETY: `begin` mapped and populated this many words, which are never unmapped; all access is atomic.
    unsafe { &*base.add(at) }
}

pub fn of_step(step: u8, at: usize) -> &'static AtomicU64 {
    word(OUTCOME_WORDS + step as usize * OUTCOME_STEP_WORDS + at)
}

/// Words of places come after those of all steps.
pub fn of_place(plan: &Plan, place: usize, at: usize) -> &'static AtomicU64 {
    let steps = plan.steps as usize * OUTCOME_STEP_WORDS;
    word(OUTCOME_WORDS + steps + place * OUTCOME_PLACE_WORDS + at)
}

/// The same for a delay plan, which has one step.
pub fn of_delay_place(place: usize, at: usize) -> &'static AtomicU64 {
    word(OUTCOME_WORDS + OUTCOME_STEP_WORDS + place * OUTCOME_PLACE_WORDS + at)
}

/// A thread is let go because of others: who they are, for whoever looks at the recording. Only the first of those times is told that
/// tell the most. The board must be held.
pub fn let_go(plan: &Plan, held: &Thread, step: u8, why: LetGo) {
    if word(outcome::LET_GO).load(Relaxed) >= why as u64 {
        return;
    }
    // Whoever reads it while it is being written finds nobody.
    word(outcome::SEEN).store(0, Release);
    word(outcome::LET_GO).store(why as u64, Relaxed);
    word(outcome::LET_GO_AT).store(step as u64, Relaxed);
    let mut seen = 0;
    others_in_sight(held, |sight: Sight| {
        if seen < MOST_SEEN {
            of_seen(plan, seen, outcome_seen::THREAD).store(sight.thread.into(), Relaxed);
            of_seen(plan, seen, outcome_seen::NEXT_ORDINAL).store(sight.next_ordinal, Relaxed);
            seen += 1;
        }
    });
    word(outcome::SEEN).store(seen as u64, Release);
}

/// Words of threads come after those of all places.
fn of_seen(plan: &Plan, seen: usize, at: usize) -> &'static AtomicU64 {
    let steps = plan.steps as usize * OUTCOME_STEP_WORDS;
    let places = plan.entries().len() * OUTCOME_PLACE_WORDS;
    word(OUTCOME_WORDS + steps + places + seen * OUTCOME_SEEN_WORDS + at)
}

pub fn add(counter: &AtomicU64, amount: u64) {
    counter.fetch_add(amount, Relaxed);
}
