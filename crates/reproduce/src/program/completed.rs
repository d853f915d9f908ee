//! What a plan does not know without the program: what is called at its places.
//!
//! Takes   a plan, and the program it is for.      Gives  the plan with addresses of library calls, and with all ways into a lock.
//! Misses  what is in modules that were not opened: that stays as it is.

use unpick_symbols::{LockStep, Place, rust_lock};

use crate::plan::{Operand, Plan, PlanPlace, PlanStep, Purpose};

use super::hooks::takes_lock;
use super::{Call, Program, ProgramModule, deed_of, operand_of};

/// A schedule has room for some places only.
const MOST_COPIES: usize = 6;

impl Plan {
    /// The plan with what the program tells about its places. It may hold places of other builds: those stay as they are.
    #[must_use]
    pub fn completed(&self, program: &Program) -> Plan {
        let steps = self.steps.iter().map(|step| completed(step, program)).collect();
        let written = self.written.as_ref().map(|step| completed(step, program));
        Plan { steps, written, ..self.clone() }
    }

    /// The plan with all copies that the compiler made of its places. What was found by its source needs it not: the source says
    /// whether one of several calls is meant.
    #[must_use]
    pub fn with_copies(&self, program: &Program) -> Plan {
        let steps = self.steps.iter().map(|step| PlanStep {
            places: with_copies(&step.places, program),
            gates: with_copies(&step.gates, program),
            ..step.clone()
        });
        Plan { steps: steps.collect(), ..self.clone() }
    }
}

fn completed(step: &PlanStep, program: &Program) -> PlanStep {
    let all_ways = |places: &[PlanPlace]| with_others(places, program, ProgramModule::other_ways);
    // What is no access is a lock, or something as good as that.
    let is_lock = step.purpose == Purpose::Meeting || step.variable.is_none();
    PlanStep {
        operand: operand(step, program),
        bytes: bytes(step, program),
        gates: all_ways(&step.gates),
        places: if is_lock { all_ways(&step.places) } else { step.places.clone() },
        ..step.clone()
    }
}

/// Recordings do not always tell that a library function made an access: the program does.
fn operand(step: &PlanStep, program: &Program) -> Operand {
    let callee = step.places.first().and_then(|place| program.callee_at(&place.at));
    let is_access = step.purpose != Purpose::Meeting && step.variable.is_some();
    let Some(callee) = callee.filter(|_| is_access) else {
        return step.operand;
    };
    // A system call has its number in front: where the library that makes it is inlined.
    if callee == "syscall" {
        return Operand::Unknown;
    }
    match operand_of(&callee, step.is_write) {
        // What frees is not always known by its name, but has the address in front.
        Operand::Unknown if step.is_write => step.operand,
        told => told,
    }
}

/// An access without an event of its own is recorded with the length of the one it met: the hook knows better.
fn bytes(step: &PlanStep, program: &Program) -> u64 {
    let callee = step.places.first().and_then(|place| program.callee_at(&place.at));
    let told = callee.and_then(|callee| deed_of(&callee)).map_or(0, |deed| deed.bytes);
    if told == 0 || step.variable.is_none() { step.bytes } else { told }
}

/// A compiler makes several pieces of code of one piece of source: a loop that is unrolled, a function that is inlined into two branches. What
/// holds for one of them holds for all.
fn with_copies(places: &[PlanPlace], program: &Program) -> Vec<PlanPlace> {
    with_others(places, program, ProgramModule::copies)
}

/// Places, and others that stand for the same.
fn with_others(
    places: &[PlanPlace],
    program: &Program,
    others_of: impl Fn(&ProgramModule, u64) -> Vec<u64>,
) -> Vec<PlanPlace> {
    let mut ways: Vec<PlanPlace> = Vec::new();
    for place in places {
        let others = program.module_of(&place.at).map_or_else(Vec::new, |module| {
            let others = others_of(module, place.at.offset).into_iter();
            let at = |address| PlanPlace { at: module.place(address), ..place.clone() };
            others.map(at).collect()
        });
        for way in [place.clone()].into_iter().chain(others) {
            if !ways.contains(&way) {
                ways.push(way);
            }
        }
    }
    ways
}

impl ProgramModule {
    /// Whether a call takes a lock, or is the first part of that.
    pub fn takes_lock(&self, call: &Call) -> bool {
        call.callee.as_deref().is_some_and(|callee| match callee.strip_prefix("__tsan_atomic") {
            Some(_) => taking(&self.symbols.place(call.return_address)).is_some(),
            None => takes_lock(callee),
        })
    }

    /// Other calls of the same function, in the same function, that are the same place of the source.
    fn copies(&self, return_address: u64) -> Vec<u64> {
        let place = self.symbols.place(return_address);
        let Some(call) = self.call_at(return_address).filter(|_| !place.frames.is_empty()) else {
            return Vec::new();
        };
        let is_copy = |other: &Call| {
            other.return_address != return_address
                && other.callee == call.callee
                && self.symbols.place(other.return_address).frames == place.frames
        };
        let copies = self.calls_beside(return_address).into_iter().filter(is_copy);
        copies.take(MOST_COPIES).map(|call| call.return_address).collect()
    }

    /// All calls of the function that a call is in.
    fn calls_beside(&self, return_address: u64) -> Vec<Call> {
        let function = return_address.checked_sub(1).and_then(|call| self.code.function_at(call));
        function.map_or_else(Vec::new, |function| self.code.calls_of(function))
    }

    /// Other calls that belong to the same lock of Rust, taken at the same place of the source.
    fn other_ways(&self, return_address: u64) -> Vec<u64> {
        let place = self.symbols.place(return_address);
        let Some(step) = taking(&place) else { return Vec::new() };
        let addresses =
            self.calls_beside(return_address).into_iter().map(|call| call.return_address);
        let is_other_way = |address: &u64| {
            let other = self.symbols.place(*address);
            *address != return_address && taking(&other) == Some(step) && same_line(&place, &other)
        };
        addresses.filter(is_other_way).collect()
    }
}

fn taking(place: &Place) -> Option<LockStep> {
    let step = rust_lock(place)?.step;
    matches!(step, LockStep::Lock | LockStep::LockShared).then_some(step)
}

/// Of the user's source; in a function of a library, of that function.
fn same_line(one: &Place, other: &Place) -> bool {
    let last = |place: &Place| place.frames.len().checked_sub(1);
    let own = |place: &Place| place.frames.get(place.own_frame().or(last(place))?).cloned();
    own(one).is_some() && own(one) == own(other)
}
