//! The search: which experiment is made next.
//!
//! Takes   candidates, the most suspicious first, and the program.      Gives  a `Decision`.
//! Cost    all the time that is given, unless one candidate is clearly the cause before.
//!
//! 1. **Screening**: each candidate is forced twice, in the cheapest way. Then candidates are proposed again: now there are runs that pass
//!    with a suspicious order in them, and runs that fail without it. The first two that make the program fail are prevented as well:
//!    whatever else takes time, something is known of them.
//! 2. **Other ways**: while few candidates make the program fail, those that were not reached, or were reached and did no harm, are forced in
//!    other ways (longer holds, other threads kept aside), the most suspicious first and most often: an order that is needed may need more to do harm.
//! 3. **Comparison**: those that make the program fail are forced and prevented 5, 10 and 20 times; after each round the ones
//!    go whose effect is clearly smaller than the best (successive rejects).
//! 4. **Confirmation**: the one that leads then is forced and prevented until its verdict rests on as many runs as were wanted.
//! 5. **Earlier orders**: what seems to be the cause is compared with orders that do their harm before it in the same runs: it may be an effect.
//! 6. **Elsewhere**: what seems to be the cause is forced with threads held at other places. An order that does harm at one place only is not what does it:
//!    something between the two places is.
//! 7. While it is not shown to be the cause and time is left: more candidates, and more ways, and a comparison again.
//!
//! Before the comparison and after it agreements are computed again, over all runs: of orders whose effects cannot be told apart, the one that
//! correlates best with failure in runs of so many kinds is the cause, and the others enclose it, or follow from it.

mod doubts;
mod going_on;
mod ways;

use crate::candidate::Candidate;
use crate::decision::{Decision, leader};
use crate::experiments::{Arm, Experiments};
use crate::measured::Measured;
use crate::statistics::Rate;
use crate::verdict::{MIN_RUNS, SUFFICIENT, Verdict};

/// How far the search goes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Runs of each candidate in the screening.
    pub screening: u32,
    /// So many that make the program fail are compared.
    pub finalists: usize,
    /// Runs of each kind, round by round.
    pub rounds: [u32; 3],
    /// Shares of the time after which screening, and other ways, end.
    pub screening_ends: f64,
    pub ways_end: f64,
    /// Baseline runs that are known from the hunt.
    pub baseline: Rate,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            screening: 2,
            finalists: 6,
            rounds: [5, 10, 20],
            screening_ends: 0.25,
            ways_end: 0.5,
            baseline: Rate::default(),
        }
    }
}

/// So many that make the program fail are enough to compare at first.
const ENOUGH: usize = 3;
/// So many are compared before other ways are tried.
const FRONT_RUNNERS: usize = 2;
/// What is asked for may not happen in every run: so many times as many runs are made as are wanted.
const ATTEMPTS: u32 = 2;

/// Makes experiments until the root cause is clear or the time is used.
pub fn decide<E: Experiments>(
    candidates: &[Candidate],
    experiments: &mut E,
    settings: &Settings,
) -> Result<Decision, E::Error> {
    let mut search = Search {
        candidates: candidates.to_vec(),
        experiments,
        settings,
        enough: ENOUGH,
        wanted: settings.rounds[settings.rounds.len() - 1],
        screening_ends: settings.screening_ends,
        ways_end: settings.ways_end,
        measured: vec![Measured::default(); candidates.len()],
        baseline: settings.baseline,
        runs: 0,
        over: false,
    };
    search.screen(0)?;
    search.try_front_runners()?;
    search.screen_new()?;
    search.settle_harmless()?;
    search.try_other_ways()?;
    search.screen_new()?;
    search.compare()?;
    search.reconsider()?;
    search.check_leader()?;
    search.go_on_while_unsure()?;
    search.mark_confounded();
    let Search { candidates, measured, baseline, runs, experiments, .. } = search;
    let earlier = |one, other| experiments.is_earlier(one, other);
    Ok(Decision::of(&candidates, measured, baseline, runs, &earlier))
}

