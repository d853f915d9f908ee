//! Gates where functions begin, for steps in front of which no lock is known.
//!
//! Takes   a plan, and the program it is for.      Gives  the plan with a gate for steps that had none.
//! Misses  a lock that is taken by a function that makes the role's step before as well; functions whose first call in the code is not the
//!         first one that is made.
//!
//! Programs have locks that are none of the system's or the language's: a semaphore of an executor, a flag of atomics, a spin lock. Who
//! is held at an access behind one of them keeps it from its partner, who then never comes. Nobody has to know such a lock: what a function
//! needs for its accesses it takes after it has begun. So a thread waits where the outermost function begins that has not also
//! made the role's step before; without such a step, the innermost of the user's. A function that was inlined begins at the
//! first call of its code.

use std::sync::Arc;

use unpick_symbols::{Frame, Place};

use crate::plan::{CallPlace, Plan, PlanPlace, PlanStep};

use super::Program;

impl Plan {
    /// The plan with gates where the functions of steps begin. None: it knows a gate for each step, or none can be found.
    pub fn with_early_gates(&self, program: &Program) -> Option<Plan> {
        self.with_gates_at_entries(program, |step| step.gates.is_empty())
    }

    /// The same with gates of that kind also in place of those at locks: between the two a function may do what matters.
    pub fn with_gates_before_locks(&self, program: &Program) -> Option<Plan> {
        self.with_gates_at_entries(program, |step| !step.gates.is_empty())
    }

    fn with_gates_at_entries(
        &self,
        program: &Program,
        is_meant: impl Fn(&PlanStep) -> bool,
    ) -> Option<Plan> {
        let mut early = Plan { early: true, ..self.clone() };
        for (at, step) in self.steps.iter().enumerate() {
            let before = self.steps[..at].iter().rfind(|before| before.role == step.role);
            let gate =
                (step.is_access() && is_meant(step)).then(|| beginning(step, before, program));
            if let Some(gate) = gate.flatten() {
                early.steps[at].gates = vec![gate];
            }
        }
        (early.steps != self.steps).then_some(early)
    }

    /// The plan in which a thread that comes in after the first step waits where its own code begins: the thread of the first step is in
    /// the middle of what it does before the other has begun. None: where that is is not known, or both begin with the same code.
    pub fn held_back(&self, program: &Program) -> Option<Plan> {
        let mut held_back = Plan { held_back: true, ..self.clone() };
        let of_first = self.steps.first().and_then(|first| start_of_role(first, self, program));
        for (at, step) in self.steps.iter().enumerate().skip(1) {
            let comes_in = self.steps[..at].iter().all(|before| before.role != step.role);
            if step.is_access() && comes_in {
                let start = start_of_role(step, self, program).filter(|_| of_first.is_some());
                let own = start.filter(|start| Some(start) != of_first.as_ref());
                held_back.steps[at].gates.extend(own);
            }
        }
        (held_back.steps != self.steps).then_some(held_back)
    }
}

fn start_of_role(step: &PlanStep, plan: &Plan, program: &Program) -> Option<PlanPlace> {
    let calls = known_calls(step, &plan.steps, program).to_vec();
    start(&PlanStep { calls, ..step.clone() }, program)
}

/// The calls that led to a step, or to another one of the same role in the same function.
fn known_calls<'s>(step: &PlanStep, steps: &'s [PlanStep], program: &Program) -> &'s [CallPlace] {
    let function_of = |step: &PlanStep| {
        let at = &step.places.first()?.at;
        program.module_of(at)?.code.function_at(at.offset.checked_sub(1)?)
    };
    let is_beside = |other: &&PlanStep| {
        let own = function_of(step);
        other.role == step.role && (*other == step || own.is_some() && function_of(other) == own)
    };
    let mut own_first: Vec<&PlanStep> = steps.iter().filter(is_beside).collect();
    own_first.sort_by_key(|other| *other != step);
    let known = own_first.into_iter().find(|other| !other.calls.is_empty());
    known.map_or(&[], |known| &known.calls)
}

/// A function that a step is part of: as compiled, or inlined into one that is.
#[derive(Clone, Copy)]
pub struct Level<'w> {
    /// A call of that function's code: the step itself, or one that led there.
    pub inside: &'w CallPlace,
    function: &'w str,
    /// The calls that were inlined around it, up to the compiled function.
    pub around: &'w [Frame],
    /// The calls that led to the compiled function, as far as known.
    outer: &'w [CallPlace],
}

