//! How far walks over all events of a recording go: to the end, or as far as there is time.
//!
//! The first walk that runs out of time says where all others end: so several analyses look at the same events.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Walks look at the clock once for so many events.
pub(crate) const STEP: u64 = 1 << 12;
const NONE: u64 = u64::MAX;

/// The limit of a recording; without one to begin with.
#[derive(Debug)]
pub struct WalkLimit {
    began: Instant,
    /// Nanoseconds after `began`.
    until: AtomicU64,
    events: AtomicU64,
    has_run_out: AtomicBool,
}

impl Default for WalkLimit {
    fn default() -> Self {
        let (until, events) = (AtomicU64::new(NONE), AtomicU64::new(NONE));
        WalkLimit { began: Instant::now(), until, events, has_run_out: AtomicBool::new(false) }
    }
}

impl WalkLimit {
    /// Walks that go on after this much time end; also those that have begun.
    pub fn end_in(&self, time: Duration) {
        let until = (self.began.elapsed() + time).as_nanos();
        self.until.store(u64::try_from(until).unwrap_or(NONE - 1), Relaxed);
        self.has_run_out.store(false, Relaxed);
    }

    /// After how many events walks end; none: they go to the end.
    pub fn events(&self) -> Option<u64> {
        Some(self.events.load(Relaxed)).filter(|&events| events != NONE)
    }

    /// Whether a walk has run out of time since the time was last given.
    pub fn has_run_out(&self) -> bool {
        self.has_run_out.load(Relaxed)
    }

    /// Whether a walk that has seen so many events may see more. Only asked at multiples of `STEP`.
    pub(crate) fn allows_more_than(&self, seen: u64) -> bool {
        let until = self.until.load(Relaxed);
        if until != NONE && self.began.elapsed().as_nanos() >= u128::from(until) {
            // Only the first one says where the others end; those that follow may just be late.
            let _ = self.events.compare_exchange(NONE, seen, Relaxed, Relaxed);
            self.has_run_out.store(true, Relaxed);
            return false;
        }
        seen < self.events.load(Relaxed)
    }
}
