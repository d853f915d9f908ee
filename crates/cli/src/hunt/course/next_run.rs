//! What the next run of a hunt is made with, and how much time is kept from it.

use std::time::{Duration, Instant};

use super::Course;
use crate::hunt::single::RunSetup;

impl Course<'_> {
    /// What the next run is made with.
    pub(super) fn next_run(&mut self) -> RunSetup {
        let until = self.until().map(|until| until - self.reserve());
        let left = until.map(|until| until.saturating_duration_since(Instant::now()));
        RunSetup {
            draw: self.setup.perturbation.next(self.setup.budget.lacking(&self.counts)),
            hunt: self.number,
            limits: self.limits.of_run(until),
            recording: self.limits.recording(left),
        }
    }

    /// What is needed at the end to rank the runs there are.
    pub(super) fn reserve(&self) -> Duration {
        let time = self.setup.budget.time.unwrap_or_default();
        self.ranking.reserve(self.counts.total(), time)
    }
}
