//! Which files there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;

use crate::access_sets::{c, rust};

/// Sources by language, absolute and in order.
#[derive(Debug, Default)]
pub struct SourceFiles {
    /// The folders that were asked for; headers in them belong to the code base.
    pub roots: Vec<PathBuf>,
    pub c: Vec<PathBuf>,
    pub headers: Vec<PathBuf>,
    pub rust: Vec<PathBuf>,
}

impl SourceFiles {
    pub fn below(
        paths: &[PathBuf],
        largest: u64,
        missing: &mut Vec<String>,
    ) -> Result<Self, Problem> {
        let mut walk = Walk { largest, missing, found: BTreeSet::new() };
        let mut roots = Vec::new();
        for path in paths {
            let path = path.canonicalize().map_err(|error| {
                Problem::usage("there are no sources to look at")
                    .at("path", path.display())
                    .why(error)
                    .next(
                        "name a folder or file with C, C++ or Rust sources: unpick correlate src/",
                    )
            })?;
            if path.is_dir() {
                walk.folder(&path);
                roots.push(path);
            } else {
                roots.extend(path.parent().map(Path::to_path_buf));
                walk.file(path);
            }
        }
        let of =
            |is: fn(&Path) -> bool| walk.found.iter().filter(|path| is(path)).cloned().collect();
        let files = Self {
            roots,
            c: of(c::is_source),
            headers: of(c::is_header),
            rust: of(rust::is_source),
        };
        if files.c.is_empty() && files.rust.is_empty() {
            return Err(nothing_found(paths));
        }
        Ok(files)
    }
}

fn nothing_found(paths: &[PathBuf]) -> Problem {
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    Problem::usage("there are no sources to look at")
        .at("path", names.join(", "))
        .why("no file there ends in .c, .cc, .cpp, .cxx or .rs")
        .next("name the folder with the program's sources: unpick correlate src/")
}

struct Walk<'a> {
    largest: u64,
    missing: &'a mut Vec<String>,
    found: BTreeSet<PathBuf>,
}

impl Walk<'_> {
    fn folder(&mut self, folder: &Path) {
        let entries = match fs::read_dir(folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.missing.push(format!("{}: {error}", folder.display()));
                return;
            }
        };
        for entry in entries.flatten() {
            // What is linked to is read where it is, or elsewhere for good reason.
            let Ok(kind) = entry.file_type() else { continue };
            let path = entry.path();
            if kind.is_dir() && !is_passed_over(&path) {
                self.folder(&path);
            } else if kind.is_file() {
                self.file(path);
            }
        }
    }

    fn file(&mut self, path: PathBuf) {
        if !(c::is_source(&path) || c::is_header(&path) || rust::is_source(&path)) {
            return;
        }
        match fs::metadata(&path) {
            Ok(data) if !data.is_file() => self
                .missing
                .push(format!("{}: not read: it is a pipe, a device or the like", path.display())),
            Ok(data) if data.len() > self.largest => self.missing.push(format!(
                "{}: not read: {} MB are more than a person writes",
                path.display(),
                data.len() >> 20
            )),
            Ok(_) => {
                self.found.insert(path);
            }
            Err(error) => self.missing.push(format!("{}: {error}", path.display())),
        }
    }
}

/// Hidden folders, and those that cargo marks as caches.
fn is_passed_over(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with('.') || name == "node_modules" || folder.join("CACHEDIR.TAG").is_file()
}
