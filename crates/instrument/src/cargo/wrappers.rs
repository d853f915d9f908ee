//! The small programs cargo calls in place of its compilers.
//!
//! Each is a link to `unpick`, which knows by the name it is called by who is meant: cargo and the `cc` crate take the path
//! of a program, without arguments. A shell script would lose variables whose names mean nothing to a shell, such as
//! `CARGO_BIN_EXE_my-program`. Their folder is named by what they do: cargo remembers what a wrapper at the same
//! path answered, and must ask again once flags or runtime have changed.

use super::settings::Settings;
use crate::cache::mark_used;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process;
use unpick_problem::Problem;

/// A file beside the wrappers: when they were used last.
const MARK: &str = "used";

/// Whom cargo believes to call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    Rustc,
    Rustdoc,
    Cc,
    Cxx,
}

impl Tool {
    const ALL: [Self; 4] = [Self::Rustc, Self::Rustdoc, Self::Cc, Self::Cxx];

    pub fn name(self) -> &'static str {
        match self {
            Self::Rustc => "rustc",
            Self::Rustdoc => "rustdoc",
            Self::Cc => "cc",
            Self::Cxx => "c++",
        }
    }

    /// The tool that is meant by a program called like this, if it is one of the wrappers.
    pub fn called(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        Self::ALL.into_iter().find(|tool| name == tool.file_name())
    }

    fn file_name(self) -> String {
        format!("unpick-cargo-{}", self.name())
    }
}

#[derive(Debug)]
pub(super) struct Wrappers {
    folder: PathBuf,
}

impl Wrappers {
    /// Writes them below `cache`, unless they are there already.
    pub fn write(unpick: &Path, settings: &Settings, cache: &Path) -> Result<Self, Problem> {
        let mut meaning = DefaultHasher::new();
        (unpick, settings.all_flags()).hash(&mut meaning);
        let wrappers = Self { folder: cache.join(format!("cargo-{:016x}", meaning.finish())) };
        // Links cannot tell when they were used.
        let mark = wrappers.folder.join(MARK);
        keep_file(&mark, "").map_err(|error| cannot_write(&mark, &error))?;
        for tool in Tool::ALL {
            let path = wrappers.path(tool);
            keep_link(&path, unpick).map_err(|error| cannot_write(&path, &error))?;
        }
        Ok(wrappers)
    }

    pub fn path(&self, tool: Tool) -> PathBuf {
        self.folder.join(tool.file_name())
    }

    /// Whether this program is one of ours, as it is for an `unpick cargo` that another one started.
    pub fn wrote(program: &OsStr) -> bool {
        Tool::called(program).is_some()
    }
}

/// Writes text that compilers read below `cache`, under a name that tells its content.
pub(super) fn keep_source(
    cache: &Path,
    stem: &str,
    extension: &str,
    text: &str,
) -> Result<PathBuf, Problem> {
    let mut content = DefaultHasher::new();
    text.hash(&mut content);
    let path = cache.join(format!("{stem}-{:016x}.{extension}", content.finish()));
    keep_file(&path, text).map_err(|error| cannot_write(&path, &error))?;
    Ok(path)
}

fn keep_file(path: &Path, text: &str) -> io::Result<()> {
    mark_used(path);
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    put_in_place(path, |unfinished| fs::write(unfinished, text))
}

fn keep_link(path: &Path, goal: &Path) -> io::Result<()> {
    if fs::read_link(path).is_ok_and(|found| found == goal) {
        return Ok(());
    }
    put_in_place(path, |unfinished| symlink(goal, unfinished))
}

/// Renamed into place, so that a parallel build never finds half a file.
fn put_in_place(path: &Path, make: impl FnOnce(&Path) -> io::Result<()>) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = path.with_extension(process::id().to_string());
    make(&unfinished)?;
    fs::rename(&unfinished, path)
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("a file that cargo or its compilers are to use cannot be written")
        .at("file", path.display())
        .why(error)
        .next("free space there, or set XDG_CACHE_HOME to a folder you can write to")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_wrappers_are_told_from_those_of_the_user() {
        assert!(Wrappers::wrote(OsStr::new("/cache/unpick/cargo-1/unpick-cargo-rustc")));
        assert!(!Wrappers::wrote(OsStr::new("/usr/bin/sccache")));
        assert_eq!(Tool::called(OsStr::new("unpick-cargo-c++")), Some(Tool::Cxx));
        assert_eq!(Tool::called(OsStr::new("unpick-cc")), None, "that is `unpick cc`");
    }
}
