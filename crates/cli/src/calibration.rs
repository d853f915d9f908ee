//! How long to hold threads, and how often, so that a forced order makes the program fail.
//!
//! Takes   a plan, and the program.      Gives  the plan with the pause and the bound under which the most runs failed.
//! Cost    four runs if the first choice does; at most four for each of eleven.
//!
//! No one choice is right for all: an order that comes about twice may undo what it did, one that came about once may have done no
//! harm yet, and a thread that is held too long at one object misses its partner at the next.

use std::time::{Duration, Instant};

use unpick_problem::Problem;
use unpick_reproduce::Plan;

use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::repeat;

const RUNS: u32 = 4;
const SHORT: Duration = Duration::from_millis(3);
const VERY_SHORT: Duration = Duration::from_micros(300);

/// The plan as it works best, unless the user says how it is to be.
pub fn calibrated(
    forcing: &Forcing,
    plan: Plan,
    options: &PlanOptions,
    time: Option<Duration>,
) -> Result<Plan, Problem> {
    let until = time.map(|time| Instant::now() + time);
    let mut search = Search { forcing, until, best: None, arrivals: 0 };
    for choice in choices(&plan, options) {
        if search.try_out(choice)? {
            return Ok(search.best_or(plan));
        }
    }
    if options.ignore_first.is_none() {
        for choice in later_choices(&plan, options, search.arrivals) {
            if search.try_out(choice)? {
                break;
            }
        }
    }
    Ok(search.best_or(plan))
}

struct Search<'a> {
    forcing: &'a Forcing,
    until: Option<Instant>,
    best: Option<(u32, Plan)>,
    /// At the step that the fewest threads came to, in one run.
    arrivals: u64,
}

impl Search<'_> {
    /// Tries a choice; whether it will do, or has to.
    fn try_out(&mut self, choice: Plan) -> Result<bool, Problem> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if self.best.is_some() && left.is_some_and(|left| left.is_zero()) {
            return Ok(true);
        }
        let hidden = indicatif::ProgressBar::hidden();
        let tally = repeat(self.forcing, Some(&choice), RUNS, left, &hidden)?;
        let (runs, failed) = (u64::from(tally.usable().max(1)), tally.failed_hits);
        let arrivals = tally.outcome.steps.iter().map(|step| step.arrived / runs).min();
        self.arrivals = self.arrivals.max(arrivals.unwrap_or(0));
        if self.best.as_ref().is_none_or(|(most, _)| failed > *most) {
            self.best = Some((failed, choice));
        }
        Ok(tally.usable() == 0 || failed == tally.usable())
    }

    fn best_or(self, plan: Plan) -> Plan {
        self.best.map_or(plan, |(_, plan)| plan)
    }
}

/// Once with the usual pause first: that costs the least.
fn choices(plan: &Plan, options: &PlanOptions) -> Vec<Plan> {
    let is_fixed = |chosen: bool, at: usize| chosen && at > 0;
    let mut choices = Vec::new();
    for (at, pause) in [plan.pause, SHORT, VERY_SHORT].into_iter().enumerate() {
        for (turn, bound) in [1, 0].into_iter().enumerate() {
            if is_fixed(options.pause.is_some(), at) || is_fixed(options.bound.is_some(), turn) {
                continue;
            }
            let bound = options.bound.unwrap_or(bound);
            choices.push(Plan { pause: pause.min(plan.pause), bound, ..plan.clone() });
        }
    }
    choices
}

/// Where threads pass a place often, and only some of these times matter: not the first ones. So many out of eight pass first.
fn later_choices(plan: &Plan, options: &PlanOptions, arrivals: u64) -> Vec<Plan> {
    const FEWEST: u64 = 16;
    if arrivals < FEWEST {
        return Vec::new();
    }
    let later = [4, 3, 2, 6, 5].into_iter().map(|eighths| Plan {
        pause: options.pause.unwrap_or(VERY_SHORT),
        bound: options.bound.unwrap_or(1),
        ignored: arrivals * eighths / 8,
        ..plan.clone()
    });
    later.collect()
}
