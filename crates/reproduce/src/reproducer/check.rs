//! Whether a reproducer makes sense in itself. Reasons are sentences for the user who wrote it.

use unpick_analyses::interleaving_patterns::AccessKind;
use unpick_events::schedule::{MOST_CALLS, MOST_STEPS};

use crate::plan::{PatternStep, pattern_called};

use unpick_findings::{TORN_AT_FIRST, TORN_AT_SECOND};

use super::{DEADLOCK, LOST_NOTIFICATION, Reproducer, ReproducerStep, SourcePlace, StepKind};

/// An hour: longer pauses are slips of the pen.
const MOST_MILLISECONDS: u32 = 3_600_000;

/// Why it makes no sense.
type Reason = String;

impl Reproducer {
    /// The accesses it must have; none: it is of a hang.
    pub(super) fn pattern_steps(&self) -> Option<Vec<PatternStep>> {
        pattern_called(&self.pattern)
    }

    pub(super) fn check(&self) -> Result<(), Reason> {
        self.check_times()?;
        self.check_steps()?;
        match self.pattern_steps() {
            Some(wanted) => self.check_pattern(&wanted),
            None if self.pattern == DEADLOCK => self.check_deadlock(),
            None if self.pattern == LOST_NOTIFICATION => self.check_lost_notification(),
            None => Err(format!(
                "there is no pattern `{}`: it is one of P1 to P32, `{TORN_AT_FIRST}`, `{TORN_AT_SECOND}`, `{DEADLOCK}` or `{LOST_NOTIFICATION}`",
                self.pattern
            )),
        }
    }

    fn check_times(&self) -> Result<(), Reason> {
        if self.program.is_empty() {
            return Err("`program` is empty".to_owned());
        }
        if self.pause_ms == 0 || self.pause_us == Some(0) || self.budget_ms == 0 {
            let why =
                "`pause-ms` and `budget-ms` must be more than 0: who never waits forces nothing";
            return Err(why.to_owned());
        }
        if self.pause_ms > MOST_MILLISECONDS || self.budget_ms > MOST_MILLISECONDS {
            return Err("`pause-ms` and `budget-ms` are at most an hour".to_owned());
        }
        Ok(())
    }

    fn check_steps(&self) -> Result<(), Reason> {
        if self.steps.len() < 2 || self.steps.len() > MOST_STEPS {
            let count = self.steps.len();
            return Err(format!("an order has 2 to {MOST_STEPS} steps, not {count}"));
        }
        self.check_roles()?;
        for (at, step) in self.steps.iter().enumerate() {
            let before = at.checked_sub(1).map(|before| &self.steps[before]);
            let in_step = |why| format!("step {}: {why}", at + 1);
            check_step(step, before).map_err(in_step)?;
        }
        Ok(())
    }

    /// Roles are 1, 2, … in the order in which they first come.
    fn check_roles(&self) -> Result<(), Reason> {
        let mut most = 0;
        for (at, step) in self.steps.iter().enumerate() {
            if step.role == 0 || step.role > most + 1 {
                return Err(format!(
                    "step {}: role {} comes before role {}; threads are numbered from 1 in the order of their first steps",
                    at + 1,
                    step.role,
                    most + 1
                ));
            }
            most = most.max(step.role);
        }
        Ok(())
    }

    fn check_pattern(&self, wanted: &[PatternStep]) -> Result<(), Reason> {
        let fits = wanted.len() == self.steps.len()
            && wanted.iter().zip(&self.steps).all(|(wanted, step)| is_as(step, wanted));
        if fits {
            return Ok(());
        }
        let wanted: Vec<String> = wanted.iter().map(in_words).collect();
        let name = &self.pattern;
        Err(format!("the steps are not those of {name}, which are: {}", wanted.join(", ")))
    }

