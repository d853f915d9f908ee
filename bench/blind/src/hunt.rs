//! One hunt by the real command, and what its store says afterwards.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;

use crate::command::{Ended, run, written};

/// Runs of `unpick reproduce`.
pub const FORCED_RUNS: u32 = 50;

/// A reproduction takes seconds; that of a hang as long as its time limit, 50 times.
const REPRODUCE_LIMIT: Duration = Duration::from_secs(1800);

/// Exit codes of a hunt that did its work: nothing failed, findings, nothing correlates.
const GOOD_CODES: [i32; 3] = [0, 66, 67];

/// A program and the folder in which it is hunted.
pub struct Hunt<'a> {
    pub unpick: &'a Path,
    pub folder: &'a Path,
    pub program: PathBuf,
    pub arguments: &'a [String],
}

/// What `unpick reproduce --json` says, as far as it is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Reproduced {
    pub runs: u32,
    pub failed: u32,
}

#[derive(Deserialize)]
struct RunInfo {
    label: Option<String>,
}

impl Hunt<'_> {
    fn store(&self) -> PathBuf {
        self.folder.join("store")
    }

    /// Hunts into an empty store; returns how it ended and how long it took.
    pub fn run(&self, time: &str, limit: Duration) -> std::io::Result<Ended> {
        // It need not be there.
        let _ = fs::remove_dir_all(self.store());
        let mut command = Command::new(self.unpick);
        command.args(["hunt", "--time", time, "--quiet", "--store"]).arg(self.store());
        command.arg("--").arg(&self.program).args(self.arguments);
        // A hunt that does not keep its time is measured; one that never ends must not end the benchmark.
        run(command, self.folder, "hunt", 4 * limit + Duration::from_secs(120))
    }

    /// Whether a hunt did its work; else what it wrote.
    pub fn check(&self, ended: &Ended) -> Result<(), String> {
        let code = ended.status.and_then(|status| status.code());
        let is_good = code.is_some_and(|code| GOOD_CODES.contains(&code));
        let message = || {
            let why = written(self.folder, "hunt.err");
            format!("the hunt ended with {:?}: {why}", ended.status)
        };
        is_good.then_some(()).ok_or_else(message)
    }

    /// The findings; null if nothing was found.
    pub fn findings(&self) -> Value {
        json(&self.store().join("findings.json"))
    }

    /// What the threads of a hung run did.
    pub fn hang(&self, run: u64) -> Value {
        json(&self.store().join(format!("runs/{run:04}/hang.json")))
    }

    /// The labels of all runs, in their order.
    pub fn labels(&self) -> Vec<Option<String>> {
        let entries = fs::read_dir(self.store().join("runs")).into_iter().flatten().flatten();
        let numbered = entries.filter_map(|entry| {
            let number: u64 = entry.file_name().to_str()?.parse().ok()?;
            Some((number, entry.path().join("run.json")))
        });
        let mut files: Vec<(u64, PathBuf)> = numbered.collect();
        files.sort();
        files.iter().map(|(_, file)| label(file)).collect()
    }

    /// Forces the first finding, or the hang of a run. None: it could not be forced.
    pub fn reproduce(&self, hung: Option<u64>) -> Option<Reproduced> {
        let mut command = Command::new(self.unpick);
        command.arg("reproduce");
        match hung {
            Some(run) => command.args(["--run", &run.to_string()]),
            None => command.arg("1"),
        };
        command.args(["--runs", &FORCED_RUNS.to_string(), "--json", "-", "--quiet", "--store"]);
        command.arg(self.store());
        run(command, self.folder, "reproduce", REPRODUCE_LIMIT).ok()?;
        serde_json::from_str(&written(self.folder, "reproduce.out")).ok()
    }
}

fn label(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    serde_json::from_str::<RunInfo>(&text).ok()?.label
}

fn json(file: &Path) -> Value {
    let text = fs::read_to_string(file).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_in_the_order_of_runs() {
        let folder = tempfile::tempdir().unwrap();
        for (number, text) in [(10, r#"{"label":"fail"}"#), (9, r#"{"label":"pass"}"#), (11, "{")] {
            let run = folder.path().join(format!("store/runs/{number:04}"));
            fs::create_dir_all(&run).unwrap();
            fs::write(run.join("run.json"), text).unwrap();
        }
        let hunt = Hunt {
            unpick: Path::new("unpick"),
            folder: folder.path(),
            program: PathBuf::new(),
            arguments: &[],
        };
        let labels = hunt.labels();
        let words: Vec<_> = labels.iter().map(Option::as_deref).collect();
        assert_eq!(words, [Some("pass"), Some("fail"), None]);
        assert_eq!(hunt.findings(), Value::Null);
    }
}
