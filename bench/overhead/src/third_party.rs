//! The real programs: their sources come from crates that bundle them, found where cargo keeps them.
//!
//! Nothing is copied into this repository: a manifest below `target` names the crates with exact versions, and
//! `cargo metadata` downloads them and says where they are.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use unpick_problem::Problem;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Library {
    Zstd,
    Sqlite,
}

/// What must be compiled and linked with a driver to make a program of a library.
#[derive(Debug, Clone, Default)]
pub struct LibrarySources {
    pub sources: Vec<PathBuf>,
    /// Definitions and include folders, for the driver too.
    pub flags: Vec<String>,
}

const MANIFEST: &str = r#"# Written by bench/overhead, to find the sources of the real programs it measures.
[package]
name = "third-party"
version = "0.0.0"
edition = "2021"

[lib]
path = "lib.rs"

[workspace]

[dependencies]
zstd-sys = { version = "=2.1.2", default-features = false }
libsqlite3-sys = { version = "=0.30.1", features = ["bundled"] }
"#;

/// Where the source of each crate of the manifest is.
#[derive(Debug)]
pub struct ThirdParty {
    crates: BTreeMap<String, PathBuf>,
}

impl ThirdParty {
    /// Lets cargo fetch the crates (once; later calls need no network).
    pub fn fetch(folder: &Path) -> Result<Self, Problem> {
        let cannot = |why: String| {
            Problem::own_fault("the sources of zstd and SQLite cannot be fetched")
                .at("folder", folder.display())
                .why(why)
                .next("connect to the network once, or leave these workloads out with --only")
        };
        fs::write(folder.join("Cargo.toml"), MANIFEST)
            .map_err(|error| cannot(error.to_string()))?;
        fs::write(folder.join("lib.rs"), "").map_err(|error| cannot(error.to_string()))?;
        let metadata = Command::new("cargo")
            .args(["metadata", "--quiet", "--format-version", "1"])
            .current_dir(folder)
            .output()
            .map_err(|error| cannot(error.to_string()))?;
        if !metadata.status.success() {
            return Err(cannot(String::from_utf8_lossy(&metadata.stderr).trim().to_owned()));
        }
        Ok(Self {
            crates: crate_folders(&metadata.stdout).map_err(|error| cannot(error.to_string()))?,
        })
    }

    pub fn sources_of(&self, library: Library) -> Result<LibrarySources, Problem> {
        match library {
            Library::Zstd => zstd(&self.crate_folder("zstd-sys")?.join("zstd/lib")),
            Library::Sqlite => Ok(sqlite(&self.crate_folder("libsqlite3-sys")?.join("sqlite3"))),
        }
    }

    fn crate_folder(&self, name: &str) -> Result<&Path, Problem> {
        let folder = self.crates.get(name).map(PathBuf::as_path);
        folder.ok_or_else(|| Problem::own_fault(format!("cargo does not know the crate `{name}`")))
    }
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
}

fn crate_folders(metadata: &[u8]) -> serde_json::Result<BTreeMap<String, PathBuf>> {
    let metadata: Metadata = serde_json::from_slice(metadata)?;
    let folder_of = |package: Package| {
        let folder = package.manifest_path.parent().unwrap_or(Path::new("/")).to_owned();
        (package.name, folder)
    };
    Ok(metadata.packages.into_iter().map(folder_of).collect())
}

fn zstd(lib: &Path) -> Result<LibrarySources, Problem> {
    let mut sources = Vec::new();
    for part in ["common", "compress", "decompress"] {
        sources.extend(c_files_in(&lib.join(part))?);
    }
    // Assembly carries no hooks: without this the decoder would run uninstrumented in every variant.
    let flags = ["-DZSTD_MULTITHREAD", "-DZSTD_DISABLE_ASM"].map(str::to_owned).to_vec();
    Ok(LibrarySources { sources, flags: with_include(flags, lib) })
}

fn sqlite(folder: &Path) -> LibrarySources {
    let flags =
        ["-DSQLITE_THREADSAFE=1", "-DSQLITE_ENABLE_UNLOCK_NOTIFY", "-DSQLITE_OMIT_LOAD_EXTENSION"];
    let flags = flags.map(str::to_owned).to_vec();
    LibrarySources { sources: vec![folder.join("sqlite3.c")], flags: with_include(flags, folder) }
}

fn with_include(mut flags: Vec<String>, folder: &Path) -> Vec<String> {
    flags.push(format!("-I{}", folder.display()));
    flags
}

fn c_files_in(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    let entries = fs::read_dir(folder).map_err(|error| {
        Problem::own_fault("a source folder cannot be read")
            .at("folder", folder.display())
            .why(error)
    })?;
    let paths = entries.flatten().map(|entry| entry.path());
    let mut files: Vec<_> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "c")).collect();
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folder_of_a_crate_is_that_of_its_manifest() {
        let metadata = br#"{"packages":[{"name":"zstd-sys","manifest_path":"/registry/zstd-sys-2/Cargo.toml","id":"x"}]}"#;
        assert_eq!(crate_folders(metadata).unwrap()["zstd-sys"], Path::new("/registry/zstd-sys-2"));
    }
}
