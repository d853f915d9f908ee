//! `unpick train`: learns from passing runs which accesses no other thread comes before.
//!
//! Takes   a command, and what counts as failing.      Gives  an invariants file, or adds to one; how the set settled.
//! Cost    every run is recorded in full, looked at and dropped.

mod course;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use unpick_analyses::invariants::{Change, Rules};
use unpick_invariants::{Invariants, Labels};
use unpick_problem::Problem;
use unpick_reproduce::name_without_hash;
use unpick_run_store::Store;
use unpick_runner::{Condition, Invocation, Perturbation};

use crate::output::findings::{print, write_json};
use crate::output::is_stdout;
use crate::program::{ProgramOptions, end_of_command_line};
use crate::quantities::{bytes, counted, duration};
use crate::record::{fresh_seed, quoted, store_option};
use crate::simulation::{self, SimulationOptions};
use crate::store_folder::store_folder;
use crate::trained::{self, file_of};
use course::{Counts, Course, Ended};

pub const HELP: &str = "\
An invariant is an access that no other thread comes before in a way that matters, as far as passing runs show: its thread has
read or written the same bytes just before, and between the two nobody has written (or, between two writes, read) them. Training begins
with every access that is executed, and takes away what passing runs violate; it ends when the last --settled-after runs have changed
nothing. Failing runs teach nothing. unpick watch then reports where later runs violate what was learned.

What was learned is added to the file, if there is one.

Exit codes: 0 something was learned, 2 the command line is wrong or no run passed, 70 Unpick's own fault.

Examples:
  unpick train -- ./bank 100
  unpick train --runs 100 --settled-after 100 --file bank.invariants.toml -- ./bank 100
  unpick train --fail-if 'stdout ~ /LOST/' -- ./bank 100
  unpick train --simulate-hardware --line-size 64 --cache-size 32KiB --file caches.toml -- ./bank 100";

/// Training runs are in a store of their own, which is gone afterwards.
const TRAINING_FOLDER: &str = "training";

/// What `unpick train` can be told.
#[derive(clap::Args)]
pub struct Train {
    /// Enough when so many passing runs have changed nothing
    #[arg(long, value_name = "N", default_value_t = Rules::default().settled_after, value_parser = clap::value_parser!(u32).range(1..))]
    settled_after: u32,
    /// An invariant goes when so many passing runs have violated it: above 1, some of them may be labelled wrongly
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    leaves_after: Option<u32>,
    /// At most this many runs
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// At most this long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// What makes a run fail, as in unpick hunt; may be given several times
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// A shell command that judges a run, as in unpick hunt
    #[arg(long, value_name = "COMMAND")]
    oracle: Option<OsString>,
    /// A run that takes longer hangs, which is a failure
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = duration)]
    timeout: Duration,
    /// Run each in an empty working folder of its own
    #[arg(long)]
    own_folder: bool,
    /// Put in delays as unpick hunt does: fewer false reports later, but orders come about that are near to a bug and harmless, and
    /// these take invariants away
    #[arg(long)]
    delays: bool,
    /// Seed of the training: decides the delays of all runs
    #[arg(long, value_name = "N", requires = "delays")]
    seed: Option<u64>,
    #[command(flatten)]
    simulation: SimulationOptions,
    /// Stop recording a process after this much
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    limit: u64,
    /// Where what was learned is kept [default: invariants.toml in the store]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// Write what came of it as JSON to this file too; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    #[command(flatten)]
    program: ProgramOptions,
}

pub fn run(train: Train) -> Result<ExitCode, Problem> {
    let invocation = train.program.invocation()?;
    let file = file_of(&train.store, train.file.as_deref());
    let mut course = Course::begin(&train, &invocation, &file)?;
    remove_leftovers(&train.store);
    let ended = course.run();
    // Nobody looks at the runs again; what cannot be removed takes room, and nothing else.
    let _ = std::fs::remove_dir_all(train.training_folder());
    let ended = ended?;
    if course.counts.passed == 0 {
        return Err(no_run_passed(&course.counts, course.last_why.as_deref()));
    }
    let sum = trained::add_to_file(&file, &course.learned, course.training.unchanged())?;
    train.tell(&course, ended, &sum, &file)?;
    Ok(ExitCode::SUCCESS)
}

