//! `unpick reproduce`, `confirm`, `pin` and `check` on the subjects: does the known bug show on demand, and is it told from others?
//!
//! Method  each subject is hunted once by the real command, as a user would; then its first finding, or the deadlock it hung in, is forced again and
//!         again, and the program is left alone as often. The leading findings are confirmed. The reproducer is checked against the buggy
//!         and against the fixed twin.

mod measure;
mod report;
mod unpick;

use unpick_bench_results::machine;
use unpick_problem::Problem;
use unpick_subjects::{Subject, subjects};

use crate::options::Options;
use measure::measure;

/// The section of the results.
pub fn section(options: &Options) -> Result<String, Problem> {
    let load_before = machine::load();
    let unpick = options.unpick()?;
    let can_fail = |subject: &Subject| subject.failure.is_some();
    let mut rows = Vec::new();
    for subject in subjects().into_iter().filter(can_fail) {
        if options.has(&subject.name) {
            let row = measure(&subject, &unpick, options)?;
            eprintln!("{}: {}", subject.name, row.in_short());
            rows.push(row);
        }
    }
    Ok(report::section(&rows, &load_before))
}
