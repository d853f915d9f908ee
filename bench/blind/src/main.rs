//! Blind benchmark: is the first thing a hunt reports the root cause, on programs whose authors do not know Unpick?
//!
//! Takes   the programs of one set with their truth files, and the real `unpick` command.
//! Gives   per set a section of docs/RESULTS.md (with `--out`) and the same on the terminal; of the sealed set only totals.
//! Misses  whether the text of a report is understood: only its lines are compared with the truth.
//! Cost    one hunt per program (60 s without `--time`), its build, and 50 forced runs where the leading finding is right.
#![forbid(unsafe_code)]

mod build;
mod busy;
mod cases;
mod command;
mod hunt;
mod judge;
mod measure;
mod options;
mod places;
mod program;
mod report;
mod sealed_log;
mod sets;
mod totals;
mod truth;

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_results::{ended, machine, write_section};
use unpick_problem::Problem;

use crate::busy::BusyCores;
use crate::options::{Options, Set};
use crate::report::Report;
use crate::sealed_log::SealedLog;

fn main() -> ExitCode {
    if busy::is_spinner() {
        busy::spin();
        return ExitCode::SUCCESS;
    }
    ended(Options::parse().checked().and_then(|options| run(&options)))
}

fn run(options: &Options) -> Result<(), Problem> {
    let programs = sets::programs(options)?;
    if programs.is_empty() {
        eprintln!("{}: no programs, skipped", options.set.name());
        return Ok(());
    }
    let log = (options.set == Set::Sealed).then(|| SealedLog::begin(options)).transpose()?;
    let load_before = machine::load();
    let busy = options.busy.then(BusyCores::start).transpose()?;
    let outcomes = measure::measure_all(&programs, options)?;
    drop(busy);
    let report = Report { options, outcomes: &outcomes, load_before: &load_before };
    if let Some(log) = log {
        log.finish(&report.totals_in_one_line())?;
    }
    let section = report.section();
    println!("{section}");
    match &options.out {
        Some(file) => write_section(file, &options.benchmark(), &section),
        None => Ok(()),
    }
}
