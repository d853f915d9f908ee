//! The command line: one place per option, with name, default and help.

use std::path::PathBuf;

use clap::Parser;
use unpick_bench_ranking::options::unpick_command;
use unpick_problem::Problem;

/// Compares race detectors with what is true.
#[derive(Debug, Parser)]
#[command(name = "unpick-bench-races")]
pub struct Options {
    /// Only these programs and subjects (comma-separated or repeated)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,

    /// Runs of each program by each detector
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub runs: u32,

    /// Runs of each subject with several variables: happens-before knows only orders that it has seen
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub subject_runs: u32,

    /// Only run the tests of healthy libraries, fetched by cargo, and show what is reported about each
    #[arg(long)]
    pub healthy: bool,

    /// Show what was reported where a verdict is wrong
    #[arg(long)]
    pub verbose: bool,

    /// Where programs and runs are kept
    #[arg(long, value_name = "DIR", default_value = "target/races")]
    work: PathBuf,

    /// The `unpick` command [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    unpick: Option<PathBuf>,

    /// Replace this benchmark's section in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl Options {
    pub fn takes(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| only == name)
    }

    pub fn unpick(&self) -> Result<PathBuf, Problem> {
        unpick_command(self.unpick.as_deref())
    }

    pub fn work(&self) -> PathBuf {
        // Programs are built and run elsewhere than here.
        std::path::absolute(&self.work).unwrap_or_else(|_| self.work.clone())
    }
}
