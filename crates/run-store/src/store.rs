//! The folder that holds all runs: `.unpick/runs/0001`, `.unpick/runs/0002`, …
//!
//! Takes   its path.      Gives  a new folder for a run, or the folder of an earlier one.
//!
//! Making a folder is the lock: of two runs that want the same number one gets it, the other the next.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

use unpick_problem::Problem;

use crate::in_use::hold_shared;
use crate::marked::create_marked;

const RUNS: &str = "runs";
/// A store that has no room for this much has no room for a recording.
const PROBE_BYTES: usize = 1 << 20;
/// The program may make more runs at once than this only by trying to.
const MOST_TRIES: u32 = 10_000;

/// A folder of runs.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
    adding: Arc<Adding>,
}

/// What is remembered from one new run to the next.
#[derive(Debug, Default)]
struct Adding {
    /// As long as it is there nobody removes runs; `None` where there are no locks.
    hold: OnceLock<Option<File>>,
    /// No number up to this one is free. Listing all runs for each new one would take longer and longer.
    last_number: AtomicU64,
}

impl Store {
    pub fn at(folder: impl Into<PathBuf>) -> Store {
        Store { folder: folder.into(), adding: Arc::default() }
    }

    /// Where a store is unless the user says otherwise.
    pub fn default_folder() -> PathBuf {
        PathBuf::from(".unpick")
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn runs_folder(&self) -> PathBuf {
        self.folder.join(RUNS)
    }

    /// Creates the folder unless it is there; a new one is ignored by version control and backups.
    pub fn create(&self) -> io::Result<()> {
        create_marked(&self.folder)
    }

    /// Makes the folder of a new run, and makes sure that something can be written there.
    pub fn new_run(&self) -> Result<PathBuf, Problem> {
        let unwritable = |error| cannot_write(&self.folder, &error);
        self.create().map_err(unwritable)?;
        fs::create_dir_all(self.runs_folder()).map_err(unwritable)?;
        // The runtime needs an absolute path: the program may change its working folder.
        let runs = self.runs_folder().canonicalize().map_err(unwritable)?;
        self.adding.hold.get_or_init(|| hold_shared(&runs));
        let folder = self.adding.next_folder(&runs).map_err(unwritable)?;
        if let Err(error) = try_to_write(&folder) {
            let _ = fs::remove_dir_all(&folder);
            return Err(cannot_write(&self.folder, &error));
        }
        Ok(folder)
    }

    /// The folder of the run with this number.
    pub fn run(&self, number: u64) -> Result<PathBuf, Problem> {
        let found = self.numbered().into_iter().find(|(run, _)| *run == number);
        found.map(|(_, folder)| folder).ok_or_else(|| self.no_such_run(number))
    }

    /// The folder of the run made last.
    pub fn latest(&self) -> Result<PathBuf, Problem> {
        self.numbered().pop().map(|(_, folder)| folder).ok_or_else(|| self.no_runs())
    }

    /// All runs, by number.
    pub(crate) fn numbered(&self) -> Vec<(u64, PathBuf)> {
        let mut runs = numbered_folders(&self.runs_folder()).unwrap_or_default();
        runs.sort();
        runs
    }

    fn no_such_run(&self, number: u64) -> Problem {
        let problem = Problem::usage(format!("there is no run {number}"))
            .at("folder", self.runs_folder().display());
        match self.numbered().last() {
            Some((last, _)) => problem
                .why(format!("the last run is {last}"))
                .next("leave the number out to see that one: unpick dump"),
            None => {
                problem.why("there are no runs yet").next("record one: unpick record -- PROGRAM")
            }
        }
    }

    fn no_runs(&self) -> Problem {
        Problem::usage("there are no runs yet")
            .at("folder", self.runs_folder().display())
            .next("record one: unpick record -- PROGRAM")
    }
}

/// The number of a run from its folder, as users write it.
pub fn run_number(folder: &Path) -> Option<u64> {
    folder.file_name()?.to_str()?.parse().ok()
}

fn numbered_folders(runs: &Path) -> io::Result<Vec<(u64, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(runs)? {
        let path = entry?.path();
        found.extend(run_number(&path).map(|number| (number, path)));
    }
    Ok(found)
}

impl Adding {
    fn next_folder(&self, runs: &Path) -> io::Result<PathBuf> {
        let mut number = match self.last_number.load(Relaxed) {
            0 => numbered_folders(runs)?.into_iter().map(|(number, _)| number).max().unwrap_or(0),
            known => known,
        };
        for _ in 0..MOST_TRIES {
            number = number.saturating_add(1);
            let folder = runs.join(format!("{number:04}"));
            match fs::create_dir(&folder) {
                Ok(()) => {
                    self.last_number.fetch_max(number, Relaxed);
                    return Ok(folder);
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::other("no free number was found"))
    }
}

/// Notices a full disk now rather than in the middle of the run.
fn try_to_write(folder: &Path) -> io::Result<()> {
    let path = folder.join("probe");
    let mut file = File::create(&path)?;
    file.write_all(&vec![0; PROBE_BYTES])?;
    drop(file);
    fs::remove_file(path)
}

fn cannot_write(folder: &Path, error: &io::Error) -> Problem {
    let advice = match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some space, or choose another folder"
        }
        _ => "choose a folder you can write to",
    };
    Problem::own_fault("the run cannot be stored; the program was not started")
        .at("folder", folder.display())
        .why(error)
        .next(format!("{advice}: --store DIR"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_numbered_one_after_the_other() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        assert!(store.latest().is_err());
        let names: Vec<_> = (0..3).map(|_| store.new_run().unwrap()).collect();
        assert!(names[0].ends_with("runs/0001"));
        assert!(names[2].is_absolute());
        assert_eq!(store.latest().unwrap(), names[2]);
        assert_eq!(store.run(2).unwrap(), names[1]);
        assert!(store.run(9).unwrap_err().to_string().contains("the last run is 3"));
    }

    #[test]
    fn many_at_once_get_different_folders() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        let makers: Vec<_> = (0..8)
            .map(|_| {
                let store = store.clone();
                std::thread::spawn(move || (0..5).map(|_| store.new_run().unwrap()).collect())
            })
            .collect();
        let mut folders: Vec<PathBuf> = makers
            .into_iter()
            .flat_map(|maker| maker.join().unwrap_or_else(|_| Vec::new()))
            .collect();
        folders.sort();
        folders.dedup();
        assert_eq!(folders.len(), 40);
    }

    #[test]
    fn numbers_beyond_four_digits_stay_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::at(folder.path());
        fs::create_dir_all(folder.path().join("runs/9999")).unwrap();
        assert!(store.new_run().unwrap().ends_with("runs/10000"));
        assert!(store.new_run().unwrap().ends_with("runs/10001"));
        assert!(store.latest().unwrap().ends_with("runs/10001"));
    }

    #[test]
    fn a_store_that_cannot_be_made_is_our_fault() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let problem = Store::at(file.path().join("below")).new_run().unwrap_err();
        assert_eq!(problem.exit_code(), unpick_problem::exit::OWN_FAULT);
    }
}
