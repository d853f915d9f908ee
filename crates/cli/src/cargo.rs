//! `unpick cargo …`: a cargo whose builds are instrumented, and the tools it has cargo call.

use std::convert::Infallible;
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use unpick_instrument::cargo::{Tool, ToolCommand, cargo_command, tool_command};
use unpick_problem::Problem;

pub const HELP: &str = "\
Build, test or run a cargo project, instrumented for recording

Usage: unpick cargo [+toolchain] <command> [arguments of cargo]...
       cargo unpick <command> [arguments of cargo]...

Everything goes to cargo: build, test, run, bench, nextest and your aliases, with all their options.
Its output and its exit code are cargo's own.

What differs:
  - code for the target is instrumented (Rust, and C and C++ that build scripts compile); build scripts and
    proc macros are not
  - files go to target/unpick, so your usual builds stay as they are
  - code has debug information, also with --release; where opt-level is 0 it becomes 1
    (RUSTFLAGS=-Copt-level=0 keeps it)

Examples:
  unpick cargo test
  unpick cargo run --release --example bank -- 4
  unpick cargo build && ls target/unpick/*/debug

For the options of a command: unpick cargo <command> --help
";

/// Becomes cargo; returns only help or a failure.
pub fn run(arguments: &[OsString]) -> Result<ExitCode, Problem> {
    if wants_help(arguments) {
        print!("{HELP}");
        return Ok(ExitCode::SUCCESS);
    }
    let never = become_command(cargo_command(&own_program()?, arguments.to_vec())?)?;
    match never {}
}

/// Called by cargo under the name of a wrapper: becomes the compiler that is meant.
pub fn run_tool(tool: Tool, arguments: &[OsString]) -> Result<ExitCode, Problem> {
    let ToolCommand { mut command, last_line } =
        tool_command(&own_program()?, tool, arguments.to_vec())?;
    let Some(last_line) = last_line else {
        let never = become_command(command)?;
        match never {}
    };
    let status = command.status().map_err(|error| cannot_start(&command, &error))?;
    if status.success() {
        println!("{last_line}");
    }
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn wants_help(arguments: &[OsString]) -> bool {
    arguments.first().is_none_or(|first| {
        first == "--help" || first == "-h" || first == "help" && arguments.len() == 1
    })
}

/// Replaces this process, so that signals, exit code and output are the command's own.
fn become_command(mut command: Command) -> Result<Infallible, Problem> {
    let error = command.exec();
    Err(cannot_start(&command, &error))
}

pub fn own_program() -> Result<PathBuf, Problem> {
    std::env::current_exe().map_err(|error| {
        Problem::own_fault("unpick cannot find its own program file")
            .why(error)
            .next("call it by its full path, and make sure that /proc is mounted")
    })
}

fn cannot_start(command: &Command, error: &std::io::Error) -> Problem {
    Problem::usage(format!("`{}` cannot be started", command.get_program().display()))
        .why(error)
        .next("check that it is installed and on PATH; RUSTC_WRAPPER, RUSTDOC, CC and CXX may name it")
}
