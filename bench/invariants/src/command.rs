//! Programs with arguments, and the commands that are run on them.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use unpick_problem::Problem;

/// Seconds after which a run is ended, and a whole training.
const RUN_LIMIT: &str = "120";
const TRAINING_LIMIT: &str = "3600";

/// What some bugs need to show before long.
const DELAYS: [&str; 10] = [
    "--delay-access",
    "2%",
    "--delay-sync",
    "20%",
    "--delay-start",
    "50%",
    "--delay-min",
    "1us",
    "--delay-max",
    "50us",
];

/// Whether a run is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delays {
    None,
    Some,
}

impl Delays {
    /// As options of `unpick record` and `unpick watch`.
    pub fn options(self) -> &'static [&'static str] {
        if self == Delays::Some { &DELAYS } else { &[] }
    }
}

/// A built program with what it is given.
#[derive(Debug, Clone)]
pub struct Program {
    pub path: PathBuf,
    pub training: Vec<String>,
    pub detection: Vec<String>,
}

/// Makes one run of a program, by a command or by itself.
pub fn output(command: &[&str], program: &Path, arguments: &[String]) -> Result<Output, Problem> {
    output_within(RUN_LIMIT, command, program, arguments)
}

/// The same for a command that makes many runs.
pub fn output_of_training(
    command: &[&str],
    program: &Path,
    arguments: &[String],
) -> Result<Output, Problem> {
    output_within(TRAINING_LIMIT, command, program, arguments)
}

/// In a group of its own: a program that signals its group must not end the benchmark.
fn output_within(
    limit: &str,
    command: &[&str],
    program: &Path,
    arguments: &[String],
) -> Result<Output, Problem> {
    let mut all = Command::new("timeout");
    all.args(["--signal=KILL", limit]).args(command).arg(program).args(arguments);
    all.process_group(0).stdin(Stdio::null());
    all.output().map_err(|error| {
        Problem::own_fault("a command cannot be run").at("command", command.join(" ")).why(error)
    })
}

/// An empty folder.
pub fn fresh_folder(path: PathBuf) -> Result<PathBuf, Problem> {
    // It need not be there.
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).map_err(|error| {
        Problem::own_fault("a folder cannot be made").at("folder", path.display()).why(error)
    })?;
    Ok(path)
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
