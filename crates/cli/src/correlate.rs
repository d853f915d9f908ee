//! `unpick correlate`: which variables of a code base belong together, and which functions forget one of them.
//!
//! Takes   folders or files with C, C++ or Rust sources.      Gives  ranked correlations, or with `--broken` functions that break them;
//!         JSON. What could not be read is told on standard error; the rest is still analysed.

pub mod of_program;
mod reading;
mod text;

use std::env;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use unpick_correlations::{Choices, CorrelationList, Sources, conclude, serve};
use unpick_problem::{Problem, exit};
use unpick_run_store::Store;

use crate::hints;
use crate::hunt::{print, write_file};

pub const HELP: &str = "\
Examples:
  unpick correlate src/                     what belongs together, the surest first
  unpick correlate src/ --broken            functions that update one side only: likely bugs, with the lines
  unpick correlate src/ --json -            all of it, for other tools

C and C++ are read by libclang (16 or newer: apt install libclang-dev, or LIBCLANG_PATH), with the flags of
compile_commands.json (in the folder, its build/, or above), else those unpick cc was called with; Rust needs nothing. What has not changed is not read again.

The next hunt takes what was found as a hint: of orders that explain as much, one of variables that belong together comes first.

Exit codes: 0, with --broken 66 if functions break correlations; 2 for wrong usage or if nothing can be read.";

/// The argument with which `unpick` starts itself to read C and C++.
pub const WORKER: &str = "__correlate-worker";

/// Folder of the store in which access sets are kept.
const CACHE: &str = "access-sets";

/// Sentences about what is missing that are printed; JSON has them all.
const MISSING_SHOWN: usize = 8;

/// What `unpick correlate` can be told.
#[derive(clap::Args)]
pub struct Correlate {
    /// Folders or files with sources
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Show the functions that break a correlation, the likeliest bug first
    #[arg(long)]
    broken: bool,
    /// How many are shown; JSON has all
    #[arg(long, value_name = "N", default_value_t = 30)]
    top: usize,
    /// Write everything as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Statements that may be between two accesses that are together; 20 without it
    #[arg(long, value_name = "N")]
    max_distance: Option<u32>,
    /// Functions that must show a correlation; without it 3 to 8, by the size of the code base
    #[arg(long, value_name = "N")]
    min_support: Option<usize>,
    /// Share of the functions with one access that must have the other, from 0 to 1; 0.8 without it
    #[arg(long, value_name = "SHARE", value_parser = share)]
    min_confidence: Option<f64>,
    /// Processes that read sources at a time; without it, as many as there are cores
    #[arg(long, value_name = "N")]
    jobs: Option<NonZero<usize>>,
    /// Read everything again, and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// Folder in which access sets are kept for the next time, and what was found for the next hunt
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder())]
    store: PathBuf,
}

fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "expected a number from 0 to 1, such as 0.9".to_owned())
}

pub fn run(correlate: Correlate) -> Result<ExitCode, Problem> {
    let sources = correlate.read()?;
    for line in told_missing(&sources.missing) {
        eprintln!("{line}");
    }
    if sources.sets.is_empty() {
        return Err(nothing_read());
    }
    let list = correlate.conclude(sources);
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
    fn read(&self) -> Result<Sources, Problem> {
        let cache = (!self.no_cache).then(|| self.store.join(CACHE));
        reading::read(self.paths.clone(), cache, self.jobs, false)
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

    fn tell(&self, list: &CorrelationList) -> Result<(), Problem> {
        match &self.json {
            Some(goal) if goal == Path::new("-") => return print(&(list.to_json() + "\n")),
            Some(goal) => write_file(goal, &(list.to_json() + "\n"))?,
            None => {}
        }
        let here = env::current_dir().unwrap_or_default();
        let text = if self.broken {
            text::breaks(list, self.top, &here)
        } else {
            text::correlations(list, self.top, &here)
        };
        print(&text)
    }
}

fn told_missing(missing: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = missing
        .iter()
        .take(MISSING_SHOWN)
        .map(|line| format!("unpick: {}", line.trim_start_matches("error: ")))
        .collect();
    if missing.len() > MISSING_SHOWN {
        let more = missing.len() - MISSING_SHOWN;
        lines.push(format!("unpick: {more} more of this kind: --json FILE has them all"));
    }
    lines
}

fn nothing_read() -> Problem {
    Problem::usage("no source could be read")
        .why("what stands in the way is told above")
        .next("unpick correlate --help says what is needed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_list_of_what_is_missing_is_cut() {
        let missing: Vec<String> = (0..20).map(|at| format!("{at}.c: no")).collect();
        let told = told_missing(&missing);
        assert_eq!(told.len(), MISSING_SHOWN + 1);
        assert!(told[MISSING_SHOWN].contains("12 more"));
    }

    #[test]
    fn a_share_is_between_nothing_and_all() {
        assert_eq!(share("0.9"), Ok(0.9));
        assert!(share("1.1").is_err() && share("-1").is_err() && share("x").is_err());
    }
}