impl Level<'_> {
    pub fn is_same_as(&self, other: &Level<'_>) -> bool {
        let mut both = self.outer.iter().zip(other.outer);
        (self.function, self.around) == (other.function, other.around)
            && both.all(|(one, other)| one == other)
    }

    pub fn has(&self, place: &Place) -> bool {
        let Some(at) = place.frames.len().checked_sub(self.around.len() + 1) else { return false };
        place.frames[at].function.as_deref() == Some(self.function)
            && place.frames[at + 1..] == *self.around
    }
}

/// The way of a step into the code, from the inside out.
pub struct Way<'s> {
    calls: Vec<(&'s CallPlace, Arc<Place>)>,
    outer: &'s [CallPlace],
}

impl<'s> Way<'s> {
    pub fn of(step: &'s PlanStep, program: &Program) -> Option<Way<'s>> {
        let at = &step.places.first()?.at;
        let known = [at].into_iter().chain(&step.calls).map_while(|call| {
            let module = program.module_of(call)?;
            Some((call, module.symbols.place(call.offset)))
        });
        Some(Way { calls: known.collect(), outer: &step.calls })
    }

    /// All functions, from the innermost of the user's on.
    pub fn levels(&self) -> Vec<Level<'_>> {
        let calls = self.calls.iter().enumerate();
        let all = calls.flat_map(|(depth, (inside, place))| self.levels_of(depth, inside, place));
        all.skip(self.library_levels()).collect()
    }

    /// Those at one call; so many calls are inside of it.
    fn levels_of<'w>(
        &'w self,
        depth: usize,
        inside: &'w CallPlace,
        place: &'w Place,
    ) -> impl Iterator<Item = Level<'w>> {
        let outer = &self.outer[depth.min(self.outer.len())..];
        place.frames.iter().enumerate().map(move |(at, frame)| Level {
            inside,
            function: frame.function.as_deref().unwrap_or_default(),
            around: &place.frames[at + 1..],
            outer,
        })
    }

    /// How many of them are of a library of the language.
    fn library_levels(&self) -> usize {
        let mut inside_library = 0;
        for (_, place) in &self.calls {
            match place.own_frame() {
                Some(own) => return inside_library + own,
                None => inside_library += place.frames.len(),
            }
        }
        0
    }
}

/// Where the function begins that makes a step and has not made the one before.
fn beginning(step: &PlanStep, before: Option<&PlanStep>, program: &Program) -> Option<PlanPlace> {
    let way = Way::of(step, program)?;
    let levels = way.levels();
    let before = before.and_then(|before| Way::of(before, program));
    let made_before = before.as_ref().map_or_else(Vec::new, Way::levels);
    let in_common = levels.iter().position(|own| made_before.iter().any(|it| own.is_same_as(it)));
    let own = match in_common {
        Some(shared) => levels.get(shared.checked_sub(1)?)?,
        None => levels.first()?,
    };
    first_call(own.inside, program, |place| own.has(place))
}

/// Where the outermost function of the user's begins that led to a step.
fn start(step: &PlanStep, program: &Program) -> Option<PlanPlace> {
    let way = Way::of(step, program)?;
    // What the compiler adds around a thread has no source.
    let is_own =
        |place: &Place| place.own_frame().is_some_and(|own| place.frames[own].file.is_some());
    let (outermost, _) = way.calls.iter().rfind(|(_, place)| is_own(place))?;
    first_call(outermost, program, |_| true)
}

/// The first call, of those that qualify, in the code of a function, if it is before a call of it.
fn first_call(
    inside: &CallPlace,
    program: &Program,
    qualifies: impl Fn(&Place) -> bool,
) -> Option<PlanPlace> {
    let module = program.module_of(inside)?;
    let function = module.code.function_at(inside.offset.checked_sub(1)?)?;
    let mut calls = module.code.calls_of(function);
    calls.sort_by_key(|call| call.return_address);
    let qualifies = |address: u64| qualifies(&module.symbols.place(address));
    let first =
        calls.iter().find(|call| call.callee.is_some() && qualifies(call.return_address))?;
    let at = module.place(first.return_address);
    let is_earlier = first.return_address < inside.offset;
    is_earlier.then_some(PlanPlace { at, calls: Vec::new(), distance: None })
}
