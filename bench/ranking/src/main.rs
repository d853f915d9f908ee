//! The command of the ranking benchmark.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_ranking::options::Options;
use unpick_bench_ranking::run;
use unpick_bench_results::ended;

fn main() -> ExitCode {
    ended(run(&Options::parse()))
}
