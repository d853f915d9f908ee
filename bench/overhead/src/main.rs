//! Overhead benchmark: what does recording cost, in time and memory, against what it must beat?
//!
//! Takes   C and C++ workloads, and variants: the ways to build and run each of them.
//! Gives   slowdown against native per workload and thread count, peak memory, recording size, and the summary figures
//!         with their targets, on the terminal and (with `--out`) as a section of docs/RESULTS.md.
//! Method  variants take turns in every round, so that a slow minute of the machine hits all of them; the median counts.
//! Misses  cold starts, programs that mostly wait for input, and machines with more cores than this one.
//! Cost    `--scale small --repeat 1` without Valgrind takes about three minutes with its builds; a full run takes far longer.
#![forbid(unsafe_code)]

mod armed;
mod compile;
mod figures;
mod folders;
mod launch;
mod measure;
mod options;
mod report;
mod results;
mod statistics;
mod third_party;
mod variant;
mod workload;

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_results::{machine, write_section, write_whole};
use unpick_problem::Problem;

use crate::options::Options;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}

fn run(options: &Options) -> Result<ExitCode, Problem> {
    if options.armed {
        return armed::run(options);
    }
    let load_before = machine::load();
    let results = measure::measure(options)?;
    if let Some(file) = &options.samples {
        write_whole(file, &results.tab_separated())?;
    }
    let section = report::section(options, &results, &load_before);
    println!("{section}");
    if let Some(file) = &options.out {
        write_section(file, "bench/overhead", &section)?;
    }
    let failures = results.failures();
    for failure in &failures {
        eprintln!("{failure}");
    }
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
