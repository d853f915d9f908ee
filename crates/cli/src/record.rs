//! `unpick record`: runs a program once and keeps what its threads did to each other.
//!
//! Takes   a command, and what to ask of the runtime.      Gives  a run in the store, the program's own exit code,
//!         and a short summary on standard error.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

use unpick_problem::{Problem, exit};
use unpick_recording::{Outcome, Recording, RunOptions};
use unpick_run_store::{Store, run_number};
use unpick_runner::{Choices, Failure, FinishedRun, Plan};

use crate::delays::DelayOptions;
use crate::program::ProgramOptions;
use crate::quantities::{bytes, bytes_in_words, counted};
use crate::store_folder::store_folder;

pub const HELP: &str = "\
The program must be built with `unpick cc`, `unpick c++` or `unpick cargo`; it may also be a script that starts such
a program. Its exit code is the exit code of this command (128 + n if signal n killed it); 2 means that nothing was
recorded, 70 that Unpick itself failed.

With --cargo test NAME one test of a cargo project is built and run: see unpick help hunt.";

/// What `unpick record` can be told.
#[derive(clap::Args)]
pub struct Record {
    /// Record every access to shared bytes, not only those where threads meet
    #[arg(long)]
    full: bool,
    /// Stop recording a process after this much
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    limit: u64,
    /// Seed of the delays; chosen and remembered if not given
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    #[command(flatten)]
    delays: DelayOptions,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    /// Print no summary
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    program: ProgramOptions,
}

pub fn run(record: Record) -> Result<ExitCode, Problem> {
    let plan = record.plan()?;
    let finished = unpick_runner::run(&plan)?;
    if let Some(problem) = problem_after(&finished) {
        eprintln!("{problem}");
        return Ok(exit_code_despite(&finished, &problem));
    }
    if !record.quiet {
        summarise(&finished, &record.store);
    }
    Ok(ExitCode::from(finished.info.outcome.exit_status()))
}

impl Record {
    fn plan(&self) -> Result<Plan, Problem> {
        self.delays.check(
            "give --delay-max as well: unpick record --delay-min 2ms --delay-max 5ms -- PROGRAM",
        )?;
        let options = RunOptions { full: self.full, limit: self.limit, ..RunOptions::default() };
        let options = self.delays.applied_to(options);
        let choices = Choices { options, seed: self.seed.unwrap_or_else(fresh_seed) };
        Ok(Plan { invocation: self.program.invocation()?, store: Store::at(&self.store), choices })
    }
}

/// Short enough to be typed, and another one each time.
pub fn fresh_seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::from(now.subsec_nanos() ^ std::process::id().rotate_left(16))
}

/// What the user must know although the program has run.
fn problem_after(finished: &FinishedRun) -> Option<Problem> {
    if finished.trouble.is_some() {
        return finished.trouble.clone();
    }
    if !finished.event_files.is_empty() {
        return None;
    }
    finished.discard();
    Some(nothing_recorded(finished))
}

/// The program's own exit code, unless it says that all went well.
fn exit_code_despite(finished: &FinishedRun, problem: &Problem) -> ExitCode {
    match finished.info.outcome.exit_status() {
        0 => ExitCode::from(problem.exit_code()),
        own => ExitCode::from(own),
    }
}

const HOW_TO_BUILD: &str = "build it by: unpick cc …, unpick c++ … or unpick cargo build; with make: make CC='unpick cc'; \
                            one Rust test: unpick hunt --cargo test NAME";

pub fn nothing_recorded(finished: &FinishedRun) -> Problem {
    let problem = Problem::usage(format!("nothing was recorded ({})", finished.info.outcome))
        .at("file", finished.program.path.display());
    if let Some(failure) = finished.failures.first() {
        return the_runtime_failed(failure);
    }
    if finished.info.outcome == (Outcome::Exit { code: exit::OWN_FAULT.into() }) {
        return problem
            .why("a program that was started cannot be recorded, for the reason it has printed")
            .next(
                "follow its advice; if it printed none, see what this machine lacks: unpick doctor",
            );
    }
    match finished.program.built_with_unpick {
        Some(true) => problem
            .why("the program carries Unpick's runtime, but that could not write to the run folder")
            .next("check that the program sees UNPICK_RUN_DIR and may write there: unpick record --store DIR -- PROGRAM"),
        Some(false) => problem
            .why("the program is not built with Unpick, and it started no program that is")
            .next(HOW_TO_BUILD),
        None => problem
            .why("no program that was started is built with Unpick")
            .next(HOW_TO_BUILD),
    }
}

fn the_runtime_failed(failure: &Failure) -> Problem {
    Problem::own_fault("nothing was recorded: Unpick's runtime could not begin")
        .at("process", &failure.process)
        .why(&failure.why)
        .next("see what this machine lacks: unpick doctor")
}

/// Of more processes than this only those are told one by one that have something to tell.
const MOST_PROCESSES: usize = 8;

fn summarise(finished: &FinishedRun, store: &Path) {
    let brief = finished.event_files.len() > MOST_PROCESSES;
    let mut left_out = 0;
    for file in &finished.event_files {
        match (Recording::open(&file.path), file.still_written_by) {
            (Ok(recording), None) if brief && is_plain(&recording) => left_out += 1,
            (Ok(recording), _) => describe(&recording, file.bytes),
            // It has only just begun.
            (Err(_), Some(_)) => {}
            (Err(problem), None) => eprintln!("unpick: {problem}"),
        }
        if let Some(process) = file.still_written_by {
            eprintln!("unpick: process {process} is still running: its recording goes on");
        }
    }
    if left_out > 0 {
        eprintln!("unpick: {left_out} recordings of one thread each, complete");
    }
    for failure in &finished.failures {
        eprintln!("unpick: process {} was not recorded: {}", failure.process, failure.why);
    }
    eprintln!("unpick: next: {}", dump_command(&finished.folder, store));
}

/// A recording of one thread, with nothing missing.
fn is_plain(recording: &Recording) -> bool {
    recording.threads().len() <= 1 && recording.is_complete() && recording.damage().is_empty()
}

fn describe(recording: &Recording, size: u64) {
    let events = recording.event_count();
    let threads = recording.threads().len();
    let complete = if recording.is_complete() { "complete" } else { "INCOMPLETE" };
    eprintln!(
        "unpick: process {}: {} of {}, {}, {complete}",
        recording.header().process,
        counted(events, "event"),
        counted(threads as u64, "thread"),
        bytes_in_words(size),
    );
    for reason in recording.incompleteness().iter().chain(recording.damage()) {
        eprintln!("unpick:   {reason}");
    }
}

fn dump_command(folder: &Path, store: &Path) -> String {
    let number = run_number(folder).unwrap_or(0);
    format!("unpick dump{} {number}", store_option(store))
}

/// What a command must be told to find this store: ` --store DIR`, or nothing for the usual one.
pub fn store_option(store: &Path) -> String {
    if store == Store::default_folder() {
        String::new()
    } else {
        format!(" --store {}", quoted(&store.to_string_lossy()))
    }
}

/// The word as a shell takes it for one.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_the_store_only_if_it_is_not_the_usual_one() {
        assert_eq!(store_option(Path::new(".unpick")), "");
        assert_eq!(store_option(Path::new("/tmp/runs")), " --store /tmp/runs");
        assert_eq!(store_option(Path::new("it's here")), r" --store 'it'\''s here'");
    }
}
