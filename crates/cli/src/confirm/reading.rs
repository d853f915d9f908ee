//! Which recordings of experiments are worth the time to read.
//!
//! Takes   how long each recording took to read.      Gives  whether one of so many bytes is read.
//! Misses  the patterns of runs that are not read: they say nothing about the order, and do not count for the ranking.

use std::cell::Cell;
use std::time::Duration;

/// Bytes read in a second, as long as nothing is known of this program.
const USUAL_SPEED: f64 = 5e6;
/// How fast shorter recordings are read says nothing.
const MIN_MEASURED: u64 = 256 << 10;
/// What takes no longer is always read.
const ALWAYS: Duration = Duration::from_millis(200);
/// Of the time for all experiments, for reading one run: where a thread was held while others spin, recordings are hundreds of times as
/// long as usual ones.
const SHARE: u32 = 40;
/// Recordings of more bytes than this are not read, whatever the time.
const MAX_RECORDING: u64 = 16 << 20;

pub struct Reading {
    longest: Duration,
    /// Bytes in a second, of the recording that was read slowest.
    speed: Cell<f64>,
}

impl Reading {
    /// For experiments that may take this long together; none: as long as they need.
    pub fn within(time: Option<Duration>) -> Reading {
        let longest = time.map_or(Duration::MAX, |time| (time / SHARE).max(ALWAYS));
        Reading { longest, speed: Cell::new(USUAL_SPEED) }
    }

    pub fn is_worth_it(&self, bytes: u64) -> bool {
        let expected = bytes as f64 / self.speed.get();
        bytes <= MAX_RECORDING && expected <= self.longest.as_secs_f64()
    }

    /// A recording has been read.
    pub fn observe(&self, bytes: u64, duration: Duration) {
        if bytes >= MIN_MEASURED {
            let speed = bytes as f64 / duration.as_secs_f64().max(1e-3);
            self.speed.set(self.speed.get().min(speed));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_recording_that_takes_too_long_to_read_is_left_out() {
        let reading = Reading::within(Some(10 * SECOND));
        assert!(reading.is_worth_it(1_000_000), "0.2 s of 10");
        assert!(!reading.is_worth_it(4_000_000), "0.8 s of 10");
        assert!(Reading::within(Some(60 * SECOND)).is_worth_it(4_000_000), "0.8 s of 60");
    }

    #[test]
    fn a_program_that_is_slow_to_read_is_known_after_one_run() {
        let reading = Reading::within(Some(10 * SECOND));
        reading.observe(1_000_000, SECOND);
        assert!(!reading.is_worth_it(1_000_000));
        assert!(reading.is_worth_it(100_000));
    }

    #[test]
    fn without_a_limit_only_the_size_counts() {
        let reading = Reading::within(None);
        assert!(reading.is_worth_it(16 << 20));
        assert!(!reading.is_worth_it((16 << 20) + 1));
    }
}
