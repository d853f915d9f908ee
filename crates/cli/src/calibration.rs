//! How long to hold threads, and how often, so that a forced order makes the program fail.
//!
//! Takes   a plan, and the program.      Gives  the plan with the pause and the bound under which the most runs failed.
//! Cost    four runs if the first choice does; at most four for each.
//!
//! No one choice is right for all: an order that comes about twice may undo what it did, one that came about once may have done no
//! harm yet, and a thread that is held too long at one object misses its partner at the next.

use std::time::Duration;

use unpick_problem::Problem;
use unpick_reproduce::Plan;

use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::{Tally, repeat};

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
    let mut best: Option<(u32, Plan)> = None;
    for choice in choices(&plan, options) {
        let tally = repeat(forcing, Some(&choice), RUNS, time, &indicatif::ProgressBar::hidden())?;
        let failed = tally.failed_hits;
        let is_better = best.as_ref().is_none_or(|(most, _)| failed > *most);
        if is_better {
            best = Some((failed, choice));
        }
        if is_enough(&tally) {
            break;
        }
    }
    Ok(best.map_or(plan, |(_, plan)| plan))
}

fn is_enough(tally: &Tally) -> bool {
    tally.usable() == 0 || tally.failed_hits == tally.usable()
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
