//! Findings, and what else a verb has to say: on standard output, in a file, in a store.

use std::path::Path;
use std::{fs, io};

use serde_json::Value;
use unpick_findings::Findings;
use unpick_problem::Problem;

use super::is_stdout;

/// Writes findings as JSON to a file; `-` is standard output.
pub fn write_findings(file: &Path, findings: &Findings) -> Result<(), Problem> {
    write_text(file, &(findings.to_json() + "\n"))
}

/// Writes JSON to a file; `-` is standard output.
pub fn write_json(file: &Path, value: &Value) -> Result<(), Problem> {
    write_text(file, &format!("{value:#}\n"))
}

/// Writes to a file; `-` is standard output.
pub fn write_text(file: &Path, text: &str) -> Result<(), Problem> {
    if is_stdout(file) { print(text) } else { write_file(file, text) }
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<(), Problem> {
    super::print(text.as_bytes()).map_err(|error| {
        Problem::own_fault("the findings cannot be written")
            .at("file", "standard output")
            .why(error)
            .next("they are in the store: findings.json")
    })
}

pub fn write_file(path: &Path, text: &str) -> Result<(), Problem> {
    fs::write(path, text).map_err(|error| cannot_write(path, &error))
}

fn cannot_write(path: &Path, error: &io::Error) -> Problem {
    Problem::own_fault("the findings cannot be written")
        .at("file", path.display())
        .why(error)
        .next("choose a file you can write to: unpick rank --json FILE runs nothing again")
}
