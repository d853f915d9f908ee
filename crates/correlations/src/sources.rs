//! Sources of a code base: which files there are, how they are compiled, and reading them all.
//!
//! Takes   folders or files; where results are kept; how to start workers.
//! Gives   the access sets of every file that can be read, and sentences about the rest.
//! Misses  code that is generated into folders that are passed over (hidden ones, cargo's `target`).
//! Cost    one parse per file that changed, by as many processes (of C and C++) or threads (of Rust) as there are cores. Headers that files share are parsed once.

mod bundles;
mod cache;
mod claims;
mod files;
mod flags;
mod includes;
mod queue;
mod rust_files;
mod seating;
mod shared_headers;
mod worker;

use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_problem::Problem;

use crate::access_sets::FileSets;
use cache::Cache;
use files::SourceFiles;
use flags::Flags;
use includes::Includes;
pub use worker::{WorkerCommand, serve};

/// Largest file that is read: what is larger was made by a program.
const LARGEST_FILE: u64 = 64 << 20;

/// Says with which folder and arguments a file was compiled, if that was seen.
pub type SeenFlags = dyn Fn(&Path) -> Option<(PathBuf, Vec<String>)> + Sync;

/// What is to be read, and how.
pub struct Request<'a> {
    pub paths: Vec<PathBuf>,
    /// Where results are kept from one time to the next; nowhere if there is none.
    pub cache: Option<PathBuf>,
    /// How a process is started that runs [`serve`].
    pub worker: WorkerCommand,
    /// Processes, or threads for Rust, at a time.
    pub jobs: usize,
    /// For one file, or for files that are read together.
    pub time_limit: Duration,
    /// The folder and the arguments with which a file was compiled, if somebody saw it; asked where no database knows the file.
    pub seen_flags: &'a SeenFlags,
    /// Told after each file: how many of how many.
    pub progress: &'a (dyn Fn(usize, usize) + Sync),
}

/// What was read.
#[derive(Debug, Default)]
pub struct Sources {
    pub sets: Vec<FileSets>,
    pub files: usize,
    pub files_unchanged: usize,
    pub lines: usize,
    /// What could not be read, in sentences.
    pub missing: Vec<String>,
}

/// Reads all sources below the paths.
pub fn read_sources(request: &Request<'_>) -> Result<Sources, Problem> {
    let mut sources = Sources::default();
    let files = SourceFiles::below(&request.paths, LARGEST_FILE, &mut sources.missing)?;
    sources.files = files.c.len() + files.rust.len();
    let cache = Cache::at(request.cache.as_deref());
    read_c(request, &files, &cache, &mut sources);
    rust_files::read_all(request, &files.rust, &cache, &mut sources);
    Ok(sources)
}

fn read_c(request: &Request<'_>, files: &SourceFiles, cache: &Cache, sources: &mut Sources) {
    if files.c.is_empty() {
        return;
    }
    let mut includes = Includes::default();
    let flags = Flags::find(files, request.seen_flags, &mut includes, &mut sources.missing);
    let units: Vec<queue::Unit> =
        files.c.iter().map(|file| queue::Unit::new(file, &flags, files, &mut includes)).collect();
    sources.lines += includes.lines_of(units.iter().flat_map(queue::Unit::all_files));
    queue::read_all(request, &files.roots, units, cache, &mut includes, sources);
}
