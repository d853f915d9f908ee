//! The command of the reconstruction benchmark.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_ranking::reconstruction::{Options, run};

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}
