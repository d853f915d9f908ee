//! `cargo unpick …`: cargo finds this program by its name; it is `unpick cargo …`.
//!
//! It becomes the `unpick` beside it, so that there is one program only which compilers are told to call.
#![forbid(unsafe_code)]

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use unpick_problem::Problem;

fn main() -> ExitCode {
    let unpick = program_beside_this();
    let error = Command::new(&unpick).arg("cargo").args(arguments_after_own_name()).exec();
    let problem = Problem::own_fault("`unpick` cannot be started")
        .at("command", unpick.display())
        .why(error)
        .next("install both programs into one folder: cargo install --path crates/cli");
    eprintln!("{problem}");
    ExitCode::from(problem.exit_code())
}

/// Cargo passes the name of the subcommand first; someone who calls this program directly does not.
fn arguments_after_own_name() -> impl Iterator<Item = OsString> {
    let mut arguments = std::env::args_os().skip(1).peekable();
    arguments.next_if(|first| first == "unpick");
    arguments
}

fn program_beside_this() -> PathBuf {
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name("unpick"));
    beside.filter(|path| path.is_file()).unwrap_or_else(|| "unpick".into())
}
