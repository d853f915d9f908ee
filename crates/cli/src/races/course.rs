//! Runs that are looked at for races: made now, or there already.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use unpick_analyses::races::NamedRule;
use unpick_findings::NumberedCycle;
use unpick_problem::Problem;
use unpick_recording::{Run, RunInfo, RunOptions};
use unpick_run_store::{Builds, Store};
use unpick_runner::{
    Attempt, Choices, Draw, Invocation, Judge, Judged, Lacking, Limits, Perturbation, Plan,
    attempt, stop_on_signals,
};

use super::Races;
use super::budget::Budget;
use super::correlated::Correlated;
use super::looking::{LookedAt, look_at_within};
use crate::hunt::{GRACE, OUTPUT_BYTES};
use crate::quantities::counted;
use crate::record::{fresh_seed, nothing_recorded};
use crate::terminal::progress_bar;

/// All that was looked at.
pub struct Looked {
    pub runs: Vec<LookedAt>,
    pub command: Vec<String>,
    pub written_as: Option<Vec<String>>,
    /// Runs that there was no time for.
    pub left_out: u32,
}

impl Looked {
    pub fn events(&self) -> u64 {
        self.runs.iter().map(|run| run.races.events).sum()
    }

    /// The most that a run had.
    pub fn threads(&self) -> u64 {
        self.runs.iter().map(|run| run.races.threads).max().unwrap_or(0)
    }

    pub fn cycles(&self) -> impl Iterator<Item = &NumberedCycle> {
        self.runs.iter().flat_map(|run| &run.cycles)
    }

    /// Correlations that were looked at in any run, each once.
    pub fn rules(&self) -> Vec<NamedRule> {
        let mut rules: Vec<NamedRule> = Vec::new();
        for rule in self.runs.iter().flat_map(|run| &run.rules) {
            if !rules.iter().any(|known| known.sides == rule.sides) {
                rules.push(rule.clone());
            }
        }
        rules
    }

    pub fn is_complete(&self) -> bool {
        self.runs.iter().all(|run| run.missing.is_empty() && run.races.left_out == 0)
    }
}

