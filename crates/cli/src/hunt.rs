//! `unpick hunt`: runs a program until enough runs have failed and passed, and says what the failing ones have in common.
//!
//! Takes   a command, what counts as failing, a budget.
//! Gives   labelled runs in the store, `findings.json`, the ranked findings, and an exit code that tells.
//! Misses  what the delays it tries never bring about.
//! Cost    the runs; condensing each takes less than the run itself; experiments on the findings within the time that is given.

mod active;
mod budget;
mod communicating_sites;
mod confirmation;
mod course;
mod keeping;
mod open_units;
mod progress;
mod ranking_time;
mod rates;
mod run_limits;
mod settings;
mod single;
mod summary;
mod torn;
mod unusable;

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use unpick_findings::Findings;
use unpick_problem::Problem;
use unpick_run_store::Store;
use unpick_runner::Condition;

use crate::clean::make_room;
use crate::conclude::{View, findings_of, no_findings, only_failures};
use crate::delays::DelayOptions;
use crate::kept_findings;
use crate::output::findings::{print, write_findings};
use crate::output::is_stdout;
use crate::program::ProgramOptions;
use crate::quantities::{bytes, duration};
use crate::store_folder::store_folder;
use crate::supported::Guidance;
use crate::terminal;
use crate::train::program_name;
use active::Trial;
use budget::Enough;
use confirmation::Confirmation;
use course::{Course, Ended};
use progress::Progress;
pub use single::DELAY_PLAN;

pub const HELP: &str = "\
Exit codes: 0 no run failed, 66 runs failed and there are findings, deadlocks or lost notifications, 67 runs failed but nothing goes with them, 2 the
command line is wrong, 70 Unpick's own fault, 130 interrupted before any run failed.

A run fails if its exit code is not 0, if a signal kills it, or if it hangs; --fail-if and --oracle put
other conditions in place of the first two. It hangs if all its threads wait for each other, or if it does not end in time (see
--timeout) and does nothing, or spins. One that makes progress is slow, and not counted. Ctrl-C while all threads wait for each other keeps the run.

Where no run fails, orders of accesses that no run had are forced, each in a few runs; if one of them makes the program fail, and its
inverse does not, it is a finding. That is done in the second half of --time, or with --active as soon as enough runs have passed. With
invariants (see unpick train) orders that put one to the test for the first time come first; with correlations (see unpick correlate) variables
that belong together are torn apart before others are tried. Orders that passing runs had between some threads are forced between others
after that, and the rest of --time is for other ways to force all of them.

With --cargo test NAME the tests of a cargo project are built as by unpick cargo test, and the one test whose name it is (or
whose name alone has it inside) is run by itself. NAME may also be as nextest prints it: my-crate::binary module::test.

Afterwards experiments decide which finding is the root cause (see unpick confirm): its order is forced and prevented. A part of --time is
reserved for that; --no-confirm leaves it out.

Delays of all kinds are tried in turn; with --delay-access, --delay-sync or --delay-start only those that are asked for.

Examples:
  unpick hunt -- ./bank 100
  unpick hunt --cargo test bank::transfer
  unpick hunt --active --time 1m -- ./bank 100
  unpick hunt --time 2m --cargo test --release -p my-crate bank::transfer -- --nocapture
  unpick hunt --fail-if 'stdout ~ /LOST/' --timeout 5s --time 2m -- ./test.sh
  unpick hunt --oracle 'cmp -s \"$UNPICK_STDOUT\" expected.txt' -- ./sort input.txt";

/// Kept of the beginning, and of the end, of what a run prints.
pub const OUTPUT_BYTES: usize = 1 << 20;
pub const GRACE: Duration = Duration::from_secs(1);

/// Which recordings are kept.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kept {
    Failing,
    All,
    None,
}

