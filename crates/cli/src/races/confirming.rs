//! `unpick races --confirm`: forces the orders of all races of a report, and all deadlocks that can be, as long as there is time.
//!
//! Takes   a report.      Gives  it with marks; what there was no time for has none.
//! Cost    at most the time that is given, and the runs that have begun.

use std::path::Path;
use std::time::{Duration, Instant};

use unpick_findings::{CandidateDeadlock, ForcedRace, RaceFinding, RaceMark};
use unpick_problem::Problem;
use unpick_reproduce::Plan;

use super::kept::Report;
use crate::confirm::{HuntEvidence, Trying};
use crate::deadlocks;
use crate::forcing::{Forcing, Hunted, JudgeOptions, PlanOptions};
use crate::race_orders;

/// Of each kind: enough to tell always from never.
const RUNS: u32 = 5;

/// How long all of them may take.
pub struct Confirming<'a> {
    store: &'a Path,
    until: Instant,
    quiet: bool,
}

impl<'a> Confirming<'a> {
    pub fn new(store: &'a Path, time: Duration, quiet: bool) -> Confirming<'a> {
        Confirming { store, until: Instant::now() + time, quiet }
    }

    /// Marks what has no mark yet, the worst first. What goes wrong with one takes nothing from the others.
    pub fn mark_all(&self, report: &mut Report) {
        for (race, number) in report.races.iter_mut().zip(1..) {
            if race.forced.is_none() && self.has_time() {
                let forced = self.force_race(number, race);
                race.forced = told(forced, &format!("race {number}")).flatten();
            }
        }
        for (deadlock, number) in report.deadlocks.iter_mut().zip(1..) {
            if deadlock.confirmed.is_none() && self.has_time() {
                let tried = self.force_deadlock(number, deadlock);
                deadlock.confirmed = told(tried, &format!("deadlock {number}"));
            }
        }
        RaceFinding::sort_by_mark(&mut report.races);
    }

    fn has_time(&self) -> bool {
        Instant::now() < self.until
    }

    /// None: the time was over before all orders were tried.
    fn force_race(&self, number: usize, race: &RaceFinding) -> Result<Option<ForcedRace>, Problem> {
        let forced = self.trying(&race_orders::run_of(self.store, race)?, |trying| {
            trying.try_race(number, race)
        })?;
        let is_cut = !self.has_time() && forced.mark == RaceMark::NotForced;
        Ok((!is_cut).then_some(forced))
    }

    fn force_deadlock(
        &self,
        number: usize,
        candidate: &CandidateDeadlock,
    ) -> Result<unpick_findings::Confirmed, Problem> {
        let tried = self.trying(&deadlocks::run_of(self.store, candidate)?, |trying| {
            trying.try_deadlock(number, Plan::of_deadlock(&candidate.hang))
        })?;
        Ok(tried.confirmed)
    }

    fn trying<T>(
        &self,
        hunted: &Hunted,
        attempt: impl FnOnce(&Trying<'_>) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let forcing = Forcing::new(self.store, hunted, &JudgeOptions::default(), &[])?;
        let forcing = forcing.knowing_its_time()?;
        attempt(&Trying {
            forcing: &forcing,
            store: self.store,
            plan: &PlanOptions::default(),
            top: 1,
            runs: RUNS,
            until: Some(self.until),
            quiet: self.quiet,
            evidence: &HuntEvidence::default(),
        })
    }
}

fn told<T>(result: Result<T, Problem>, what: &str) -> Option<T> {
    result
        .map_err(|problem| eprintln!("unpick: {what} was not forced: {}", problem.in_one_line()))
        .ok()
}
