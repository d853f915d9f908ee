//! Everything an importer does with a file it does not trust.

use std::fs;
use std::path::Path;

use unpick_run_store::{Store, read_graphs, read_patterns, unpack};

/// No mutant of a small file needs more.
const MOST_BYTES: u64 = 16 << 20;

/// Imports a file with these bytes. Says whether it was accepted; then all of it can be read, else nothing is left.
pub fn exercise(bytes: &[u8]) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (file, goal) = (folder.path().join("export"), folder.path().join("below/store"));
    fs::write(&file, bytes).unwrap();
    let Ok(unpacked) = unpack(&file, &goal, MOST_BYTES) else {
        assert_eq!(entries(&folder.path().join("below")), 0, "something was left behind");
        assert_eq!(entries(folder.path()), 2, "something was written elsewhere");
        return false;
    };
    unpacked.put_in_place().unwrap();
    assert_eq!(entries(&folder.path().join("below")), 1);
    let (runs, problems) = Store::at(&goal).runs();
    assert!(problems.is_empty(), "{problems:?}");
    for run in runs {
        if run.folder.join("patterns.bin").exists() {
            read_patterns(&run.folder).unwrap();
        }
        // Graphs are looked at when they are needed; those that cannot be read are told then.
        let _ = read_graphs(&run.folder);
    }
    true
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}
