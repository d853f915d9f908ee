//! From a reproducer to a plan for the program as it is now.

use std::time::Duration;

use unpick_events::schedule::MOST_CALLS;
use unpick_problem::Problem;

use crate::plan::{CallPlace, Operand, Plan, PlanPlace, PlanStep, Purpose};
use crate::program::{LockWay, Program};

use super::search::{Found, FoundCall, Need, need_of, need_of_gate, search};
use super::{DEADLOCK, LOST_NOTIFICATION, Reproducer, ReproducerStep, SourcePlace, StepKind};

/// More ways to a place than this are not told apart.
const MOST_WAYS: usize = 8;

/// A plan, and what in the program is not as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    pub plan: Plan,
    /// In words: `step 2: line 21 is now line 23`.
    pub changes: Vec<String>,
}

impl Reproducer {
    /// Finds all steps in a program. A step that is not there any more is a problem; a gate is only a change.
    pub fn matched(&self, program: &Program) -> Result<Matched, Problem> {
        let is_deadlock = self.pattern == DEADLOCK;
        let mut matching = Matching { program, is_deadlock, changes: Vec::new() };
        let mut steps = Vec::new();
        for (at, step) in self.steps.iter().enumerate().filter(|(_, step)| !step.with_previous) {
            let of_pattern = self.pattern_steps().map(|pattern| pattern[at].variable);
            let variable = of_pattern.or_else(|| self.tested_variable(step));
            steps.push(matching.step(step, at + 1, variable)?);
        }
        let plan = Plan {
            pause: self.pause(),
            budget: Duration::from_millis(self.budget_ms.into()),
            bound: self.bound.into(),
            ignored: self.ignore_first.into(),
            rounds: self.rounds.into(),
            linger: Duration::from_micros(self.linger_us.into()),
            meet: self.meet,
            eager: self.eager,
            undisturbed: self.undisturbed,
            window: self.window,
            within_calls: self.within_calls,
            ..Plan::forcing(steps)
        };
        let plan = plan.completed(program);
        let early = self.early.then(|| plan.with_early_gates(program)).flatten();
        let plan = early.unwrap_or(plan);
        let held_back = self.held_back.then(|| plan.held_back(program)).flatten();
        Ok(Matched { plan: held_back.unwrap_or(plan), changes: matching.changes })
    }

    /// Of a lost wakeup: who tests and who notifies do so for the same variable.
    fn tested_variable(&self, step: &ReproducerStep) -> Option<u8> {
        let is_test = |step: &ReproducerStep| step.kind == StepKind::Read;
        let is_tested = self.pattern == LOST_NOTIFICATION && self.steps.iter().any(is_test);
        let is_of_it = is_test(step) || matches!(step.kind, StepKind::Write | StepKind::Notify);
        (is_tested && is_of_it).then_some(0)
    }
}

/// Calls that lead to a place, innermost first; any of the lists will do.
type Ways = Vec<Vec<CallPlace>>;

struct Matching<'p> {
    program: &'p Program,
    /// Its threads meet where they wait.
    is_deadlock: bool,
    changes: Vec<String>,
}

impl<'p> Matching<'p> {
    fn step(
        &mut self,
        step: &ReproducerStep,
        number: usize,
        variable: Option<u8>,
    ) -> Result<PlanStep, Problem> {
        let missing = |why: String| gone(self.program, step, number, &why);
        let need = need_of(step.kind, step.bytes.into(), self.is_deadlock);
        let (found, ways) = self.found(&step.at, need).map_err(missing)?;
        self.tell(&format!("step {number}"), &found);
        let gates = self.gates(step, number);
        Ok(PlanStep {
            role: step.role,
            purpose: if self.is_deadlock { Purpose::Meeting } else { Purpose::Step },
            places: places(&step.at, step.kind, &found, &ways),
            // Without knowing the lock nobody can say who holds it.
            must_hold: step.holding.is_some() && !gates.is_empty(),
            gates,
            exits: Vec::new(),
            variable,
            // The completed plan knows it.
            operand: match step.kind {
                StepKind::Free => Operand::First,
                StepKind::Notify if step.at.distance.is_some() => Operand::First,
                _ => Operand::Unknown,
            },
            bytes: step.bytes.into(),
            is_write: matches!(step.kind, StepKind::Write | StepKind::Free | StepKind::Notify),
            calls: Vec::new(),
            shown: shown(step),
        })
    }

    fn tell(&mut self, what: &str, found: &Found<'_>) {
        self.changes.extend(found.changes.iter().map(|change| format!("{what}: {change}")));
    }

    /// Where there is no gate any more, the thread waits at the step itself.
    fn gates(&mut self, step: &ReproducerStep, number: usize) -> Vec<PlanPlace> {
        let Some(gate) = step.gate_or_holding() else { return Vec::new() };
        match self.found(gate, need_of_gate(step.kind, step.bytes.into(), gate.distance)) {
            Ok((found, ways)) => {
                self.tell(&format!("gate of step {number}"), &found);
                places(gate, step.kind, &found, &ways)
            }
            Err(why) => {
                let was = place_in_words(gate);
                self.changes.push(format!(
                    "gate of step {number}: it is not there any more ({was}); {why}. Its thread waits at the step itself"
                ));
                Vec::new()
            }
        }
    }

