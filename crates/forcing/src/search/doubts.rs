//! Whether what seems to be the cause may be something else: another order that was forced and prevented with it, or the place where
//! threads were held.

use super::Search;
use crate::decision::NEARLY;
use crate::experiments::{Arm, Experiments};
use crate::statistics::chance;
use crate::verdict::{ALPHA, MIN_RUNS, Verdict};

/// So many ways with other places are tried.
const MAX_ELSEWHERE: usize = 2;

impl<E: Experiments> Search<'_, E> {
    pub(super) fn is_sure(&mut self) -> bool {
        self.mark_confounded();
        self.leader().is_some_and(|at| self.verdict(at) == Verdict::Cause)
    }

    /// Forces what seems to be the cause with threads held elsewhere, until nothing new seems to be.
    pub(super) fn hold_elsewhere(&mut self) -> Result<(), E::Error> {
        while self.is_sure() && self.may_go_on(1.0) {
            let Some(at) = self.leader() else { break };
            let best = self.measured[at].best_way();
            let before = self.runs;
            for way in self.experiments.ways_elsewhere(at, best).into_iter().take(MAX_ELSEWHERE) {
                while self.measured[at].forced(way).runs < 2 * MIN_RUNS
                    && self.measured[at].forced(way).reached.runs < MIN_RUNS
                    && self.may_go_on(1.0)
                {
                    self.run(Arm::Forced { candidate: at, way })?;
                }
            }
            if self.runs == before {
                break;
            }
        }
        Ok(())
    }

    /// Whether it does harm at the places where it was tried best, and none where threads are held elsewhere.
    fn depends_on_place(&mut self, at: usize) -> bool {
        let best = self.measured[at].best_way();
        let usual = self.measured[at].forced(best).reached;
        let elsewhere = self.experiments.ways_elsewhere(at, best);
        elsewhere.into_iter().any(|way| {
            let other = self.measured[at].forced(way).reached;
            other.runs >= MIN_RUNS
                && 2 * other.failures < other.runs
                && chance(usual, other) <= ALPHA
        })
    }

    pub(super) fn verdict(&self, at: usize) -> Verdict {
        self.measured[at].verdict(self.baseline, &self.candidates[at])
    }

    /// A candidate that nothing but its agreement tells from another one is not shown to be the cause.
    pub(super) fn mark_confounded(&mut self) {
        for at in 0..self.candidates.len() {
            self.candidates[at].confounded = false;
            if self.verdict(at) == Verdict::Cause {
                self.candidates[at].confounded =
                    self.is_confounded(at) || self.depends_on_place(at);
            }
        }
    }

    fn is_confounded(&self, at: usize) -> bool {
        let enough = self.candidates[at].agreement - NEARLY;
        let is_rival = |&other: &usize| {
            other != at
                && self.candidates[other].agreement >= enough
                && self.verdict(other) != Verdict::Refuted
                && !self.measured[other].is_harmless()
        };
        let mut rivals = (0..self.candidates.len()).filter(is_rival);
        rivals.any(|other| !self.experiments.tells_apart(at, other))
    }
}
