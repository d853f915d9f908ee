//! The command line of the reconstruction benchmark.

use std::path::PathBuf;

use clap::Parser;
use unpick_problem::Problem;
use unpick_subjects::{Subject, subjects};

/// Compares reconstructions with what is true about the subjects. Hunts nothing: run unpick-bench-ranking first.
#[derive(Debug, Parser)]
#[command(name = "reconstructions")]
pub struct Options {
    /// Only these subjects (comma-separated or repeated)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,

    /// Where unpick-bench-ranking has kept its runs
    #[arg(long, value_name = "DIR", default_value = "target/ranking")]
    pub work: PathBuf,

    /// Also what first reads, first writes and racy look-ups save and lose: three more rounds
    #[arg(long)]
    pub variants: bool,

    /// Say more about each subject: the reconstruction of the bug, and the first of all
    #[arg(long)]
    pub verbose: bool,

    /// Replace this benchmark's section in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl Options {
    /// The subjects chosen that have runs, by name. Those that never fail, and those that hang, have nothing to reconstruct.
    pub fn subjects(&self) -> Result<Vec<Subject>, Problem> {
        let is_chosen =
            |subject: &Subject| self.only.is_empty() || self.only.contains(&subject.name);
        let can_be = |subject: &Subject| subject.pattern.is_some() && !subject.hangs();
        let chosen = subjects().into_iter().filter(|subject| is_chosen(subject) && can_be(subject));
        let chosen: Vec<_> =
            chosen.filter(|subject| self.store_of(subject).join("runs").is_dir()).collect();
        if chosen.is_empty() {
            return Err(Problem::usage("there are no runs of these subjects")
                .at("folder", self.work.display())
                .why("only the runs of a ranking benchmark are looked at")
                .next("cargo run --release -p unpick-bench-ranking, or say where they are: --work DIR"));
        }
        Ok(chosen)
    }

    pub fn store_of(&self, subject: &Subject) -> PathBuf {
        self.work.join("hunt").join(&subject.name)
    }
}