    /// The calls that a place means, and the ways to them.
    fn found(&self, place: &SourcePlace, need: Need) -> Result<(Found<'p>, Ways), String> {
        let found = search(self.program, place, need)?;
        match self.ways(&place.via) {
            Ok(ways) => Ok((found, ways)),
            Err(why) => self.inlined(found, &place.via).ok_or(why),
        }
    }

    /// A call on the way that is not there any more may have been inlined: then its caller has the code itself.
    fn inlined(&self, mut found: Found<'p>, via: &[SourcePlace]) -> Option<(Found<'p>, Ways)> {
        let caller = |call: &SourcePlace| call.inside.clone().or_else(|| call.function.clone());
        let is_inside =
            |at: usize| found.calls.iter().any(|found| found.is_inside(caller(&via[at])));
        let at = (0..via.len()).find(|at| is_inside(*at))?;
        found.calls.retain(|found| found.is_inside(caller(&via[at])));
        Some((found, self.ways(&via[at + 1..]).ok()?))
    }

    /// All ways through calls that look alike, each innermost first; one empty way if there are none, or too many.
    fn ways(&self, via: &[SourcePlace]) -> Result<Ways, String> {
        let mut ways = vec![Vec::new()];
        for call in via {
            let found = search(self.program, call, Need::Function)?;
            if ways.len() * found.calls.len() > MOST_WAYS {
                return Ok(vec![Vec::new()]);
            }
            let further = |way: &Vec<_>| {
                let way = way.clone();
                found.calls.iter().map(move |call| {
                    let mut way = way.clone();
                    way.push(call.module.place(call.call.return_address));
                    way
                })
            };
            ways = ways.iter().flat_map(further).collect();
        }
        Ok(ways)
    }
}

fn places(
    place: &SourcePlace,
    kind: StepKind,
    found: &Found<'_>,
    ways: &[Vec<CallPlace>],
) -> Vec<PlanPlace> {
    let of_call = |found: &FoundCall<'_>| {
        let starts = match place.distance {
            // There is no lock: a condition is notified, or what its thread tests is written.
            distance @ Some(_) if kind == StepKind::Notify => {
                vec![PlanPlace { distance, ..plain(found) }]
            }
            Some(distance) => with_lock_in_front(found, distance),
            None => vec![plain(found)],
        };
        starts.into_iter().flat_map(|start| ways.iter().map(move |way| reached_by(&start, way)))
    };
    found.calls.iter().flat_map(of_call).collect()
}

fn plain(found: &FoundCall<'_>) -> PlanPlace {
    let at = found.module.place(found.call.return_address);
    PlanPlace { at, calls: Vec::new(), distance: None }
}

/// Where the lock is known that is taken by a call, so is the variable; else the call itself has to do.
fn with_lock_in_front(found: &FoundCall<'_>, distance: i64) -> Vec<PlanPlace> {
    let ways = found.module.lock_ways(&found.call);
    if ways.is_empty() {
        return vec![plain(found)];
    }
    let of_way =
        |way: LockWay| PlanPlace { at: way.at, calls: way.calls, distance: Some(distance) };
    ways.into_iter().map(of_way).collect()
}

/// The runtime looks at some calls only: the innermost tell the most.
fn reached_by(place: &PlanPlace, way: &[CallPlace]) -> PlanPlace {
    let calls = place.calls.iter().chain(way).take(MOST_CALLS).cloned().collect();
    PlanPlace { calls, ..place.clone() }
}

/// As the plan of a finding shows it.
fn shown(step: &ReproducerStep) -> String {
    let kind = match step.kind {
        StepKind::Read => "read",
        StepKind::Write => "write",
        StepKind::Free => "free",
        StepKind::Wait => "wait",
        StepKind::Lock => "lock",
        StepKind::Notify => "notify",
    };
    let of = step.variable.as_ref().map_or_else(String::new, |name| format!(" of `{name}`"));
    format!("{kind}{of} {}", place_in_words(&step.at))
}

/// `in put at bank.c:21`.
fn place_in_words(place: &SourcePlace) -> String {
    let function = place.function.as_ref().map(|function| format!("in `{function}`"));
    let line = place.line.map(|line| format!(":{line}")).unwrap_or_default();
    let file = place.file.as_ref().map(|file| format!("at {file}{line}"));
    [function, file].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn gone(program: &Program, step: &ReproducerStep, number: usize, why: &str) -> Problem {
    let text =
        step.at.text.as_ref().map_or_else(String::new, |text| format!(": `{}`", text.trim()));
    Problem::usage(format!("step {number} of a reproducer is not in the program any more"))
        .at("program", program.path().display())
        .why(format!("it was the {}{text}; {why}", shown(step)))
        .next("if the code was changed on purpose, change the step in the file; else hunt again and make it again: `unpick pin`")
}