    fn check_deadlock(&self) -> Result<(), Reason> {
        if self.meet {
            return Err("`meet` is for accesses: in a deadlock all meet anyway".to_owned());
        }
        for (at, step) in self.steps.iter().enumerate() {
            let number = at + 1;
            if step.kind != StepKind::Wait {
                return Err(format!("step {number}: in a deadlock every step is a `wait`"));
            }
            if usize::from(step.role) != number {
                let role = step.role;
                return Err(format!(
                    "step {number}: thread {role} cannot wait in two places at once"
                ));
            }
        }
        Ok(())
    }

    fn check_lost_notification(&self) -> Result<(), Reason> {
        let other = self.steps.iter().position(|step| !DEEDS.contains(&step.kind));
        if let Some(at) = other {
            return Err(format!(
                "step {}: on the way to a lost notification every step is a `wait`, a `lock`, a `notify`, or a `read` or `write` of what is tested",
                at + 1
            ));
        }
        let waits = self.steps.iter().filter(|step| step.kind == StepKind::Wait).count();
        if waits == 1 { Ok(()) } else { Err(format!("one thread waits once, not {waits} times")) }
    }
}

/// What threads can do on the way to a lost notification.
const DEEDS: [StepKind; 5] =
    [StepKind::Wait, StepKind::Lock, StepKind::Notify, StepKind::Read, StepKind::Write];

fn is_as(step: &ReproducerStep, wanted: &PatternStep) -> bool {
    match step.kind {
        StepKind::Read => wanted.fits(step.role, false),
        StepKind::Write | StepKind::Free => wanted.fits(step.role, true),
        StepKind::Wait | StepKind::Lock | StepKind::Notify => false,
    }
}

fn in_words(step: &PatternStep) -> String {
    let kind = match step.kind {
        Some(AccessKind::Read) => "read",
        Some(AccessKind::Write) => "write",
        None => "read or write",
    };
    format!("{kind} by role {}", step.role)
}

fn check_step(step: &ReproducerStep, before: Option<&ReproducerStep>) -> Result<(), Reason> {
    if step.with_previous && before.is_none_or(|before| !is_one_access(before, step)) {
        let why = "`with-previous` needs a step before it by the same role at the same place";
        return Err(why.to_owned());
    }
    if step.gate.is_some() && step.holding.is_some() {
        return Err("it has a `gate` or a `holding`: the lock that must be held is the gate".into());
    }
    check_place(&step.at, "at")?;
    step.gate.as_ref().map_or(Ok(()), |gate| check_place(gate, "gate"))?;
    step.holding.as_ref().map_or(Ok(()), |lock| check_place(lock, "holding"))
}

fn is_one_access(before: &ReproducerStep, step: &ReproducerStep) -> bool {
    before.role == step.role && before.at == step.at
}

fn check_place(place: &SourcePlace, key: &str) -> Result<(), Reason> {
    check_call(place, key)?;
    if place.via.len() > MOST_CALLS {
        return Err(format!("`{key}.via`: at most {MOST_CALLS} calls are looked at"));
    }
    for call in &place.via {
        check_call(call, &format!("{key}.via"))?;
        if !call.via.is_empty() {
            return Err(format!("`{key}.via`: calls on the way have no `via` of their own"));
        }
    }
    Ok(())
}

fn check_call(place: &SourcePlace, key: &str) -> Result<(), Reason> {
    let has_text = place.text.as_ref().is_some_and(|text| !text.trim().is_empty());
    if place.file.is_none() && place.function.is_none() {
        return Err(format!("`{key}` needs a `file` or a `function`"));
    }
    if place.line.is_none() && !has_text {
        return Err(format!("`{key}` needs a `line` or its `text`"));
    }
    if place.line == Some(0) || place.column == Some(0) {
        return Err(format!("`{key}`: lines and columns count from 1"));
    }
    match (place.occurrence, place.occurrences) {
        (None, None) => Ok(()),
        (Some(one), Some(all)) if (1..=all).contains(&one) => Ok(()),
        _ => {
            Err(format!("`{key}`: `occurrence` is 1 to `occurrences`, and both are given or none"))
        }
    }
}
