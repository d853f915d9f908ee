//! The verbs of the real command, as far as they are measured.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde::{Deserialize, Serialize};
use unpick_findings::Findings;
use unpick_problem::{Problem, exit};

/// Forced runs of a check.
const CHECKED_BY: u32 = 20;

/// The command, in the folder of one subject.
pub struct Unpick<'a> {
    pub command: &'a Path,
    /// Where it is run; the store is inside.
    pub folder: PathBuf,
}

/// What `unpick reproduce --json` says.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Reproduced {
    pub runs: u32,
    pub hits: u32,
    pub failed: u32,
    pub duration_ms: f64,
    pub median_until_hit_ms: Option<f64>,
    pub left_alone: Option<LeftAlone>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LeftAlone {
    pub runs: u32,
    pub failed: u32,
    pub duration_ms: f64,
}

impl Unpick<'_> {
    fn run(&self, words: &[&str]) -> Result<Output, Problem> {
        let mut command = Command::new(self.command);
        command.current_dir(&self.folder).args(words);
        command.output().map_err(|error| self.failed(words, &error.to_string()))
    }

    fn failed(&self, words: &[&str], why: &str) -> Problem {
        Problem::own_fault(format!("unpick {} gave no result", words.join(" ")))
            .at("folder", self.folder.display())
            .why(why)
    }

    pub fn findings(&self) -> Option<Findings> {
        let text = fs::read_to_string(self.folder.join(".unpick/findings.json")).ok()?;
        Findings::from_json(&text).ok()
    }

    /// Forces finding 1, or the deadlock of a run.
    pub fn reproduce(&self, deadlock: Option<u32>, runs: u32) -> Result<Reproduced, Problem> {
        let (runs, deadlock) = (runs.to_string(), deadlock.map(|run| run.to_string()));
        let mut words = vec!["reproduce", "--quiet", "--compare", "--runs", &runs, "--json", "-"];
        match &deadlock {
            Some(run) => words.extend(["--run", run]),
            None => words.push("1"),
        }
        let output = self.run(&words)?;
        let text = String::from_utf8_lossy(&output.stdout);
        // Without a result: nothing can be forced, and why is on the other stream.
        serde_json::from_str(&text)
            .map_err(|_| self.failed(&words, &String::from_utf8_lossy(&output.stderr)))
    }

    /// Confirms the leading findings; gives all.
    pub fn confirm(&self, runs: u32) -> Result<Findings, Problem> {
        let runs = runs.to_string();
        let words = ["confirm", "--quiet", "--runs", &runs, "--json", "-"];
        let output = self.run(&words)?;
        let text = String::from_utf8_lossy(&output.stdout);
        Findings::from_json(&text).map_err(|error| self.failed(&words, &format!("{error:?}")))
    }

    /// Keeps a reproducer; gives its file. That no run failed by it when it was made is seen in the check.
    pub fn pin(&self, deadlock: Option<u32>) -> Result<PathBuf, Problem> {
        let run = deadlock.map(|run| run.to_string());
        let mut words = vec!["pin"];
        match &run {
            Some(run) => words.extend(["--run", run]),
            None => words.push("1"),
        }
        let output = self.run(&words)?;
        let is_written =
            [Some(0), Some(exit::DOES_NOT_APPLY.into())].contains(&output.status.code());
        if !is_written {
            return Err(self.failed(&words, &String::from_utf8_lossy(&output.stderr)));
        }
        let file = self.folder.join("reproducer.toml");
        fs::write(&file, &output.stdout)
            .map_err(|error| self.failed(&words, &error.to_string()))?;
        Ok(file)
    }

    /// Checks a program.
    pub fn check(&self, file: &Path, program: &Path, arguments: &[String]) -> Option<Checked> {
        let (file, program) = (file.to_string_lossy(), program.to_string_lossy());
        let runs = CHECKED_BY.to_string();
        let mut words =
            vec!["check", &file, "--quiet", "--runs", &runs, "--json", "-", "--", &program];
        words.extend(arguments.iter().map(String::as_str));
        let output = self.run(&words).ok()?;
        let answers: Answers = serde_json::from_slice(&output.stdout).ok()?;
        answers.files.into_iter().next()
    }
}

/// What `unpick check --json` says of one file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Checked {
    pub answer: String,
    pub runs: u32,
    pub failed: u32,
}

#[derive(Deserialize)]
struct Answers {
    files: Vec<Checked>,
}
