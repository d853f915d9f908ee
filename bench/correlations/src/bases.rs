//! The code bases: fetched by cargo, copied aside, with the flags that their crates build them with.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_problem::Problem;

use crate::{failed, openssl};

/// What cargo is asked for; exact, because judgements and plants are about these lines.
const PACKAGES: [(&str, &str); 4] = [
    ("libsqlite3-sys", "=0.35.0"),
    ("librocksdb-sys", "=0.17.3+10.4.2"),
    ("openssl-src", "=400.0.2+4.0.3"),
    ("tokio", "=1.54.1"),
];

/// Copies what is needed of a package.
type Maker = fn(&Path, &Path) -> std::io::Result<()>;

/// One code base, ready to be read.
pub struct Base {
    pub name: &'static str,
    pub folder: PathBuf,
}

impl Base {
    pub fn all(only: Option<&str>, folder: &Path) -> Result<Vec<Self>, Problem> {
        fs::create_dir_all(folder).map_err(|error| failed("no folder", error))?;
        let folder = folder.canonicalize().map_err(|error| failed("no folder", error))?;
        let sources = fetch(&folder.join("fetch"))?;
        let makers: [(&'static str, Maker); 4] = [
            ("sqlite", make_sqlite),
            ("rocksdb", make_rocksdb),
            ("openssl", openssl::make),
            ("tokio", make_tokio),
        ];
        let mut bases = Vec::new();
        for ((name, make), source) in makers.into_iter().zip(&sources) {
            if only.is_some_and(|only| only != name) {
                continue;
            }
            let goal = folder.join(name);
            if !goal.is_dir() {
                make(source, &goal).map_err(|error| failed("a code base is not there", error))?;
            }
            bases.push(Self { name, folder: goal });
        }
        Ok(bases)
    }
}

/// Folders of the packages, in the order of [`PACKAGES`].
fn fetch(project: &Path) -> Result<Vec<PathBuf>, Problem> {
    let dependencies: Vec<String> = PACKAGES
        .iter()
        .map(|(name, version)| {
            format!("{name} = {{ version = \"{version}\", default-features = false }}")
        })
        .collect();
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n[dependencies]\n{}\n",
        dependencies.join("\n")
    );
    let write = || {
        fs::create_dir_all(project)?;
        fs::write(project.join("lib.rs"), "")?;
        fs::write(project.join("Cargo.toml"), manifest)
    };
    write().map_err(|error| failed("no project to fetch with", error))?;
    let output = Command::new("cargo")
        .args(["metadata", "--format-version", "1"])
        .current_dir(project)
        .output()
        .map_err(|error| failed("cargo does not start", error))?;
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout)
        .map_err(|_| failed("packages are not fetched", String::from_utf8_lossy(&output.stderr)))?;
    let folder_of = |name: &str| {
        let packages = metadata["packages"].as_array()?;
        let package = packages.iter().find(|package| package["name"] == name)?;
        Path::new(package["manifest_path"].as_str()?).parent().map(Path::to_path_buf)
    };
    PACKAGES
        .iter()
        .map(|(name, _)| folder_of(name).ok_or_else(|| failed("a package is missing", name)))
        .collect()
}

fn make_sqlite(source: &Path, goal: &Path) -> std::io::Result<()> {
    fs::create_dir_all(goal)?;
    fs::copy(source.join("sqlite3/sqlite3.c"), goal.join("sqlite3.c")).map(|_| ())
}

/// The files that the crate compiles, and all headers.
fn make_rocksdb(source: &Path, goal: &Path) -> std::io::Result<()> {
    let list = fs::read_to_string(source.join("rocksdb_lib_sources.txt"))?;
    let tree = source.join("rocksdb");
    let sources: Vec<&str> =
        list.split_whitespace().filter(|file| tree.join(file).is_file()).collect();
    copy_tree(&tree, goal, &|path| path.extension().is_some_and(|extension| extension == "h"))?;
    for file in &sources {
        copy_file(&tree.join(file), &goal.join(file))?;
    }
    let entry = |file: &&str| {
        serde_json::json!({
            "directory": goal,
            "file": file,
            "arguments": [
                "c++", "-std=c++17", "-I.", "-Iinclude", "-DROCKSDB_PLATFORM_POSIX",
                "-DROCKSDB_LIB_IO_POSIX", "-DOS_LINUX", "-c", file
            ]
        })
    };
    let entries: Vec<serde_json::Value> = sources.iter().map(entry).collect();
    fs::write(goal.join("compile_commands.json"), serde_json::to_vec(&entries)?)
}

/// All that is Rust in it, tests included.
fn make_tokio(source: &Path, goal: &Path) -> std::io::Result<()> {
    copy_tree(source, goal, &|path| path.extension().is_some_and(|extension| extension == "rs"))
}

pub fn copy_tree(from: &Path, to: &Path, is_wanted: &dyn Fn(&Path) -> bool) -> std::io::Result<()> {
    for entry in fs::read_dir(from)? {
        let path = entry?.path();
        let goal = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy_tree(&path, &goal, is_wanted)?;
        } else if is_wanted(&path) {
            copy_file(&path, &goal)?;
        }
    }
    Ok(())
}

pub fn copy_file(from: &Path, to: &Path) -> std::io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).map(|_| ())
}