impl Train {
    fn labels(&self) -> Labels {
        Labels {
            fail_if: self.fail_if.iter().map(ToString::to_string).collect(),
            oracle: self.oracle.as_ref().map(|oracle| oracle.to_string_lossy().into_owned()),
        }
    }

    fn training_folder(&self) -> PathBuf {
        self.store.join(format!("{TRAINING_FOLDER}-{}", std::process::id()))
    }

    fn perturbation(&self) -> Perturbation {
        let seed = self.seed.unwrap_or_else(fresh_seed);
        if self.delays { Perturbation::new(seed) } else { Perturbation::none(seed) }
    }

    fn tell(
        &self,
        course: &Course<'_>,
        ended: Ended,
        sum: &Invariants,
        file: &Path,
    ) -> Result<(), Problem> {
        let Counts { passed, failed, unusable, incomplete } = course.counts;
        if let Some(to) = &self.json {
            let Change { entered, left } = course.change;
            let value = json!({
                "schema": "unpick-train/1",
                "file": file.to_string_lossy(),
                "program": sum.program,
                "hardware": simulation::as_json(sum.hardware),
                "settled": ended == Ended::Settled,
                "unchanged": course.training.unchanged(),
                "runs": { "passed": passed, "failed": failed, "unusable": unusable, "incomplete": incomplete },
                "entered": entered,
                "left": left,
                "sites": sum.sites.len(),
                "invariants": sum.count(),
                "all_runs": sum.runs,
            });
            write_json(to, &value)?;
            if is_stdout(to) {
                return Ok(());
            }
        }
        print(&self.text(course, ended, sum, file))
    }

    fn text(&self, course: &Course<'_>, ended: Ended, sum: &Invariants, file: &Path) -> String {
        let Counts { passed, failed, unusable, incomplete } = course.counts;
        let mut text = format!(
            "{} passed and taught, {failed} failed, {unusable} could not be used\n",
            counted(passed.into(), "run")
        );
        text += &format!(
            "{} of {} hold an invariant, after {} in all: {}\n",
            sum.count(),
            counted(sum.sites.len() as u64, "place"),
            counted(sum.runs.into(), "run"),
            file.display()
        );
        text += &simulation::in_words(sum.hardware);
        text += &match ended {
            Ended::Settled => {
                format!("settled: the last {} runs changed nothing\n", self.settled_after)
            }
            Ended::Budget | Ended::Stopped => format!(
                "not settled: only the last {} of {} runs changed nothing; more runs may take invariants away: --runs N\n",
                course.training.unchanged(),
                self.settled_after
            ),
        };
        if incomplete > 0 {
            text += &format!(
                "recordings that are not complete: {incomplete}; more may have been violated there, see --limit\n"
            );
        }
        let end = end_of_command_line(
            &course.invocation.words(),
            course.invocation.written_as.as_deref(),
        );
        text += &format!("next: unpick watch{} {end}\n", self.options_again());
        text
    }

    /// What another verb needs to find the file again.
    fn options_again(&self) -> String {
        let file =
            self.file.as_ref().map(|file| format!(" --file {}", quoted(&file.to_string_lossy())));
        format!("{}{}", store_option(&self.store), file.unwrap_or_default())
    }
}

/// Removes the runs of trainings that were killed.
fn remove_leftovers(store: &Path) {
    // A store that is not there yet has none.
    for entry in std::fs::read_dir(store).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(TRAINING_FOLDER));
        let process = process.and_then(|rest| rest.strip_prefix('-')?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new(&format!("/proc/{process}")).exists()) {
            // What cannot be removed takes room, and nothing else.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The name of the file that is run, whatever its build.
pub fn program_name(invocation: &Invocation) -> String {
    let first = invocation.command.first().map(Path::new).unwrap_or(Path::new(""));
    name_without_hash(first)
}

fn no_run_passed(counts: &Counts, why: Option<&str>) -> Problem {
    let problem = Problem::usage(format!(
        "nothing was learned: no run passed ({} failed, {} could not be used)",
        counts.failed, counts.unusable
    ))
    .next("train with an input that passes, or say what failing means: --fail-if CONDITION; the invariants are as they were");
    match why {
        Some(why) => problem.why(format!("the last one: {why}")),
        None => problem.why("it was stopped before the first run had ended"),
    }
}
