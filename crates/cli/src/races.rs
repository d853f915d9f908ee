//! `unpick races`: which accesses of different threads nothing orders, and which no lock protects every time.
//!
//! Takes   a command, which is run once or more often and recorded in full; or full recordings that are there already.
//! Gives   one race per pair of the user's own source lines, ranked; `races.json` in the store, so that one can be explained afterwards.
//! Misses  what the runs did not execute.
//! Cost    full recordings: each access to shared bytes is an event. They are dropped, but for those that show a race.

mod budget;
mod confirming;
mod correlated;
mod course;
mod kept;
mod looking;
mod remarks;
mod suppressed;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use unpick_findings::{
    CandidateDeadlock, RaceDetector, RaceFinding, RaceMark, describe_deadlocks, describe_races,
};
use unpick_names::ProgramNames;
use unpick_problem::{Problem, exit};
use unpick_run_store::Store;

use crate::cargo_test;
use crate::conclude::{NAMES, choices};
use crate::hints;
use crate::import::names_in;
use crate::output::findings::{print, write_json};
use crate::output::is_stdout;
use crate::program::end_of_command_line;
use crate::quantities::{bytes, counted, duration};
use crate::record::store_option;
use crate::store_folder::store_folder;
use crate::terminal;
pub use budget::Budget;
use confirming::Confirming;
pub use correlated::{Correlated, read_list, rules_in};
use course::Looked;
pub use course::{FullRun, record_in_full};
pub use kept::{Report, no_such_race};
pub use looking::{look_at, look_at_within};
use suppressed::Suppressed;

pub const HELP: &str = "\
Two detectors look at every access to memory that threads share. Happens-before reports accesses that no lock, condition, barrier, semaphore,
once, thread start or join, atomic or fence orders. Lockset reports memory that no single lock protects every time: it also sees what this run
happened to order, by which thread came to a lock first. What both find comes first. What only lacks a lock, and is ordered by other means, or by
what is handed over under one, is no race: --all lists it apart, --detector lockset counts it too.

Without a program the last full run of the store is looked at (unpick record --full), or those that are named by --run.

Both detectors also look at variables that belong together by the sources of the program (unpick correlate): two accesses of a thread to them
that another thread can come between are reported even if each of them is protected. --plain leaves that out. What belongs
together is kept for hunts.

Where threads took the same locks in different orders, they can come to wait for each other for ever: a deadlock that can be, also of more
than two threads. unpick confirm --deadlock N forces one and decides; unpick reproduce --deadlock N makes the program hang in it.

Whether a race matters, forcing it tells: unpick confirm --race N forces both orders of its accesses, and marks the race as confirmed if one of
them makes the program fail, or as benign so far. Marks stay while the program is the same build; what is confirmed comes first, what is benign
last. unpick reproduce --race N and unpick pin --race N take it from there. --confirm does all of them at once.

Suppression files of ThreadSanitizer are honoured: --suppressions FILE, and TSAN_OPTIONS=suppressions=FILE.

Exit codes: 0 neither race nor possible deadlock, 66 there are some, 2 nothing could be looked at, 70 Unpick's own fault.

Examples:
  unpick races -- ./bank 100
  unpick races --runs 10 --json races.json -- ./bank 100
  unpick races --confirm -- ./bank 100
  unpick races --explain 2";

/// What `unpick races` can be told.
#[derive(clap::Args)]
pub struct Races {
    /// Run the program this often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Explain one race of the last report: both stacks, locks held, why nothing orders them
    #[arg(long, value_name = "N", conflicts_with_all = ["runs", "run", "suppressions", "command"])]
    explain: Option<usize>,
    /// Report what this detector finds only: happens-before or lockset
    #[arg(long, value_name = "NAME", value_parser = detector)]
    detector: Option<RaceDetector>,
    /// List also what only lacks a lock in common, and is synchronized by other means
    #[arg(long)]
    all: bool,
    /// A full run of the store, by its number; may be given several times
    #[arg(long, value_name = "RUN", conflicts_with = "command")]
    run: Vec<u64>,
    /// Variables that belong together, as unpick correlate --json wrote them; without it, the sources of the program are asked
    #[arg(long, value_name = "FILE")]
    correlations: Option<PathBuf>,
    /// Variables that the recordings show to belong together, by critical sections with both: where there are no sources
    #[arg(long, conflicts_with = "correlations")]
    mine: bool,
    /// Look at single variables only, not at those that belong together
    #[arg(long, conflicts_with_all = ["correlations", "mine"])]
    plain: bool,
    /// Force both orders of each race, and the deadlocks that can be, to see which of them make the program fail
    #[arg(long)]
    confirm: bool,
    /// With --confirm, for so long at most
    #[arg(long, value_name = "TIME", default_value = "1m", value_parser = duration, requires = "confirm")]
    confirm_time: Duration,
    /// Races that are not to be reported, as ThreadSanitizer is told; may be given several times
    #[arg(long, value_name = "FILE")]
    suppressions: Vec<PathBuf>,
    /// Write the races as JSON to this file too; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the races as SARIF 2.1.0 to this file too; - for standard output, in place of the text
    #[arg(long, value_name = "FILE", conflicts_with = "explain")]
    sarif: Option<PathBuf>,
    /// A run that takes longer is ended; what it did until then counts
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = duration)]
    timeout: Duration,
    /// Put in delays as unpick hunt does: other orders come about, with other races
    #[arg(long)]
    delays: bool,
    /// Seed of the delays
    #[arg(long, value_name = "N", requires = "delays")]
    seed: Option<u64>,
    /// Stop recording a process after this much
    #[arg(long, value_name = "SIZE", default_value = "4GiB", value_parser = bytes)]
    limit: u64,
    /// All runs and their analysis take so long at most: runs that have not begun are left out, and of long recordings only the beginning is looked at
    #[arg(long, value_name = "TIME", value_parser = duration, conflicts_with = "explain")]
    time: Option<Duration>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    /// Build a cargo project and run one of its tests: --cargo test NAME, with cargo's options
    #[arg(long)]
    cargo: bool,
    /// The program and its arguments; without it, the last full run of the store
    #[arg(trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<std::ffi::OsString>,
}

