//! Who uses a store: runs are removed only while nobody adds any.
//!
//! Takes   the folder of the runs.      Gives  a hold on it: shared by all who add runs, alone for who removes some.
//! Misses  file systems without locks: there nobody is held up.
//!
//! The kernel lets go of a hold when its process ends, however it ends. Programs under test do not inherit it.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use rustix::fs::{FlockOperation, flock};
use unpick_problem::Problem;

/// Nobody adds runs while this is there.
#[derive(Debug)]
pub struct Alone {
    _hold: Option<File>,
}

/// For who adds runs; waits for who removes some. Without it runs are added all the same.
pub(crate) fn hold_shared(runs: &Path) -> Option<File> {
    let folder = File::open(runs).ok()?;
    flock(&folder, FlockOperation::LockShared).ok()?;
    Some(folder)
}

/// For who removes runs; does not wait for who adds some.
pub(crate) fn hold_alone(runs: &Path) -> Result<Alone, Problem> {
    let folder = File::open(runs).map_err(|error| no_runs(runs, &error))?;
    match flock(&folder, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Alone { _hold: Some(folder) }),
        Err(rustix::io::Errno::WOULDBLOCK) => Err(in_use(runs)),
        // No locks here: as if there were nobody else.
        Err(_) => Ok(Alone { _hold: None }),
    }
}

/// The folder under a name that is no run's, so that a reader finds a whole run or none.
pub(crate) fn remove_at_once(runs: &Path, folder: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let doomed = runs.join(format!("{DOOMED}{name}"));
    fs::rename(folder, &doomed)?;
    fs::remove_dir_all(&doomed)
}

/// What a removal that was interrupted has left.
pub(crate) fn remove_doomed(runs: &Path) -> io::Result<()> {
    for entry in fs::read_dir(runs)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(DOOMED) {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

const DOOMED: &str = "removing-";

fn no_runs(runs: &Path, error: &io::Error) -> Problem {
    Problem::usage("there are no runs to remove")
        .at("folder", runs.display())
        .why(error)
        .next("name the store: unpick clean --store DIR")
}

fn in_use(runs: &Path) -> Problem {
    Problem::usage("no runs can be removed: the store is in use")
        .at("folder", runs.display())
        .why("a hunt or a recording is adding runs to it")
        .next("wait until it has ended; a hunt drops old recordings by itself: unpick hunt --keep-bytes SIZE -- PROGRAM")
}
