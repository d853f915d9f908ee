//! Reads an archive into a new store. Trusts nothing: it may be cut, damaged, made by somebody else, or made to do harm.
//!
//! Takes   a file, and where the store is to be.      Gives  all of it, in one step, or a problem and nothing.
//! Misses  a wrong recording: its reader finds that out. Names and findings are for the caller to check before `put_in_place`.
//!
//! Everything is written aside first. Only regular files with a name of `Piece` are taken; names of other lengths and
//! kinds of entries (links, folders, extensions of tar) are refused without being looked at.

use std::fs::{self, File};
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use serde::Deserialize;
use tar::{Archive, Entry, EntryType};
use unpick_analyses::RunPatterns;
use unpick_analyses::communication::RunGraphs;
use unpick_problem::Problem;
use unpick_recording::RunInfo;

use super::manifest::{FORM, Manifest};
use super::piece::Piece;
use crate::marked::mark;

/// A store that is complete, but not yet where it is to be.
#[derive(Debug)]
pub struct Unpacked {
    aside: PathBuf,
    goal: PathBuf,
    pub manifest: Manifest,
}

impl Unpacked {
    /// Where it is now.
    pub fn folder(&self) -> &Path {
        &self.aside
    }

    /// Makes it the store.
    pub fn put_in_place(self) -> Result<(), Problem> {
        // An empty folder gives way; one that somebody has filled meanwhile does not.
        fs::rename(&self.aside, &self.goal).map_err(|error| cannot_write(&self.goal, &error))
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        // Gone if it was put in place; else nobody may find half of it.
        let _ = fs::remove_dir_all(&self.aside);
    }
}

/// Unpacks `file` for a new store at `goal`; at most so many bytes.
pub fn unpack(file: &Path, goal: &Path, most_bytes: u64) -> Result<Unpacked, Problem> {
    refuse_if_occupied(goal)?;
    let packed = File::open(file).map_err(|error| cannot_open(file, &error))?;
    let aside = make_aside(goal)?;
    let manifest = Manifest::new(0, 0);
    let mut unpacked = Unpacked { aside, goal: goal.to_owned(), manifest };
    let tar = Bounded { inner: GzDecoder::new(BufReader::new(packed)), left: most_bytes };
    let mut reading = Reading { file, store: &unpacked.aside, goal, manifest: None, runs: 0 };
    let (manifest, runs) = reading.read(tar)?;
    if runs != manifest.runs {
        return Err(damaged(file, format!("it has {runs} runs and should have {}", manifest.runs)));
    }
    unpacked.manifest = manifest;
    Ok(unpacked)
}

fn refuse_if_occupied(goal: &Path) -> Result<(), Problem> {
    let is_free = match fs::read_dir(goal) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    if is_free { Ok(()) } else { Err(occupied(goal)) }
}

fn make_aside(goal: &Path) -> Result<PathBuf, Problem> {
    let name = goal.file_name().unwrap_or_default().to_string_lossy();
    let aside = goal.with_file_name(format!("{name}.unfinished-{}", std::process::id()));
    let made = match goal.parent() {
        Some(parent) => fs::create_dir_all(parent).and_then(|()| fs::create_dir(&aside)),
        None => fs::create_dir(&aside),
    };
    made.inspect(|()| mark(&aside))
        .map(|()| aside.clone())
        .map_err(|error| cannot_write(goal, &error))
}

/// An archive that is being read.
struct Reading<'a> {
    file: &'a Path,
    store: &'a Path,
    goal: &'a Path,
    manifest: Option<Manifest>,
    runs: u64,
}

