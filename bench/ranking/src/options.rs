//! The command line: one place per option, with name, default and help.

use std::path::{Path, PathBuf};

use clap::Parser;
use unpick_problem::Problem;
use unpick_subjects::{Subject, subjects};

/// Hunts the subjects and compares what is found with what is true.
#[derive(Debug, Parser)]
#[command(name = "unpick-bench-ranking")]
pub struct Options {
    /// Only these subjects (comma-separated or repeated)
    #[arg(long, value_delimiter = ',', value_name = "NAME")]
    pub only: Vec<String>,

    /// How long one hunt may take, as `unpick hunt --time` has it
    #[arg(long, value_name = "TIME", default_value = "60s")]
    pub time: String,

    /// Runs of the program as it is, for its bare failure rate
    #[arg(long, value_name = "N", default_value_t = 300)]
    pub bare_runs: u32,

    /// Runs of a hunt of the fixed twin
    #[arg(long, value_name = "N", default_value_t = 40)]
    pub fixed_runs: u32,

    /// Hunt and run nothing: rank what the last time has left in the work folder
    #[arg(long)]
    pub again: bool,

    /// With --again: from the recordings, not from the patterns that were found in them then
    #[arg(long, requires = "again")]
    pub anew: bool,

    /// Where programs, runs and what was measured about them are kept
    #[arg(long, value_name = "DIR", default_value = "target/ranking")]
    pub work: PathBuf,

    /// The `unpick` command [default: the one beside this program]
    #[arg(long, value_name = "PATH")]
    pub unpick: Option<PathBuf>,

    /// Say more about each subject: its first findings
    #[arg(long)]
    pub verbose: bool,

    /// Replace this benchmark's section in that file
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

impl Options {
    /// The subjects chosen, by name. Those that hang have no pattern whose rank could be told.
    pub fn subjects(&self) -> Result<Vec<Subject>, Problem> {
        let all: Vec<_> = subjects().into_iter().filter(|subject| !subject.hangs()).collect();
        let is_known = |name: &&String| all.iter().any(|subject| subject.name == **name);
        if let Some(unknown) = self.only.iter().find(|name| !is_known(name)) {
            return Err(Problem::usage(format!("there is no subject {unknown} to rank"))
                .next("see the folders of subjects/; those that hang are not ranked"));
        }
        let is_chosen =
            |subject: &Subject| self.only.is_empty() || self.only.contains(&subject.name);
        Ok(all.into_iter().filter(is_chosen).collect())
    }

    /// The `unpick` command to measure.
    pub fn unpick(&self) -> Result<PathBuf, Problem> {
        unpick_command(self.unpick.as_deref())
    }
}

/// The `unpick` command that was named, or the one beside this program.
pub fn unpick_command(named: Option<&Path>) -> Result<PathBuf, Problem> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("unpick"));
    let path = named.map(Path::to_owned).or_else(beside).unwrap_or_default();
    path.canonicalize().map_err(|error| {
        Problem::usage("the unpick command is not there")
            .at("file", path.display())
            .why(error)
            .next("cargo build --release -p unpick-cli, or say where: --unpick PATH")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(arguments: &[&str]) -> Result<Vec<Subject>, Problem> {
        Options::parse_from(["unpick-bench-ranking"].iter().chain(arguments)).subjects()
    }

    #[test]
    fn every_subject_with_a_pattern_or_without_failures_is_ranked_and_none_that_hangs() {
        let ranked = chosen(&[]).expect("all of them");
        assert!(ranked.iter().all(|subject| subject.pattern.is_some() || subject.never_fails()));
        let hanging = subjects().into_iter().filter(Subject::hangs).count();
        assert_eq!(ranked.len() + hanging, subjects().len());
    }

    #[test]
    fn asking_for_a_subject_that_hangs_is_refused() {
        assert!(chosen(&["--only", "moldyn"]).is_ok());
        assert!(chosen(&["--only", "jigsaw"]).is_err());
    }
}
