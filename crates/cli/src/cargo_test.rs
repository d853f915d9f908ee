//! `--cargo test NAME`: builds the tests of a cargo project as `unpick cargo test` does, and finds the one that is meant.
//!
//! Takes   the words of a `cargo test` command line.
//! Gives   how to run that one test: program, arguments, working folder and variables as cargo gives them.
//! Misses  doctests, which have no program of their own; the variable CARGO and the `[env]` table of cargo's configuration.
//! Cost    a build, which is nothing if nothing has changed; each test program is asked for its tests.

mod build;
mod choice;
mod request;
mod test_program;

use std::ffi::OsString;

use unpick_problem::Problem;
use unpick_runner::Invocation;

use crate::misplaced::refuse_behind_cargo;
use choice::{Choice, choose};
use request::Request;

/// Builds the tests, and says how to run the one that is asked for.
pub fn invocation(words: &[OsString]) -> Result<Invocation, Problem> {
    refuse_behind_cargo(words)?;
    let request = Request::parse(words)?;
    let programs = build::test_programs(&request)?;
    let Choice { program, test } = choose(&request, &programs)?;
    eprintln!("unpick: test {test} of {}", program.id());
    let is_left_out = !request.runs_ignored() && program.ignores(&test);
    let mut command = vec![program.path.clone().into(), "--exact".into(), test.into()];
    if is_left_out {
        eprintln!("unpick: it is marked #[ignore]; it is run all the same, by --ignored");
        command.push("--ignored".into());
    }
    command.extend(request.harness_options.iter().map(OsString::from));
    Ok(Invocation {
        stdin: None,
        command,
        folder: Some(program.package_folder().to_owned()),
        environment: program.environment.clone(),
        written_as: Some(request.written_as()),
    })
}
