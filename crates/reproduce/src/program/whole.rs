//! The inverse of a plan that keeps whole functions apart, not only accesses.
//!
//! Takes   a plan, and the program it is for.      Gives  its inverse from the entry of functions to their exits.
//! Misses  functions that the compiler gives no hooks at entry and exit; exits by an exception or `longjmp`: who waits then takes over.
//!
//! Between the two accesses of a pattern there is often not the only gap: a loop goes through a list, and every step of it relies on the
//! one before. The program then fails as well when the other thread comes into another gap of the same function.

use crate::plan::{CallPlace, Mode, Plan, PlanPlace, PlanStep};

use super::callees::Function;
use super::{Program, ProgramModule};

const ENTRY_HOOK: &str = "__tsan_func_entry";
const EXIT_HOOK: &str = "__tsan_func_exit";
/// A schedule has room for some places only.
const MOST_EXITS: usize = 8;

/// Where a function begins and ends.
struct Bounds {
    entry: PlanPlace,
    exits: Vec<PlanPlace>,
}

impl Plan {
    /// As `inverse`, but a role of several steps is alone in the innermost function that makes them, from its entry to its exit. None:
    /// there is no such function, or another order of two accesses is all that is asked for.
    pub fn whole_inverse(&self, program: &Program) -> Option<Plan> {
        let mut inverse = self.inverse();
        if inverse.mode != Mode::Serialise {
            return None;
        }
        let mut is_wider = false;
        for role in 1..=self.roles() as u8 {
            let of_role = |step: &&mut PlanStep| step.role == role;
            let mut steps: Vec<&mut PlanStep> = inverse.steps.iter_mut().filter(of_role).collect();
            let Some(bounds) = bounds_of(&steps, program) else { continue };
            is_wider = true;
            if let [first, .., last] = &mut steps[..] {
                first.gates = vec![bounds.entry];
                last.exits = bounds.exits;
            }
        }
        is_wider.then_some(inverse)
    }
}

/// The bounds of the innermost function that makes all of these steps, if they are several.
fn bounds_of(steps: &[&mut PlanStep], program: &Program) -> Option<Bounds> {
    let (first, others) = steps.split_first().filter(|(_, others)| !others.is_empty())?;
    let makes = |function: &Function, step: &PlanStep| {
        functions_of(step, program).iter().any(|(_, other)| *other == function)
    };
    let mut candidates = functions_of(first, program).into_iter();
    let (module, function) =
        candidates.find(|(_, function)| others.iter().all(|step| makes(function, step)))?;
    module.bounds(function)
}

/// The function that a step is made in, then those whose calls must have led there, as far as the plan says.
fn functions_of<'p>(
    step: &PlanStep,
    program: &'p Program,
) -> Vec<(&'p ProgramModule, &'p Function)> {
    let Some(place) = step.places.first() else { return Vec::new() };
    let function_at = |place: &CallPlace| {
        let module = program.module_of(place)?;
        Some((module, module.code.function_at(place.offset.checked_sub(1)?)?))
    };
    [&place.at].into_iter().chain(&place.calls).filter_map(function_at).collect()
}

impl ProgramModule {
    fn bounds(&self, function: &Function) -> Option<Bounds> {
        let calls = self.code.calls_of(function);
        let of = |hook: &'static str| {
            let calls = calls.iter().filter(move |call| call.callee.as_deref() == Some(hook));
            calls.map(|call| PlanPlace {
                at: self.place(call.return_address),
                calls: Vec::new(),
                distance: None,
            })
        };
        let exits: Vec<PlanPlace> = of(EXIT_HOOK).collect();
        let can_be_told = !exits.is_empty() && exits.len() <= MOST_EXITS;
        let entry = of(ENTRY_HOOK).next().filter(|_| can_be_told)?;
        Some(Bounds { entry, exits })
    }
}
