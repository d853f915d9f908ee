//! How sources were compiled: the wrappers note it, for who reads the sources later (`unpick correlate`).
//!
//! One small file per source in the user's cache: the folder, then the arguments, a line each. It may be lost at any time.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::cache::Cache;

/// What the compiler was told about a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotedFlags {
    pub directory: PathBuf,
    /// Without the compiler's name.
    pub arguments: Vec<String>,
}

const SOURCES: [&str; 6] = ["c", "cc", "cpp", "cxx", "c++", "C"];

/// Notes the command line for each source in it. Fails silently: it costs only flags that are then guessed.
pub(crate) fn note(arguments: &[OsString]) {
    let sources: Vec<PathBuf> = arguments
        .iter()
        .map(Path::new)
        .filter(|path| {
            path.extension().and_then(|e| e.to_str()).is_some_and(|e| SOURCES.contains(&e))
        })
        .filter_map(|path| path.canonicalize().ok())
        .collect();
    let words: Option<Vec<&str>> =
        arguments.iter().map(|word| word.to_str().filter(|word| !word.contains('\n'))).collect();
    let (Some(words), Ok(directory)) = (words, std::env::current_dir()) else { return };
    if sources.is_empty() {
        return;
    }
    let Ok(cache) = Cache::open() else { return };
    for source in sources {
        cache
            .remember(&name_of(&source), &format!("{}\n{}", directory.display(), words.join("\n")));
    }
}

/// What was noted about a source, by its absolute path.
pub fn noted_flags(source: &Path) -> Option<NotedFlags> {
    let text = Cache::open().ok()?.recall(&name_of(source))?;
    let mut lines = text.lines();
    let directory = PathBuf::from(lines.next()?);
    Some(NotedFlags { directory, arguments: lines.map(str::to_owned).collect() })
}

/// FNV-1a of the path.
fn name_of(source: &Path) -> String {
    let hash =
        source.as_os_str().as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, |hash, &b| {
            (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)
        });
    format!("flags-{hash:016x}")
}
