//! Races benchmark: what the detectors say about programs of which the truth is known.
//!
//! Takes   the small programs beside this crate, five subjects after MUVI's Table 8, the `unpick` command, gcc and valgrind.
//! Gives   what each detector says, and where it is wrong; with targets; on the terminal and (with `--out`) as a section of docs/RESULTS.md.
//! Misses  how good the explanations are: a report counts if it names a line of the race.
//! Cost    some seconds per program, most of it for building.
#![forbid(unsafe_code)]

mod command;
mod detector;
mod healthy;
mod judged;
mod options;
mod own;
mod programs;
mod report;
mod subjects;
mod tsan;

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_results::{ended, machine, write_section};
use unpick_problem::Problem;

use crate::options::Options;

fn main() -> ExitCode {
    ended(run(&Options::parse()))
}

/// Measures, and says what came of it.
fn run(options: &Options) -> Result<(), Problem> {
    if options.healthy {
        return healthy::run(options);
    }
    let load_before = machine::load();
    let judged = judged::judge_all(options)?;
    let subjects = subjects::measure(options)?;
    let section = report::section(&judged, &subjects, options, &load_before);
    println!("{section}");
    options.out.as_ref().map_or(Ok(()), |file| write_section(file, "bench/races", &section))
}
