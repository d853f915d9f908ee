//! How a benchmark ends.

use std::process::ExitCode;

use unpick_problem::Problem;

/// The exit code of what came of a benchmark; a problem is told first.
pub fn ended(came_of_it: Result<(), Problem>) -> ExitCode {
    match came_of_it {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("{problem}");
            ExitCode::from(problem.exit_code())
        }
    }
}
