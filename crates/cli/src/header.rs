//! `unpick header`: the library of breakpoints for C and C++, which travels inside `unpick`.

use std::process::ExitCode;

use unpick_problem::Problem;

use crate::help_files;

const HEADER: &str = include_str!("../../breakpoint/include/unpick.h");

pub const HELP: &str = "\
Examples:
  unpick header > unpick.h
  gcc -DUNPICK_BREAKPOINTS -pthread test.c && ./a.out

Without -DUNPICK_BREAKPOINTS nothing of it is in the program. In Rust: the crate unpick-breakpoint.";

pub fn run() -> Result<ExitCode, Problem> {
    help_files::print(HEADER.as_bytes())
}
