//! When a hunt has enough.

use std::time::Duration;

use unpick_events::Label;
use unpick_runner::Lacking;

/// Where failures are frequent, so many times the wanted runs tell all there is to tell: 100 unless asked otherwise.
const ENOUGH_WHEN_FREQUENT: u32 = 2;
/// If nothing else was seen in so many runs, nothing else will be seen soon.
const ENOUGH_OF_THE_SAME: u32 = 40;
const ENOUGH_UNUSABLE: u32 = 5;

/// Whether orders that no run had are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Active {
    Never,
    /// If no run has failed: then the second half of the time is for them.
    IfNothingFails,
    /// As soon as enough runs have passed; two thirds of the budget are for them.
    Asked,
}

/// How far a hunt goes.
#[derive(Debug, Clone, Copy)]
pub struct Budget {
    /// Runs of each kind that are enough.
    pub failing: u32,
    pub passing: u32,
    /// Of all runs.
    pub runs: Option<u32>,
    pub time: Option<Duration>,
    pub active: Active,
    /// Part of the time is for experiments on what failing runs show.
    pub experiments: bool,
}

/// Failing, and passing, runs with which experiments begin after a share of the time: better a cause that was shown by experiments than a few
/// more runs to correlate with.
const EXPERIMENTS_BEGIN: [(u32, f64); 3] = [(10, 0.3), (5, 0.45), (1, 0.6)];

/// How many runs there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub passed: u32,
    pub failed: u32,
    pub unusable: u32,
}

impl Counts {
    pub fn add(&mut self, label: Label) {
        match label {
            Label::Pass => self.passed += 1,
            Label::Fail => self.failed += 1,
            Label::Unusable => self.unusable += 1,
        }
    }

    pub fn usable(&self) -> u32 {
        self.passed + self.failed
    }

    pub fn total(&self) -> u32 {
        self.usable() + self.unusable
    }
}

/// Why a hunt needs no more runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enough {
    /// Failing and passing runs.
    Both,
    /// Failures are frequent, and there are many runs.
    Many,
    EveryRunFails,
    EveryRunIsUnusable,
    /// The budget is used up.
    Runs,
    Time,
    /// No run has failed: what is left of the budget is for orders that no run had.
    ForOrders,
    /// Runs have failed: what is left of the time is for experiments.
    ForExperiments,
}

impl Budget {
    /// Whether it is enough, and why. `new_runs` are those of this hunt that this process has made.
    pub fn reached(&self, counts: &Counts, new_runs: u32, elapsed: Duration) -> Option<Enough> {
        let has_failing = counts.failed >= self.failing;
        if has_failing && counts.passed >= self.passing {
            Some(Enough::Both)
        } else if has_failing && counts.passed > 0 && counts.usable() >= self.many() {
            Some(Enough::Many)
        } else if counts.passed == 0 && counts.failed >= ENOUGH_OF_THE_SAME {
            Some(Enough::EveryRunFails)
        } else if counts.usable() == 0 && counts.unusable >= ENOUGH_UNUSABLE {
            Some(Enough::EveryRunIsUnusable)
        } else if self.is_for_orders(counts, new_runs, elapsed) {
            Some(Enough::ForOrders)
        } else if self.is_for_experiments(counts, elapsed) {
            Some(Enough::ForExperiments)
        } else if self.runs.is_some_and(|runs| new_runs >= runs) {
            Some(Enough::Runs)
        } else if self.time.is_some_and(|time| elapsed >= time) {
            Some(Enough::Time)
        } else {
            None
        }
    }

    /// Whether the rest of the budget is for orders that no run had. Where runs fail, more of them tell more.
    fn is_for_orders(&self, counts: &Counts, new_runs: u32, elapsed: Duration) -> bool {
        if counts.failed > 0 || counts.passed == 0 {
            return false;
        }
        let is_over = |part: u32| self.time.is_some_and(|time| elapsed >= time / part);
        match self.active {
            Active::Never => false,
            Active::IfNothingFails => is_over(2),
            Active::Asked => {
                let has_run = self.runs.is_some_and(|runs| new_runs >= runs.div_ceil(3));
                counts.passed >= self.passing || has_run || is_over(3)
            }
        }
    }

    fn is_for_experiments(&self, counts: &Counts, elapsed: Duration) -> bool {
        let Some(time) = self.time.filter(|_| self.experiments) else { return false };
        let fewer = counts.failed.min(counts.passed);
        let used = elapsed.as_secs_f64() / time.as_secs_f64().max(1e-3);
        EXPERIMENTS_BEGIN.iter().any(|&(runs, share)| fewer >= runs && used >= share)
    }

    /// So many usable runs are enough once enough of them failed.
    fn many(&self) -> u32 {
        self.failing.saturating_add(self.passing).saturating_mul(ENOUGH_WHEN_FREQUENT)
    }

