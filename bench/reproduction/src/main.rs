//! Reproduction benchmark: how often does a known bug show when its order is forced?
//!
//! Takes   `subjects/`, built with and without what forces the order.
//! Gives   per part a section of docs/RESULTS.md (with `--out`) and the same on the terminal.
//! Misses  bugs of which no subject is known.
//! Cost    some seconds per subject; those that hang take a second per run.
#![forbid(unsafe_code)]

mod forcing;
mod library;
mod options;

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_results::{ended, write_section};
use unpick_problem::Problem;

use crate::options::{Options, Part};

fn main() -> ExitCode {
    ended(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Problem> {
    for part in options.parts() {
        let section = match part {
            Part::Library => library::section(options)?,
            Part::Forcing => forcing::section(options)?,
        };
        println!("{section}");
        if let Some(file) = &options.out {
            write_section(file, part.benchmark(), &section)?;
        }
    }
    Ok(())
}
