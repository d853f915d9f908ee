//! How long a run is waited for: what is slow is not hung.
//!
//! Takes   what each look at the running program shows: processor time, how much is recorded, how long our delays were.
//! Gives   whether to wait on, or whether it hangs or is only slow.
//! Misses  a program that computes for long and records nothing looks like one that spins.
//! Cost    nothing: the looks are made elsewhere.
//!
//! At the time limit a run that does nothing hangs. One that uses the processor, records or is in our delays has three times the limit
//! (at most a minute more). If it has recorded nothing new for as long as the limit by then, it spins: a hang. If it makes
//! progress it is slow, which says nothing about the program; unless runs that passed are known, and it has
//! taken more than twenty times as long as the longest: that is a livelock, or nobody would wait for it.

use std::time::Duration;

/// A run that is active at the limit has this many times the limit...
const EXTENSION: u32 = 3;
/// ...but not more than this beyond it.
const MAX_EXTENSION: Duration = Duration::from_secs(60);
/// A run is active if it did something in this part of the time limit.
const RECENT_SHARE: u32 = 4;
/// A run that takes this many times as long as the longest that passed does not come to an end.
pub const PATIENCE: u32 = 20;

/// What a look at a running program shows; only changes count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Signs {
    /// Processor time of all its processes, in any unit.
    pub processor: u64,
    /// A thread is running, or would be if there was a processor for it.
    pub is_running: bool,
    /// Grows while events are recorded.
    pub recorded: u64,
    /// Nanoseconds of our own delays that threads were given.
    pub delayed: u64,
}

/// What becomes of a run that has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    Wait,
    Hung,
    Slow,
}

#[derive(Debug)]
pub struct Patience {
    timeout: Duration,
    longest_pass: Option<Duration>,
    seen: Signs,
    /// When it was last seen to do anything, and when to make progress.
    active: Duration,
    progressed: Duration,
}

impl Patience {
    pub fn new(timeout: Duration, longest_pass: Option<Duration>) -> Patience {
        let (active, progressed) = (Duration::ZERO, Duration::ZERO);
        Patience { timeout, longest_pass, seen: Signs::default(), active, progressed }
    }

    /// After a look at the program when it had run for `elapsed`.
    pub fn decide(&mut self, elapsed: Duration, signs: Signs) -> Decision {
        self.observe(elapsed, signs);
        if elapsed < self.timeout {
            Decision::Wait
        } else if elapsed - self.active > self.timeout / RECENT_SHARE {
            Decision::Hung
        } else if elapsed < self.extended() {
            Decision::Wait
        } else if elapsed - self.progressed > self.timeout || self.is_hopeless(elapsed) {
            Decision::Hung
        } else {
            Decision::Slow
        }
    }

    fn observe(&mut self, elapsed: Duration, signs: Signs) {
        let has_progressed =
            (signs.recorded, signs.delayed) != (self.seen.recorded, self.seen.delayed);
        if has_progressed {
            self.progressed = elapsed;
        }
        if has_progressed || signs.is_running || signs.processor != self.seen.processor {
            self.active = elapsed;
        }
        self.seen = signs;
    }

    fn extended(&self) -> Duration {
        (self.timeout * EXTENSION).min(self.timeout + MAX_EXTENSION)
    }

    fn is_hopeless(&self, elapsed: Duration) -> bool {
        self.longest_pass.is_some_and(|longest| elapsed >= longest * PATIENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(4);

    fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// Looks every second: when it is decided, and what.
    fn decided(longest_pass: Option<u64>, signs: impl Fn(u64) -> Signs) -> (u64, Decision) {
        let mut patience = Patience::new(TIMEOUT, longest_pass.map(seconds));
        let mut looks = (1..1000).map(|at| (at, patience.decide(seconds(at), signs(at))));
        looks.find(|(_, decision)| *decision != Decision::Wait).unwrap()
    }

    #[test]
    fn a_run_that_does_nothing_hangs_at_the_limit() {
        assert_eq!(decided(None, |_| Signs::default()), (4, Decision::Hung));
        let once =
            |at: u64| Signs { processor: at.min(2), recorded: at.min(2), ..Signs::default() };
        assert_eq!(decided(None, once), (4, Decision::Hung));
    }

    #[test]
    fn a_run_that_falls_silent_after_the_limit_hangs_then() {
        let until_six = |at: u64| Signs { processor: at.min(6), ..Signs::default() };
        assert_eq!(decided(None, until_six), (8, Decision::Hung));
    }

    #[test]
    fn a_run_that_only_computes_spins() {
        let spins = |at| Signs { processor: at, recorded: 7, ..Signs::default() };
        assert_eq!(decided(None, spins), (12, Decision::Hung));
        let starved = |_| Signs { is_running: true, ..Signs::default() };
        assert_eq!(decided(None, starved), (12, Decision::Hung));
    }

    #[test]
    fn a_run_that_records_or_is_delayed_is_slow() {
        let records = |at| Signs { processor: at, recorded: at, ..Signs::default() };
        assert_eq!(decided(None, records), (12, Decision::Slow));
        let sleeps_in_delays = |at| Signs { delayed: at, ..Signs::default() };
        assert_eq!(decided(None, sleeps_in_delays), (12, Decision::Slow));
    }

    #[test]
    fn a_run_that_records_far_longer_than_any_that_passed_is_a_livelock() {
        let records = |at| Signs { processor: at, recorded: at, ..Signs::default() };
        assert_eq!(decided(Some(2), records), (12, Decision::Slow), "not yet 20 times as long");
        let mut patience = Patience::new(TIMEOUT, Some(Duration::from_millis(200)));
        assert_eq!(patience.decide(seconds(11), records(11)), Decision::Wait);
        assert_eq!(patience.decide(seconds(12), records(12)), Decision::Hung);
    }

    #[test]
    fn a_long_limit_is_extended_by_a_minute_only() {
        let mut patience = Patience::new(seconds(60), None);
        let records = |at| Signs { processor: at, recorded: at, ..Signs::default() };
        assert_eq!(patience.decide(seconds(119), records(1)), Decision::Wait);
        assert_eq!(patience.decide(seconds(120), records(2)), Decision::Slow);
    }
}