fn detector(text: &str) -> Result<RaceDetector, String> {
    match text {
        "happens-before" => Ok(RaceDetector::HappensBefore),
        "lockset" => Ok(RaceDetector::Lockset),
        _ => Err("the detectors are happens-before, lockset".to_owned()),
    }
}

pub fn run(races: Races) -> Result<ExitCode, Problem> {
    if let Some(number) = races.explain {
        races.explain(number)?;
        return Ok(ExitCode::SUCCESS);
    }
    // All that can be wrong is told before the program is run.
    check_outputs([&races.json, &races.sarif])?;
    let mut suppressed = Suppressed::read(&races.suppressions)?;
    let mut correlated = races.correlated()?;
    let budget = Budget::new(races.time);
    let looked = races.look(&mut correlated, &budget)?;
    if looked.events() == 0 && races.time.is_some() {
        return Err(nothing_in_time());
    }
    let mut found = races.described(&looked)?;
    // Units of atomics are for hunts to try (`hunt::torn`); by themselves they are no race.
    found.retain(|race| !race.is_of_atomics() && races.asks_for(race) && !suppressed.cover(race));
    let (ordered, found) = found.into_iter().partition(|race| !races.counts(race));
    let deadlocks = races.deadlocks(&looked)?;
    let mut report = Report::new(&looked, found, ordered, deadlocks, &suppressed);
    report.take_over_marks(&races.store);
    if races.confirm {
        let time = budget.left().map_or(races.confirm_time, |left| left.min(races.confirm_time));
        Confirming::new(&races.store, time, races.quiet).mark_all(&mut report);
    }
    report.write(&races.store)?;
    hints::keep_found(&races.store, &correlated, &looked.rules());
    races.tell(&looked, &report, &suppressed, &correlated)?;
    Ok(ExitCode::from(if report.is_empty() { 0 } else { exit::FINDINGS }))
}

fn races_sarif(report: &Report, missing: &[String]) -> serde_json::Value {
    let folder = choices().working_folder;
    unpick_report::races_sarif(&report.races, &report.deadlocks, &folder, missing)
}

/// No answer is not the answer that there is no race.
fn nothing_in_time() -> Problem {
    Problem::usage("no event was analysed: the time limit was reached before")
        .why("running the program and reading what it did took all of --time")
        .next("give it more time, or less work: unpick races --time 2m -- PROGRAM")
}

/// Two texts on one stream: nobody could tell where one ends.
fn check_outputs(outputs: [&Option<PathBuf>; 2]) -> Result<(), Problem> {
    if outputs.into_iter().flatten().filter(|to| is_stdout(to)).count() < 2 {
        return Ok(());
    }
    Err(Problem::usage("--json and --sarif cannot both go to standard output")
        .why("nobody could tell where one ends")
        .next("write one of them to a file: --json races.json --sarif -"))
}

impl Races {
    fn asks_for(&self, race: &RaceFinding) -> bool {
        self.detector.is_none_or(|asked| race.detectors.contains(&asked))
    }

    /// Who asks for lockset alone gets all that Eraser says; else what something firm orders is told of, and is no race.
    fn counts(&self, race: &RaceFinding) -> bool {
        self.detector == Some(RaceDetector::Lockset) || !race.is_ordered()
    }

    fn correlated(&self) -> Result<Correlated, Problem> {
        Ok(match &self.correlations {
            Some(file) => Correlated::read(file)?,
            None if self.mine => Correlated::Mined,
            None if self.plain => Correlated::Nothing,
            None => Correlated::by_sources(&self.store, self.quiet),
        })
    }

