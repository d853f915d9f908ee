//! The condensed result of a run on disk: `patterns.bin`.
//!
//! It is written under another name first: a reader finds a whole one or none.

use std::fs;
use std::io;
use std::path::Path;

use unpick_analyses::RunPatterns;
use unpick_problem::Problem;

/// Name of the file in the folder of a run.
pub const PATTERNS_FILE: &str = "patterns.bin";

pub fn write_patterns(folder: &Path, patterns: &RunPatterns) -> Result<(), Problem> {
    write_condensed(&folder.join(PATTERNS_FILE), &patterns.to_bytes())
}

/// Writes what was condensed of a run.
pub(crate) fn write_condensed(path: &Path, bytes: &[u8]) -> Result<(), Problem> {
    let unfinished = path.with_extension("unfinished");
    let written = fs::write(&unfinished, bytes).and_then(|()| fs::rename(&unfinished, path));
    written.map_err(|error| {
        // It may not be there, and helps nobody if it is.
        let _ = fs::remove_file(&unfinished);
        cannot_write(path, &error)
    })
}

pub fn read_patterns(folder: &Path) -> Result<RunPatterns, Problem> {
    let path = folder.join(PATTERNS_FILE);
    let bytes = read_condensed(&path)?;
    RunPatterns::from_bytes(&bytes, &path.to_string_lossy())
}

pub(crate) fn read_condensed(path: &Path) -> Result<Vec<u8>, Problem> {
    fs::read(path).map_err(|error| cannot_read(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("what was found in a run cannot be stored")
        .at("file", path.display())
        .why(error)
        .next("free some space, or keep less: unpick hunt --keep failing -- PROGRAM")
}

fn cannot_read(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("what was found in a run cannot be read")
        .at("file", path.display())
        .why(error)
        .next("hunt again: unpick hunt -- PROGRAM")
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_analyses::{Collector, Options};

    #[test]
    fn patterns_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let patterns = Collector::new(Options::default()).finish();
        assert!(read_patterns(folder.path()).is_err());
        write_patterns(folder.path(), &patterns).unwrap();
        assert_eq!(read_patterns(folder.path()).unwrap(), patterns);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
