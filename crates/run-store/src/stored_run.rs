//! A run of the store: number, folder, what `run.json` says.

use std::path::PathBuf;

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::RunInfo;

use crate::store::Store;

/// Name of the file in the folder of a run that hung: what its threads were doing.
pub const HANG_FILE: &str = "hang.json";

/// A run that is in the store.
#[derive(Debug, Clone)]
pub struct StoredRun {
    pub number: u64,
    pub folder: PathBuf,
    pub info: RunInfo,
}

impl StoredRun {
    /// The verdict; a run without one (it is still running, or its hunt was killed) cannot be used.
    pub fn label(&self) -> Label {
        self.info.label.unwrap_or(Label::Unusable)
    }
}

impl Store {
    /// All runs, by number. A run whose description cannot be read is left out, and told.
    pub fn runs(&self) -> (Vec<StoredRun>, Vec<Problem>) {
        let mut runs = Vec::new();
        let mut problems = Vec::new();
        for (number, folder) in self.numbered() {
            match RunInfo::read(&folder) {
                Ok(info) => runs.push(StoredRun { number, folder, info }),
                Err(problem) => problems.push(problem),
            }
        }
        (runs, problems)
    }

    /// The runs of one hunt, or of the latest one; those that still run are not among them.
    pub fn runs_of_hunt(&self, hunt: Option<u64>) -> Result<Vec<StoredRun>, Problem> {
        let mut latest = hunt;
        let mut runs = Vec::new();
        // From the last one back: a hunt is named by its first run, so what is before that need not be read.
        for (number, folder) in self.numbered().into_iter().rev() {
            if latest.is_some_and(|latest| number < latest) {
                break;
            }
            let Ok(info) = RunInfo::read(&folder) else { continue };
            if hunt.is_none() {
                latest = latest.max(info.hunt);
            }
            runs.push(StoredRun { number, folder, info });
        }
        runs.retain(|run| latest.is_some() && run.info.hunt == latest && run.info.label.is_some());
        runs.reverse();
        if runs.is_empty() { Err(self.no_hunt(hunt)) } else { Ok(runs) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_recording::{Outcome, RunOptions};

    fn put(store: &Store, hunt: Option<u64>, label: Option<Label>) -> PathBuf {
        let folder = store.new_run().unwrap();
        let info = RunInfo {
            command: vec!["./bank".to_owned()],
            working_folder: PathBuf::new(),
            started_ms: 0,
            duration_ms: 0,
            outcome: Outcome::Exit { code: 0 },
            options: RunOptions::default(),
            seed: 1,
            unpick_version: String::new(),
            format_version: 2,
            label,
            why: None,
            hunt,
            written_as: None,
            stdin: None,
            judged_by: None,
        };
        info.write(&folder).unwrap();
        folder
    }

    #[test]
    fn the_latest_hunt_is_meant_unless_another_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        put(&store, None, None);
        put(&store, Some(2), Some(Label::Pass));
        put(&store, Some(2), Some(Label::Fail));
        put(&store, Some(4), Some(Label::Fail));
        put(&store, Some(4), None);
        let numbers = |hunt| -> Vec<u64> {
            store.runs_of_hunt(hunt).unwrap().iter().map(|run| run.number).collect()
        };
        assert_eq!(numbers(None), [4]);
        assert_eq!(numbers(Some(2)), [2, 3]);
        let problem = store.runs_of_hunt(Some(1)).unwrap_err().to_string();
        assert!(problem.contains("no hunt 1") && problem.contains("2, 4"), "{problem}");
    }

    #[test]
    fn without_a_name_the_latest_hunt_with_a_failing_run_is_looked_at() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        assert_eq!(store.latest_failing_hunt(), None);
        let problem = store.runs_of_hunt(None).unwrap_err().to_string();
        assert!(problem.contains("there are no hunts yet"), "{problem}");
        put(&store, Some(1), Some(Label::Fail));
        put(&store, Some(2), Some(Label::Fail));
        put(&store, Some(2), Some(Label::Pass));
        put(&store, Some(4), Some(Label::Pass));
        put(&store, None, Some(Label::Fail));
        assert_eq!(store.latest_failing_hunt(), Some(2));
    }

    #[test]
    fn hunts_are_listed_with_their_runs() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        put(&store, Some(1), Some(Label::Fail));
        let damaged = put(&store, Some(1), Some(Label::Fail));
        put(&store, Some(1), Some(Label::Pass));
        put(&store, None, None);
        put(&store, Some(5), None);
        std::fs::write(damaged.join("run.json"), "{").unwrap();
        let (hunts, problems) = store.hunts();
        let counts: Vec<_> = hunts
            .iter()
            .map(|hunt| (hunt.number, hunt.count(Label::Fail), hunt.count(Label::Pass)))
            .collect();
        assert_eq!(counts, [(1, 1, 1), (5, 0, 0)]);
        assert_eq!(problems.len(), 1);
    }

    #[test]
    fn a_run_that_cannot_be_read_does_not_hide_the_others() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        put(&store, None, None);
        let damaged = put(&store, None, None);
        std::fs::write(damaged.join("run.json"), "{").unwrap();
        let (runs, problems) = store.runs();
        assert_eq!((runs.len(), problems.len()), (1, 1));
    }
}