impl Reading<'_> {
    /// The manifest, and how many runs there were.
    fn read<R: Read>(&mut self, tar: Bounded<R>) -> Result<(Manifest, u64), Problem> {
        let mut archive = Archive::new(tar);
        // Raw: extensions of tar would be read into memory, however long they say they are.
        let entries = archive.entries().map_err(|error| self.unreadable(&error))?.raw(true);
        for entry in entries {
            let mut entry = entry.map_err(|error| self.unreadable(&error))?;
            self.take(&mut entry)?;
        }
        // To the very end, so that the checksum of gzip is looked at.
        let rest = io::copy(&mut archive.into_inner(), &mut io::sink());
        rest.map_err(|error| self.unreadable(&error))?;
        let manifest = self.manifest.take();
        manifest.map(|manifest| (manifest, self.runs)).ok_or_else(|| foreign(self.file))
    }

    fn take<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> Result<(), Problem> {
        let name = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let is_file = entry.header().entry_type() == EntryType::Regular;
        let piece = Piece::called(&name).filter(|_| is_file);
        let piece = match (piece, &self.manifest) {
            (Some(Piece::Manifest), None) => return self.take_manifest(entry),
            (_, None) => return Err(foreign(self.file)),
            (None | Some(Piece::Manifest), Some(_)) => return Err(unexpected(self.file, &name)),
            (Some(piece), Some(_)) => piece,
        };
        if let Piece::Recording { .. } = piece {
            return self.take_recording(piece, entry);
        }
        let bytes = self.bytes_of(piece, entry)?;
        self.check(piece, &bytes)?;
        let written = self.create(piece).and_then(|mut file| file.write_all(&bytes));
        written.map_err(|error| self.not_written(piece, &error))
    }

    fn take_manifest<R: Read>(&mut self, entry: &mut Entry<'_, R>) -> Result<(), Problem> {
        let bytes = self.bytes_of(Piece::Manifest, entry)?;
        let form: Form = serde_json::from_slice(&bytes).map_err(|_| foreign(self.file))?;
        if form.form != FORM {
            return Err(other_form(self.file, &form.form));
        }
        let manifest = serde_json::from_slice(&bytes);
        self.manifest = Some(manifest.map_err(|error| damaged(self.file, error))?);
        Ok(())
    }

    fn bytes_of<R: Read>(
        &self,
        piece: Piece,
        entry: &mut Entry<'_, R>,
    ) -> Result<Vec<u8>, Problem> {
        let length = entry.size();
        if length > piece.most_bytes() {
            return Err(damaged(self.file, format!("{piece} says that it has {length} bytes")));
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(|error| self.unreadable(&error))?;
        if bytes.len() as u64 == length { Ok(bytes) } else { Err(cut_short(self.file)) }
    }

    /// What goes into the store can be read, and belongs together.
    fn check(&mut self, piece: Piece, bytes: &[u8]) -> Result<(), Problem> {
        match piece {
            Piece::RunInfo { run } => {
                let info: RunInfo = serde_json::from_slice(bytes)
                    .map_err(|error| damaged(self.file, format!("{piece}: {error}")))?;
                if info.hunt != self.manifest.as_ref().map(|manifest| manifest.hunt) {
                    return Err(damaged(self.file, format!("run {run} is of another hunt")));
                }
                self.runs += 1;
                Ok(())
            }
            Piece::Patterns { .. } => {
                let read = RunPatterns::from_bytes(bytes, &piece.to_string());
                read.map(drop).map_err(|problem| damaged(self.file, headline(&problem)))
            }
            Piece::Graphs { .. } => {
                let read = RunGraphs::from_bytes(bytes, &piece.to_string());
                read.map(drop).map_err(|problem| damaged(self.file, headline(&problem)))
            }
            _ => Ok(()),
        }
    }

    /// Recordings can be large: they are not held in memory.
    fn take_recording<R: Read>(
        &self,
        piece: Piece,
        entry: &mut Entry<'_, R>,
    ) -> Result<(), Problem> {
        let not_written = |error: io::Error| self.not_written(piece, &error);
        let mut file = self.create(piece).map_err(not_written)?;
        let mut buffer = vec![0; 1 << 16];
        let mut left = entry.size();
        while left > 0 {
            let count = entry.read(&mut buffer).map_err(|error| self.unreadable(&error))?;
            if count == 0 {
                return Err(cut_short(self.file));
            }
            file.write_all(&buffer[..count]).map_err(not_written)?;
            left -= count as u64;
        }
        Ok(())
    }

    /// Fails if the piece was there before.
    fn create(&self, piece: Piece) -> io::Result<File> {
        let path = piece.below(self.store);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        File::create_new(path)
    }

    fn not_written(&self, piece: Piece, error: &io::Error) -> Problem {
        match error.kind() {
            io::ErrorKind::AlreadyExists => damaged(self.file, format!("{piece} is in it twice")),
            _ => cannot_write(self.goal, error),
        }
    }

    fn unreadable(&self, error: &io::Error) -> Problem {
        // The first bytes decide whether it is ours at all; tar wraps errors, but keeps their kind.
        let told = error.to_string();
        match error.kind() {
            io::ErrorKind::FileTooLarge => too_large(self.file),
            _ if self.manifest.is_none() => foreign(self.file),
            io::ErrorKind::UnexpectedEof => cut_short(self.file),
            _ => damaged(self.file, told),
        }
    }
}