/// Runs the program and looks at each run.
pub fn run(
    races: &Races,
    invocation: &Invocation,
    correlated: &mut Correlated,
    budget: &Budget,
) -> Result<Looked, Problem> {
    let seed = races.seed.unwrap_or_else(fresh_seed);
    let mut perturbation =
        if races.delays { Perturbation::new(seed) } else { Perturbation::none(seed) };
    let bar = progress_bar(races.runs.into(), races.quiet).with_prefix("races");
    let (command, written_as) = (invocation.words(), invocation.written_as.clone());
    let mut looked = Looked { runs: Vec::new(), command, written_as, left_out: 0 };
    let mut builds = Builds::default();
    let mut longest = Duration::ZERO;
    for number in 0..races.runs {
        if number > 0 && !budget.allows(longest) {
            looked.left_out = races.runs - number;
            break;
        }
        let began = Instant::now();
        bar.set_message("running the program");
        let run = FullRun {
            store: Store::at(&races.store),
            timeout: budget.of_run(races.timeout),
            limit: budget.of_file(races.limit),
            draw: Some(perturbation.next(Lacking::Passing)),
        };
        let judged = record_in_full(&run, invocation)?;
        bar.set_message("reading what it did");
        let mut one = look_at_within(&judged.run.folder, correlated, budget, &bar)?;
        longest = longest.max(began.elapsed());
        one.missing.extend(left_running(&judged));
        builds.add(one.number, &one.races.code)?;
        let found = (one.races.races.len() + one.races.torn.len()) as u64;
        if found == 0 && one.cycles.is_empty() {
            judged.run.discard();
        }
        looked.runs.push(one);
        bar.inc(1);
        bar.set_message(format!("{} in the last run", counted(found, "racing pair")));
        if judged.stopped || stop_on_signals().load(Relaxed) {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(looked)
}

/// Processes that outlived the program, such as daemons: what they did afterwards is not seen.
fn left_running(judged: &Judged) -> impl Iterator<Item = String> {
    let running = judged.run.event_files.iter().filter_map(|file| file.still_written_by);
    running.map(|process| {
        format!("process {process} went on when the program had ended: what it did then is not here; keep it in the foreground")
    })
}

/// How a run is made that is looked at.
pub struct FullRun {
    pub store: Store,
    pub timeout: Duration,
    pub limit: u64,
    /// None: without delays.
    pub draw: Option<Draw>,
}

impl Default for FullRun {
    fn default() -> FullRun {
        let store = Store::at(Store::default_folder());
        FullRun { store, timeout: Duration::from_secs(600), limit: 4 << 30, draw: None }
    }
}

/// Runs the program once, in full. How it ends is no matter here, so the run has no label and belongs to no hunt.
pub fn record_in_full(run: &FullRun, invocation: &Invocation) -> Result<Judged, Problem> {
    let mut options = RunOptions { full: true, limit: run.limit, ..RunOptions::default() };
    if let Some(draw) = &run.draw {
        draw.delays.put_into(&mut options);
    }
    let seed = run.draw.as_ref().map_or_else(fresh_seed, |draw| draw.seed);
    let plan = Plan {
        invocation: invocation.clone(),
        store: run.store.clone(),
        choices: Choices { options, seed },
    };
    let judged = attempt(&Attempt {
        plan: &plan,
        limits: &Limits::new(run.timeout, GRACE, OUTPUT_BYTES),
        judge: &Judge { conditions: Vec::new(), oracle: None },
        hunt: None,
        own_folder: false,
        stop: stop_on_signals(),
    })?;
    if judged.run.event_files.is_empty() {
        judged.run.discard();
        return Err(nothing_recorded(&judged.run));
    }
    if let Some(trouble) = &judged.run.trouble {
        return Err(trouble.clone());
    }
    let info =
        RunInfo { label: None, why: None, hunt: None, judged_by: None, ..judged.run.info.clone() };
    info.write(&judged.run.folder).map_err(|error| {
        Problem::own_fault("the run cannot be described")
            .at("folder", judged.run.folder.display())
            .why(error)
            .next("choose a store you can write to: unpick races --store DIR -- PROGRAM")
    })?;
    Ok(judged)
}

/// Looks at runs of the store: those that are named, or the last full one.
pub fn stored(
    races: &Races,
    correlated: &mut Correlated,
    budget: &Budget,
) -> Result<Looked, Problem> {
    let store = Store::at(&races.store);
    let folders = match races.run[..] {
        [] => vec![last_full(&store)?],
        ref numbers => {
            let folders = numbers.iter().map(|&number| store.run(number));
            folders.collect::<Result<Vec<_>, _>>()?
        }
    };
    let first = RunInfo::read(&folders[0])?;
    let mut looked = Looked {
        runs: Vec::new(),
        command: first.command,
        written_as: first.written_as,
        left_out: 0,
    };
    let bar = progress_bar(folders.len() as u64, races.quiet).with_prefix("races");
    let mut builds = Builds::default();
    for folder in &folders {
        let info = RunInfo::read(folder)?;
        if !info.options.full {
            return Err(not_full(folder));
        }
        if Run::open(folder)?.event_files().is_empty() {
            return Err(without_recordings(folder));
        }
        let one = look_at_within(folder, correlated, budget, &bar)?;
        builds.add(one.number, &one.races.code)?;
        looked.runs.push(one);
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(looked)
}

fn last_full(store: &Store) -> Result<PathBuf, Problem> {
    let (runs, _) = store.runs();
    let last = runs.into_iter().rfind(|run| run.info.options.full);
    last.map(|run| run.folder).ok_or_else(|| no_full_run(store))
}

fn without_recordings(folder: &Path) -> Problem {
    Problem::usage("the run cannot be looked at for races: it has no recordings")
        .at("folder", folder.display())
        .why("they were removed, or the program was not built with Unpick")
        .next("run it again: unpick races -- PROGRAM")
}

pub(super) fn not_full(folder: &Path) -> Problem {
    Problem::usage("the run cannot be looked at for races: its recordings are not full")
        .at("folder", folder.display())
        .why("they have the accesses where threads met, not all accesses to what threads share")
        .next(
            "run it again: unpick races -- PROGRAM; or record it: unpick record --full -- PROGRAM",
        )
}

fn no_full_run(store: &Store) -> Problem {
    Problem::usage("there is no full run to look at")
        .at("folder", store.folder().display())
        .why("races are found in recordings of every access to what threads share")
        .next("run a program: unpick races -- PROGRAM; or name the store: unpick races --store DIR")
}
