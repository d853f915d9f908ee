//! What is done with the rest of the time while nothing is shown to be the cause.

use super::{ENOUGH, Search};
use crate::experiments::{Arm, Experiments};

/// More runs of each kind hardly narrow the bounds.
const MAX_WANTED: u32 = 80;
/// Runs that look for a root cause that is not among the candidates yet, at a time.
const FURTHER_RUNS: u32 = 10;
/// A search without a time limit ends as well: so often it goes on.
const MAX_ROUNDS: u32 = 20;

impl<E: Experiments> Search<'_, E> {
    /// Nothing is shown to be the cause yet: more candidates are screened, in more ways, and compared, half of the time that is left at a time.
    pub(super) fn go_on_while_unsure(&mut self) -> Result<(), E::Error> {
        for _ in 0..MAX_ROUNDS {
            if self.candidates.is_empty() || !self.may_go_on(1.0) || self.is_sure() {
                break;
            }
            let before = self.runs;
            let used = self.experiments.time_used();
            self.screening_ends = used + (1.0 - used) / 4.0;
            self.ways_end = used + (1.0 - used) / 2.0;
            self.force_suspect()?;
            self.enough += ENOUGH;
            self.wanted = (2 * self.wanted).min(MAX_WANTED);
            self.screen_new()?;
            self.try_other_ways()?;
            self.compare()?;
            self.run_baseline(self.wanted)?;
            self.reconsider()?;
            self.check_leader()?;
            if self.runs == before {
                break;
            }
        }
        Ok(())
    }

    /// Where nothing leads, because what makes the program fail cannot be prevented or agrees too little: more failing runs, in which the
    /// root cause is, too.
    fn force_suspect(&mut self) -> Result<(), E::Error> {
        if self.leader().is_some() {
            return Ok(());
        }
        let agreement = |at: &usize| self.candidates[*at].agreement;
        let failing = (0..self.candidates.len()).filter(|&at| self.measured[at].makes_it_fail());
        let Some(suspect) =
            failing.max_by(|one, other| agreement(one).total_cmp(&agreement(other)))
        else {
            return Ok(());
        };
        let way = self.measured[suspect].best_way();
        for _ in 0..FURTHER_RUNS {
            if self.may_go_on(self.screening_ends) {
                self.run(Arm::Forced { candidate: suspect, way })?;
                self.run(Arm::Baseline)?;
            }
        }
        Ok(())
    }
}
