//! Ranking benchmark: does a hunt find the known bug of every subject, and does it come first?
//!
//! Takes   `subjects/` with what is true about each, and the `unpick` command.
//! Gives   per subject: failure rates, where the true pattern stands, the figures of UNICORN's and Falcon's studies beside what the
//!         papers have; with targets; on the terminal and (with `--out`) as a section of docs/RESULTS.md.
//! Method  the subject is built as it is and run bare; built with Unpick and hunted; then the stored runs are
//!         ranked with all failing runs, and with five of them at a time.
//! Misses  how the figures vary between hunts: each subject is hunted once.
//! Cost    about a minute per subject; `--again` ranks stored runs and takes seconds.
#![forbid(unsafe_code)]

mod figures;
pub mod hunt;
mod measure;
pub mod options;
mod papers;
pub mod reconstruction;
mod report;
pub mod stress;
mod study;
pub mod truth;
pub mod twins;

use unpick_bench_results::{machine, write_section};
use unpick_problem::Problem;

use crate::options::Options;

/// Measures, and says what came of it.
pub fn run(options: &Options) -> Result<(), Problem> {
    let load_before = machine::load();
    let rows = measure::measure(options)?;
    let section = report::section(&rows, &load_before);
    println!("{section}");
    options.out.as_ref().map_or(Ok(()), |file| write_section(file, "bench/ranking", &section))
}
