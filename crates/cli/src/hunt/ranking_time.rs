//! How much of a hunt's time is kept for ranking its runs at the end.
//!
//! Takes   how long it took to rank the runs there were at some time.      Gives  how long it will take at the end.
//!
//! The runs there are have at most doubled since they were ranked last, so it takes at most twice as long. The first time takes longest,
//! as the program's files are read then; so no more than a part of the whole time is ever kept.

use std::time::Duration;

/// Of the whole time, at most this part is kept.
const MAX_SHARE: u32 = 5;

#[derive(Debug, Default)]
pub struct RankingTime {
    /// How long it took last, and for how many runs.
    last: Option<(Duration, u32)>,
}

impl RankingTime {
    pub fn observe(&mut self, duration: Duration, runs: u32) {
        self.last = Some((duration, runs.max(1)));
    }

    /// For a hunt that lasts for `time` and has this many runs by now; nothing if there was nothing to rank yet.
    pub fn reserve(&self, runs: u32, time: Duration) -> Duration {
        let Some((duration, ranked)) = self.last else { return Duration::ZERO };
        duration.mul_f64(f64::from(runs) / f64::from(ranked)).min(time / MAX_SHARE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_is_kept_in_proportion_to_the_runs_but_no_more_than_a_fifth() {
        let (second, minute) = (Duration::from_secs(1), Duration::from_secs(60));
        let mut ranking = RankingTime::default();
        assert_eq!(ranking.reserve(50, minute), Duration::ZERO);
        ranking.observe(2 * second, 20);
        assert_eq!(
            (ranking.reserve(20, minute), ranking.reserve(30, minute)),
            (2 * second, 3 * second)
        );
        assert_eq!(ranking.reserve(40, 10 * second), 2 * second);
        ranking.observe(second, 40);
        assert_eq!(ranking.reserve(40, minute), second);
    }
}
