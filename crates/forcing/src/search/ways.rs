//! Which candidate is worth another attempt: in another way, or once more in the same.

use super::{ATTEMPTS, Search};
use crate::decision::{LIKELY, best_agreement};
use crate::experiments::{Arm, Experiments};
use crate::verdict::MIN_RUNS;

/// A way that was tried in vain leaves this much of a candidate's promise.
const WAY_IN_VAIN: f64 = 0.8;

impl<E: Experiments> Search<'_, E> {
    /// Further ways, one at a time, for the candidate that promises the most.
    pub(super) fn try_other_ways(&mut self) -> Result<(), E::Error> {
        while !self.has_enough() && self.may_go_on(self.ways_end) {
            let open: Vec<usize> =
                (0..self.candidates.len()).filter(|&at| self.is_open(at)).collect();
            let promise = |at: &usize| self.promise_of_another_way(*at);
            let Some(best) = open.into_iter().max_by(|one, other| {
                // Of equals the first.
                promise(one).total_cmp(&promise(other)).then(other.cmp(one))
            }) else {
                break;
            };
            let way = self.measured[best].ways_tried();
            self.force(best, way, self.settings.screening)?;
        }
        Ok(())
    }

    /// What correlates well is worth more attempts; every one in vain makes it less likely that the next one helps.
    fn promise_of_another_way(&self, candidate: usize) -> f64 {
        let in_vain = self.measured[candidate].ways_tried() as i32;
        self.candidates[candidate].agreement * WAY_IN_VAIN.powi(in_vain)
    }

    /// Whether a candidate has another way to be forced, and was tried but did no harm yet.
    fn is_open(&mut self, candidate: usize) -> bool {
        let measured = &self.measured[candidate];
        let way = measured.ways_tried();
        way > 0 && !measured.makes_it_fail() && way < self.experiments.ways_to_force(candidate)
    }

    /// Enough candidates that correlate well make the program fail, and the one that correlates best is among them: what the runs of the hunt say is
    /// weighed, too.
    fn has_enough(&self) -> bool {
        let best = best_agreement(&self.candidates, &self.measured, self.baseline);
        let failing = |least: f64| {
            let is_meant = |&at: &usize| {
                self.candidates[at].agreement >= least && self.measured[at].makes_it_fail()
            };
            (0..self.candidates.len()).filter(is_meant).count()
        };
        failing(LIKELY * best) >= self.enough && failing(best) > 0
    }

    /// What correlates well and was made in a few runs without harm is made more often: is it harmless, or does it take luck?
    pub(super) fn settle_harmless(&mut self) -> Result<(), E::Error> {
        let all = self.candidates.iter().map(|candidate| candidate.agreement);
        let best = all.fold(0.0, f64::max);
        for candidate in 0..self.candidates.len() {
            let is_meant = self.candidates[candidate].agreement >= LIKELY * best
                && self.measured[candidate].is_harmless();
            let way = self.measured[candidate].best_way();
            while is_meant && self.may_go_on(self.ways_end) {
                let tried = self.measured[candidate].forced(way);
                if tried.reached.runs >= MIN_RUNS || tried.runs >= ATTEMPTS * MIN_RUNS {
                    break;
                }
                self.run(Arm::Forced { candidate, way })?;
            }
        }
        Ok(())
    }
}
