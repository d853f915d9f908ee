//! How `unpick races --time` is shared out between running the program and looking at what it did.
//!
//! Takes   a time, which begins now.      Returns  how long the next run may last, and until when each part of the analysis may go on.
//! Misses  reading a recording, which ends only when all of it is read: so recordings get no larger than there is time to look at.

use std::time::{Duration, Instant};

/// Of the time that is left: a run that takes longer is ended.
const RUN_SHARE: f64 = 0.3;
/// Of the time for a recording: both detectors. The rest is for what orders what lockset alone has found, and for several variables.
const DETECTOR_SHARE: f64 = 0.35;
/// About ten million events in 20 s, which the detectors walk through in the third of them that is theirs (docs/design/0017).
const BYTES_PER_SECOND: f64 = (4 << 20) as f64;
/// A recording that is smaller has hardly begun.
const MIN_BYTES: u64 = 4 << 20;
/// Of the time that is left: kept for names, the report and the disk.
const REPORT_SHARE: f64 = 0.05;

/// What is left of a time; without one, there is no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct Budget {
    until: Option<Instant>,
}

/// Until when the parts of an analysis may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AnalysisTime {
    /// From now on.
    pub detectors: Duration,
    pub rest: Instant,
}

impl Budget {
    pub fn new(time: Option<Duration>) -> Budget {
        Budget { until: time.map(|time| Instant::now() + time) }
    }

    pub fn left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    /// The time limit of the next run.
    pub fn of_run(&self, timeout: Duration) -> Duration {
        self.left().map_or(timeout, |left| left.mul_f64(RUN_SHARE).min(timeout))
    }

    /// The size at which recording the next run ends.
    pub fn of_file(&self, limit: u64) -> u64 {
        let bytes = |left: Duration| (left.as_secs_f64() * BYTES_PER_SECOND) as u64;
        self.left().map_or(limit, |left| bytes(left).max(MIN_BYTES).min(limit))
    }

    /// The time for the next of `recordings` that are still to be looked at; none: as long as it takes.
    pub fn of_recording(&self, recordings: usize) -> Option<AnalysisTime> {
        let left = self.left()?.mul_f64(1.0 - REPORT_SHARE) / recordings.max(1) as u32;
        Some(AnalysisTime { detectors: left.mul_f64(DETECTOR_SHARE), rest: Instant::now() + left })
    }

    /// Whether there is time for one more run, if it and its analysis take this long.
    pub fn allows(&self, once_more: Duration) -> bool {
        self.left().is_none_or(|left| left.mul_f64(1.0 - REPORT_SHARE) > once_more)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn without_a_time_nothing_is_limited() {
        let budget = Budget::default();
        assert_eq!(budget.of_run(MINUTE), MINUTE);
        assert_eq!(budget.of_recording(1), None);
        assert_eq!(budget.of_file(u64::MAX), u64::MAX);
        assert!(budget.allows(MINUTE));
    }

    #[test]
    fn all_parts_together_take_no_more_than_there_is() {
        let budget = Budget::new(Some(10 * MINUTE));
        assert!(budget.of_run(100 * MINUTE) <= 3 * MINUTE);
        assert_eq!(budget.of_run(MINUTE), MINUTE, "the run's own limit is shorter");
        assert!(budget.of_file(u64::MAX) <= 600 * (4 << 20));
        assert_eq!(budget.of_file(10), 10, "what was asked for is smaller");
        let now = Instant::now();
        let time = budget.of_recording(2).unwrap();
        assert!(time.rest <= now + 5 * MINUTE, "the other recording has its half");
        assert!(now + time.detectors < time.rest);
    }

    #[test]
    fn a_run_that_would_not_end_in_time_is_not_begun() {
        let budget = Budget::new(Some(MINUTE));
        assert!(budget.allows(MINUTE / 2) && !budget.allows(MINUTE));
        assert!(!Budget::new(Some(Duration::ZERO)).allows(Duration::ZERO));
    }
}
