//! Where the benchmark keeps what it makes: everything below `<target>/bench-overhead`.

use std::fs;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;

/// The folder of this crate in the source tree.
pub fn crate_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[derive(Debug, Clone)]
pub struct Folders {
    /// Object files, named by content.
    pub objects: PathBuf,
    /// Linked programs, named by content.
    pub programs: PathBuf,
    /// The manifest that makes cargo fetch the real programs.
    pub third_party: PathBuf,
    /// One folder per run, deleted after it.
    pub runs: PathBuf,
}

impl Folders {
    pub fn create() -> Result<Self, Problem> {
        Self::create_in(&target_folder().join("bench-overhead"))
    }

    fn create_in(root: &Path) -> Result<Self, Problem> {
        let folders = Self {
            objects: root.join("objects"),
            programs: root.join("programs"),
            third_party: root.join("third-party"),
            runs: root.join("runs"),
        };
        for folder in [&folders.objects, &folders.programs, &folders.third_party, &folders.runs] {
            create_folder(folder)?;
        }
        Ok(folders)
    }
}

fn target_folder() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => crate_folder().join("../../target"),
    }
}

pub fn create_folder(folder: &Path) -> Result<(), Problem> {
    fs::create_dir_all(folder).map_err(|error| {
        Problem::own_fault("a folder cannot be created").at("folder", folder.display()).why(error)
    })
}
