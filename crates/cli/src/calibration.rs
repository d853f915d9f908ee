//! How long to hold threads, and how often, so that a forced order makes the program fail.
//!
//! Takes   a plan, and the program.      Gives  the plan with the patience under which the most runs failed; where none did, the order came about
//!         in the most.
//! Cost    up to 24 runs, of two seconds together, if the first choice does; four for each of up to twenty-four that do not, and twelve more for
//!         each of the best three of these.
//!
//! No one choice is right for all: an order that comes about twice may undo what it did, one that came about once may have done no
//! harm yet, a thread that goes on at once may be faster than the harm that another is about to do, and one that is held too long at one
//! object misses its partner at the next.

use std::cmp::Ordering;
use std::time::{Duration, Instant};

use unpick_problem::Problem;
use unpick_reproduce::{Plan, PlanStep, Purpose};

use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::Tally;

/// Each choice is tried so often; one under which all of them fail, more often, as long as it takes no longer than `LONG_ENOUGH`.
const RUNS: u32 = 4;
const MOST_RUNS: u32 = 24;
/// If none will do: so many of them are tried again, so often.
const BEST: usize = 3;
const MORE_RUNS: u32 = 12;
const LONG_ENOUGH: Duration = Duration::from_secs(2);
/// A choice that has missed once is tried no longer than this: threads that are held in vain make a run slow.
const MISSED_ENOUGH: Duration = Duration::from_secs(1);
const SHORT: Duration = Duration::from_millis(3);
const VERY_SHORT: Duration = Duration::from_micros(300);
const LINGER: Duration = Duration::from_millis(2);
const WINDOW: Duration = Duration::from_millis(5);

/// Where threads may wait for their steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Waiting {
    /// Also where the functions begin that make them.
    Anywhere,
    /// At the steps, and where their locks are taken: what else the functions do stays as it is.
    AtSteps,
}

/// The plan as it works best, unless the user says how it is to be.
pub fn calibrated(
    forcing: &Forcing,
    plan: Plan,
    options: &PlanOptions,
    time: Option<Duration>,
) -> Result<Plan, Problem> {
    calibrated_waiting(Waiting::Anywhere, forcing, plan, options, time)
}

/// The same, and where threads may wait.
pub fn calibrated_waiting(
    waiting: Waiting,
    forcing: &Forcing,
    plan: Plan,
    options: &PlanOptions,
    time: Option<Duration>,
) -> Result<Plan, Problem> {
    let until = time.map(|time| Instant::now() + time);
    let mut search = Search { forcing, until, tried: Vec::new(), arrivals: 0, is_unreached: false };
    let is_allowed =
        |choice: &Plan| waiting == Waiting::Anywhere || !(choice.early || choice.held_back);
    for choice in choices(forcing, &plan, options).filter(is_allowed) {
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
                return Ok(search.best_or(plan));
            }
        }
    }
    search.try_best_again()?;
    Ok(search.best_or(plan))
}

struct Search<'a> {
    forcing: &'a Forcing,
    until: Option<Instant>,
    tried: Vec<Tried>,
    /// At the step that the fewest threads came to, in one run.
    arrivals: u64,
    /// By the last choice that neither met nor lingered nor hurried.
    is_unreached: bool,
}

/// What came of a choice.
struct Tried {
    choice: Plan,
    runs: u32,
    /// By the order; at all: it may come about unseen.
    failed: [u32; 2],
    hits: u32,
}

impl Tried {
    fn add(&mut self, tally: &Tally) {
        self.runs += tally.usable();
        self.failed[0] += tally.failed_hits;
        self.failed[1] += tally.failed;
        self.hits += tally.hits;
    }

    /// Of its runs: failed by the order, failed at all; where none failed, those in which the order came about.
    fn shares(&self) -> [f64; 3] {
        let [by_order, at_all] = self.failed;
        let hits = if at_all == 0 { self.hits } else { 0 };
        [by_order, at_all, hits].map(|runs| f64::from(runs) / f64::from(self.runs.max(1)))
    }
}

