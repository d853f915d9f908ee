//! `unpick completions` and `unpick man`: made from the command line's own description, so that they cannot drift from it.

use std::io;
use std::process::ExitCode;

use clap::CommandFactory;
use unpick_problem::Problem;

use crate::{CommandLine, output};

pub const COMPLETIONS_HELP: &str = "\
Examples:
  unpick completions bash > ~/.local/share/bash-completion/completions/unpick
  unpick completions fish > ~/.config/fish/completions/unpick.fish";

pub const MAN_HELP: &str = "\
Examples:
  unpick man | man -l -
  unpick man record > unpick-record.1";

#[derive(clap::Args)]
pub struct Completions {
    shell: clap_complete::Shell,
}

#[derive(clap::Args)]
pub struct Man {
    /// The verb to explain
    verb: Option<String>,
}

pub fn print_completions(completions: Completions) -> Result<ExitCode, Problem> {
    let mut text = Vec::new();
    clap_complete::generate(completions.shell, &mut CommandLine::command(), "unpick", &mut text);
    print(&text)
}

pub fn print_man(man: Man) -> Result<ExitCode, Problem> {
    let mut all = CommandLine::command();
    all.build();
    let command = match &man.verb {
        None => all,
        Some(verb) => all.find_subcommand(verb).cloned().ok_or_else(|| no_such_verb(verb))?,
    };
    let mut text = Vec::new();
    match clap_mangen::Man::new(command).render(&mut text) {
        Ok(()) => print(&text),
        Err(error) => Err(cannot_print(&error)),
    }
}

pub fn print(text: &[u8]) -> Result<ExitCode, Problem> {
    output::print(text).map(|()| ExitCode::SUCCESS).map_err(|error| cannot_print(&error))
}

fn no_such_verb(verb: &str) -> Problem {
    Problem::usage(format!("there is no verb `{verb}`")).next("see them all: unpick help")
}

fn cannot_print(error: &io::Error) -> Problem {
    Problem::own_fault("the text cannot be written").at("file", "standard output").why(error)
}