/// What `unpick hunt` can be told.
#[derive(clap::Args)]
pub struct Hunt {
    /// What makes a run fail: 'stdout ~ /RE/', 'stderr ~ /RE/', 'exit = N' or 'exit != N'; may be given several times
    #[arg(long, value_name = "CONDITION")]
    fail_if: Vec<Condition>,
    /// A shell command that judges a run: it finds the output through UNPICK_STDOUT, UNPICK_STDERR and the exit code in
    /// UNPICK_EXIT; if it exits with anything but 0, the run has failed
    #[arg(long, value_name = "COMMAND")]
    oracle: Option<OsString>,
    /// A run that takes longer hangs, which is a failure, unless it still makes progress [default: twenty times the longest run that
    /// passed, at least 2s; 60s before any has]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    timeout: Option<Duration>,
    /// How many failing runs are enough
    #[arg(long, value_name = "N", default_value_t = 25)]
    failing: u32,
    /// How many passing runs are enough
    #[arg(long, value_name = "N", default_value_t = 25)]
    passing: u32,
    /// At most this many runs
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// At most this long; 5m if neither this nor --runs is given
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// So many runs at once: helps programs that wait more than they work
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    jobs: u8,
    /// Run each in an empty working folder of its own, RUN/work, which is kept if it fails
    #[arg(long)]
    own_folder: bool,
    /// Go on with the last hunt of this store: its runs count
    #[arg(long)]
    resume: bool,
    /// Seed of the hunt: decides the order of settings and the seeds of all runs
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Try orders that no run had, as soon as enough runs have passed: forces pairs the other way round, and threads into gaps of
    /// others. Without it they are tried in the second half of --time if no run has failed by then
    #[arg(long, conflicts_with = "no_active")]
    active: bool,
    /// Try no orders that no run had
    #[arg(long)]
    no_active: bool,
    /// Trained invariants: what was never challenged is tried first by --active, and what failing runs violated supports findings
    /// [default: invariants.toml in the store, if it is there]
    #[arg(long, value_name = "FILE")]
    invariants: Option<PathBuf>,
    /// Put in no delays
    #[arg(long, conflicts_with_all = ["delay_access", "delay_sync", "delay_start"])]
    no_delays: bool,
    #[command(flatten)]
    delays: DelayOptions,
    /// Stop recording a process after this much
    #[arg(long, value_name = "SIZE", default_value = "1GiB", value_parser = bytes)]
    limit: u64,
    /// Of which runs to keep the recordings; patterns are always kept
    #[arg(long, value_name = "RUNS", value_enum, default_value = "all")]
    keep: Kept,
    /// Before it begins, drop recordings of earlier hunts, the oldest first, until the store is no larger than this; those of the
    /// last hunt stay
    #[arg(long, value_name = "SIZE", default_value = "16GiB", value_parser = bytes)]
    keep_bytes: u64,
    #[command(flatten)]
    view: View,
    /// Do not force the orders of the leading findings to see which is the cause
    #[arg(long)]
    no_confirm: bool,
    /// Write the findings as JSON to this file too; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Print one JSON object per run and one at the end, in place of progress and text
    #[arg(long)]
    json_lines: bool,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
    #[command(flatten)]
    program: ProgramOptions,
}

pub fn run(mut hunt: Hunt) -> Result<ExitCode, Problem> {
    hunt.check()?;
    if !hunt.quiet {
        hunt.program.warn_of_misplaced_options("hunt");
    }
    hunt.view.take_hints(&hunt.store)?;
    let store = Store::at(&hunt.store);
    hunt.take_packages_of_resumed(&store);
    make_room(&store, hunt.keep_bytes);
    let progress = Progress::new(hunt.quiet, hunt.json_lines, hunt.budget());
    let invocation = hunt.program.invocation()?;
    let guidance =
        Guidance::of(&hunt.store, hunt.invariants.as_deref(), &program_name(&invocation))?;
    let common = hunt.common(&store, &invocation);
    let mut course = Course::begin(hunt.setup(&common), progress)?;
    let ended = course.run()?;
    let mut findings = hunt.findings(&course, &store)?;
    if let Some(findings) = findings.as_mut().filter(|_| hunt.confirms(ended)) {
        hunt.confirmation(&course).confirm(findings, &course, &invocation);
    }
    if hunt.tries_orders(&course, ended) {
        findings = Some(hunt.try_orders(&mut course, findings, guidance.as_ref())?);
    }
    if let (Some(guidance), Some(findings)) = (&guidance, &mut findings) {
        guidance.support(findings, &store.runs_of_hunt(course.number())?);
    }
    // A full disk must not hide what was found.
    let stored = findings.as_ref().map_or(Ok(()), |findings| hunt.store_findings(findings));
    let code = hunt.tell(&course, ended, findings.as_ref())?;
    stored.map(|()| code)
}

