//! Bare stress: how often a program fails when it is just run again and again.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde::{Deserialize, Serialize};
use unpick_subjects::Subject;

/// Seconds after which a run counts as hung.
const LIMIT: &str = "20";

/// How many runs failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Rate {
    pub failed: u32,
    pub runs: u32,
}

impl Rate {
    /// None without runs.
    pub fn share(self) -> Option<f64> {
        (self.runs > 0).then(|| f64::from(self.failed) / f64::from(self.runs))
    }
}

/// Runs a program that often, one run after the other.
pub fn stress(program: &Path, subject: &Subject, runs: u32) -> Rate {
    let failed = (0..runs).filter(|_| fails(program, subject)).count();
    Rate { failed: failed as u32, runs }
}

fn fails(program: &Path, subject: &Subject) -> bool {
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", LIMIT]).arg(program).args(&subject.arguments);
    // A program that signals its group must not end the benchmark.
    command.process_group(0).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| !status.success())
}
