//! Commands that build and run programs, with a time limit.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use unpick_problem::Problem;

/// Seconds after which a run is ended.
const LIMIT: &str = "120";

/// What a command that ends in time prints, and how it ends.
pub fn output(command: &[&str], folder: &Path) -> Result<Output, Problem> {
    let mut all = Command::new("timeout");
    all.args(["--signal=KILL", LIMIT]).args(command).current_dir(folder).stdin(Stdio::null());
    all.output().map_err(|error| {
        Problem::own_fault("a command cannot be run").at("command", command.join(" ")).why(error)
    })
}

/// Runs a compiler.
pub fn build(command: &[&str], folder: &Path) -> Result<(), Problem> {
    let output = output(command, folder)?;
    if output.status.success() {
        return Ok(());
    }
    Err(Problem::own_fault("a program cannot be built")
        .at("command", command.join(" "))
        .why(String::from_utf8_lossy(&output.stderr)))
}

/// Makes a folder that is empty.
pub fn empty(folder: &Path) -> Result<(), Problem> {
    // It need not be there.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| {
        Problem::own_fault("a folder cannot be made").at("folder", folder.display()).why(error)
    })
}
