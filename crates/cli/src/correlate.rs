//! `unpick correlate`: which variables of a code base belong together, and which functions forget one of them.
//!
//! Takes   folders or files with C, C++ or Rust sources; full recordings of a store, which add to what Rust's sources tell, and
//!         stand for sources where there are none.
//! Gives   ranked correlations, or with `--broken` functions that break them; JSON, SARIF. What could not be read is told on
//!         standard error; the rest is still analysed.

mod answer;
mod missing;
mod observed;
pub mod of_program;
mod reading;
mod sarif;
mod text;

use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use unpick_correlations::access_sets::rust;
use unpick_correlations::{
    Choices, CorrelationList, Sources, conclude, join_observed, serve, sets_of_observed,
};
use unpick_problem::{Problem, exit};
use unpick_run_store::Store;

use crate::hints;
use crate::output::is_stdout;
use crate::quantities;
use crate::store_folder::store_folder;
use missing::{nothing_read, told_missing};
use observed::{ObservedRuns, observed_runs};
use reading::Effort;

pub const HELP: &str = "\
Examples:
  unpick correlate src/                     what belongs together, the surest first
  unpick correlate src/ --broken            functions that update one side only: likely bugs, with the lines
  unpick correlate src/ --weak              also pairs that are together without anything that relates them
  unpick correlate src/ --json -            all of it, for other tools
  unpick correlate src/ --broken --sarif F  the breaks for editors, code hosts and CI systems
  unpick correlate                          by what full recordings of the store observed alone: no sources needed

C and C++ are read by libclang (16 or newer: apt install libclang-dev, or LIBCLANG_PATH), with the flags of
compile_commands.json (in the folder, its build/, or above), else those unpick cc was called with; Rust needs nothing. What has not changed is not read again.

Rust's sources do not tell every type: what full runs of the store observed (unpick races, unpick record --full) is added to what they do tell.

Told are pairs that functions relate (one statement has both, or one decides about the other), or hardly ever write one without the
other; the rest is weak: shown by --weak, in JSON, and still used for --broken, for hunts and for races.

The next hunt takes what was found as a hint: of orders that explain as much, one of variables that belong together comes first.

Exit codes: 0, with --broken 66 if functions break correlations; 2 for wrong usage or if nothing can be read.";

/// The argument with which `unpick` starts itself to read C and C++.
pub const WORKER: &str = "__correlate-worker";

/// Folder of the store in which access sets are kept.
const CACHE: &str = "access-sets";

/// What `unpick correlate` can be told.
#[derive(clap::Args)]
pub struct Correlate {
    /// Folders or files with sources; without any, recordings are looked at alone
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// A full run of the store whose observations are used, by its number; may be given several times. Without it, the last ones
    #[arg(long, value_name = "RUN")]
    run: Vec<u64>,
    /// Look at sources alone, whatever runs the store has
    #[arg(long, conflicts_with = "run")]
    no_runs: bool,
    /// Show the functions that break a correlation, the likeliest bug first
    #[arg(long)]
    broken: bool,
    /// Show weak correlations as well: those that are often together, though hardly anything relates them
    #[arg(long, conflicts_with = "broken")]
    weak: bool,
    /// How many are shown; JSON has all
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
    /// Write everything as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write breaks, and without --broken correlations too, as SARIF 2.1.0 to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
    /// Statements that may be between two accesses that are together; 20 without it
    #[arg(long, value_name = "N")]
    max_distance: Option<u32>,
    /// Functions that must show a correlation; without it 3 to 8, by the size of the code base
    #[arg(long, value_name = "N")]
    min_support: Option<usize>,
    /// Share of the functions with one access that must have the other, from 0 to 1; 0.8 without it
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_confidence: Option<f64>,
    /// Processes, or threads for Rust, that read sources at a time; without it, as many as there are cores
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// A file that takes longer to read is left out, and told: 500ms, 5s, 2m
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = quantities::duration)]
    timeout: Duration,
    /// Read everything again, and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// Folder with the runs, in which access sets are kept for the next time, and what was found for the next hunt
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.9".to_owned())
}

