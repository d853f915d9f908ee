//! What the runtime left behind where it could not record: `<process>.failed`, one line that says why.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

/// The runtime writes one short line.
const LONGEST: u64 = 1000;

/// A process that runs with our runtime but was not recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// Its process id, as the file is named.
    pub process: String,
    pub why: String,
}

/// All failures of a run.
pub fn failures(folder: &Path) -> Vec<Failure> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut failures: Vec<_> = paths.filter_map(|path| failure(&path)).collect();
    failures.sort_by(|a, b| a.process.cmp(&b.process));
    failures
}

fn failure(path: &Path) -> Option<Failure> {
    path.extension().filter(|extension| *extension == "failed")?;
    let mut text = Vec::new();
    File::open(path).ok()?.take(LONGEST).read_to_end(&mut text).ok()?;
    let why = String::from_utf8_lossy(&text).trim().to_owned();
    Some(Failure { process: path.file_stem()?.to_string_lossy().into_owned(), why })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_runtime_left_is_found() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("17.failed"), "no memory (error 12)\n").unwrap();
        fs::write(folder.path().join("18-0.events"), "").unwrap();
        let expected = Failure { process: "17".to_owned(), why: "no memory (error 12)".to_owned() };
        assert_eq!(failures(folder.path()), [expected]);
    }
}
