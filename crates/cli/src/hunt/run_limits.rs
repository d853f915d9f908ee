//! How long one run of a hunt may take, and how much it may record.
//!
//! Takes   what the user gave; how long earlier runs took, and how long it took to read them.      Gives  the limits of the next run.
//!
//! A program that takes 20 ms when it passes is not waited for a minute when it hangs.

use std::time::{Duration, Instant};

use unpick_events::Label;
use unpick_runner::{Limits, PATIENCE};

use super::{GRACE, OUTPUT_BYTES};

/// Before any run has passed.
const FIRST_TIMEOUT: Duration = Duration::from_secs(60);
/// Whatever a run takes that passes.
const MIN_TIMEOUT: Duration = Duration::from_secs(2);
/// Bytes of recordings that are read in a second, as long as nothing is known of this program.
const USUAL_READING: f64 = 14e6;
/// Less is not worth recording.
const MIN_RECORDING: u64 = 16 << 20;
/// How fast shorter ones are read says nothing.
const MIN_MEASURED: u64 = 4 << 20;
/// Of the time that is left, for reading one run.
const SHARE_FOR_READING: f64 = 0.5;

/// What is known about the runs of a hunt.
#[derive(Debug)]
pub struct RunLimits {
    /// As the user gave it.
    timeout: Option<Duration>,
    recording: u64,
    longest_pass: Option<Duration>,
    /// Bytes in a second, of the run that was read slowest.
    reading: Option<f64>,
}

impl RunLimits {
    pub fn new(timeout: Option<Duration>, recording: u64) -> RunLimits {
        RunLimits { timeout, recording, longest_pass: None, reading: None }
    }

    /// A run has ended.
    pub fn observe(&mut self, label: Label, duration: Duration) {
        if label == Label::Pass {
            self.longest_pass = self.longest_pass.max(Some(duration));
        }
    }

    /// A run has been read.
    pub fn observe_reading(&mut self, bytes: u64, duration: Duration) {
        if bytes >= MIN_MEASURED {
            let speed = bytes as f64 / duration.as_secs_f64().max(1e-3);
            self.reading = Some(self.reading.map_or(speed, |slowest| slowest.min(speed)));
        }
    }

    fn timeout(&self) -> Duration {
        let learned = || self.longest_pass.map(|longest| (longest * PATIENCE).max(MIN_TIMEOUT));
        self.timeout.or_else(learned).unwrap_or(FIRST_TIMEOUT)
    }

    /// For a run of a hunt that ends at `until`.
    pub fn of_run(&self, until: Option<Instant>) -> Limits {
        let limits = Limits::new(self.timeout(), GRACE, OUTPUT_BYTES);
        Limits { longest_pass: self.longest_pass, until, ..limits }
    }

    /// How much a process may record, so that it can be read in the time that is left.
    pub fn recording(&self, left: Option<Duration>) -> u64 {
        let Some(left) = left else { return self.recording };
        let speed = self.reading.unwrap_or(USUAL_READING);
        let readable = (left.as_secs_f64() * SHARE_FOR_READING * speed) as u64;
        self.recording.min(readable.max(MIN_RECORDING))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_limit_follows_the_program_unless_it_is_given() {
        let mut limits = RunLimits::new(None, 1 << 30);
        assert_eq!(limits.timeout(), 60 * SECOND);
        limits.observe(Label::Fail, 30 * SECOND);
        assert_eq!(limits.timeout(), 60 * SECOND);
        limits.observe(Label::Pass, SECOND / 100);
        assert_eq!(limits.timeout(), 2 * SECOND);
        limits.observe(Label::Pass, SECOND / 2);
        limits.observe(Label::Pass, SECOND / 10);
        assert_eq!(limits.timeout(), 10 * SECOND);
        let given = RunLimits::new(Some(SECOND), 1 << 30);
        assert_eq!(given.of_run(None).timeout, SECOND);
    }

    #[test]
    fn no_more_is_recorded_than_can_be_read() {
        let mut limits = RunLimits::new(None, 1 << 30);
        assert_eq!(limits.recording(None), 1 << 30);
        assert_eq!(limits.recording(Some(10 * SECOND)), 70_000_000);
        assert_eq!(limits.recording(Some(600 * SECOND)), 1 << 30);
        assert_eq!(limits.recording(Some(Duration::ZERO)), MIN_RECORDING);
        limits.observe_reading(100_000_000, 20 * SECOND);
        limits.observe_reading(100_000_000, 10 * SECOND);
        limits.observe_reading(1, 10 * SECOND);
        assert_eq!(limits.recording(Some(10 * SECOND)), 25_000_000);
        assert_eq!(RunLimits::new(None, 4096).recording(Some(SECOND)), 4096);
    }
}
