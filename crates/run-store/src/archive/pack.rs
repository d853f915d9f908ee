//! Writes an archive. The same pieces in the same order give the same bytes: no times, no owners.
//!
//! It is written under another name first: the file is whole, or it is not there.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use flate2::write::GzEncoder;
use flate2::{Compression, GzBuilder};
use tar::{Builder, EntryType, Header};
use unpick_problem::Problem;

use super::manifest::Manifest;
use super::piece::Piece;

/// What gzip writes for an unknown system, so that the machine leaves no trace.
const UNKNOWN_SYSTEM: u8 = 255;

/// An archive in the making.
pub struct Packer {
    tar: Builder<GzEncoder<BufWriter<File>>>,
    unfinished: PathBuf,
    goal: PathBuf,
}

impl Packer {
    pub fn begin(goal: &Path, manifest: &Manifest) -> Result<Packer, Problem> {
        let name = goal.file_name().unwrap_or_default().to_string_lossy();
        let unfinished = goal.with_file_name(format!("{name}.unfinished-{}", std::process::id()));
        let file = File::create(&unfinished).map_err(|error| cannot_write(goal, &error))?;
        let gzip = GzBuilder::new()
            .operating_system(UNKNOWN_SYSTEM)
            .write(BufWriter::new(file), Compression::default());
        let tar = Builder::new(gzip);
        let mut packer = Packer { tar, unfinished, goal: goal.to_owned() };
        let manifest = serde_json::to_vec(manifest).expect("plain fields can always be written");
        packer.add(Piece::Manifest, &manifest)?;
        Ok(packer)
    }

    pub fn add(&mut self, piece: Piece, bytes: &[u8]) -> Result<(), Problem> {
        let answer = append(&mut self.tar, piece, bytes.len() as u64, bytes);
        answer.map_err(|error| cannot_write(&self.goal, &error))
    }

    /// Adds a file of the store as it is.
    pub fn add_file(&mut self, piece: Piece, path: &Path) -> Result<(), Problem> {
        let unreadable = |error: io::Error| cannot_read(path, &error);
        let file = File::open(path).map_err(unreadable)?;
        let length = file.metadata().map_err(unreadable)?.len();
        // A file that grows or shrinks meanwhile must not spoil those behind it.
        let exactly = file.chain(io::repeat(0)).take(length);
        let answer = append(&mut self.tar, piece, length, exactly);
        answer.map_err(|error| cannot_write(&self.goal, &error))
    }

    pub fn finish(mut self) -> Result<(), Problem> {
        let finished = self.tar.finish().and_then(|()| self.tar.get_mut().try_finish());
        let flushed = finished.and_then(|()| self.tar.get_mut().get_mut().flush());
        let renamed = flushed.and_then(|()| fs::rename(&self.unfinished, &self.goal));
        renamed.map_err(|error| cannot_write(&self.goal, &error))
    }
}

impl Drop for Packer {
    fn drop(&mut self) {
        // Gone if it was finished; else it helps nobody.
        let _ = fs::remove_file(&self.unfinished);
    }
}

fn append(
    tar: &mut Builder<impl Write>,
    piece: Piece,
    length: u64,
    bytes: impl Read,
) -> io::Result<()> {
    let mut header = Header::new_ustar();
    header.set_entry_type(EntryType::Regular);
    header.set_mode(0o644);
    header.set_mtime(0);
    header.set_size(length);
    tar.append_data(&mut header, piece.to_string(), bytes)
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the runs cannot be exported")
        .at("file", path.display())
        .why(error)
        .next("choose a file you can write to, on a disk with room: unpick export FILE")
}

fn cannot_read(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("a recording cannot be exported")
        .at("file", path.display())
        .why(error)
        .next("export without recordings: unpick export FILE")
}
