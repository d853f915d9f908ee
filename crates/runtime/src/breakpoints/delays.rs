//! Delays at chosen places of the code: the n-th arrival of the process at a place is delayed, whoever comes.
//!
//! Takes   a delay plan (`unpick_events::schedule`).   Gives  how often each place was reached, in the outcome file.
//!
//! Unlike `perturb` this needs no bytes that are shared already: the plan names code that communicated in earlier runs, so the
//! first thread to reach a variable can be delayed as well. Places that are not in the plan cost nothing.
//!
//! Misses  places whose call cannot be changed (`arm`).
//! Cost    a jump, an atomic increment and a comparison per arrival at a place of the plan.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering::*};
use unpick_events::schedule::{MOST_PLACES, outcome_place};

use super::arm;
use super::outcome as told;
use super::plan::Plan;
use crate::local;
use crate::perturb;

static ON: AtomicBool = AtomicBool::new(false);
/// By entry: which arrival is delayed, and for how many nanoseconds. They are not asked of the plan, which has a lock.
static ARRIVALS: [AtomicU64; MOST_PLACES] = [const { AtomicU64::new(0) }; MOST_PLACES];
static LENGTHS: [AtomicU64; MOST_PLACES] = [const { AtomicU64::new(0) }; MOST_PLACES];

#[inline]
pub fn are_on() -> bool {
    ON.load(Relaxed)
}

/// Begins if this is a delay plan; returns whether it is.
pub fn begin(plan: &Plan) -> bool {
    for ((entry, arrival), length) in plan.entries().iter().zip(&ARRIVALS).zip(&LENGTHS) {
        arrival.store(entry.arrival, Relaxed);
        length.store(entry.nanoseconds, Relaxed);
    }
    ON.store(plan.is_of_delays, Release);
    plan.is_of_delays
}

pub fn end() {
    ON.store(false, Release);
}

/// A thread is at a place: it is counted, and delayed if the plan says so.
pub fn arrive(site: usize) {
    if !are_on() {
        return;
    }
    let entry = arm::entry_at(site);
    let (Some(wanted), Some(length)) = (ARRIVALS.get(entry), LENGTHS.get(entry)) else { return };
    let earlier = told::of_delay_place(entry, outcome_place::ARRIVED).fetch_add(1, Relaxed);
    if earlier + 1 == wanted.load(Relaxed)
        && let Some(thread) = local::thread()
    {
        perturb::delay(thread, length.load(Relaxed));
    }
}
