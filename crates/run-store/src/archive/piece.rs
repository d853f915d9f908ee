//! The pieces of an archive, by name.
//!
//! Takes   a name in an archive.      Gives  which piece it is, if it is one; where it goes in a store.
//!
//! A path in a store is made of numbers, never of a name that was read: no name can lead out of the store.

use std::fmt;
use std::path::{Path, PathBuf};

use unpick_recording::RUN_FILE;

use crate::graphs::GRAPHS_FILE;
use crate::patterns::PATTERNS_FILE;
use crate::stored_run::HANG_FILE;

const MIB: u64 = 1 << 20;

/// A file in an archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Piece {
    Manifest,
    Names,
    Findings,
    RunInfo {
        run: u64,
    },
    Patterns {
        run: u64,
    },
    /// Who communicated with whom; not in archives of earlier versions.
    Graphs {
        run: u64,
    },
    /// What its threads were doing when its time was over.
    Hang {
        run: u64,
    },
    Recording {
        run: u64,
        process: u64,
        image: u64,
    },
}

impl Piece {
    /// The piece with exactly this name.
    pub fn called(name: &str) -> Option<Piece> {
        let parts: Vec<&str> = name.split('/').collect();
        let piece = match parts[..] {
            ["manifest.json"] => Piece::Manifest,
            ["names.json"] => Piece::Names,
            ["findings.json"] => Piece::Findings,
            ["runs", run, file] => Piece::of_run(run.parse().ok()?, file)?,
            _ => return None,
        };
        // One name per piece: `runs/+1` and `runs/1` are none.
        (piece.to_string() == name).then_some(piece)
    }

    fn of_run(run: u64, file: &str) -> Option<Piece> {
        match file {
            RUN_FILE => Some(Piece::RunInfo { run }),
            PATTERNS_FILE => Some(Piece::Patterns { run }),
            GRAPHS_FILE => Some(Piece::Graphs { run }),
            HANG_FILE => Some(Piece::Hang { run }),
            _ => {
                let (process, image) = file.strip_suffix(".events")?.split_once('-')?;
                let (process, image) = (process.parse().ok()?, image.parse().ok()?);
                Some(Piece::Recording { run, process, image })
            }
        }
    }

    /// Its file below a store.
    pub fn below(&self, store: &Path) -> PathBuf {
        store.join(self.to_string())
    }

    /// No piece of this kind is larger; recordings are as large as the whole may be.
    pub fn most_bytes(&self) -> u64 {
        match self {
            Piece::Manifest => MIB,
            Piece::RunInfo { .. } => 4 * MIB,
            Piece::Hang { .. } => 64 * MIB,
            Piece::Patterns { .. } | Piece::Graphs { .. } | Piece::Findings => 256 * MIB,
            Piece::Names => 512 * MIB,
            Piece::Recording { .. } => u64::MAX,
        }
    }
}

impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Piece::Manifest => f.write_str("manifest.json"),
            Piece::Names => f.write_str("names.json"),
            Piece::Findings => f.write_str("findings.json"),
            Piece::RunInfo { run } => write!(f, "runs/{run:04}/{RUN_FILE}"),
            Piece::Patterns { run } => write!(f, "runs/{run:04}/{PATTERNS_FILE}"),
            Piece::Graphs { run } => write!(f, "runs/{run:04}/{GRAPHS_FILE}"),
            Piece::Hang { run } => write!(f, "runs/{run:04}/{HANG_FILE}"),
            Piece::Recording { run, process, image } => {
                write!(f, "runs/{run:04}/{process}-{image}.events")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_piece_has_one_name() {
        let recording = Piece::Recording { run: 12345, process: 77, image: 0 };
        for piece in [
            Piece::Manifest,
            Piece::Names,
            Piece::Findings,
            Piece::RunInfo { run: 1 },
            Piece::Patterns { run: 10 },
            Piece::Graphs { run: 10 },
            Piece::Hang { run: 11 },
            recording,
        ] {
            assert_eq!(Piece::called(&piece.to_string()), Some(piece));
        }
        assert_eq!(recording.to_string(), "runs/12345/77-0.events");
    }

    #[test]
    fn nothing_else_is_a_piece() {
        for name in [
            "",
            "/etc/passwd",
            "../names.json",
            "runs/../names.json",
            "./names.json",
            "runs/0001",
            "runs/1/run.json",
            "runs/+001/run.json",
            "runs/0001/../../x",
            "runs/0001/1-2-3.events",
            "runs/0001/01-2.events",
            "runs/0001/stdout",
            "runs/99999999999999999999999/run.json",
            "findings.json/",
        ] {
            assert_eq!(Piece::called(name), None, "{name}");
        }
    }
}
