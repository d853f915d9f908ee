//! Builds the twins of a subject: as it is, or with Unpick.

use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_problem::Problem;
use unpick_subjects::{Language, Subject, Twin};

/// With which compiler.
#[derive(Debug, Clone, Copy)]
pub enum Tool<'a> {
    AsItIs,
    /// The `unpick` command.
    Unpick(&'a Path),
}

/// Where `unpick cargo` puts what it builds, below the target folder.
const BELOW_TARGET: &str = "unpick/x86_64-unknown-linux-gnu";

/// Builds a twin below `work`; says where the program is.
pub fn build(
    subject: &Subject,
    twin: Twin,
    tool: Tool<'_>,
    work: &Path,
) -> Result<PathBuf, Problem> {
    let folder = folder_of(subject, twin, tool, work);
    std::fs::create_dir_all(&folder).map_err(|error| cannot_build(subject, &error.to_string()))?;
    let words = subject.build_command(twin, &folder);
    let mut command = command_of(&words, tool);
    command.current_dir(&subject.folder);
    let output = command.output().map_err(|error| cannot_build(subject, &error.to_string()))?;
    if !output.status.success() {
        return Err(cannot_build(subject, &String::from_utf8_lossy(&output.stderr)));
    }
    Ok(program_of(subject, tool, &folder))
}

/// Rust programs share a target folder, so that what they depend on is built once.
fn folder_of(subject: &Subject, twin: Twin, tool: Tool<'_>, work: &Path) -> PathBuf {
    let tool = match tool {
        Tool::AsItIs => "bare",
        Tool::Unpick(_) => "unpick",
    };
    let twin = match twin {
        Twin::Buggy => "buggy",
        Twin::Fixed => "fixed",
    };
    let folder = work.join("programs").join(format!("{tool}-{twin}"));
    if subject.language == Language::Rust { folder.join("rust") } else { folder }
}

fn command_of(words: &[String], tool: Tool<'_>) -> Command {
    match tool {
        Tool::AsItIs => with_arguments(Command::new(&words[0]), &words[1..]),
        Tool::Unpick(unpick) => {
            let verb = match words[0].as_str() {
                "gcc" => "cc",
                "g++" => "c++",
                other => other,
            };
            let mut command = Command::new(unpick);
            command.arg(verb);
            with_arguments(command, &words[1..])
        }
    }
}

fn with_arguments(mut command: Command, arguments: &[String]) -> Command {
    command.args(arguments);
    command
}

fn program_of(subject: &Subject, tool: Tool<'_>, folder: &Path) -> PathBuf {
    match (subject.language, tool) {
        (Language::Rust, Tool::Unpick(_)) => subject.program(&folder.join(BELOW_TARGET)),
        _ => subject.program(folder),
    }
}

fn cannot_build(subject: &Subject, why: &str) -> Problem {
    Problem::own_fault(format!("the subject {} cannot be built", subject.name))
        .at("folder", subject.folder.display())
        .why(why)
        .next(format!("build it by hand: {}", subject.build))
}
