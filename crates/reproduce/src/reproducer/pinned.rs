//! From a finding, an order of a race, or a hang to a reproducer.
//!
//! Takes   the finding, and the program it was found in, of the same build.      Gives  the same order in the words of the source.

use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_findings::{AccessKind, AccessOrder, Finding, FindingAccess, Hang, LostDeed};
use unpick_problem::Problem;

use crate::plan::{CallPlace, Plan, PlanPlace, PlanStep, Purpose, is_with_previous, steps_of};
use crate::program::Program;

use super::search::{FoundCall, Need, need_of, need_of_gate, search};
use super::{
    DEADLOCK, LOST_NOTIFICATION, Oracle, REPRODUCER_VERSION, Reproducer, ReproducerStep,
    SourcePlace, StepKind,
};

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Subject {
    pub program: String,
    pub arguments: Vec<String>,
    /// The words after `--cargo`, if they name it.
    pub cargo: Vec<String>,
    pub own_folder: bool,
    /// The file it reads as its standard input.
    pub stdin: Option<PathBuf>,
    pub oracle: Oracle,
    /// Files below it are named as seen from it.
    pub folder: PathBuf,
}

impl Reproducer {
    /// The order of a finding, for the build it was found in and for later ones.
    pub fn of_finding(
        finding: &Finding,
        subject: &Subject,
        program: &Program,
    ) -> Result<Reproducer, Problem> {
        let Finding { pattern, sentence, accesses, .. } = finding;
        Pin { subject, program }.order(pattern, sentence, accesses)
    }

    /// An order of a race.
    pub fn of_order(
        order: &AccessOrder,
        subject: &Subject,
        program: &Program,
    ) -> Result<Reproducer, Problem> {
        let AccessOrder { pattern, sentence, accesses } = order;
        Pin { subject, program }.order(pattern, sentence, accesses)
    }

    /// The meeting of a deadlock, or the order in which a notification was lost.
    pub fn of_hang(
        hang: &Hang,
        subject: &Subject,
        program: &Program,
    ) -> Result<Reproducer, Problem> {
        let pin = Pin { subject, program };
        let plan = Plan::of_hang(hang)?;
        let lost = hang.lost_notification().filter(|_| !hang.deadlock);
        let kinds: Vec<StepKind> = lost.map_or_else(Vec::new, |lost| {
            lost.forced_steps().map(|step| kind_of(step.deed)).collect()
        });
        let kind = |at: usize| kinds.get(at).copied().unwrap_or(StepKind::Wait);
        let steps = plan.steps.iter().enumerate().map(|(at, step)| pin.step(step, kind(at)));
        let steps = steps.collect::<Result<Vec<_>, Problem>>()?;
        let pattern = if lost.is_some() { LOST_NOTIFICATION } else { DEADLOCK };
        Ok(pin.reproducer(pattern, &hang.sentence, steps))
    }

    /// As long and as often as a plan holds threads.
    #[must_use]
    pub fn with_patience_of(self, plan: &Plan) -> Reproducer {
        let milliseconds =
            |time: Duration| u32::try_from(time.as_millis()).unwrap_or(u32::MAX).max(1);
        let count = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
        Reproducer {
            pause_ms: milliseconds(plan.pause),
            pause_us: microseconds_if_short(plan.pause),
            budget_ms: milliseconds(plan.budget),
            bound: count(plan.bound),
            ignore_first: count(plan.ignored),
            rounds: count(plan.rounds),
            linger_us: u32::try_from(plan.linger.as_micros()).unwrap_or(u32::MAX),
            meet: plan.meet,
            eager: plan.eager,
            undisturbed: plan.undisturbed,
            window: plan.window,
            within_calls: plan.within_calls,
            early: plan.early,
            held_back: plan.held_back,
            ..self
        }
    }
}

/// Below a millisecond these tell the difference.
fn microseconds_if_short(time: Duration) -> Option<u32> {
    let short = Some(time).filter(|time| *time < Duration::from_millis(1))?;
    u32::try_from(short.as_micros()).ok().map(|time| time.max(1))
}

fn kind_of(deed: LostDeed) -> StepKind {
    match deed {
        LostDeed::Waits => StepKind::Wait,
        LostDeed::Locks => StepKind::Lock,
        LostDeed::Notifies => StepKind::Notify,
        LostDeed::Tests => StepKind::Read,
        LostDeed::Writes => StepKind::Write,
    }
}

struct Pin<'p> {
    subject: &'p Subject,
    program: &'p Program,
}

