//! The communication graphs of a run on disk: `graphs.bin`, beside its patterns.
//!
//! Runs of earlier versions have none: that is no problem as long as their recordings are there.

use std::path::Path;

use unpick_analyses::communication::RunGraphs;
use unpick_problem::Problem;

use crate::patterns::{read_condensed, write_condensed};

/// Name of the file in the folder of a run.
pub const GRAPHS_FILE: &str = "graphs.bin";

pub fn write_graphs(folder: &Path, graphs: &RunGraphs) -> Result<(), Problem> {
    write_condensed(&folder.join(GRAPHS_FILE), &graphs.to_bytes())
}

/// The graphs of a run; none if it has no such file.
pub fn read_graphs(folder: &Path) -> Result<Option<RunGraphs>, Problem> {
    let path = folder.join(GRAPHS_FILE);
    if !path.exists() {
        return Ok(None);
    }
    RunGraphs::from_bytes(&read_condensed(&path)?, &path.to_string_lossy()).map(Some)
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_analyses::communication::{Collector, GraphOptions};

    #[test]
    fn graphs_come_back_as_they_were() {
        let folder = tempfile::tempdir().unwrap();
        let graphs = Collector::new(GraphOptions::default()).finish();
        assert_eq!(read_graphs(folder.path()).unwrap(), None);
        write_graphs(folder.path(), &graphs).unwrap();
        assert_eq!(read_graphs(folder.path()).unwrap(), Some(graphs));
        std::fs::write(folder.path().join(GRAPHS_FILE), "damaged").unwrap();
        assert!(read_graphs(folder.path()).is_err());
    }
}
