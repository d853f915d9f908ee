//! A plan as the runtime reads it: `events::schedule` says what each word means.
//!
//! Takes   a plan.      Gives  words or bytes, or a problem: what goes beyond the limits of the form is refused, not cut.

use std::time::Duration;

use unpick_events::schedule::{self, header, place};
use unpick_problem::Problem;

use super::{CallPlace, ModuleName, NumberedPlace, Operand, Plan, PlanStep, Purpose};

impl Plan {
    /// The words of the schedule file.
    pub fn to_words(&self) -> Result<Vec<u64>, Problem> {
        self.check()?;
        let modules = self.modules();
        limit("modules", modules.len(), schedule::MOST_MODULES)?;
        let mut words = self.header(modules.len());
        for module in &modules {
            words.extend(words_of_module(module)?);
        }
        for numbered in self.numbered_places() {
            let step = &self.steps[numbered.step];
            words.extend(words_of_place(&numbered, step, &modules)?);
        }
        Ok(words)
    }

    /// The bytes of the schedule file.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Problem> {
        Ok(self.to_words()?.iter().flat_map(|word| word.to_le_bytes()).collect())
    }

    fn check(&self) -> Result<(), Problem> {
        limit("steps", self.steps.len(), schedule::MOST_STEPS)?;
        limit("places", self.numbered_places().count(), schedule::MOST_PLACES)?;
        let without_place = |step: &&PlanStep| step.places.is_empty() || step.role == 0;
        match self.steps.iter().find(without_place) {
            Some(step) => Err(Problem::own_fault("a step of a schedule has no place or no thread")
                .at("step", &step.shown)),
            None if self.steps.is_empty() => Err(Problem::own_fault("a schedule has no steps")),
            None => Ok(()),
        }
    }

    fn header(&self, modules: usize) -> Vec<u64> {
        let mut words = vec![0; schedule::HEADER_WORDS];
        words[header::MAGIC] = schedule::MAGIC;
        words[header::MODE] = self.mode as u64;
        words[header::PAUSE] = nanoseconds(self.pause);
        words[header::BUDGET] = nanoseconds(self.budget);
        words[header::BOUND] = self.bound;
        words[header::IGNORED] = self.ignored;
        words[header::STEPS] = self.steps.len() as u64;
        words[header::PLACES] = self.numbered_places().count() as u64;
        words[header::MODULES] = modules as u64;
        words[header::STOP] = u64::from(self.stop);
        words[header::ROUNDS] = self.rounds;
        words[header::LINGER] = nanoseconds(self.linger);
        words[header::MEET] = u64::from(self.meet);
        words[header::EAGER] = u64::from(self.eager);
        words[header::UNDISTURBED] = u64::from(self.undisturbed);
        words[header::WINDOW] = u64::from(self.window);
        words[header::WITHIN_CALLS] = u64::from(self.within_calls);
        words
    }

    /// Each once, in the order in which places name them.
    fn modules(&self) -> Vec<&ModuleName> {
        let mut modules = Vec::new();
        for numbered in self.numbered_places() {
            for call in [&numbered.place.at].into_iter().chain(&numbered.place.calls) {
                if !modules.contains(&&call.module) {
                    modules.push(&call.module);
                }
            }
        }
        modules
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

fn words_of_module(module: &ModuleName) -> Result<Vec<u64>, Problem> {
    let text = module.text().as_bytes();
    limit("bytes in the name of a module", text.len(), schedule::MODULE_TEXT_BYTES)?;
    let is_build_id = matches!(module, ModuleName::BuildId(_));
    let mut words = vec![text.len() as u64, u64::from(is_build_id)];
    let mut padded = [0; schedule::MODULE_TEXT_BYTES];
    padded[..text.len()].copy_from_slice(text);
    words.extend(padded.chunks_exact(8).map(word));
    Ok(words)
}

fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn words_of_place(
    numbered: &NumberedPlace<'_>,
    step: &PlanStep,
    modules: &[&ModuleName],
) -> Result<Vec<u64>, Problem> {
    let number_of = |call: &CallPlace| {
        modules.iter().position(|module| **module == call.module).unwrap_or(0) as u64
    };
    let NumberedPlace { place: at, purpose, .. } = numbered;
    limit("calls before a place", at.calls.len(), schedule::MOST_CALLS)?;
    let mut words = vec![0; schedule::PLACE_WORDS];
    words[place::MODULE] = number_of(&at.at);
    words[place::OFFSET] = at.at.offset;
    words[place::STEP] = numbered.step as u64;
    words[place::PURPOSE] = *purpose as u64;
    words[place::ROLE] = u64::from(step.role) - 1;
    // What is touched at a gate is a lock; where the variable is may follow from that.
    let is_lock = matches!(purpose, Purpose::Gate | Purpose::Holding);
    let is_known = !is_lock || at.distance.is_some();
    let variable = step.variable.filter(|_| is_known && *purpose != Purpose::Holding);
    words[place::VARIABLE] = variable.map_or(place::NONE, u64::from);
    limit("variables", variable.map_or(0, |at| usize::from(at) + 1), schedule::MOST_VARIABLES)?;
    let operand = if is_lock { Operand::First } else { step.operand };
    words[place::OPERAND] = operand as u64;
    words[place::DISTANCE] = at.distance.unwrap_or(0) as u64;
    // Where the length is not known, the first byte has to do.
    words[place::BYTES] = step.bytes.max(1);
    words[place::CALLS] = at.calls.len() as u64;
    words[place::HOLDS] = u64::from(step.must_hold && !is_lock && !step.gates.is_empty());
    words[place::READS] = u64::from(!step.is_write && step.variable.is_some());
    for (slot, call) in words[place::FIRST_CALL..].chunks_exact_mut(2).zip(&at.calls) {
        slot.copy_from_slice(&[number_of(call), call.offset]);
    }
    Ok(words)
}

fn limit(what: &str, number: usize, most: usize) -> Result<(), Problem> {
    if number <= most {
        return Ok(());
    }
    Err(Problem::usage(format!("a schedule is too large: {number} {what}, at most {most} fit")))
}
