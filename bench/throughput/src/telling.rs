//! What a benchmark of this folder does with its section.

use std::path::Path;
use std::process::ExitCode;

use unpick_bench_results::write_section;
use unpick_problem::Problem;

/// Prints the section of `benchmark`, and puts it into the file that `--out` names, if it does.
pub fn tell(arguments: &[String], benchmark: &str, section: &str) -> ExitCode {
    println!("{section}");
    let out = arguments.iter().position(|word| word == "--out").map(|at| arguments.get(at + 1));
    let written = match out {
        Some(Some(file)) => write_section(Path::new(file), benchmark, section),
        Some(None) => Err(Problem::usage("--out needs a file").next("--out docs/RESULTS.md")),
        None => Ok(()),
    };
    written.map_or_else(
        |problem| {
            eprintln!("{problem}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
