//! A folder with a small program, and `unpick` in it.
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::schemas::assert_valid;

const UNPICK: &str = env!("CARGO_BIN_EXE_unpick");

/// A folder with the program.
pub struct Scene {
    pub folder: TempDir,
}

pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Scene {
    pub fn with(source: &str) -> Scene {
        let scene = Scene { folder: tempfile::tempdir().unwrap() };
        fs::copy(source, scene.path("account.c")).unwrap();
        let built = scene.unpick(&["cc", "-g", "-pthread", "account.c", "-o", "account"]);
        assert_eq!(built.code, Some(0), "{}", built.stderr);
        scene
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(UNPICK);
        command.args(arguments).current_dir(self.folder.path());
        command.env_remove("UNPICK_CC").env_remove("TSAN_OPTIONS");
        command.env("XDG_CACHE_HOME", self.folder.path().join("cache"));
        command
    }

    pub fn unpick(&self, arguments: &[&str]) -> Ran {
        ran(&mut self.command(arguments))
    }

    /// The races as JSON, and the exit code.
    pub fn races(&self, options: &[&str], mode: &str) -> (Option<i32>, Value) {
        let end = ["--json", "-", "--", "./account", mode];
        let ran = self.unpick(&[&["races"], options, &end].concat());
        let value: Value = serde_json::from_str(&ran.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", ran.stdout, ran.stderr));
        assert_valid(&value, "races.schema.json");
        (ran.code, value)
    }
}

pub fn ran(command: &mut Command) -> Ran {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ran { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
}
