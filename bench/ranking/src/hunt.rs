//! One hunt by the real command, and what it says at its end.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use unpick_problem::Problem;
use unpick_subjects::Subject;

use crate::stress::Rate;

/// How far a hunt goes.
pub enum Bound<'a> {
    /// Until it has enough, at most this long.
    Time(&'a str),
    Runs(u32),
}

pub struct Hunt<'a> {
    pub unpick: &'a Path,
    pub subject: &'a Subject,
    pub program: &'a Path,
    pub store: PathBuf,
    pub bound: Bound<'a>,
    /// A hung run is a failing one after this long.
    pub timeout: &'a str,
}

/// The last line of `hunt --json-lines`, as far as it is needed.
#[derive(Debug, Deserialize)]
pub struct Ended {
    pub runs: Runs,
    pub without_delays: Rate,
    pub with_delays: Rate,
    pub duration_ms: u64,
    pub exit_code: u8,
}

#[derive(Debug, Deserialize)]
pub struct Runs {
    pub failed: u32,
}

impl Hunt<'_> {
    /// Hunts into an empty store.
    pub fn run(&self) -> Result<Ended, Problem> {
        let _ = std::fs::remove_dir_all(&self.store);
        let mut command = Command::new(self.unpick);
        command.args(["hunt", "--json-lines", "--no-confirm", "--timeout", self.timeout]);
        match self.bound {
            Bound::Time(time) => command.args(["--time", time]),
            Bound::Runs(runs) => {
                let runs = runs.to_string();
                command.args(["--runs", &runs, "--failing", &runs, "--passing", &runs])
            }
        };
        command.arg("--store").arg(&self.store).arg("--").arg(self.program);
        command.args(&self.subject.arguments);
        let output = command.output().map_err(|error| self.no_result(&error.to_string()))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let last = text.lines().last().unwrap_or_default();
        serde_json::from_str(last).map_err(|error| {
            let stderr = String::from_utf8_lossy(&output.stderr);
            self.no_result(&format!("{error}; it said: {stderr}"))
        })
    }

    fn no_result(&self, why: &str) -> Problem {
        Problem::own_fault(format!("the hunt of {} gave no result", self.subject.name))
            .at("program", self.program.display())
            .why(why)
    }
}
