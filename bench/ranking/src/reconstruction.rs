//! Reconstruction benchmark: does what stood around the best edge show the known bug, in order, with little else?
//!
//! Takes   the stores that the ranking benchmark left, with their recordings; what is true about each subject.
//! Gives   per subject, with 25 failing and 25 passing runs: rank of the true bug's reconstruction, code points in it that belong to
//!         the bug and others, whether they are in order, how many are missing; ranks with 15 and 5 failing runs; Bugaboo's
//!         and CCI's ranks beside it, and the paper's; what first reads, first writes and racy look-ups save and lose.
//! Method  a reconstruction shows the bug if an end of its edge is a line with a marker, every such line is in it, and a reader who goes
//!         through it from prefix to suffix meets them in the order of the true pattern.
//!         A code point belongs to the bug if it has a marker or names a variable of the true pattern.
//! Misses  how the figures vary between hunts.
//! Cost    seconds per subject: graphs are made anew from recordings.
#![forbid(unsafe_code)]

pub mod judge;
mod options;
mod runs;
mod section;
mod variants;

pub use options::Options;

use unpick_analyses::communication::Contexts;
use unpick_bench_results::{machine, write_section};
use unpick_names::CodeNames;
use unpick_problem::Problem;

use crate::truth::Truth;
use judge::{Judge, Standing};
use runs::runs_of;
use variants::Variant;

/// Failing and passing runs of the full measurement, as in the paper.
const FULL: usize = 25;
/// Fewer failing runs.
const FEWER: [usize; 2] = [15, 5];

/// What was seen of a subject.
pub struct Row {
    pub subject: String,
    pub origin: String,
    pub failing: usize,
    pub full: Standing,
    /// Ranks with 15 and with 5 failing runs.
    pub fewer: [Option<u32>; 2],
    /// Rank with whole contexts.
    pub as_in_paper: Option<u32>,
    pub bugaboo: Option<u32>,
    pub cci: Option<u32>,
    pub variants: Vec<Variant>,
    /// Bytes that all graphs take, and patterns of the same runs.
    pub graph_bytes: usize,
    pub seconds_per_graph: f64,
}

/// Measures, and says what came of it.
pub fn run(options: &Options) -> Result<(), Problem> {
    let load_before = machine::load();
    let names = CodeNames::new();
    let mut rows = Vec::new();
    for subject in options.subjects()? {
        let Some(truth) = Truth::of(&subject) else { continue };
        let runs = runs_of(&options.store_of(&subject), FULL, &names)?;
        let judge = Judge::new(&subject, &truth, &names);
        let full = judge.standing(&runs.graphs, Contexts::AnyLength)?;
        let as_in_paper = judge.standing(&runs.graphs, Contexts::Whole)?.rank;
        let fewer = FEWER
            .map(|count| judge.standing(&runs.with_failing(count), Contexts::AnyLength).ok()?.rank);
        let row = Row {
            subject: subject.name.clone(),
            origin: subject.origin.clone(),
            failing: runs.failing,
            bugaboo: judge.rank_by_edges(&runs.graphs)?,
            cci: judge.rank_by_accesses(&runs.graphs),
            full,
            fewer,
            as_in_paper,
            variants: if options.variants {
                variants::of(&judge, &runs, &names)?
            } else {
                Vec::new()
            },
            graph_bytes: runs.bytes(),
            seconds_per_graph: runs.seconds_per_graph,
        };
        tell(&row, options.verbose);
        rows.push(row);
    }
    let section = section::section(&rows, &load_before);
    println!("{section}");
    let name = "bench/ranking reconstructions";
    options.out.as_ref().map_or(Ok(()), |file| write_section(file, name, &section))
}

fn tell(row: &Row, verbose: bool) {
    let Standing { rank, relevant, irrelevant, in_order, missing, .. } = &row.full;
    eprintln!(
        "{}: rank {rank:?}, with fewer {:?}; {relevant} relevant, {irrelevant} others, in order {in_order}, {missing} missing; whole contexts {:?}, Bugaboo {:?}, CCI {:?}",
        row.subject, row.fewer, row.as_in_paper, row.bugaboo, row.cci
    );
    if verbose {
        row.full.told.iter().for_each(|line| eprintln!("    {line}"));
    }
}
