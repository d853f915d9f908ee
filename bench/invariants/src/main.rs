//! Invariants benchmark: does AVIO find its bugs, where race detectors are silent, and what does it report falsely?
//!
//! Takes   six subjects after AVIO's Table 3, six parallel kernels of bench/overhead, the `unpick` command, valgrind and gcc.
//! Gives   what each tool reports; with targets; on the terminal and (with `--out`) as a section of docs/RESULTS.md.
//! Misses  how the figures vary: everything is trained once.
//! Cost    some minutes per subject, most of it for runs until the bug shows.
#![forbid(unsafe_code)]

mod bugs;
mod command;
mod hardware;
mod kernels;
mod options;
mod peers;
mod report;
mod software;

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
    let load_before = machine::load();
    let bugs = bugs::measure(options)?;
    let kernels = kernels::measure(options)?;
    let section = report::section(&bugs, &kernels, options, &load_before);
    println!("{section}");
    options.out.as_ref().map_or(Ok(()), |file| write_section(file, "bench/invariants", &section))
}
