//! The command of the ranking benchmark.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_ranking::options::Options;
use unpick_bench_ranking::run;

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}
