//! The command line: one place per option, with name, default and help.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Forces the known bugs of the subjects and counts how often they show.
#[derive(Debug, Parser)]
#[command(name = "unpick-bench-reproduction")]
pub struct Options {
    /// Only these subjects (comma-separated or repeated)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,

    /// Only this part (repeated: these)
    #[arg(long, value_name = "PART")]
    part: Vec<Part>,

    /// Runs of each program
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub runs: u32,

    /// Where programs are built
    #[arg(long, value_name = "DIR", default_value = "target/reproduction")]
    pub work: PathBuf,

    /// Replace this benchmark's sections in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What forces the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Breakpoints in the sources of the subjects
    Library,
}

impl Part {
    /// Whose section of the results it is.
    pub fn benchmark(self) -> &'static str {
        match self {
            Part::Library => "bench/reproduction library",
        }
    }
}

impl Options {
    /// The parts chosen, all if none was.
    pub fn parts(&self) -> Vec<Part> {
        if self.part.is_empty() { Part::value_variants().to_vec() } else { self.part.clone() }
    }

    pub fn has(&self, subject: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|name| name == subject)
    }
}
