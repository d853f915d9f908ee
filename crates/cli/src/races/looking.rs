//! Looks at the recordings of one run: both detectors, what belongs together, the order of locks.
//!
//! Takes   the folder of a run, correlations, a budget.      Returns  the races and lock-order cycles of the run, and what is missing.
//! Cost    as the detectors; at most the budget, but for reading the recordings.

use std::path::Path;

use indicatif::ProgressBar;
use unpick_analyses::races::{Collector, NamedRule, RunRaces};
use unpick_findings::{Names, NumberedCycle};
use unpick_names::KnownRecording;
use unpick_problem::Problem;
use unpick_recording::{Outcome, Recording, Run};
use unpick_run_store::run_number;

use super::budget::Budget;
use super::correlated::Correlated;
use super::course::not_full;
use crate::conclude::NAMES;
use crate::deadlocks::cycles_of;
use crate::quantities::counted;

/// A run that was looked at.
pub struct LookedAt {
    pub number: u64,
    pub races: RunRaces,
    /// Locks that its threads took in different orders.
    pub cycles: Vec<NumberedCycle>,
    pub has_more_cycles: bool,
    /// Correlations that were looked at.
    pub rules: Vec<NamedRule>,
    /// What is missing in the recordings, or damaged, in sentences.
    pub missing: Vec<String>,
    pub outcome: Outcome,
    /// Sources of the program that were compiled without hooks.
    pub without_hooks: Vec<String>,
}

/// Looks at the recordings in the folder of a run, however long that takes.
pub fn look_at(folder: &Path, correlated: &mut Correlated) -> Result<LookedAt, Problem> {
    look_at_within(folder, correlated, &Budget::default(), &ProgressBar::hidden())
}

pub fn look_at_within(
    folder: &Path,
    correlated: &mut Correlated,
    budget: &Budget,
    bar: &ProgressBar,
) -> Result<LookedAt, Problem> {
    let run = Run::open(folder)?;
    let number = run_number(folder).unwrap_or(0);
    let mut collector = Collector::default();
    let (mut cycles, mut has_more_cycles) = (Vec::new(), false);
    let (mut missing, mut without_hooks) = (Vec::new(), Vec::new());
    let mut unreadable = Vec::new();
    let count = run.event_files().len();
    for (number_of_recording, recording) in run.recordings().enumerate() {
        // Such as that of a process that has only just begun; the others count all the same.
        let recording = match recording {
            Ok(recording) => recording,
            Err(problem) => {
                unreadable.push(problem);
                continue;
            }
        };
        bar.set_message(format!("analysing {}", counted(recording.event_count(), "event")));
        let time = budget.of_recording(count - number_of_recording);
        if let Some(time) = time {
            recording.limit().end_in(time.detectors);
        }
        missing.extend(recording.incompleteness());
        missing.extend(recording.damage().iter().cloned());
        // Each look has one of its own: they are not for several threads.
        let know = || KnownRecording::new(&recording, &NAMES);
        let known = know();
        without_hooks.extend(known.without_hooks());
        let (of_process, is_cut) = std::thread::scope(|scope| {
            let cycles = scope.spawn(|| cycles_of(number, &recording, &know()));
            collector.add(&recording, &known, know(), time.map(|time| time.rest));
            let has_time = !recording.limit().has_run_out();
            if has_time {
                correlated.meet(&recording);
            }
            if let Some(source) = correlated.source().filter(|_| has_time) {
                let name = |access: &_, code: &_| NAMES.variable(access, code);
                collector.extend(&recording, &known, &source, &name);
            }
            cycles.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        missing.extend(cut_off(&recording));
        cycles.extend(of_process);
        has_more_cycles |= is_cut;
    }
    missing.extend(unreadable.iter().map(Problem::in_one_line));
    if unreadable.len() == run.event_files().len()
        && let Some(problem) = unreadable.into_iter().next()
    {
        return Err(problem);
    }
    let rules = collector.rules().to_vec();
    let races = collector.finish();
    if !races.is_full {
        return Err(not_full(folder));
    }
    let outcome = run.info().outcome;
    Ok(LookedAt { number, races, cycles, has_more_cycles, rules, missing, outcome, without_hooks })
}

/// That there was no time for all of a recording.
fn cut_off(recording: &Recording) -> Option<String> {
    let (seen, all) = (recording.limit().events()?, recording.event_count());
    Some(format!("time limit reached: {seen} of {} analysed (--time)", counted(all, "event")))
}
