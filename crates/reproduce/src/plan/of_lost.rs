//! Makes a plan of a lost notification: its steps in the order in which they lost it.

use unpick_findings::{LostDeed, LostNotification, LostStep};
use unpick_problem::Problem;

use super::gates::{Reached, place};
use super::of_finding::{nowhere, shown_place};
use super::of_stale_test::plan_of_stale_test;
use super::{Plan, PlanPlace, PlanStep};

/// Forces the loss of a notification.
pub fn plan_of_lost(lost: &LostNotification) -> Result<Plan, Problem> {
    match plan_of_stale_test(lost)? {
        Some(plan) => Ok(plan),
        None => Ok(Plan::forcing(steps_of_lost(lost)?)),
    }
}

/// One step per deed. Threads are numbered in the order of their first steps.
fn steps_of_lost(lost: &LostNotification) -> Result<Vec<PlanStep>, Problem> {
    (0..lost.steps.len()).map(|at| step(&lost.steps, at)).collect()
}

fn step(steps: &[LostStep], at: usize) -> Result<PlanStep, Problem> {
    let step = &steps[at];
    let shown = shown(step);
    let at = place_of(steps, at).ok_or_else(|| nowhere(&shown))?;
    let gates = gate(steps, step).into_iter().collect();
    Ok(PlanStep { gates, ..PlanStep::of_call(role(steps, step.thread), at, shown) })
}

fn role(steps: &[LostStep], thread: u16) -> u8 {
    let mut seen = Vec::new();
    for step in steps {
        if !seen.contains(&step.thread) {
            seen.push(step.thread);
        }
    }
    seen.iter().position(|seen| *seen == thread).unwrap_or(0) as u8 + 1
}

/// Who is to notify waits before it takes the mutex, which the one that is to wait needs. Who waits has the mutex by a step of its own,
/// or took it where nobody stops it.
fn gate(steps: &[LostStep], step: &LostStep) -> Option<PlanPlace> {
    let has_own_step = steps.iter().any(|other| other.thread == step.thread && other != step);
    let lock = step.lock.as_ref().filter(|_| step.deed == LostDeed::Notifies && !has_own_step)?;
    Reached::of_lock(lock).place_apart_from(&reached(step))
}

/// A place; where two threads come to the same one, by a function that both call, with the calls that tell them apart.
fn place_of(steps: &[LostStep], at: usize) -> Option<PlanPlace> {
    let own = reached(&steps[at]);
    let (code, calls) = own.own_call()?;
    let others = steps.iter().filter(|other| other.thread != steps[at].thread);
    let alike = others.filter_map(|other| {
        let other = reached(other);
        let (other_code, other_calls) = other.own_call()?;
        let in_common = calls.iter().zip(other_calls).take_while(|(one, other)| one == other);
        (code == other_code).then(|| in_common.count() + 1)
    });
    place(code, calls, alike.max().unwrap_or(0))
}

/// Where the user calls what waits or notifies.
pub fn own_place(step: &LostStep) -> Option<PlanPlace> {
    let reached = reached(step);
    let (code, calls) = reached.own_call()?;
    place(code, calls, 0)
}

pub fn reached(step: &LostStep) -> Reached<'_> {
    let LostStep { calls, shown_call, frame, .. } = step;
    Reached { code: step.code.as_ref(), calls, shown_call: *shown_call, frame }
}

fn shown(step: &LostStep) -> String {
    let deed = match step.deed {
        LostDeed::Waits => "wait",
        LostDeed::Locks => "lock",
        LostDeed::Notifies => "notify",
        LostDeed::Tests => "test",
        LostDeed::Writes => "write",
    };
    format!("{deed}{}", shown_place(&step.frame))
}
