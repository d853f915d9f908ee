//! `unpick demo`: finds the bug of a small program that travels inside `unpick`, by the commands a user would type.
//!
//! Takes   a folder that is new, empty, or of an earlier demo.
//! Gives   the program there, built and hunted; what the hunt prints, its exit code, and what to type next.
//! Misses  options: it has one program and one way.
//!
//! The commands it shows are the ones it runs, by the code of their verbs: what works here works when it is typed.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;
use unpick_instrument::cc::{Compiler, Driver, prepare};
use unpick_problem::Problem;

use crate::CommandLine;
use crate::record::quoted;

pub const HELP: &str = "\
Two tellers pay into one account. Every access to the balance is under its lock, so there is no data race; but a deposit
looks at the balance in one critical section and writes it back in another. The exit code is that of the hunt: 66.";

const SOURCE: &str = include_str!("../../../examples/bank/bank.c");
const SOURCE_NAME: &str = "bank.c";
const BUILD: &str = "unpick cc -g -O1 -pthread bank.c -o bank";
/// One deposit by each teller: all failing runs have the same order of accesses, and no passing run has it.
const HUNT: &str = "unpick hunt -- ./bank 1";

/// What `unpick demo` can be told.
#[derive(clap::Args)]
pub struct Demo {
    /// Where the program goes: a new or empty folder, or that of an earlier demo
    #[arg(long, value_name = "DIR", default_value = "unpick-demo")]
    folder: PathBuf,
}

pub fn run(demo: Demo) -> Result<ExitCode, Problem> {
    refuse_foreign(&demo.folder)?;
    // Before anything is written: without a compiler there is nothing to show.
    Compiler::choose(Driver::C)?;
    unpack(&demo.folder).map_err(|error| cannot_unpack(&demo.folder, &error))?;
    tell_beginning(&demo.folder);
    build()?;
    let code = hunt()?;
    tell_next(&demo.folder);
    Ok(code)
}

/// What somebody has written is not written over, and not mixed with the program's files.
fn refuse_foreign(folder: &Path) -> Result<(), Problem> {
    match fs::read(folder.join(SOURCE_NAME)) {
        Ok(source) if source == SOURCE.as_bytes() => Ok(()),
        Ok(_) => Err(changed(folder)),
        Err(_) if is_free(folder) => Ok(()),
        Err(_) => Err(foreign(folder)),
    }
}

fn is_free(folder: &Path) -> bool {
    match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    }
}

/// Writes the program, and goes where it is: the commands are meant to be typed there.
fn unpack(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join(SOURCE_NAME), SOURCE)?;
    env::set_current_dir(folder)
}

fn build() -> Result<(), Problem> {
    eprintln!("$ {BUILD}");
    let arguments: Vec<OsString> = BUILD.split(' ').skip(2).map(OsString::from).collect();
    match prepare(Driver::C, &arguments)?.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(cannot_build(&format!("the compiler ended with {status}, and said why"))),
        Err(error) => Err(cannot_build(&error.to_string())),
    }
}

fn hunt() -> Result<ExitCode, Problem> {
    eprintln!("$ {HUNT}");
    crate::run(CommandLine::parse_from(HUNT.split(' ')).verb)
}

fn tell_beginning(folder: &Path) {
    eprintln!(
        "unpick: {SOURCE_NAME}: two tellers pay into one account. Every access is under the lock, and yet,"
    );
    eprintln!("unpick: now and then, a coin is lost. Here is how to find out why:");
    eprintln!("$ cd {}", quoted(&folder.to_string_lossy()));
}

fn tell_next(folder: &Path) {
    let folder = quoted(&folder.to_string_lossy());
    eprintln!(
        "
Next, there:            cd {folder}
  what was found:       unpick show
  mend it, and see:     give `deposit` in {SOURCE_NAME} one critical section, then
                        {BUILD} && unpick hunt --time 20s -- ./bank 1
With your own program:  make CC='unpick cc' CXX='unpick c++'
                        unpick hunt -- ./your-test
With a test in Rust:    unpick hunt --cargo test NAME"
    );
}

fn foreign(folder: &Path) -> Problem {
    Problem::usage("the demo does not write into a folder that is not its own")
        .at("folder", folder.display())
        .why(format!("it holds other things, and no {SOURCE_NAME} of a demo"))
        .next("choose a new one: unpick demo --folder DIR")
}

fn changed(folder: &Path) -> Problem {
    Problem::usage(format!("the demo does not write over a {SOURCE_NAME} that was changed"))
        .at("file", folder.join(SOURCE_NAME).display())
        .why("it is not the one this Unpick carries")
        .next(format!(
            "a demo from the beginning: unpick demo --folder DIR; with your changes, in that folder: {BUILD} && {HUNT}"
        ))
}

fn cannot_unpack(folder: &Path, error: &io::Error) -> Problem {
    Problem::usage("the demo cannot be unpacked")
        .at("folder", folder.display())
        .why(error)
        .next("choose a folder you can write to: unpick demo --folder DIR")
}

fn cannot_build(why: &str) -> Problem {
    Problem::usage("the demo cannot be built")
        .at("command", BUILD)
        .why(why)
        .next("see which compilers work here, and what to install: unpick doctor")
}
