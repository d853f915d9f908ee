//! The command of the reconstruction benchmark.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use clap::Parser;
use unpick_bench_ranking::reconstruction::{Options, run};
use unpick_bench_results::ended;

fn main() -> ExitCode {
    ended(run(&Options::parse()))
}
