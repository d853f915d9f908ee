//! Puts the event files of a run away: cuts off the space that was never used.
//!
//! While a program runs its event file is as long as the limit (and mostly a hole). Afterwards it is cut to what
//! was used, unless a process still has it open: that would die of the cut.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use unpick_events::file::FILE_HEADER_BYTES;
use unpick_recording::FileHeader;

/// What `stat` counts in, whatever the disk has.
const BLOCK_BYTES: u64 = 512;

/// An event file after the run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trimmed {
    pub path: PathBuf,
    pub bytes: u64,
    /// The process that writes it, if it is still running.
    pub still_written_by: Option<u32>,
    /// Nanoseconds of delays that its threads were given, all together.
    pub delayed: u64,
}

/// Cuts one file. A file whose header cannot be read is left as it is: reading it will say why.
pub fn trim(path: &Path) -> io::Result<Trimmed> {
    let about = fs::metadata(path)?;
    let length = about.len();
    // Where nothing was written there is only a hole.
    let bytes = length.min(about.blocks() * BLOCK_BYTES);
    let untouched = Trimmed { path: path.to_owned(), bytes, still_written_by: None, delayed: 0 };
    let Some(header) = read_header(path)? else {
        let starting = process_of(path).filter(|process| is_alive(*process));
        return Ok(Trimmed { still_written_by: starting, ..untouched });
    };
    let untouched = Trimmed { delayed: header.delayed, ..untouched };
    if is_mapped_by(header.process, path) {
        let bytes = header.chunks_end.min(length);
        return Ok(Trimmed { still_written_by: Some(header.process), bytes, ..untouched });
    }
    if !(FILE_HEADER_BYTES..length).contains(&header.chunks_end) {
        return Ok(untouched);
    }
    OpenOptions::new().write(true).open(path)?.set_len(header.chunks_end)?;
    Ok(Trimmed { bytes: header.chunks_end, ..untouched })
}

/// The process that `120-3.events` is of.
pub fn process_of(path: &Path) -> Option<u32> {
    path.file_stem()?.to_str()?.split_once('-')?.0.parse().ok()
}

fn is_alive(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

/// None: it is not written, or cannot be understood.
pub fn read_header(path: &Path) -> io::Result<Option<FileHeader>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(FILE_HEADER_BYTES).read_to_end(&mut bytes)?;
    Ok(FileHeader::parse(&bytes, path).ok())
}

/// Whether the process lives and has the file in its memory; yes if that cannot be seen.
fn is_mapped_by(process: u32, path: &Path) -> bool {
    match fs::read_to_string(format!("/proc/{process}/maps")) {
        Ok(maps) => maps.contains(&*path.to_string_lossy()),
        Err(error) => error.kind() == io::ErrorKind::PermissionDenied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use unpick_recording::writer::Writer;

    fn file_of_a_process_that_is_gone() -> (tempfile::TempDir, PathBuf, u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("4242-0.events");
        let bytes = Writer::new().to_bytes();
        fs::write(&path, &bytes).unwrap();
        (folder, path, bytes.len() as u64)
    }

    #[test]
    fn the_unused_end_is_cut_off() {
        let (_folder, path, used) = file_of_a_process_that_is_gone();
        OpenOptions::new().write(true).open(&path).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(trim(&path).unwrap().bytes, used);
        assert_eq!(fs::metadata(&path).unwrap().len(), used);
    }

    #[test]
    fn a_file_that_is_not_a_recording_is_left_alone() {
        let (_folder, path, _) = file_of_a_process_that_is_gone();
        fs::write(&path, [7; 10_000]).unwrap();
        assert_eq!(trim(&path).unwrap().bytes, 10_000);
        assert_eq!(fs::metadata(&path).unwrap().len(), 10_000);
    }

    #[test]
    fn a_recording_that_was_never_begun_takes_no_room() {
        let (_folder, path, _) = file_of_a_process_that_is_gone();
        fs::File::create(&path).unwrap().set_len(1 << 30).unwrap();
        assert_eq!(trim(&path).unwrap().bytes, 0);
    }

    #[test]
    fn the_file_of_a_process_that_is_just_starting_is_left_alone() {
        let (folder, _, _) = file_of_a_process_that_is_gone();
        let me = std::process::id();
        let path = folder.path().join(format!("{me}-0.events"));
        fs::write(&path, [0; 10_000]).unwrap();
        let trimmed = trim(&path).unwrap();
        assert_eq!((trimmed.bytes, trimmed.still_written_by), (10_000, Some(me)));
    }
}
