//! One run from beginning to end.
//!
//! Takes   a `Plan`.      Gives  a `FinishedRun`; a `Problem` only if the program was not run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use unpick_events::file::FORMAT_VERSION;
use unpick_problem::Problem;
use unpick_recording::{Outcome, Run, RunInfo};
use unpick_run_store::Store;

use crate::choices::Choices;
use crate::event_file::{Trimmed, trim};
use crate::failure::{Failure, failures};
use crate::invocation::Invocation;
use crate::launch::launch;
use crate::program::Program;

/// What to run, and how.
#[derive(Debug, Clone)]
pub struct Plan {
    pub invocation: Invocation,
    pub store: Store,
    pub choices: Choices,
}

/// A run that has ended.
#[derive(Debug)]
pub struct FinishedRun {
    pub folder: PathBuf,
    pub program: Program,
    pub info: RunInfo,
    /// One per process image that recorded something.
    pub event_files: Vec<Trimmed>,
    /// Processes that our runtime was in but could not record.
    pub failures: Vec<Failure>,
    /// What went wrong on our side after the program had ended.
    pub trouble: Option<Problem>,
}

/// Runs the program once.
pub fn run(plan: &Plan) -> Result<FinishedRun, Problem> {
    let mut begun = Begun::new(plan)?;
    let launched =
        launch(&begun.program, &plan.invocation, plan.choices.environment(&begun.folder));
    let (outcome, duration) = launched.inspect_err(|_| discard(&begun.folder))?;
    begun.info.outcome = outcome;
    begun.info.duration_ms = milliseconds(duration);
    Ok(begun.finish())
}

/// A run that has its folder; the program has not been started.
pub(crate) struct Begun {
    pub program: Program,
    pub folder: PathBuf,
    pub info: RunInfo,
}

impl Begun {
    pub fn new(plan: &Plan) -> Result<Begun, Problem> {
        let name = plan.invocation.command.first().ok_or_else(no_command)?;
        let program = Program::find(Path::new(name))?;
        let folder = plan.store.new_run()?;
        let info = describe(plan);
        info.write(&folder).map_err(|error| cannot_describe(&folder, &error))?;
        Ok(Begun { program, folder, info })
    }

    /// The program has ended, and `info` says how.
    pub fn finish(self) -> FinishedRun {
        let Begun { program, folder, info } = self;
        let (event_files, trouble) = match put_away(&folder, &info) {
            Ok(event_files) => (event_files, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let failures = failures(&folder);
        FinishedRun { folder, program, info, event_files, failures, trouble }
    }
}

impl FinishedRun {
    /// Removes the folder of a run that recorded nothing.
    pub fn discard(&self) {
        discard(&self.folder);
    }
}

pub(crate) fn discard(folder: &Path) {
    // What cannot be removed is an empty run; nothing depends on its absence.
    let _ = fs::remove_dir_all(folder);
}

fn describe(plan: &Plan) -> RunInfo {
    let invocation = &plan.invocation;
    let here = || std::env::current_dir().unwrap_or_default();
    RunInfo {
        command: invocation.words(),
        working_folder: invocation.folder.clone().unwrap_or_else(here),
        started_ms: milliseconds(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()),
        duration_ms: 0,
        outcome: Outcome::Unknown,
        options: plan.choices.options.clone(),
        seed: plan.choices.seed,
        unpick_version: env!("CARGO_PKG_VERSION").to_owned(),
        format_version: FORMAT_VERSION,
        label: None,
        why: None,
        hunt: None,
        written_as: invocation.written_as.clone(),
        stdin: invocation.stdin.clone(),
        judged_by: None,
    }
}

pub(crate) fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Cuts the event files and writes the final `run.json`.
fn put_away(folder: &Path, info: &RunInfo) -> Result<Vec<Trimmed>, Problem> {
    info.write(folder).map_err(|error| cannot_describe(folder, &error))?;
    let run = Run::open(folder)?;
    run.event_files()
        .iter()
        .map(|path| trim(path).map_err(|error| cannot_trim(path, &error)))
        .collect()
}

fn no_command() -> Problem {
    Problem::usage("no program was named").next("name it behind two dashes: -- PROGRAM ARGUMENTS…")
}

pub(crate) fn cannot_describe(folder: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("the description of the run cannot be written")
        .at("folder", folder.display())
        .why(error)
        .next("free some space, or choose another folder: --store DIR")
}

fn cannot_trim(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("a recording cannot be cut to its size")
        .at("file", path.display())
        .why(error)
        .next("it can still be read: unpick dump FILE")
}
