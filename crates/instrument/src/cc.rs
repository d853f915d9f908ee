//! `unpick cc` and `unpick c++`: stand in for gcc or clang, and instrument what they compile.
//!
//! Takes  the arguments meant for the compiler.
//! Gives  the same exit code, messages and files as the compiler, with two differences: the code
//!        calls the hooks of ThreadSanitizer's interface, and an executable contains our runtime
//!        in place of ThreadSanitizer's.
//! Misses gcc's warnings about the arguments of `memset` and the like.
//!
//! The flags that instrument reach the compiler proper (`cc1`, `clang -cc1`) without the driver's
//! knowledge: gcc takes them from a specs file, clang by `-Xclang`. So the driver never links
//! ThreadSanitizer's runtime and never refuses `-static`, and one call does it all: this process
//! becomes the compiler, no matter whether it compiles, links or both.
//!
//! About `gcc-compile.specs`, which can hold no comments:
//! - It adds to what `cc1` gets, before the options of the user's, which therefore win.
//! - `-g` is left out where gcc only preprocesses: there it would add a line to the output.
//! - `-O1` is left out with `-Werror`: some warnings are found by optimisation only, and would turn
//!   a build that works into one that fails. clang's warnings do not depend on the level.
//! - `-fno-builtin-…` and `-m…-strategy=libcall` make gcc call the memory functions, where we intercept
//!   them. Else it expands calls with a constant size in place, without a hook: accesses would be lost.
//!   docs/design/0003-compiler-wrappers.md has which, and what it costs.
//! - Conditions are nested `%{!a:%{!b*:…}}`. The shorter `%{a|b*:;:…}` makes gcc accept every
//!   unknown option silently, and configure scripts would believe in all of them.

mod command_line;
mod compiler;
mod linker;
mod options;
mod response_file;
mod rewrite;

use crate::embed::RuntimeFiles;
use crate::noted_flags;
use command_line::CommandLine;
pub use compiler::{Compiler, Family};
use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use unpick_problem::Problem;

/// Which of the two drivers is stood in for; they differ in the libraries they link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    C,
    Cxx,
}

/// Becomes the real compiler; returns only if that cannot be done.
pub fn become_compiler(driver: Driver, args: &[OsString]) -> Problem {
    match prepare(driver, args) {
        Ok(mut call) => {
            noted_flags::note(args);
            let error = call.exec();
            cannot_become(&call, &error)
        }
        Err(problem) => problem,
    }
}

/// The call of the real compiler that stands for `unpick cc ARGS`.
pub fn prepare(driver: Driver, args: &[OsString]) -> Result<Command, Problem> {
    let compiler = Compiler::choose(driver)?;
    prepare_with(&compiler, &crate::runtime_files()?, args)
}

/// The same, for a compiler and a runtime that are already chosen.
pub fn prepare_with(
    compiler: &Compiler,
    runtime: &RuntimeFiles,
    args: &[OsString],
) -> Result<Command, Problem> {
    let expanded = response_file::expand(args);
    let flat: Vec<OsString> = expanded.iter().flat_map(|arg| arg.stands_for.clone()).collect();
    let line = CommandLine::read(&flat);
    let mut call = compiler.command();
    call.args(rewrite::rewritten(&expanded, &line, compiler, runtime)?);
    Ok(call)
}

fn cannot_become(call: &Command, error: &io::Error) -> Problem {
    let problem = Problem::usage("the compiler cannot be started")
        .at("command", call.get_program().to_string_lossy())
        .why(error);
    match error.kind() {
        io::ErrorKind::ArgumentListTooLong => problem.next(
            "remove -fsanitize=thread from the response file: Unpick adds it itself, and had to \
             write the file out as arguments",
        ),
        _ => problem.next("check that this program runs by itself"),
    }
}
