//! The plans of one candidate: the ways in which its order can be forced, and those in which it can be prevented.
//!
//! Takes   a finding, and the program.      Gives  plans, the cheapest first.
//! Cost    the program's code is read when a plan needs it.

use std::cell::OnceCell;

use unpick_findings::Finding;
use unpick_reproduce::Plan;

use super::trying::Trying;
use crate::calibration::choices;

/// Of the time that threads are kept apart, in pauses of one: all of them wait at the same time.
const MIN_PAUSES: u32 = 50;

/// None where the order cannot be forced at all.
pub struct Plans {
    pub usual: Option<Plan>,
    forced: OnceCell<Vec<Plan>>,
    prevented: OnceCell<Vec<Plan>>,
}

impl Plans {
    pub fn of(finding: &Finding, trying: &Trying<'_>) -> Plans {
        let usual = Plan::of_finding(finding).ok().map(|plan| trying.completed_quickly(plan));
        Plans { usual, forced: OnceCell::new(), prevented: OnceCell::new() }
    }

    pub fn forced(&self, trying: &Trying<'_>) -> &[Plan] {
        self.forced.get_or_init(|| {
            let Some(plan) = &self.usual else { return Vec::new() };
            // To delay steps for a time disturbs more than the order: that it fails then may be due to another one.
            let quick = choices(trying.forcing, plan, trying.plan).filter(|plan| !plan.window);
            let program = trying.forcing.program().ok();
            let before_locks = program.and_then(|program| plan.with_gates_before_locks(program));
            quick.chain(patient(plan, trying)).chain(before_locks).collect()
        })
    }

    pub fn prevented(&self, trying: &Trying<'_>) -> &[Plan] {
        self.prevented.get_or_init(|| {
            self.usual.as_ref().map_or_else(Vec::new, |plan| inverses(plan, trying))
        })
    }
}

/// A partner may come later than it usually does.
fn patient(plan: &Plan, trying: &Trying<'_>) -> Option<Plan> {
    let Trying { forcing, plan: options, .. } = trying;
    let Plan { pause, budget, .. } =
        options.applied_to(Plan::forcing(Vec::new()), forcing.usual_run);
    let bound = options.bound.unwrap_or(1);
    (pause > plan.pause).then(|| Plan { pause, budget, bound, ..plan.clone() })
}

/// Kept apart at the accesses, then with gates where functions begin, then by whole functions.
fn inverses(plan: &Plan, trying: &Trying<'_>) -> Vec<Plan> {
    // To wait for others is how threads are kept apart: that is not in vain.
    let plan = &Plan { budget: plan.budget.max(plan.pause * MIN_PAUSES), ..plan.clone() };
    let mut inverses = vec![plan.inverse()];
    if let Ok(program) = trying.forcing.program() {
        inverses.extend(plan.with_early_gates(program).map(|early| early.inverse()));
        inverses.extend(plan.whole_inverses(program));
    }
    inverses
}
