//! Cargo projects of the fixtures, where what is built stays for the next test run.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

/// A copy of the project; what is written anew is built anew.
pub fn copied(fixture: &str) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(fixture);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(fixture);
    for file in ["Cargo.toml", "Cargo.lock", "src/main.rs"] {
        let goal = folder.join(file);
        fs::create_dir_all(goal.parent().unwrap()).unwrap();
        let text = fs::read(source.join(file)).unwrap();
        if fs::read(&goal).ok().as_ref() != Some(&text) {
            fs::write(goal, text).unwrap();
        }
    }
    folder
}

/// What `cargo build --message-format=json` has built.
pub fn executable(built: &Output) -> PathBuf {
    let text = String::from_utf8_lossy(&built.stdout).into_owned();
    let messages = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let path =
        messages.filter_map(|message| Some(message["executable"].as_str()?.to_owned())).next();
    PathBuf::from(path.expect("cargo names what it built"))
}