/// What went wrong, without advice that is meant for a file of the store.
fn headline(problem: &Problem) -> String {
    let text = problem.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

/// What every version of a manifest has.
#[derive(Deserialize)]
struct Form {
    form: String,
}

/// Gives up where a file unpacks to more than it may.
struct Bounded<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            None => return Err(io::ErrorKind::FileTooLarge.into()),
        }
        Ok(count)
    }
}

fn occupied(goal: &Path) -> Problem {
    Problem::usage("the runs cannot be imported: the store is not empty")
        .at("folder", goal.display())
        .why("imported runs keep their numbers, which may be taken there")
        .next("import into a store of its own: unpick import --store DIR FILE")
}

fn cannot_open(file: &Path, error: &io::Error) -> Problem {
    Problem::usage("the file cannot be opened")
        .at("file", file.display())
        .why(error)
        .next("name a file that was made by: unpick export FILE")
}

fn foreign(file: &Path) -> Problem {
    Problem::usage("this is no file of exported runs")
        .at("file", file.display())
        .why("it does not begin as one")
        .next("name a file that was made by: unpick export FILE")
}

fn other_form(file: &Path, form: &str) -> Problem {
    Problem::usage("the exported runs cannot be read: they are of another version")
        .at("file", file.display())
        .why(format!("their form is `{}`, this build reads `{FORM}`", form.escape_debug()))
        .next("import them with the version of unpick that exported them, or with a newer one")
}

fn cut_short(file: &Path) -> Problem {
    damaged(file, "it ends too early")
}

fn damaged(file: &Path, why: impl std::fmt::Display) -> Problem {
    Problem::usage("the exported runs cannot be read: the file is damaged")
        .at("file", file.display())
        .why(why.to_string().escape_debug())
        .next("copy it again, or export again: unpick export FILE; nothing was imported")
}

fn unexpected(file: &Path, name: &str) -> Problem {
    Problem::usage("the exported runs cannot be read: there is something in the file that does not belong there")
        .at("file", file.display())
        .why(format!("`{}` is no piece of an export", name.escape_debug()))
        .next("do not trust it unless you know who made it; nothing was imported")
}

fn too_large(file: &Path) -> Problem {
    Problem::usage("the exported runs are larger than they may be")
        .at("file", file.display())
        .why("a small file can unpack to a full disk; nothing was imported")
        .next("if you trust it, allow more: unpick import --limit 64GiB FILE")
}

fn cannot_write(goal: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the runs cannot be imported")
        .at("folder", goal.display())
        .why(error)
        .next("nothing was imported; choose another folder: unpick import --store DIR FILE")
}