    fn look(&self, correlated: &mut Correlated, budget: &Budget) -> Result<Looked, Problem> {
        if self.command.is_empty() {
            return course::stored(self, correlated, budget);
        }
        let invocation = if self.cargo {
            cargo_test::invocation(&self.command)?
        } else {
            unpick_runner::Invocation::plain(self.command.clone())
        };
        course::run(self, &invocation, correlated, budget)
    }

    fn described(&self, looked: &Looked) -> Result<Vec<RaceFinding>, Problem> {
        let stored = names_in(&self.store)?;
        let names = ProgramNames::new(stored.as_ref(), &NAMES);
        let runs: Vec<_> = looked.runs.iter().map(|run| (run.number, &run.races)).collect();
        Ok(describe_races(&runs, &names, &choices()))
    }

    fn deadlocks(&self, looked: &Looked) -> Result<Vec<CandidateDeadlock>, Problem> {
        let stored = names_in(&self.store)?;
        let names = ProgramNames::new(stored.as_ref(), &NAMES);
        Ok(describe_deadlocks(looked.cycles(), &names, &choices().working_folder))
    }

    fn tell(
        &self,
        looked: &Looked,
        report: &Report,
        suppressed: &Suppressed,
        correlated: &Correlated,
    ) -> Result<(), Problem> {
        if let Some(to) = &self.json {
            report.write_as_json(to)?;
        }
        if let Some(to) = &self.sarif {
            write_json(to, &races_sarif(report, &looked.gaps()))?;
        }
        if [&self.json, &self.sarif].into_iter().flatten().any(|to| is_stdout(to)) {
            return Ok(());
        }
        let style = terminal::style_of_stdout(&self.store);
        let mut text = self.summary(looked, report, correlated) + &suppressed.told();
        if !report.races.is_empty() {
            text += &format!("\n{}\n", unpick_report::races(&report.races, &style));
        }
        if self.all && !report.ordered.is_empty() {
            let ordered = unpick_report::ordered(&report.ordered, report.races.len(), &style);
            text += &format!("\n{ordered}\n");
        }
        if !report.deadlocks.is_empty() {
            text += &format!("\n{}\n", unpick_report::deadlocks(&report.deadlocks, &style));
        }
        print(&(text + &format!("next: {}\n", self.next_command(looked, report))))
    }

    fn summary(&self, looked: &Looked, report: &Report, correlated: &Correlated) -> String {
        let mut text = format!(
            "{}{} in {}: {} of {} looked at\n",
            match report.races.len() {
                0 => "no race".to_owned(),
                count => counted(count as u64, "race"),
            },
            match report.deadlocks.len() {
                0 => String::new(),
                count => format!(", {}", counted(count as u64, "possible deadlock")),
            },
            counted(looked.runs.len() as u64, "run"),
            counted(looked.events(), "event"),
            counted(looked.threads(), "thread")
        );
        if !self.all && !report.ordered.is_empty() {
            let count = counted(report.ordered.len() as u64, "pair");
            text += &format!(
                "{count} synchronized without a common lock, not races: --all lists them\n"
            );
        }
        for remark in looked.remarks(correlated) {
            text += &format!("{remark}\n");
        }
        text
    }

    fn next_command(&self, looked: &Looked, report: &Report) -> String {
        let store = store_option(&self.store);
        if let Some(number) = report.first_unmarked() {
            return format!("unpick confirm{store} --race {number}");
        }
        if let Some(number) = report.first_confirmed() {
            return format!("unpick pin{store} --race {number} > race.toml");
        }
        if !report.deadlocks.is_empty() {
            return format!("unpick confirm{store} --deadlock 1");
        }
        let end = end_of_command_line(&looked.command, looked.written_as.as_deref());
        format!("unpick races{store} --runs {} --delays {end}", self.runs.max(5) * 2)
    }

    fn explain(&self, number: usize) -> Result<(), Problem> {
        let mut report = Report::read(&self.store)?;
        let count = report.races.len() + report.ordered.len();
        if !(1..=count).contains(&number) {
            return Err(no_such_race(number, count, &self.store));
        }
        if let Some(to) = &self.json {
            report.keep_only(number);
            return report.write_as_json(to);
        }
        let is_race = number <= report.races.len();
        report.races.append(&mut report.ordered);
        let style = terminal::style_of_stdout(&self.store);
        let text = unpick_report::race(&report.races, number, &style).unwrap_or_default();
        let store = store_option(&self.store);
        let next = match report.races[number - 1].mark() {
            None if is_race => format!("unpick confirm{store} --race {number}"),
            Some(RaceMark::Confirmed) => format!("unpick pin{store} --race {number} > race.toml"),
            _ if number < count => format!("unpick races{store} --explain {}", number + 1),
            _ => format!("unpick races{store} --explain {number} --json -"),
        };
        print(&format!("{text}\nnext: {next}\n"))
    }
}
