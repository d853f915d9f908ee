//! The command line: one place per option, with name, default and help.

use std::path::PathBuf;

use clap::Parser;
use unpick_analyses::invariants::CacheShape;
use unpick_bench_ranking::options::unpick_command;
use unpick_problem::Problem;

/// Trains invariants, watches programs, and compares with race detectors.
#[derive(Debug, Parser)]
#[command(name = "unpick-bench-invariants")]
pub struct Options {
    /// Only these subjects and kernels (comma-separated or repeated)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    only: Vec<String>,

    /// Training runs
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub training: u32,

    /// Runs until the bug shows, at most
    #[arg(long, value_name = "N", default_value_t = 500)]
    pub most_runs: u32,

    /// Runs of a kernel after training
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub kernel_runs: u32,

    /// Runs of each race detector
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub peer_runs: u32,

    /// Bytes in a line of the simulated cache
    #[arg(long, value_name = "BYTES", default_value_t = 64)]
    pub line: u64,

    /// Bytes in the simulated cache of each thread
    #[arg(long, value_name = "BYTES", default_value_t = 32 << 10)]
    pub cache: u64,

    /// Where programs and what was learned are kept
    #[arg(long, value_name = "DIR", default_value = "target/invariants")]
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

    pub fn cache_shape(&self) -> Result<CacheShape, Problem> {
        CacheShape::new(self.line, self.cache).ok_or_else(|| {
            Problem::usage("such a cache makes no sense")
                .at("option", format!("--line {} --cache {}", self.line, self.cache))
                .next("a line is a power of two from 4 bytes, a cache holds at least four lines")
        })
    }
}
