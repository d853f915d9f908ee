//! What is to be dumped: a run of the store, a run folder, or one event file.

use std::path::{Path, PathBuf};

use unpick_problem::Problem;
use unpick_recording::{Run, RunInfo};
use unpick_run_store::{Store, run_number};

/// The event files to dump, and what is known of their run.
pub struct Selected {
    /// The number of the run, or its folder.
    pub name: String,
    /// Not there for an event file given by itself.
    pub info: Option<RunInfo>,
    pub event_files: Vec<PathBuf>,
}

impl Selected {
    /// `named`: what the user gave; without it, the latest run.
    pub fn find(named: Option<&Path>, store: &Store) -> Result<Selected, Problem> {
        let Some(named) = named else { return Self::run(&store.latest()?) };
        if named.is_dir() {
            return Self::run(named);
        }
        if named.is_file() {
            return Ok(Self::file(named));
        }
        match run_number(named).filter(|_| named.components().count() == 1) {
            Some(number) => Self::run(&store.run(number)?),
            None => Err(missing(named)),
        }
    }

    fn run(folder: &Path) -> Result<Selected, Problem> {
        let run = Run::open(folder)?;
        let name = match run_number(folder) {
            Some(number) => number.to_string(),
            None => folder.display().to_string(),
        };
        Ok(Selected {
            name,
            info: Some(run.info().clone()),
            event_files: run.event_files().to_owned(),
        })
    }

    fn file(path: &Path) -> Selected {
        let name = path.display().to_string();
        Selected { name, info: None, event_files: vec![path.to_owned()] }
    }
}

fn missing(named: &Path) -> Problem {
    Problem::usage("there is no such run or file")
        .at("file", named.display())
        .why("it is neither the number of a run, nor a run folder, nor an event file")
        .next("look at the runs there are: ls .unpick/runs")
}
