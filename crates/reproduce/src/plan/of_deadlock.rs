//! Makes a plan of a deadlock: all threads of the circle meet, each where it waits and with its lock in hand.

use unpick_findings::{Hang, HangProcess, HangThread, HeldLock};
use unpick_problem::Problem;

use super::gates::{Reached, place};
use super::of_finding::{nowhere, shown_place};
use super::of_lost::plan_of_lost;
use super::{Plan, PlanPlace, PlanStep, Purpose};

impl Plan {
    /// Forces what made a run hang: a deadlock, or the loss of a notification.
    pub fn of_hang(hang: &Hang) -> Result<Plan, Problem> {
        match hang.lost_notification() {
            Some(lost) if !hang.deadlock => plan_of_lost(lost),
            _ => Plan::of_deadlock(hang),
        }
    }

    /// Brings the threads of the first circle of a hang to where they wait for each other. Its inverse lets one thread at a time from
    /// where it takes its lock to where it would wait.
    pub fn of_deadlock(hang: &Hang) -> Result<Plan, Problem> {
        let circles = hang.processes.iter().filter_map(circle);
        let circle = circles.into_iter().next().ok_or_else(no_deadlock)?;
        if circle.len() < 2 {
            return Err(waits_for_itself());
        }
        let steps = (0..circle.len()).map(|at| step(&circle, at));
        Ok(Plan::forcing(steps.collect::<Result<_, _>>()?))
    }
}

/// The threads of a process's first circle, each waiting for the next.
fn circle(process: &HangProcess) -> Option<Vec<&HangThread>> {
    let numbers = process.deadlocks.first()?;
    let thread = |number: &u16| process.threads.iter().find(|thread| thread.thread == *number);
    numbers.iter().map(thread).collect()
}

fn step(circle: &[&HangThread], at: usize) -> Result<PlanStep, Problem> {
    let thread = circle[at];
    let waiting_for_it = circle[(at + circle.len() - 1) % circle.len()];
    let held = lock_of_circle(&thread.holds, waiting_for_it);
    let gate = held.and_then(|lock| Reached::of_lock(lock).place_apart_from(&reached_wait(thread)));
    let shown = format!("wait{}", shown_place(&thread.frame));
    let role = u8::try_from(at + 1).map_err(|_| too_many(circle.len()))?;
    let at = place_of_wait(thread, held).ok_or_else(|| nowhere(&shown))?;
    Ok(PlanStep {
        purpose: Purpose::Meeting,
        must_hold: gate.is_some() && held.is_some_and(is_followed),
        gates: gate.into_iter().collect(),
        ..PlanStep::of_call(role, at, shown)
    })
}

/// Whether the runtime knows when the lock is given back: of Rust's own locks it does not.
fn is_followed(lock: &HeldLock) -> bool {
    lock.kind != "rust"
}

/// Where a thread waits. The lock it holds may have been taken by the same function as well: the calls tell them apart.
fn place_of_wait(thread: &HangThread, held: Option<&HeldLock>) -> Option<PlanPlace> {
    let wait = reached_wait(thread);
    match held {
        Some(held) => wait.place_apart_from(&Reached::of_lock(held)),
        None => place(wait.own_call()?.0, &[], 0),
    }
}

fn reached_wait(thread: &HangThread) -> Reached<'_> {
    let HangThread { calls, shown_call, frame, .. } = thread;
    Reached { code: thread.code.as_ref(), calls, shown_call: *shown_call, frame }
}

/// The lock that another of the circle waits for. Locks are told apart by name only: where that does not help, it is the one that was taken first.
fn lock_of_circle<'t>(held: &'t [HeldLock], waiting: &HangThread) -> Option<&'t HeldLock> {
    let wanted = waiting.waits_for.as_ref().and_then(|wait| wait.name.as_ref());
    let same = held.iter().find(|lock| wanted.is_some() && lock.name.as_ref() == wanted);
    same.or(held.first())
}

fn no_deadlock() -> Problem {
    Problem::usage("no schedule can be made of this hang")
        .why("no threads were seen to wait for each other, nor how a notification was lost: there is no order to force")
        .next("look at what its threads were doing: `unpick show --run N`")
}

fn waits_for_itself() -> Problem {
    Problem::usage("no schedule can be made of a deadlock of one thread")
        .why("it waits for a lock that it holds itself: that happens in any order of threads")
        .next("look where it took the lock before: `unpick show --run N`")
}

fn too_many(threads: usize) -> Problem {
    Problem::usage(format!("no schedule can be made of a deadlock of {threads} threads"))
        .why("a schedule has at most 16 steps")
}
