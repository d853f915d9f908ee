//! `unpick` in a folder of a test's own, and what came of it.
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::path::Path;
use std::process::{Command, Output};

pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Ran {
    fn from(output: Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
        Ran { code: output.status.code(), stdout, stderr }
    }
}

/// Keeps what it notes in the folder, too, and knows nothing of how whoever runs the tests has set things up.
pub fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_unpick"));
    command.args(arguments).current_dir(folder).env("XDG_CACHE_HOME", folder.join("cache"));
    command.env_remove("UNPICK_CC").env_remove("TSAN_OPTIONS").env_remove("COLUMNS");
    command
}

pub fn unpick(folder: &Path, arguments: &[&str]) -> Ran {
    Ran::from(command(folder, arguments).output().unwrap())
}
