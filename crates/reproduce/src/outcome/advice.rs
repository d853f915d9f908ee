//! Why an order was never forced, and what to try next.
//!
//! Takes   a plan, the sum of what came of it over some runs, and who waited for what in one of them.
//! Gives   a problem to print: the first obstacle on the way.

use unpick_events::Kind;
use unpick_events::schedule::{Arming, LetGo, Mode, Purpose};
use unpick_problem::Problem;

use crate::plan::Plan;

use super::{Outcome, Over};

/// What the others waited for when a thread was let go for that, in one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prevention {
    pub why: LetGo,
    /// The step at which it was held, from 0.
    pub step: usize,
    /// `thread 3 waits for ledger at bank.c:10, which the held thread took at bank.c:25`.
    pub who: String,
}

/// What kept `runs` runs from ever making all steps of the plan in their order. Exit code 2: it is for the user to change something.
pub fn why_never_hit(
    plan: &Plan,
    outcome: &Outcome,
    prevention: Option<&Prevention>,
    runs: u32,
) -> Problem {
    let obstacle = Look { plan, outcome, prevention }.first_obstacle();
    let order = if plan.mode == Mode::Force { "the order" } else { "the inverse order" };
    let runs = if runs == 1 { "one run".to_owned() } else { format!("{runs} runs") };
    Problem::usage(format!("{order} never came about in {runs}"))
        .at("step", obstacle.step)
        .why(obstacle.why)
        .next(obstacle.next)
}

struct Obstacle {
    step: String,
    why: String,
    next: &'static str,
}

struct Look<'l> {
    plan: &'l Plan,
    outcome: &'l Outcome,
    prevention: Option<&'l Prevention>,
}

const REBUILT: &str = "if the program was built again, hunt again, or use a reproducer file (`unpick pin`), which outlives builds";
const LONGER: &str = "give it more time: a longer `--pause`, and a `--budget` of several pauses";
const OTHER_INPUT: &str = "run it with the input or load that reaches this code, or more often";
const IMPOSSIBLE: &str =
    "look at what both threads hold or wait for there: a lock or a signal may forbid this order";
const PREVENTED: &str = "if that is how it should be, this order cannot come about: nothing is left to do; else look why it is held or waited for there";

