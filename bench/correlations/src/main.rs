//! Correlations benchmark: how fast sources are read, how many correlations are true, whether forgotten updates are found.
//!
//! Takes   SQLite, RocksDB, OpenSSL and Tokio as cargo fetches them, the `unpick` command, `judged.toml` and `planted.toml`.
//! Gives   lines per second, memory, shares and ranks; with targets; on the terminal and (with `--out`) as a section of docs/RESULTS.md.
//! Misses  how times vary: the least of three is told.
//! Cost    some minutes, most of them for RocksDB.
#![forbid(unsafe_code)]

mod bases;
mod judged;
mod measured;
mod openssl;
mod planted;
mod report;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use unpick_bench_results::{ended, machine, write_section};
use unpick_problem::Problem;

use crate::bases::Base;

/// How fast, how true, how useful `unpick correlate` is.
#[derive(Parser)]
struct Options {
    /// Only this code base: sqlite, rocksdb, openssl or tokio
    #[arg(long)]
    only: Option<String>,
    /// Where code bases are put
    #[arg(long, default_value = "target/bench-correlations")]
    folder: PathBuf,
    /// The command that is measured
    #[arg(long, default_value = "target/release/unpick")]
    unpick: PathBuf,
    /// The file with results, whose section is replaced
    #[arg(long)]
    out: Option<PathBuf>,
    /// Print the drawn correlations that nobody has judged, as a beginning for judged.toml
    #[arg(long)]
    unjudged: bool,
    /// Print the drawn correlations that nobody has judged blind, as a beginning for judged_blind.toml
    #[arg(long, conflicts_with = "unjudged")]
    unjudged_blind: bool,
    /// Another seed draws other correlations
    #[arg(long, default_value_t = judged::SEED)]
    seed: u64,
}

fn main() -> ExitCode {
    ended(run(&Options::parse()))
}

fn run(options: &Options) -> Result<(), Problem> {
    let load_before = machine::load();
    let mut results = Vec::new();
    for base in Base::all(options.only.as_deref(), &options.folder)? {
        let measured = measured::correlate(&options.unpick, &base.folder, &options.folder)?;
        let again = measured::correlate_again(&options.unpick, &base.folder, &options.folder)?;
        let verdicts = judged::judge(base.name, &measured.list, options.seed)?;
        if options.unjudged || options.unjudged_blind {
            verdicts.print_unjudged(options.unjudged_blind);
        }
        let ranks = planted::find(&options.unpick, &base, &options.folder)?;
        results.push(report::Result { name: base.name, measured, again, verdicts, ranks });
    }
    measured::tidy_up(&options.folder);
    let section = report::section(&results, &load_before);
    println!("{section}");
    options.out.as_ref().map_or(Ok(()), |file| write_section(file, "bench/correlations", &section))
}

/// A step that is needed for everything else, and failed.
fn failed(what: &str, why: impl std::fmt::Display) -> Problem {
    Problem::own_fault(format!("the benchmark cannot go on: {what}")).why(why)
}
