//! Makes a plan of a lost wakeup whose test is known: a thread tests a variable, another writes it and notifies, then the first waits.
//!
//! Who notifies is kept in front of its write, not at it: of many writes (a count that goes down) one is followed by a notification, and only
//! its thread knows which. What makes the wakeup lost is that both come after the test.
//! The inverse keeps the write away between test and wait: before the test it is seen, after the wait its notification is.

use std::time::Duration;

use unpick_findings::{LostDeed, LostNotification, LostStep};
use unpick_problem::Problem;

use super::gates::{Reached, place};
use super::of_finding::{nowhere, shown_place};
use super::of_lost::{own_place, reached};
use super::{CallPlace, Operand, Plan, PlanPlace, PlanStep};

/// From a test to the wait is a short way: who does not come there within this time has found that it need not wait.
pub(super) const PREVENTION_PAUSE: Duration = Duration::from_millis(20);
/// Of the thread that waits, and of the one that should have woken it.
const WAITS: u8 = 1;
const WAKES: u8 = 2;

/// None: the loss begins with something else than a test.
pub fn plan_of_stale_test(lost: &LostNotification) -> Result<Option<Plan>, Problem> {
    let (Some(test), Some(write)) = (lost.step(LostDeed::Tests), lost.step(LostDeed::Writes))
    else {
        return Ok(None);
    };
    let wait = lost.step(LostDeed::Waits).ok_or_else(|| nowhere("wait"))?;
    let test = access(test, WAITS)?;
    let written = access(write, WAKES)?;
    let woken = match lost.notification() {
        Some(notify) => notification(notify, write, &written)?,
        None => written.clone(),
    };
    let steps = vec![test, woken, waiting(wait)?];
    Ok(Some(Plan { written: Some(written), ..Plan::forcing(steps) }))
}

fn access(step: &LostStep, role: u8) -> Result<PlanStep, Problem> {
    let is_write = step.deed == LostDeed::Writes;
    let kind = if is_write { "write" } else { "read" };
    let variable = step.variable.as_ref();
    let name = variable.and_then(|variable| variable.name.as_ref());
    let of = name.map_or_else(String::new, |name| format!(" of `{name}`"));
    let shown = format!("{kind}{of}{}", shown_place(&step.frame));
    let inside_library = step.shown_call.map_or(0, |shown| shown + 1);
    let code = step.code.as_ref();
    let at = code.and_then(|code| place(code, &step.calls, inside_library));
    let at = at.ok_or_else(|| nowhere(&shown))?;
    Ok(PlanStep {
        gates: gate(step).into_iter().collect(),
        variable: Some(0),
        operand: Operand::First,
        bytes: variable.map_or(0, |variable| variable.bytes),
        is_write,
        calls: step.calls.iter().map_while(CallPlace::of).collect(),
        ..PlanStep::of_call(role, at, shown)
    })
}

/// Its thread is kept where it takes the lock that it writes under, else where it writes.
fn notification(
    notify: &LostStep,
    write: &LostStep,
    written: &PlanStep,
) -> Result<PlanStep, Problem> {
    let shown = format!("notify{}", shown_place(&notify.frame));
    let behind = write.variable.as_ref().and_then(|variable| variable.behind_condition);
    let at = own_place(notify).ok_or_else(|| nowhere(&shown))?;
    let at_write = written.places.iter().map(|at| PlanPlace { distance: Some(0), ..at.clone() });
    let gates = if written.gates.is_empty() { at_write.collect() } else { written.gates.clone() };
    Ok(PlanStep {
        places: vec![PlanPlace { distance: behind, ..at }],
        gates,
        // The condition, behind which the variable is.
        operand: if behind.is_some() { Operand::First } else { Operand::Unknown },
        is_write: true,
        calls: notify.calls.iter().map_while(CallPlace::of).collect(),
        shown,
        ..written.clone()
    })
}

fn waiting(wait: &LostStep) -> Result<PlanStep, Problem> {
    let shown = format!("wait{}", shown_place(&wait.frame));
    let at = own_place(wait).ok_or_else(|| nowhere(&shown))?;
    let gates = gate(wait).into_iter().collect();
    Ok(PlanStep { gates, ..PlanStep::of_call(WAITS, at, shown) })
}

fn gate(step: &LostStep) -> Option<PlanPlace> {
    Reached::of_lock(step.lock.as_ref()?).place_apart_from(&reached(step))
}