impl Search<'_> {
    /// Tries a choice; whether it will do, or has to.
    fn try_out(&mut self, choice: Plan) -> Result<bool, Problem> {
        if !self.tried.is_empty() && self.is_time_over() {
            return Ok(true);
        }
        let tally = self.trial(&choice, RUNS)?;
        let runs = u64::from(tally.usable().max(1));
        let arrivals = tally.outcome.steps.iter().map(|step| step.arrived / runs).min();
        self.arrivals = self.arrivals.max(arrivals.unwrap_or(0));
        if is_plain(&choice) {
            self.is_unreached = tally.hits == 0;
        }
        let mut tried = Tried { choice, runs: 0, failed: [0; 2], hits: 0 };
        tried.add(&tally);
        self.tried.push(tried);
        Ok(tally.usable() == 0 || tally.failed_hits == tally.usable())
    }

    /// Some runs; more of them as long as all fail.
    fn trial(&self, choice: &Plan, runs: u32) -> Result<Tally, Problem> {
        let (begun, left) = (Instant::now(), self.left());
        let mut tally = Tally::default();
        while tally.runs < runs && !(has_missed(&tally) && begun.elapsed() > MISSED_ENOUGH) {
            let is_over = !tally.run_once(self.forcing, Some(choice))?;
            if is_over || left.is_some_and(|left| begun.elapsed() >= left) {
                break;
            }
        }
        let most = left.map_or(LONG_ENOUGH, |left| left.min(LONG_ENOUGH));
        while tally.failed_hits == tally.runs
            && (runs..MOST_RUNS).contains(&tally.runs)
            && begun.elapsed() < most
        {
            if !tally.run_once(self.forcing, Some(choice))? {
                break;
            }
        }
        Ok(tally)
    }

    /// Four runs tell little: those that did best make some more.
    fn try_best_again(&mut self) -> Result<(), Problem> {
        self.tried.sort_by(|one, other| most_first(one.shares(), other.shares()));
        for at in 0..self.tried.len().min(BEST) {
            if self.tried[at].failed[1] == 0 || self.is_time_over() {
                break;
            }
            let more = self.trial(&self.tried[at].choice, MORE_RUNS)?;
            self.tried[at].add(&more);
        }
        Ok(())
    }

    fn left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }

    fn is_time_over(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Of several that did equally well the first.
    fn best_or(mut self, plan: Plan) -> Plan {
        self.tried.sort_by(|one, other| most_first(one.shares(), other.shares()));
        self.tried.into_iter().next().map_or(plan, |best| best.choice)
    }
}

/// Whether a run did not fail by the order.
fn has_missed(tally: &Tally) -> bool {
    tally.failed_hits < tally.usable()
}

fn most_first(one: [f64; 3], other: [f64; 3]) -> Ordering {
    other.partial_cmp(&one).unwrap_or(Ordering::Equal)
}

/// Whether it forces the order as it is, and at once.
fn is_plain(choice: &Plan) -> bool {
    let is_another = choice.early || choice.held_back || choice.undisturbed || choice.window;
    choice.linger.is_zero() && !choice.meet && !choice.eager && !is_another
}

/// Once with the usual pause first: that costs the least. The program is not looked at before the first ones were in vain.
pub fn choices<'a>(
    forcing: &'a Forcing,
    plan: &Plan,
    options: &PlanOptions,
) -> impl Iterator<Item = Plan> + use<'a> {
    let mut lasting = lasting_choices(plan, options);
    let usual = lasting.remove(0);
    let meeting = |ignored: u64| Plan { meet: true, ignored, ..usual.clone() };
    let is_deadlock = plan.steps.iter().any(|step| step.purpose == Purpose::Meeting);
    // Who waits for others in a circle has no last step that could come later, nor one before its turn.
    let can_linger = options.linger.is_none() && !is_deadlock;
    let can_hurry = plan.steps.len() > 2 && !plan.eager && !is_deadlock;
    let can_meet = !is_deadlock && options.ignore_first.is_none() && !plan.meet;
    let mut first = Vec::new();
    first.extend(can_be_disturbed(plan).then(|| Plan { undisturbed: true, ..usual.clone() }));
    first.push(usual.clone());
    // Turns need threads that come to their steps while others are held, and on the same object; time for others does not.
    let can_delay = options.pause.is_none() && plan.steps.iter().all(PlanStep::is_access);
    let pause = WINDOW.min(usual.pause);
    let delayed = can_delay.then(|| Plan { window: true, pause, bound: 0, ..usual.clone() });
    first.extend(can_linger.then(|| Plan { linger: LINGER, ..usual.clone() }));
    // What does no harm for one value may for the next.
    let can_repeat = can_linger && options.bound.is_none();
    first.extend(can_repeat.then(|| Plan { linger: LINGER, bound: 0, ..usual.clone() }));
    // Some code is only reached when another thread has been by once.
    first.extend(can_meet.then(|| Plan { ignored: 1, ..usual.clone() }));
    first.extend(can_hurry.then(|| Plan { eager: true, ..usual.clone() }));
    // Who goes through an array from the other end may miss its partner by one.
    let meetings = [0, 1].into_iter().filter(|_| can_meet).map(meeting);
    let last: Vec<Plan> = meetings.chain(lasting).chain(delayed).collect();
    let by_code = std::iter::once_with(move || choices_by_code(forcing, &usual)).flatten();
    first.into_iter().chain(by_code).chain(last)
}

/// Whether a third thread may take the lock of the variable between two steps, at a place that is known: inside a library, where all come
/// by who take such a lock.
fn can_be_disturbed(plan: &Plan) -> bool {
    let is_inside = |step: &PlanStep| step.gates.iter().any(|gate| gate.distance.is_some());
    plan.steps.len() > 2 && !plan.undisturbed && plan.steps.iter().any(is_inside)
}

/// What the program's own code allows: gates where functions begin, or threads.
fn choices_by_code(forcing: &Forcing, usual: &Plan) -> Vec<Plan> {
    let has_access = usual.steps.iter().any(|step| step.variable.is_some());
    let program = forcing.program().ok().filter(|_| has_access);
    let Some(program) = program else { return Vec::new() };
    let early = usual.with_early_gates(program);
    // Who was held back is quick when it is let go: it must not come to its next round before the last step.
    let held_back = usual.held_back(program).map(|plan| Plan { undisturbed: true, ..plan });
    early.into_iter().chain(held_back).collect()
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