struct Search<'a, E> {
    candidates: Vec<Candidate>,
    experiments: &'a mut E,
    settings: &'a Settings,
    /// So many that make the program fail are enough to compare.
    enough: usize,
    /// Runs of each kind of the leader.
    wanted: u32,
    /// Shares of the time after which screening, and other ways, end.
    screening_ends: f64,
    ways_end: f64,
    measured: Vec<Measured>,
    baseline: Rate,
    runs: u32,
    /// No more runs can be made.
    over: bool,
}

impl<E: Experiments> Search<'_, E> {
    /// One experiment.
    fn run(&mut self, arm: Arm) -> Result<(), E::Error> {
        let Some(observation) = self.experiments.run(arm)? else {
            self.over = true;
            return Ok(());
        };
        self.runs += 1;
        match arm {
            Arm::Baseline => self.baseline.add(observation.failed),
            Arm::Forced { candidate, way } => self.measured[candidate].force(way, &observation),
            Arm::Prevented { candidate, way } => {
                self.measured[candidate].prevent(way, &observation)
            }
        }
        Ok(())
    }

    fn may_go_on(&self, until: f64) -> bool {
        !self.over && self.experiments.time_used() < until
    }

    /// The candidate with the largest measured effect.
    fn leader(&self) -> Option<usize> {
        let earlier = |one, other| self.experiments.is_earlier(one, other);
        leader(&self.candidates, &self.measured, self.baseline, &earlier)
    }

    /// Proposes candidates again, and screens those that are new.
    fn screen_new(&mut self) -> Result<(), E::Error> {
        let known = self.candidates.len();
        self.reconsider()?;
        self.screen(known)
    }

    fn reconsider(&mut self) -> Result<(), E::Error> {
        if self.runs > 0 && !self.over {
            self.candidates = self.experiments.reconsider(std::mem::take(&mut self.candidates))?;
            self.measured.resize(self.candidates.len(), Measured::default());
        }
        Ok(())
    }

    fn screen(&mut self, from: usize) -> Result<(), E::Error> {
        for candidate in from..self.candidates.len() {
            // The first is tried whatever the time: a search that says it makes experiments shall make one.
            if candidate > 0 && !self.may_go_on(self.screening_ends) {
                break;
            }
            self.force(candidate, 0, self.settings.screening)?;
        }
        Ok(())
    }

    fn force(&mut self, candidate: usize, way: usize, runs: u32) -> Result<(), E::Error> {
        for _ in 0..runs {
            if self.over {
                break;
            }
            self.run(Arm::Forced { candidate, way })?;
        }
        Ok(())
    }

    /// The first that make the program fail are prevented as well, before anything else is tried: whatever else takes time, something is known of them.
    fn try_front_runners(&mut self) -> Result<(), E::Error> {
        let (runs, finalists) = (self.settings.rounds[0], self.finalists());
        if finalists.is_empty() {
            return Ok(());
        }
        for candidate in finalists.into_iter().take(FRONT_RUNNERS) {
            self.force_until(candidate, runs)?;
            self.prevent_until(candidate, runs)?;
        }
        self.run_baseline(runs)
    }

    /// Looks closely at what leads: with more runs, beside earlier orders, and with threads held elsewhere.
    fn check_leader(&mut self) -> Result<(), E::Error> {
        self.confirm()?;
        self.look_for_earlier()?;
        self.hold_elsewhere()
    }

    fn compare(&mut self) -> Result<(), E::Error> {
        let mut finalists = self.finalists();
        if finalists.is_empty() {
            return Ok(());
        }
        for (round, &runs) in self.settings.rounds.iter().enumerate() {
            for &candidate in &finalists {
                self.force_until(candidate, runs)?;
                self.prevent_until(candidate, runs)?;
            }
            self.run_baseline(runs)?;
            finalists = self.not_rejected(finalists);
            let is_clear = finalists.len() <= 1 && round > 0;
            if is_clear || !self.may_go_on(1.0) {
                break;
            }
        }
        Ok(())
    }

    /// More runs of the leader, whichever it is then.
    fn confirm(&mut self) -> Result<(), E::Error> {
        let wanted = self.wanted;
        // Another one may lead by these runs.
        while let Some(leader) = self.leader() {
            let before = self.runs;
            self.force_until(leader, wanted)?;
            self.prevent_until(leader, wanted)?;
            if self.runs == before || !self.may_go_on(1.0) {
                break;
            }
        }
        Ok(())
    }

    /// Those that make the program fail, the most promising first.
    fn finalists(&self) -> Vec<usize> {
        let mut able: Vec<usize> =
            (0..self.candidates.len()).filter(|&at| self.measured[at].makes_it_fail()).collect();
        let promise = |at: usize| {
            let way = self.measured[at].best().0;
            Rate::new(way.reached.failures, way.runs).share() * self.candidates[at].agreement
        };
        able.sort_by(|&one, &other| promise(other).total_cmp(&promise(one)));
        able.truncate(self.settings.finalists);
        able
    }

    /// Forces a candidate until this many runs had its order, or twice as many were tried. Where few do harm, another way is tried.
    fn force_until(&mut self, candidate: usize, runs: u32) -> Result<(), E::Error> {
        self.look_for_better_way(candidate)?;
        let way = self.measured[candidate].best_way();
        while self.may_go_on(1.0) {
            let tried = self.measured[candidate].forced(way);
            if tried.reached.runs >= runs || tried.runs >= ATTEMPTS * runs {
                break;
            }
            self.run(Arm::Forced { candidate, way })?;
        }
        Ok(())
    }

    /// Where fewer runs fail than a root cause has to make fail, the next way may be better.
    fn look_for_better_way(&mut self, candidate: usize) -> Result<(), E::Error> {
        let measured = &self.measured[candidate];
        let best = measured.best().0;
        let is_weak = Rate::new(best.reached.failures, best.runs).share() < SUFFICIENT;
        let next = measured.ways_tried();
        if is_weak && next < self.experiments.ways_to_force(candidate) && self.may_go_on(1.0) {
            self.force(candidate, next, self.settings.screening)?;
        }
        Ok(())
    }

    /// Prevents a candidate until this many runs lacked its order although it could have been made.
    fn prevent_until(&mut self, candidate: usize, runs: u32) -> Result<(), E::Error> {
        let ways = self.experiments.ways_to_prevent(candidate);
        for way in self.measured[candidate].preventions_tried()..ways {
            if self.prevents_well(candidate) {
                break;
            }
            for _ in 0..self.settings.screening {
                if self.may_go_on(1.0) {
                    self.run(Arm::Prevented { candidate, way })?;
                }
            }
        }
        let way = self.measured[candidate].best_prevention();
        while ways > 0 && self.may_go_on(1.0) {
            let tried = self.measured[candidate].prevented(way);
            if tried.reached.runs >= runs || tried.runs >= ATTEMPTS * runs {
                break;
            }
            self.run(Arm::Prevented { candidate, way })?;
        }
        Ok(())
    }

    /// It was prevented, and no run failed then.
    fn prevents_well(&self, candidate: usize) -> bool {
        let way = self.measured[candidate].best().1;
        way.reached.runs > 0 && way.reached.failures == 0
    }

    fn run_baseline(&mut self, runs: u32) -> Result<(), E::Error> {
        while self.baseline.runs < runs.max(MIN_RUNS) && self.may_go_on(1.0) {
            self.run(Arm::Baseline)?;
        }
        Ok(())
    }

    /// Without those whose effect is clearly smaller than the best one's, and those that are refuted.
    fn not_rejected(&self, finalists: Vec<usize>) -> Vec<usize> {
        let weighted = |at: usize, bound: f64| bound * self.candidates[at].agreement;
        let best = finalists
            .iter()
            .map(|&at| weighted(at, self.measured[at].effect().0))
            .fold(f64::MIN, f64::max);
        let stays = |&at: &usize| {
            weighted(at, self.measured[at].effect().1) >= best
                && self.verdict(at) != Verdict::Refuted
        };
        finalists.into_iter().filter(stays).collect()
    }
}