    /// Which kind of run is wanted next.
    pub fn lacking(&self, counts: &Counts) -> Lacking {
        if counts.failed >= self.failing { Lacking::Passing } else { Lacking::Failing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BUDGET: Budget = Budget {
        failing: 25,
        passing: 25,
        runs: None,
        time: None,
        active: Active::Never,
        experiments: false,
    };

    fn reached(failed: u32, passed: u32, unusable: u32) -> Option<Enough> {
        let counts = Counts { passed, failed, unusable };
        BUDGET.reached(&counts, counts.total(), Duration::ZERO)
    }

    #[test]
    fn enough_is_enough_of_both() {
        assert_eq!(reached(24, 1000, 0), None);
        assert_eq!(reached(25, 24, 0), None);
        assert_eq!(reached(25, 25, 0), Some(Enough::Both));
        assert_eq!(reached(0, 1_000_000, 0), None);
    }

    #[test]
    fn where_failures_are_frequent_a_hundred_runs_do() {
        assert_eq!(reached(95, 4, 0), None);
        assert_eq!(reached(95, 5, 0), Some(Enough::Many));
    }

    #[test]
    fn more_of_the_same_is_not_waited_for() {
        assert_eq!(reached(39, 0, 0), None);
        assert_eq!(reached(40, 0, 0), Some(Enough::EveryRunFails));
        assert_eq!(reached(0, 0, 5), Some(Enough::EveryRunIsUnusable));
        assert_eq!(reached(1, 0, 5), None);
    }

    #[test]
    fn a_budget_ends_a_hunt() {
        let minute = Duration::from_secs(60);
        let counts = Counts { passed: 9, failed: 0, unusable: 1 };
        let runs = Budget { runs: Some(10), ..BUDGET };
        assert_eq!(runs.reached(&counts, 10, minute), Some(Enough::Runs));
        assert_eq!(runs.reached(&counts, 9, minute), None);
        let time = Budget { time: Some(minute), ..BUDGET };
        assert_eq!(time.reached(&counts, 10, minute), Some(Enough::Time));
    }

    #[test]
    fn where_nothing_fails_a_part_of_the_budget_is_for_orders_that_no_run_had() {
        let seconds = Duration::from_secs;
        let ended = |active, passed, failed, runs, elapsed| {
            let budget = Budget { active, runs, time: Some(seconds(60)), ..BUDGET };
            let counts = Counts { passed, failed, unusable: 0 };
            budget.reached(&counts, counts.total(), seconds(elapsed))
        };
        let for_orders = Some(Enough::ForOrders);
        assert_eq!(ended(Active::IfNothingFails, 1000, 0, None, 29), None);
        assert_eq!(ended(Active::IfNothingFails, 1000, 0, None, 30), for_orders);
        assert_eq!(ended(Active::IfNothingFails, 1000, 1, None, 40), None);
        assert_eq!(ended(Active::IfNothingFails, 10, 0, Some(10), 5), Some(Enough::Runs));
        assert_eq!(ended(Active::Asked, 24, 0, None, 5), None);
        assert_eq!(ended(Active::Asked, 25, 0, None, 5), for_orders);
        assert_eq!(ended(Active::Asked, 1, 0, None, 20), for_orders);
        assert_eq!(ended(Active::Asked, 4, 0, Some(10), 5), for_orders);
        assert_eq!(ended(Active::Never, 1000, 0, None, 59), None);
    }

    #[test]
    fn once_enough_runs_have_failed_passing_ones_are_wanted() {
        let counts = |failed| Counts { failed, ..Counts::default() };
        assert_eq!(BUDGET.lacking(&counts(24)), Lacking::Failing);
        assert_eq!(BUDGET.lacking(&counts(25)), Lacking::Passing);
    }

    #[test]
    fn the_more_runs_there_are_the_sooner_experiments_begin() {
        let seconds = Duration::from_secs;
        let budget = Budget { time: Some(seconds(100)), experiments: true, ..BUDGET };
        let after = |failed: u32, passed: u32, elapsed: u64| {
            let counts = Counts { passed, failed, unusable: 0 };
            budget.reached(&counts, counts.total(), seconds(elapsed))
        };
        assert_eq!(after(10, 12, 29), None);
        assert_eq!(after(10, 12, 30), Some(Enough::ForExperiments));
        assert_eq!(after(9, 30, 44), None);
        assert_eq!(after(9, 20, 45), Some(Enough::ForExperiments));
        assert_eq!(after(1, 20, 60), Some(Enough::ForExperiments));
        assert_eq!(after(0, 20, 99), None, "nothing to make experiments on");
        assert_eq!(after(20, 0, 99), None, "nothing to compare with");
    }
}
