//! Whether what seems to be the cause may be something else: another order that was forced and prevented with it, or the place where
//! threads were held.

use super::Search;
use crate::decision::{LIKELY, NEARLY};
use crate::experiments::{Arm, Experiments};
use crate::statistics::chance;
use crate::verdict::{ALPHA, MIN_RUNS, Verdict};

/// So many ways with other places are tried.
const MAX_ELSEWHERE: usize = 2;
/// So many earlier orders are compared with what seems to be the cause.
const MAX_EARLIER: usize = 4;

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
        for candidate in &mut self.candidates {
            (candidate.confounded, candidate.depends_on_place) = (false, false);
        }
        let all = 0..self.candidates.len();
        let seeming: Vec<usize> = all.filter(|&at| self.verdict(at) == Verdict::Cause).collect();
        for &at in &seeming {
            let is_confounded = self.is_confounded(at, &seeming);
            let depends_on_place = self.depends_on_place(at);
            let candidate = &mut self.candidates[at];
            (candidate.confounded, candidate.depends_on_place) = (is_confounded, depends_on_place);
        }
    }

    /// Rivals are what correlates as well, and of what correlates nearly as well, whatever seems to be the cause or does its harm earlier: of an order and its
    /// effect, the effect may correlate better, because the order does no harm for some values.
    fn is_confounded(&self, at: usize, seeming: &[usize]) -> bool {
        let own = self.candidates[at].agreement;
        let is_rival = |&other: &usize| {
            let agreement = self.candidates[other].agreement;
            let may_be_behind =
                || seeming.contains(&other) || self.experiments.is_earlier(other, at);
            other != at
                && (agreement >= own - NEARLY || agreement >= LIKELY * own && may_be_behind())
                && self.verdict(other) != Verdict::Refuted
                && !self.measured[other].is_harmless()
        };
        let mut rivals = (0..self.candidates.len()).filter(is_rival);
        rivals.any(|other| !self.experiments.tells_apart(at, other))
    }

    /// Compares what seems to be the cause with orders that do their harm earlier in the same runs: it may be an effect of one of them.
    pub(super) fn look_for_earlier(&mut self) -> Result<(), E::Error> {
        let Some(leader) = self.leader().filter(|&at| self.verdict(at) == Verdict::Cause) else {
            return Ok(());
        };
        let enough = self.candidates[leader].agreement * LIKELY;
        let is_meant = |&at: &usize| {
            at != leader
                && self.candidates[at].agreement >= enough
                && !self.measured[at].is_harmless()
                && self.experiments.is_earlier(at, leader)
        };
        let mut earlier: Vec<usize> = (0..self.candidates.len()).filter(is_meant).collect();
        let agreement = |at: &usize| self.candidates[*at].agreement;
        earlier.sort_by(|one, other| agreement(other).total_cmp(&agreement(one)));
        for at in earlier.into_iter().take(MAX_EARLIER) {
            self.force_until(at, MIN_RUNS)?;
            self.prevent_until(at, MIN_RUNS)?;
        }
        Ok(())
    }
}
