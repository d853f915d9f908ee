//! The small programs cargo calls in place of its compilers.
//!
//! Each is a shell script of one line that calls `unpick cargo-tool <name> …`: cargo and the `cc` crate take the path
//! of a program, without arguments. Their folder is named by what they do: cargo remembers what a wrapper at the same
//! path answered, and must ask again once flags or runtime have changed.

use super::settings::Settings;
use crate::cache::mark_used;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process;
use unpick_problem::Problem;

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

    pub fn named(name: &OsStr) -> Option<Self> {
        Self::ALL.into_iter().find(|tool| name == tool.name())
    }

    fn file_name(self) -> String {
        format!("unpick-{}", self.name())
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
        for tool in Tool::ALL {
            let path = wrappers.path(tool);
            keep_file(&path, &script(unpick, tool), 0o755)
                .map_err(|error| cannot_write(&path, &error))?;
        }
        Ok(wrappers)
    }

    pub fn path(&self, tool: Tool) -> PathBuf {
        self.folder.join(tool.file_name())
    }

    /// Whether this program is one of ours, as it is for an `unpick cargo` that another one started.
    pub fn wrote(program: &OsStr) -> bool {
        let name = Path::new(program).file_name().and_then(OsStr::to_str);
        Tool::ALL.into_iter().any(|tool| name == Some(&tool.file_name()))
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
    keep_file(&path, text, 0o644).map_err(|error| cannot_write(&path, &error))?;
    Ok(path)
}

/// Renamed into place, so that a parallel build never reads half a file.
fn keep_file(path: &Path, text: &str, mode: u32) -> io::Result<()> {
    mark_used(path);
    if fs::read_to_string(path).is_ok_and(|found| found == text) {
        return Ok(());
    }
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let unfinished = path.with_extension(process::id().to_string());
    fs::write(&unfinished, text)?;
    fs::set_permissions(&unfinished, Permissions::from_mode(mode))?;
    fs::rename(&unfinished, path)
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("a file that cargo or its compilers are to use cannot be written")
        .at("file", path.display())
        .why(error)
        .next("free space there, or set XDG_CACHE_HOME to a folder you can write to")
}

fn script(unpick: &Path, tool: Tool) -> String {
    format!("#!/bin/sh\nexec {} cargo-tool {} \"$@\"\n", quoted(unpick), tool.name())
}

/// As one word of the shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_calls_unpick_even_where_its_path_has_quotes_and_blanks() {
        assert_eq!(
            script(Path::new("/it's here/unpick"), Tool::Cxx),
            "#!/bin/sh\nexec '/it'\\''s here/unpick' cargo-tool c++ \"$@\"\n"
        );
    }

    #[test]
    fn own_wrappers_are_told_from_those_of_the_user() {
        assert!(Wrappers::wrote(OsStr::new("/cache/unpick/cargo-1/unpick-rustc")));
        assert!(!Wrappers::wrote(OsStr::new("/usr/bin/sccache")));
    }
}