pub fn run(correlate: Correlate) -> Result<ExitCode, Problem> {
    // All that can be wrong is told before anything is read.
    correlate.check()?;
    let mut sources = correlate.read()?;
    let observed = correlate.observe(&sources)?;
    sources.missing.extend_from_slice(&observed.missing);
    for line in told_missing(&sources.missing) {
        eprintln!("{line}");
    }
    let joined = if sources.sets.is_empty() {
        sources.sets = sets_of_observed(&observed.accesses);
        observed.accesses.len()
    } else {
        join_observed(&mut sources.sets, &observed.accesses)
    };
    if sources.sets.is_empty() {
        return Err(if correlate.paths.is_empty() { correlate.no_runs() } else { nothing_read() });
    }
    let mut list = correlate.conclude(sources);
    list.summary.runs = observed.runs;
    list.summary.observed = joined;
    if !correlate.no_cache
        && let Err(problem) = hints::keep_correlations(&correlate.store, &(list.to_json() + "\n"))
    {
        eprintln!("unpick: a hunt will not know of them: {}", problem.in_one_line());
    }
    correlate.tell(&list)?;
    let is_finding = correlate.broken && !list.breaks.is_empty();
    Ok(if is_finding { ExitCode::from(exit::FINDINGS) } else { ExitCode::SUCCESS })
}

/// A worker's whole life.
pub fn work() -> Result<ExitCode, Problem> {
    serve().map(|()| ExitCode::SUCCESS)
}

impl Correlate {
    fn check(&self) -> Result<(), Problem> {
        let wanted = [&self.json, &self.sarif].into_iter().flatten();
        if wanted.filter(|goal| is_stdout(goal)).count() > 1 {
            return Err(Problem::usage("--json and --sarif cannot both go to standard output")
                .why("nobody could tell where one ends")
                .next("write one of them to a file: --json correlations.json --sarif -"));
        }
        Ok(())
    }

    fn read(&self) -> Result<Sources, Problem> {
        if self.paths.is_empty() {
            return Ok(Sources::default());
        }
        let cache = (!self.no_cache).then(|| self.store.join(CACHE));
        let effort = Effort { jobs: self.jobs, time_limit: self.timeout, quiet: false };
        reading::read(self.paths.clone(), cache, &effort)
    }

    /// What runs observed, where it can add something: to sources of Rust, or in place of sources.
    fn observe(&self, sources: &Sources) -> Result<ObservedRuns, Problem> {
        let is_rust = |file: &String| rust::is_source(Path::new(file));
        let has_rust = sources.sets.iter().any(|sets| sets.files.iter().any(is_rust));
        let is_of_use = has_rust || sources.sets.is_empty() || !self.run.is_empty();
        if self.no_runs || !is_of_use {
            return Ok(ObservedRuns::default());
        }
        observed_runs(&self.store, &self.run)
    }

    fn no_runs(&self) -> Problem {
        Problem::usage("there is nothing to look at")
            .at("folder", self.store.display())
            .why("no sources are named, and no full recordings with debug info are in the store")
            .next("name sources: unpick correlate src/; or record a run: unpick races -- PROGRAM")
    }

    fn conclude(&self, sources: Sources) -> CorrelationList {
        let choices = Choices {
            max_distance: self.max_distance,
            min_support: self.min_support,
            min_confidence: self.min_confidence,
        };
        let (files, files_unchanged, lines) =
            (sources.files, sources.files_unchanged, sources.lines);
        let mut list = conclude(sources.sets, &choices, sources.missing);
        list.summary.files = files;
        list.summary.files_unchanged = files_unchanged;
        list.summary.lines = lines;
        list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_between_nothing_and_all() {
        assert_eq!(share("0.9"), Ok(0.9));
        assert!(share("1.1").is_err() && share("-1").is_err() && share("x").is_err());
    }
}
