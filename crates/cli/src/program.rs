//! What is to be run, as `record` and `hunt` are told it: a program with its arguments, or a test of a cargo project.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;
use unpick_recording::RunInfo;
use unpick_runner::Invocation;

use crate::cargo_test;
use crate::misplaced;
use crate::record::quoted;

/// Which program is meant.
#[derive(clap::Args)]
pub struct ProgramOptions {
    /// Build a cargo project and run one of its tests: --cargo test NAME, with cargo's options
    #[arg(long)]
    cargo: bool,
    /// What the program reads as its standard input, in each run from the beginning [default: nothing in hunts; that of unpick in
    /// record and watch]
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, trailing_var_arg = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl ProgramOptions {
    /// ` --stdin FILE` as it was given, or nothing.
    pub fn stdin_again(&self) -> String {
        stdin_option(self.stdin.as_deref())
    }

    /// Says if an option of this verb stands where it is the program's.
    pub fn warn_of_misplaced_options(&self, verb: &str) {
        let warning = (!self.cargo).then(|| misplaced::warning(verb, &self.command)).flatten();
        warning.iter().for_each(|warning| eprintln!("unpick: {warning}"));
    }

    /// How to run it; with `--cargo` it is built first.
    pub fn invocation(&self) -> Result<Invocation, Problem> {
        let stdin = self.stdin.as_deref().map(whole_path).transpose()?;
        let invocation = if self.cargo {
            cargo_test::invocation(&self.command)?
        } else {
            Invocation::plain(self.command.clone())
        };
        Ok(Invocation { stdin, ..invocation })
    }
}

/// Runs may be made from elsewhere, and later.
fn whole_path(file: &Path) -> Result<PathBuf, Problem> {
    let cannot = |error| {
        Problem::usage("the file for the program's standard input cannot be read")
            .at("file", file.display())
            .why(error)
            .next("name one that can: --stdin FILE")
    };
    std::fs::File::open(file).map_err(cannot)?;
    std::path::absolute(file).map_err(cannot)
}

/// ` --stdin FILE`, or nothing.
pub fn stdin_option(stdin: Option<&Path>) -> String {
    stdin.map_or_else(String::new, |file| format!(" --stdin {}", quoted(&file.to_string_lossy())))
}

/// What a command line of `record` or `hunt` ends with to name this program: `-- ./bank 100`.
pub fn end_of_command_line(command: &[String], written_as: Option<&[String]>) -> String {
    match written_as {
        Some(words) => in_a_shell(words),
        None => format!("-- {}", in_a_shell(command)),
    }
}

/// The same for people: `./bank 100`, or `--cargo test transfer`.
pub fn program_in_words(info: &RunInfo) -> String {
    let words = info.written_as.as_ref().unwrap_or(&info.command);
    in_a_shell(words)
}

fn in_a_shell(words: &[String]) -> String {
    let words: Vec<_> = words.iter().map(|word| quoted(word)).collect();
    words.join(" ")
}
