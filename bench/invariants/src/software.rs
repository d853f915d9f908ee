//! AVIO in software: `unpick train` and `unpick watch`, as a user has them.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use unpick_findings::{Frame, ViolatedInvariant};
use unpick_problem::Problem;

use crate::command::{Delays, Program, fresh_folder, output, output_of_training, text};

/// What was learned about a program.
pub struct Trained<'a> {
    unpick: &'a Path,
    program: &'a Program,
    folder: PathBuf,
    pub invariants: u64,
    pub passed: u64,
}

#[derive(Deserialize)]
struct TrainingTold {
    invariants: u64,
    runs: TrainingRuns,
}

#[derive(Deserialize)]
struct TrainingRuns {
    passed: u64,
}

/// One run after training, as `unpick watch --json` tells it.
#[derive(Deserialize)]
pub struct Watched {
    outcome: serde_json::Value,
    pub violations: Vec<ViolatedInvariant>,
}

impl Watched {
    pub fn failed(&self) -> bool {
        self.outcome != serde_json::json!({ "exit": { "code": 0 } })
    }
}

impl<'a> Trained<'a> {
    /// Trains with that many runs, settled or not.
    pub fn by_runs(
        unpick: &'a Path,
        program: &'a Program,
        folder: PathBuf,
        runs: u32,
    ) -> Result<Trained<'a>, Problem> {
        let folder = fresh_folder(folder)?;
        let runs = runs.to_string();
        let (unpick_word, store) = (unpick.to_string_lossy(), folder.to_string_lossy());
        let command = [
            &*unpick_word,
            "train",
            "--quiet",
            "--json",
            "-",
            "--runs",
            &runs,
            "--settled-after",
            &runs,
            "--store",
            &store,
            "--",
        ];
        let output = output_of_training(&command, &program.path, &program.training)?;
        let told: TrainingTold = serde_json::from_slice(&output.stdout)
            .map_err(|error| no_result(program, &format!("{error}: {}", text(&output.stderr))))?;
        let (invariants, passed) = (told.invariants, told.runs.passed);
        Ok(Trained { unpick, program, folder, invariants, passed })
    }

    /// Watches one run with the other input.
    pub fn watch(&self, delays: Delays) -> Result<Watched, Problem> {
        let json = self.folder.join("watched.json");
        let _ = fs::remove_file(&json);
        let (unpick, store, file) =
            (self.unpick.to_string_lossy(), self.folder.to_string_lossy(), json.to_string_lossy());
        let watch = [&*unpick, "watch", "--quiet", "--json", &file, "--store", &store];
        let command = [&watch[..], delays.options(), &["--"]].concat();
        let output = output(&command, &self.program.path, &self.program.detection)?;
        let told = fs::read(&json).unwrap_or_default();
        serde_json::from_slice(&told)
            .map_err(|error| no_result(self.program, &format!("{error}: {}", text(&output.stderr))))
    }
}

/// Where a violation happened: the I-access, and those of other threads that were told, the deciding one first.
pub fn places(violation: &ViolatedInvariant) -> Option<(&Frame, Vec<&Frame>)> {
    let this = &violation.accesses.last()?.frame;
    let deciding = violation.accesses.get(violation.deciding)?;
    let others = violation.accesses.iter().filter(|access| access.role != 1);
    let remote = [deciding].into_iter().chain(others);
    Some((this, remote.map(|access| &access.frame).collect()))
}

fn no_result(program: &Program, why: &str) -> Problem {
    Problem::own_fault("unpick gave no result").at("program", program.path.display()).why(why)
}
