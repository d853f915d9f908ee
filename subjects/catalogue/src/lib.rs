//! The subjects: programs with a known bug, what it is, and how their twins are built.
//!
//! Takes   `subjects/*/expected.toml` and the markers in the sources beside them.
//! Gives   `subjects()`, sorted by name; the build command of a twin; the line of each access of the true pattern,
//!         and of each place where a hung run waits.
//! Misses  whether what is written there is true: `tests/catalogue.rs` checks what can be checked without statistics.
//!
//! For tests and benchmarks: a description that cannot be read is a panic that names it.
#![forbid(unsafe_code)]

mod markers;
mod subject;

use std::fs;
use std::path::{Path, PathBuf};

pub use markers::lines_of_markers;
pub use subject::{Access, Class, Failure, Held, Language, Order, Rate, Subject, Twin, Wait};

/// The folder that holds the subjects.
#[must_use]
pub fn folder() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("the catalogue lies among the subjects").to_path_buf()
}

/// All subjects, sorted by name.
#[must_use]
pub fn subjects() -> Vec<Subject> {
    let mut subjects: Vec<Subject> = folders().iter().map(|folder| read(folder)).collect();
    subjects.sort_by(|one, other| one.name.cmp(&other.name));
    subjects
}

fn folders() -> Vec<PathBuf> {
    let entries = fs::read_dir(folder()).expect("the folder of subjects can be read");
    let folders = entries.map(|entry| entry.expect("its entries can be read").path());
    folders.filter(|folder| folder.join("expected.toml").is_file()).collect()
}

fn read(folder: &Path) -> Subject {
    let file = folder.join("expected.toml");
    let text = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let subject: Subject =
        toml::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    Subject { folder: folder.to_path_buf(), ..subject }
}
