//! Inverses of a plan that keep whole functions apart, not only accesses.
//!
//! Takes   a plan, and the program it is for.      Gives  its inverse from the entry of functions to their exits.
//! Misses  functions that the compiler gives no hooks at entry and exit; exits by an exception or `longjmp`: who waits then takes over.
//!
//! Between the two accesses of a pattern there is often not the only gap: a loop goes through a list, and every step of it relies on the
//! one before. The program then fails as well when the other thread comes into another gap of the same function.
//!
//! A function that was inlined begins at the first call of its code, and is left where its thread comes to a call of the same compiled
//! function that is not part of it.

use crate::plan::{Mode, Plan, PlanPlace, PlanStep};

use super::beginnings::{Level, Way};
use super::callees::Function;
use super::{Call, Program, ProgramModule};

const ENTRY_HOOK: &str = "__tsan_func_entry";
const EXIT_HOOK: &str = "__tsan_func_exit";
/// A schedule has room for some places only.
const MAX_EXITS: usize = 8;
const MAX_EXITS_INLINED: usize = 20;

/// Where a function begins and ends.
#[derive(Clone)]
struct Bounds {
    entry: PlanPlace,
    exits: Vec<PlanPlace>,
}

impl Plan {
    /// As `inverse`, but a role of several steps is alone in the innermost function that makes them, from its entry to its exit: first all
    /// such roles, then each by itself, since a function that is never left cannot be kept apart. None: there is no such function, or
    /// another order of two accesses is all that is asked for.
    pub fn whole_inverses(&self, program: &Program) -> Vec<Plan> {
        let inverse = self.inverse();
        if inverse.mode != Mode::Serialise {
            return Vec::new();
        }
        let several = |role: &u8| self.steps.iter().filter(|step| step.role == *role).count() > 1;
        let roles = (1..=self.roles() as u8).filter(several);
        let innermost = |role| Some((role, self.bounds(role, program)?));
        let wider: Vec<(u8, Bounds)> = roles.filter_map(innermost).collect();
        let single = wider.iter().filter(|_| wider.len() > 1).map(|one| vec![one.clone()]);
        let choices = std::iter::once(wider.clone()).chain(single).filter(|all| !all.is_empty());
        let widened = choices.map(|choice| widened(&inverse, &choice));
        widened.filter(|plan| plan.to_words().is_ok()).collect()
    }

    /// The bounds of the innermost function that makes all steps of a role.
    fn bounds(&self, role: u8, program: &Program) -> Option<Bounds> {
        let steps: Vec<&PlanStep> = self.steps.iter().filter(|step| step.role == role).collect();
        let ways: Vec<Way<'_>> =
            steps.iter().map(|step| Way::of(step, program)).collect::<Option<_>>()?;
        let (first, others) = ways.split_first()?;
        let others: Vec<Vec<Level<'_>>> = others.iter().map(Way::levels).collect();
        let makes_all = |level: &Level<'_>| {
            others.iter().all(|levels| levels.iter().any(|other| level.is_same_as(other)))
        };
        let mut common = first.levels().into_iter().filter(makes_all);
        common.find_map(|level| bounds_of(&level, program))
    }
}

/// The plan with roles that begin and end with functions.
fn widened(plan: &Plan, bounds: &[(u8, Bounds)]) -> Plan {
    let mut plan = plan.clone();
    for (role, Bounds { entry, exits }) in bounds {
        let of_role = |step: &&mut PlanStep| step.role == *role;
        if let Some(first) = plan.steps.iter_mut().find(of_role) {
            first.gates = vec![entry.clone()];
        }
        if let Some(last) = plan.steps.iter_mut().rfind(of_role) {
            last.exits.clone_from(exits);
        }
    }
    plan
}

fn bounds_of(level: &Level<'_>, program: &Program) -> Option<Bounds> {
    let module = program.module_of(level.inside)?;
    let function = module.code.function_at(level.inside.offset.checked_sub(1)?)?;
    match level.around {
        [] => module.bounds(function),
        _ => module.bounds_inlined(function, level),
    }
}

impl ProgramModule {
    fn bounds(&self, function: &Function) -> Option<Bounds> {
        let calls = self.code.calls_of(function);
        let of = |hook: &'static str| calls.iter().filter(move |call| is_call_of(call, hook));
        let exits: Vec<PlanPlace> = of(EXIT_HOOK).map(|call| self.whole_place(call)).collect();
        let can_be_told = !exits.is_empty() && exits.len() <= MAX_EXITS;
        let entry = of(ENTRY_HOOK).next().filter(|_| can_be_told)?;
        Some(Bounds { entry: self.whole_place(entry), exits })
    }

    /// Of a function that was inlined into another.
    fn bounds_inlined(&self, function: &Function, level: &Level<'_>) -> Option<Bounds> {
        let mut calls = self.code.calls_of(function);
        calls.retain(|call| call.callee.is_some());
        calls.sort_by_key(|call| call.return_address);
        let is_inside = |call: &Call| level.has(&self.symbols.place(call.return_address));
        let inside: Vec<bool> = calls.iter().map(is_inside).collect();
        let entry = inside.iter().position(|is_inside| *is_inside)?;
        let mut exits: Vec<usize> = (0..calls.len()).filter(|at| !inside[*at]).collect();
        // Where it goes on after the function comes first, if there is no room for all.
        let goes_on = |at: usize| at > 0 && inside[at - 1] || is_call_of(&calls[at], EXIT_HOOK);
        exits.sort_by_key(|at| !goes_on(*at));
        exits.truncate(MAX_EXITS_INLINED);
        let exits: Vec<PlanPlace> = exits.iter().map(|at| self.whole_place(&calls[*at])).collect();
        let entry = self.whole_place(&calls[entry]);
        (!exits.is_empty()).then_some(Bounds { entry, exits })
    }

    /// Whoever called its function.
    fn whole_place(&self, call: &Call) -> PlanPlace {
        PlanPlace { at: self.place(call.return_address), calls: Vec::new(), distance: None }
    }
}

fn is_call_of(call: &Call, hook: &str) -> bool {
    call.callee.as_deref() == Some(hook)
}
