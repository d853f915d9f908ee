//! The command line: one place per option, with name, default and help.

use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use unpick_problem::Problem;
use unpick_subjects::Subject;

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

    /// How long one hunt may take, as `unpick hunt --time` has it
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub time: String,

    /// Take what was measured before, where it is there
    #[arg(long)]
    pub again: bool,

    /// The `unpick` command [default: the one beside this program]
    #[arg(long, value_name = "FILE")]
    unpick: Option<PathBuf>,

    /// Replace this benchmark's sections in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// What forces the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Part {
    /// Breakpoints in the sources of the subjects
    Library,
    /// `unpick reproduce` and `confirm`, from the findings of a hunt
    Forcing,
}

impl Part {
    /// Whose section of the results it is.
    pub fn benchmark(self) -> &'static str {
        match self {
            Part::Library => "bench/reproduction library",
            Part::Forcing => "bench/reproduction forcing",
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

    /// The `unpick` command to measure.
    pub fn unpick(&self) -> Result<PathBuf, Problem> {
        unpick_bench_ranking::options::unpick_command(self.unpick.as_deref())
    }

    /// Where programs are built: they are run elsewhere than here.
    pub fn work(&self) -> Result<PathBuf, Problem> {
        std::path::absolute(&self.work).map_err(|error| cannot_use(&self.work, &error))
    }

    /// Where a subject is hunted.
    pub fn folder_of(&self, subject: &Subject) -> Result<PathBuf, Problem> {
        let folder = self.work()?.join("forcing").join(&subject.name);
        std::fs::create_dir_all(&folder).map_err(|error| cannot_use(&folder, &error))?;
        Ok(folder)
    }
}

fn cannot_use(folder: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("the work folder cannot be used").at("folder", folder.display()).why(error)
}