impl Pin<'_> {
    fn order(
        &self,
        pattern: &str,
        sentence: &str,
        accesses: &[FindingAccess],
    ) -> Result<Reproducer, Problem> {
        let steps = steps_of(pattern, accesses)?;
        let steps = accesses.iter().enumerate().zip(&steps).map(|((at, access), step)| {
            let with_previous = is_with_previous(accesses, at);
            Ok(ReproducerStep { with_previous, ..self.access(access, step)? })
        });
        let steps = steps.collect::<Result<Vec<_>, Problem>>()?;
        Ok(self.reproducer(pattern, sentence, steps))
    }

    fn reproducer(&self, pattern: &str, sentence: &str, steps: Vec<ReproducerStep>) -> Reproducer {
        Reproducer {
            unpick: REPRODUCER_VERSION,
            program: self.subject.program.clone(),
            arguments: self.subject.arguments.clone(),
            cargo: self.subject.cargo.clone(),
            own_folder: self.subject.own_folder,
            stdin: self.subject.stdin.clone(),
            pattern: pattern.to_owned(),
            sentence: sentence.to_owned(),
            pause_ms: super::default_pause(),
            pause_us: None,
            budget_ms: super::default_budget(),
            bound: 0,
            ignore_first: 0,
            rounds: 0,
            linger_us: 0,
            meet: false,
            eager: false,
            undisturbed: false,
            window: false,
            within_calls: false,
            early: false,
            held_back: false,
            oracle: self.subject.oracle.clone(),
            tried: None,
            steps,
        }
    }

    fn access(&self, access: &FindingAccess, step: &PlanStep) -> Result<ReproducerStep, Problem> {
        let kind = match access.kind {
            AccessKind::Read => StepKind::Read,
            AccessKind::Write => StepKind::Write,
            AccessKind::Free => StepKind::Free,
        };
        let mut pinned = self.step(step, kind)?;
        pinned.variable = access.variable.clone();
        // The finding has the line as it was built; the source may be newer than that by now.
        let SourcePlace { function, line, .. } = &pinned.at;
        let is_shown = (function, line) == (&access.frame.function, &access.frame.line);
        if is_shown && access.shown_call.is_none() && pinned.at.text.is_none() {
            pinned.at.text = access.text.clone();
        }
        Ok(pinned)
    }

    fn step(&self, step: &PlanStep, kind: StepKind) -> Result<ReproducerStep, Problem> {
        let need = need_of(kind, step.bytes, step.purpose == Purpose::Meeting);
        let first = |places: &[PlanPlace], need| {
            places.first().map(|place| self.place(place, need, &step.shown)).transpose()
        };
        let distance = step.gates.first().and_then(|gate| gate.distance);
        let (gate, holding) = match first(&step.gates, need_of_gate(kind, step.bytes, distance))? {
            lock if step.must_hold => (None, lock),
            lock => (lock, None),
        };
        Ok(ReproducerStep {
            role: step.role,
            kind,
            variable: None,
            bytes: u32::try_from(step.bytes).unwrap_or(u32::MAX),
            with_previous: false,
            at: first(&step.places, need)?.unwrap_or_default(),
            gate,
            holding,
        })
    }

    fn place(&self, place: &PlanPlace, need: Need, of: &str) -> Result<SourcePlace, Problem> {
        let is_access = matches!(need, Need::Access { .. });
        let inside_library = if is_access { 0 } else { self.calls_inside_library(place) };
        let at = inside_library.checked_sub(1).map_or(&place.at, |last| &place.calls[last]);
        let via = place.calls[inside_library..].iter();
        let via = via.map(|call| self.call(call, Need::Function, of));
        Ok(SourcePlace {
            via: via.collect::<Result<_, _>>()?,
            distance: place.distance,
            ..self.call(at, need, of)?
        })
    }

    /// A lock that a library takes is found again where the user calls the library: what it does inside depends on what the compiler
    /// inlines.
    fn calls_inside_library(&self, place: &PlanPlace) -> usize {
        let is_own = |call: &CallPlace| {
            let module = self.program.module_of(call);
            module.is_some_and(|module| module.shown(call.offset).is_own)
        };
        let mut all = [&place.at].into_iter().chain(&place.calls);
        all.position(is_own).unwrap_or(0)
    }

    fn call(&self, place: &CallPlace, need: Need, of: &str) -> Result<SourcePlace, Problem> {
        let module =
            self.program.module_of(place).ok_or_else(|| other_build(self.program, place, of))?;
        let is_executable = std::ptr::eq(module, &self.program.modules[0]);
        let shown = module.shown(place.offset);
        let function = shown.frame.function;
        let pinned = SourcePlace {
            module: (!is_executable).then(|| module.file_name()),
            file: shown.frame.file.map(|file| seen_from(&file, &self.subject.folder)),
            inside: shown.inside.filter(|inside| Some(inside) != function.as_ref()),
            function,
            line: shown.frame.line,
            column: shown.frame.column,
            text: shown.text.map(|text| text.trim().to_owned()),
            call: self.program.callee_at(place),
            ..SourcePlace::default()
        };
        if pinned.line.is_none() {
            return Err(no_line(self.program, of));
        }
        Ok(self.told_apart(pinned, place, need))
    }

    /// Says which of several calls is meant that are alike in all else.
    fn told_apart(&self, pinned: SourcePlace, place: &CallPlace, need: Need) -> SourcePlace {
        let Ok(found) = search(self.program, &pinned, need) else { return pinned };
        let alike = found.calls.len();
        let is_it = |call: &FoundCall<'_>| call.call.return_address == place.offset;
        match found.calls.iter().position(is_it) {
            Some(at) if alike > 1 => SourcePlace {
                occurrence: Some(at as u32 + 1),
                occurrences: Some(alike as u32),
                ..pinned
            },
            _ => pinned,
        }
    }
}

fn seen_from(file: &str, folder: &Path) -> String {
    match Path::new(file).strip_prefix(folder) {
        Ok(below) if !folder.as_os_str().is_empty() => below.to_string_lossy().into_owned(),
        _ => file.to_owned(),
    }
}

fn other_build(program: &Program, place: &CallPlace, of: &str) -> Problem {
    Problem::usage(format!(
        "no reproducer can be made: code is not in the program as it is now ({of})"
    ))
    .at("program", program.path().display())
    .why(format!("the code was found in {}", place.module.text()))
    .next("hunt again with the program as it is now, then `unpick pin`")
}

fn no_line(program: &Program, of: &str) -> Problem {
    Problem::usage(format!("no reproducer can be made: code has no line of source ({of})"))
        .at("program", program.path().display())
        .why("it was built without debug info")
        .next("build it with -g, hunt again, then `unpick pin`")
}