impl Look<'_> {
    fn first_obstacle(&self) -> Obstacle {
        let numbers = || 0..self.plan.steps.len();
        let first = |look: fn(&Self, usize) -> Option<Obstacle>| {
            numbers().find_map(|step| look(self, step))
        };
        first(Self::not_armed)
            .or_else(|| first(Self::never_reached))
            .or_else(|| self.prevented(Self::blocked))
            .or_else(|| first(Self::blocked))
            .or_else(|| self.budget_spent())
            .or_else(|| first(Self::partner_too_late))
            .or_else(|| self.prevented(Self::alone))
            .or_else(|| first(Self::alone))
            .unwrap_or_else(|| self.never_together())
    }

    fn obstacle(&self, step: usize, why: String, next: &'static str) -> Obstacle {
        let number = step + 1;
        let shown = self.plan.steps.get(step).map_or("", |step| step.shown.as_str());
        Obstacle { step: format!("{number}, {shown}"), why, next }
    }

    /// None of the places where the step could be made is watched.
    fn not_armed(&self, step: usize) -> Option<Obstacle> {
        let places = self.plan.numbered_places().zip(&self.outcome.places);
        let of_step: Vec<_> = places
            .filter(|(place, _)| place.step == step && place.purpose != Purpose::Gate)
            .collect();
        if of_step.iter().any(|(_, outcome)| outcome.arming == Arming::Armed) {
            return None;
        }
        let (place, outcome) = of_step.first()?;
        let module = place.place.at.module.text();
        let (why, next) = match outcome.arming {
            Arming::NoModule => (format!("no process had the module {module}"), REBUILT),
            Arming::NoCall => {
                let offset = place.place.at.offset;
                (format!("no call ends at {offset:#x} of the module {module}"), REBUILT)
            }
            _ => (
                "the system does not let code of the program be changed".to_owned(),
                "allow it (SELinux: execmod), or run it elsewhere",
            ),
        };
        Some(self.obstacle(step, why, next))
    }

    fn never_reached(&self, step: usize) -> Option<Obstacle> {
        let arrived = self.outcome.steps.get(step)?.arrived;
        let why = || "no thread ever came there".to_owned();
        (arrived == 0).then(|| self.obstacle(step, why(), OTHER_INPUT))
    }

    /// The step of which it is known who waited for what comes first.
    fn prevented(&self, look: fn(&Self, usize) -> Option<Obstacle>) -> Option<Obstacle> {
        look(self, self.prevention?.step)
    }

    /// Who waited for what when a thread was let go at a step.
    fn who_waited(&self, step: usize) -> Option<&str> {
        let of_step = self.prevention.filter(|prevention| prevention.step == step);
        of_step.map(|prevention| prevention.who.as_str())
    }

    /// Threads were let go because nobody else could go on.
    fn blocked(&self, step: usize) -> Option<Obstacle> {
        let blocked = self.outcome.steps.get(step)?.blocked;
        let let_go = let_go(blocked);
        let waited = self.outcome.waited_in.map_or("", waits);
        let (why, next) = match self.who_waited(step) {
            Some(who) => (format!("{let_go} because others waited: {who}"), PREVENTED),
            None => (format!("{let_go} because all others waited {waited}"), IMPOSSIBLE),
        };
        let why = why.trim_end().to_owned();
        (blocked > 0).then(|| self.obstacle(step, why, next))
    }

    /// Threads were let go because nobody else was there yet, or any more; or all others waited for the end of threads.
    fn alone(&self, step: usize) -> Option<Obstacle> {
        let alone = self.outcome.steps.get(step)?.alone;
        let let_go = let_go(alone);
        let (why, next) = match self.who_waited(step) {
            Some(who) => {
                (format!("{let_go} because all others waited for threads to end: {who}"), PREVENTED)
            }
            None => (format!("{let_go} because there was no other thread"), OTHER_INPUT),
        };
        (alone > 0).then(|| self.obstacle(step, why, next))
    }

    fn budget_spent(&self) -> Option<Obstacle> {
        let step = self.last_held()?;
        let held = self.outcome.held;
        let why = format!("threads were held for {held:.1?} together, and that is all they may be");
        let is_spent = self.outcome.over == Some(Over::Budget);
        is_spent.then(|| self.obstacle(step, why, "give it a larger `--budget`"))
    }

    fn last_held(&self) -> Option<usize> {
        self.outcome.steps.iter().rposition(|step| step.held > 0)
    }

    fn partner_too_late(&self, step: usize) -> Option<Obstacle> {
        let timed_out = self.outcome.steps.get(step)?.timed_out;
        let why = || {
            let (pause, let_go) = (self.plan.pause, let_go(timed_out));
            format!("{let_go} after {pause:.1?}: what must come before did not happen meanwhile")
        };
        (timed_out > 0).then(|| self.obstacle(step, why(), LONGER))
    }

    /// Everybody came, nobody was in another's way: they came for different bytes, or in turns.
    fn never_together(&self) -> Obstacle {
        let is_made = |step: &super::StepOutcome| step.made > 0;
        let step = self.outcome.steps.iter().position(|step| !is_made(step)).unwrap_or(0);
        let why = "threads came to all steps, but not to the same bytes at the same time";
        self.obstacle(step, why.to_owned(), OTHER_INPUT)
    }
}

fn let_go(times: u64) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!("a thread held there was let go {times}")
}

/// `for a lock`.
fn waits(kind: Kind) -> &'static str {
    match kind {
        Kind::LockWait => "for a lock",
        Kind::ConditionWait => "for a condition to be signalled",
        Kind::ThreadJoinWait => "for a thread to end",
        Kind::BarrierArrive => "at a barrier",
        Kind::SemaphoreBlock | Kind::SemaphoreWait => "for a semaphore",
        Kind::OnceWait => "for something that is done once",
        Kind::ParkWait => "to be unparked",
        _ => "for another thread",
    }
}
