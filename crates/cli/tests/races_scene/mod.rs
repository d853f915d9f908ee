//! A folder with a small program, and `unpick` in it.
#![allow(dead_code, reason = "each test file uses what it needs")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;

use crate::ran::Ran;
use crate::schemas::assert_valid;

/// A folder with the program.
pub struct Scene {
    pub folder: TempDir,
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
        crate::ran::command(self.folder.path(), arguments)
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
    Ran::from(command.output().unwrap())
}
