//! Healthy concurrent libraries: every report about them is false until it is shown to be true.
//!
//! Takes   the package in `healthy`, with a file of tests per library, and the `unpick` command.      Returns  what was reported about each.
//! Misses  what the tests do not execute.
//! Cost    building twelve crates and their tests once, then seconds per library.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use unpick_bench_results::table;
use unpick_problem::Problem;

use crate::command::{empty, output};
use crate::options::Options;
use crate::own::found_in;

/// Before the path of a test program in what cargo prints.
const EXECUTABLE: &str = "Executable tests/";

/// Tests of one library.
#[derive(Debug, PartialEq, Eq)]
struct Tests {
    library: String,
    program: PathBuf,
}

/// Builds and runs the tests of all libraries, and shows what was reported.
pub fn run(options: &Options) -> Result<(), Problem> {
    let folder = folder();
    let work = options.work().join("healthy");
    let unpick = options.unpick()?;
    let mut rows = vec![row(["library", "version", "runs", "races"])];
    for tests in build(&unpick, &folder, &work)? {
        if !options.takes(&tests.library) {
            continue;
        }
        let races = races_of(&tests, &unpick, &work, options)?;
        let runs = options.runs.to_string();
        rows.push(row([&tests.library, &version_of(&tests.library), &runs, &races.to_string()]));
    }
    println!("{}", table(&rows));
    Ok(())
}

fn row(cells: [&str; 4]) -> Vec<String> {
    cells.map(str::to_owned).to_vec()
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("healthy")
}

fn build(unpick: &Path, folder: &Path, work: &Path) -> Result<Vec<Tests>, Problem> {
    let built = Command::new(unpick)
        .args(["cargo", "test", "--no-run"])
        .env("CARGO_TARGET_DIR", work.join("target"))
        .current_dir(folder)
        .stdin(Stdio::null())
        .output();
    let built = built
        .map_err(|error| Problem::own_fault("the healthy libraries cannot be built").why(error))?;
    let printed = String::from_utf8_lossy(&built.stderr);
    if !built.status.success() {
        return Err(Problem::own_fault("the healthy libraries cannot be built").why(printed));
    }
    Ok(printed.lines().filter_map(|line| tests_in(line, folder)).collect())
}

/// `Executable tests/flume.rs (/target/debug/deps/flume-51051bf859109b08)`.
fn tests_in(line: &str, folder: &Path) -> Option<Tests> {
    let (source, program) = line.trim().strip_prefix(EXECUTABLE)?.split_once(" (")?;
    let library = source.strip_suffix(".rs")?.to_owned();
    Some(Tests { library, program: folder.join(program.strip_suffix(')')?) })
}

fn races_of(
    tests: &Tests,
    unpick: &Path,
    work: &Path,
    options: &Options,
) -> Result<usize, Problem> {
    let store = work.join(&tests.library);
    empty(&store)?;
    let [unpick, store_name, program] =
        [unpick, &store, &tests.program].map(|path| path.display().to_string());
    let runs = options.runs.to_string();
    let races = ["races", "--quiet", "--json", "-", "--delays", "--runs", &runs];
    let rest = ["--store", &store_name, "--", &program];
    let command: Vec<&str> = [unpick.as_str()].into_iter().chain(races).chain(rest).collect();
    let found = found_in(&output(&command, &store)?, &program)?;
    if options.verbose {
        found.alarms().for_each(|alarm| println!("{}: {alarm}", tests.library));
    }
    Ok(found.alarms().count())
}

/// The exact version that the package asks for; of std, that of the compiler is meant.
fn version_of(library: &str) -> String {
    let package = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap_or_default();
    version_in(&package, library).unwrap_or_else(|| "of the compiler".to_owned())
}

fn version_in(package: &str, library: &str) -> Option<String> {
    let name = library.replace('_', "-");
    let is_it =
        |line: &&str| line.split(" = ").next().is_some_and(|is| is.replace('_', "-") == name);
    let line = package.lines().find(is_it)?;
    Some(line.split('"').nth(1)?.trim_start_matches('=').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_programs_are_found_in_what_cargo_prints() {
        let line = "  Executable tests/arc_swap.rs (/t/deps/arc_swap-12)";
        let tests = tests_in(line, Path::new("/healthy")).unwrap();
        assert_eq!(
            (tests.library.as_str(), tests.program.to_str()),
            ("arc_swap", Some("/t/deps/arc_swap-12"))
        );
        assert_eq!(tests_in("  Executable unittests lib.rs (/t/x)", Path::new("/")), None);
    }

    #[test]
    fn every_library_but_std_has_an_exact_version() {
        let package = std::fs::read_to_string(folder().join("Cargo.toml")).unwrap();
        let sources = std::fs::read_dir(folder().join("tests")).unwrap();
        let names = sources
            .map(|one| one.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned());
        for library in names.filter(|name| name != "std") {
            let version = version_in(&package, &library).unwrap_or_default();
            assert_eq!(version.split('.').count(), 3, "{library}");
        }
    }
}