impl Hunt {
    /// A hunt that goes on knows the packages that were named when it began.
    fn take_packages_of_resumed(&mut self, store: &Store) {
        let last = || store.hunts().0.last().map(|hunt| hunt.number);
        let resumed = self.resume.then(last).flatten();
        let earlier = resumed.and_then(|hunt| kept_findings::read(&self.store, Some(hunt)).ok());
        if let Some(earlier) = earlier {
            self.view.take_packages_of(&earlier);
        }
    }

    /// Whether there is reason and budget to try orders that no run had.
    fn tries_orders(&self, course: &Course<'_>, ended: Ended) -> bool {
        let may_go_on = !matches!(ended, Ended::Stopped | Ended::Trouble);
        let is_asked = self.active && course.counts().passed > 0;
        may_go_on && (is_asked || ended == Ended::Enough(Enough::ForOrders))
    }

    /// Tries orders that no run had; what they show leads.
    fn try_orders(
        &self,
        course: &mut Course<'_>,
        findings: Option<Findings>,
        guidance: Option<&Guidance>,
    ) -> Result<Findings, Problem> {
        let store = course.store().clone();
        let runs = store.runs_of_hunt(course.number())?;
        let mut findings = findings.unwrap_or_else(|| no_findings(&runs, &self.view));
        let trial = Trial::begin(&store, &runs, &self.view, self.resume, guidance)?;
        trial.run(course, &mut findings)?;
        Ok(findings)
    }

    /// What the failing runs tell. Where none passed, that is how they hung or failed.
    fn findings(&self, course: &Course<'_>, store: &Store) -> Result<Option<Findings>, Problem> {
        let counts = course.counts();
        if counts.failed == 0 {
            return Ok(None);
        }
        let runs = store.runs_of_hunt(course.number())?;
        match counts.passed {
            0 => only_failures(&runs, &self.view).map(Some),
            _ => findings_of(store, &runs, &self.view).map(Some),
        }
    }

    /// Who stopped a hunt waits for its end.
    fn confirms(&self, ended: Ended) -> bool {
        !self.no_confirm && matches!(ended, Ended::Enough(_))
    }

    fn confirmation(&self, course: &Course<'_>) -> Confirmation {
        let left = course.until().map(|until| until.saturating_duration_since(Instant::now()));
        Confirmation {
            time: confirmation::time(left, course.elapsed()),
            quiet: self.quiet || self.json_lines,
        }
    }

    fn is_json_on_stdout(&self) -> bool {
        self.json.as_deref().is_some_and(is_stdout)
    }

    fn store_findings(&self, findings: &Findings) -> Result<(), Problem> {
        kept_findings::keep(&self.store, findings)?;
        self.json.as_ref().map_or(Ok(()), |file| write_findings(file, findings))
    }

    /// Says what came of it.
    fn tell(
        &self,
        course: &Course<'_>,
        ended: Ended,
        findings: Option<&Findings>,
    ) -> Result<ExitCode, Problem> {
        let code = summary::exit_code(course, findings);
        if self.json_lines {
            print(&summary::json_line(course, ended, findings, code))?;
        } else {
            if let Some(findings) =
                findings.filter(|one| one.tell_something() && !self.is_json_on_stdout())
            {
                let style = terminal::style_of_stdout(&self.store);
                print(&unpick_report::terminal(findings, &style))?;
            }
            let again = self.options_again();
            let lines = summary::lines(course, ended, findings, &again);
            lines.iter().for_each(|line| eprintln!("{line}"));
        }
        course.trouble().iter().for_each(|problem| eprintln!("{problem}"));
        Ok(ExitCode::from(code))
    }
}
