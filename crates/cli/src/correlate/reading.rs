//! Reading sources with the workers, caches and flags that this machine has.

use std::env;
use std::num::NonZero;
use std::path::PathBuf;
use std::time::Duration;

use unpick_correlations::{Request, Sources, WorkerCommand, read_sources};
use unpick_problem::Problem;

use super::WORKER;
use crate::terminal;

/// What reading may cost.
pub struct Effort {
    /// Processes at a time; as many as there are cores if nothing is said.
    pub jobs: Option<NonZero<usize>>,
    /// What takes longer is left out.
    pub time_limit: Duration,
    pub quiet: bool,
}

/// Reads files, or what is below folders.
pub fn read(
    paths: Vec<PathBuf>,
    cache: Option<PathBuf>,
    effort: &Effort,
) -> Result<Sources, Problem> {
    let program = env::current_exe()
        .map_err(|error| Problem::own_fault("unpick does not know where it is").why(error))?;
    let cores = std::thread::available_parallelism();
    let bar = terminal::progress_bar(0, effort.quiet);
    bar.set_prefix("reading");
    let sources = read_sources(&Request {
        paths,
        cache,
        worker: WorkerCommand { program, arguments: vec![WORKER.to_owned()] },
        time_limit: effort.time_limit,
        jobs: effort.jobs.or(cores.ok()).map_or(1, NonZero::get),
        seen_flags: &|file| {
            let seen = unpick_instrument::noted_flags(file)?;
            Some((seen.directory, seen.arguments))
        },
        progress: &|done, all| {
            bar.set_length(all as u64);
            bar.set_position(done as u64);
        },
    });
    bar.finish_and_clear();
    sources
}
