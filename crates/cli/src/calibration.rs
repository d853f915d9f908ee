//! How long to hold threads, and how often, so that a forced order makes the program fail.
//!
//! Takes   a plan, and the program.      Gives  the plan with the patience under which the most runs failed.
//! Cost    up to 24 runs, of two seconds together, if the first choice does; four for each of up to eighteen that do not.
//!
//! No one choice is right for all: an order that comes about twice may undo what it did, one that came about once may have done no
//! harm yet, a thread that goes on at once may be faster than the harm that another is about to do, and one that is held too long at one
//! object misses its partner at the next.

use std::time::{Duration, Instant};

use unpick_problem::Problem;
use unpick_reproduce::{Plan, Purpose};

use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::{Tally, repeat};

/// Each choice is tried so often; one under which all of them fail, more often, as long as it takes no longer than `LONG_ENOUGH`.
const RUNS: u32 = 4;
const MOST_RUNS: u32 = 24;
const LONG_ENOUGH: Duration = Duration::from_secs(2);
const SHORT: Duration = Duration::from_millis(3);
const VERY_SHORT: Duration = Duration::from_micros(300);
const LINGER: Duration = Duration::from_millis(2);

/// The plan as it works best, unless the user says how it is to be.
pub fn calibrated(
    forcing: &Forcing,
    plan: Plan,
    options: &PlanOptions,
    time: Option<Duration>,
) -> Result<Plan, Problem> {
    let until = time.map(|time| Instant::now() + time);
    let mut search = Search { forcing, until, best: None, arrivals: 0, is_unreached: false };
    for choice in choices(&plan, options) {
        // Without a bound, and later, as with one and at once, if it was never reached.
        let is_without_bound = choice.bound == 0 && options.bound.is_none();
        let is_later = !choice.linger.is_zero() && options.linger.is_none();
        if search.is_unreached && (is_without_bound || is_later) {
            continue;
        }
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

/// Whether the first choice makes any run fail.
pub fn fails_at_once(
    forcing: &Forcing,
    plan: &Plan,
    options: &PlanOptions,
    time: Option<Duration>,
) -> Result<bool, Problem> {
    let Some(choice) = choices(plan, options).into_iter().next() else { return Ok(false) };
    let tally = repeat(forcing, Some(&choice), RUNS, time, &indicatif::ProgressBar::hidden())?;
    Ok(tally.failed_hits > 0)
}

struct Search<'a> {
    forcing: &'a Forcing,
    until: Option<Instant>,
    /// With the share of runs that failed by it, and that failed at all: the order may come about unseen.
    best: Option<([f64; 2], Plan)>,
    /// At the step that the fewest threads came to, in one run.
    arrivals: u64,
    /// By the last choice that neither met nor lingered nor hurried.
    is_unreached: bool,
}

impl Search<'_> {
    /// Tries a choice; whether it will do, or has to.
    fn try_out(&mut self, choice: Plan) -> Result<bool, Problem> {
        let left = self.until.map(|until| until.saturating_duration_since(Instant::now()));
        if self.best.is_some() && left.is_some_and(|left| left.is_zero()) {
            return Ok(true);
        }
        let tally = self.trial(&choice, left)?;
        let (runs, failed) = (tally.usable().max(1), tally.failed_hits);
        let arrivals = tally.outcome.steps.iter().map(|step| step.arrived / u64::from(runs)).min();
        self.arrivals = self.arrivals.max(arrivals.unwrap_or(0));
        if choice.linger.is_zero() && !choice.meet && !choice.eager {
            self.is_unreached = tally.hits == 0;
        }
        let shares = [failed, tally.failed].map(|failed| f64::from(failed) / f64::from(runs));
        if self.best.as_ref().is_none_or(|(most, _)| shares > *most) {
            self.best = Some((shares, choice));
        }
        Ok(tally.usable() == 0 || failed == tally.usable())
    }

    /// Some runs; more of them as long as all fail.
    fn trial(&self, choice: &Plan, left: Option<Duration>) -> Result<Tally, Problem> {
        let hidden = indicatif::ProgressBar::hidden();
        let begun = Instant::now();
        let mut tally = repeat(self.forcing, Some(choice), RUNS, left, &hidden)?;
        let most = left.map_or(LONG_ENOUGH, |left| left.min(LONG_ENOUGH));
        while tally.failed_hits == tally.runs
            && (RUNS..MOST_RUNS).contains(&tally.runs)
            && begun.elapsed() < most
        {
            let Some(run) = self.forcing.run(Some(choice))? else { break };
            tally.add(&run, Some(choice))?;
        }
        Ok(tally)
    }

    fn best_or(self, plan: Plan) -> Plan {
        self.best.map_or(plan, |(_, plan)| plan)
    }
}

/// Once with the usual pause first: that costs the least.
fn choices(plan: &Plan, options: &PlanOptions) -> Vec<Plan> {
    let mut choices = lasting_choices(plan, options);
    let usual = choices.remove(0);
    let lingering = |choice: &Plan| Plan { linger: LINGER, ..choice.clone() };
    let meeting = |ignored: u64| Plan { meet: true, ignored, ..usual.clone() };
    let can_linger = options.linger.is_none();
    let can_hurry = plan.steps.len() > 2 && !plan.eager;
    let is_deadlock = plan.steps.iter().any(|step| step.purpose == Purpose::Meeting);
    let can_meet = !is_deadlock && options.ignore_first.is_none() && !plan.meet;
    let mut all = vec![usual.clone()];
    all.extend(can_linger.then(|| lingering(&usual)));
    all.extend(can_hurry.then(|| Plan { eager: true, ..usual.clone() }));
    // Who goes through an array from the other end may miss its partner by one.
    all.extend([0, 1].into_iter().filter(|_| can_meet).map(meeting));
    all.append(&mut choices);
    all
}

/// How long a thread is held, and how often.
fn lasting_choices(plan: &Plan, options: &PlanOptions) -> Vec<Plan> {
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
    if plan.steps.iter().any(|step| step.purpose == Purpose::Meeting) {
        // Who passes by often may only come to the meeting if others went before: a wait that goes by its rounds does not depend on
        // how fast it is.
        choices.insert(1, Plan { rounds: 1, ..choices[0].clone() });
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
