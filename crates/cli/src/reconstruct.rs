//! `unpick reconstruct`: which communication goes with failing, and what stood around it; for bugs that are no known pattern.
//!
//! Takes   the labelled runs of a hunt.      Gives  Recon's ranking with what led up, what happened, what followed; JSON; a graph.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use unpick_findings::{Choices, ReconstructionList, ReconstructionWords, own_first};
use unpick_names::ProgramNames;
use unpick_problem::{Problem, exit};
use unpick_run_store::{Store, StoredRun};

use crate::communication::{reconstructions_of, stored_graphs};
use crate::conclude::{NAMES, choices, counts_of};
use crate::contradiction::contradiction;
use crate::import::names_in;
use crate::kept_findings;
use crate::output::findings::{print, write_text};
use crate::output::is_stdout;
use crate::store_folder::store_folder;
use crate::terminal;

pub const HELP: &str = "\
Examples:
  unpick reconstruct                      the three most suspicious communications of the latest hunt
  unpick reconstruct --top 1 --json -     the first, for other tools
  unpick reconstruct --top 20 --dot g.dot && dot -Tsvg g.dot > g.svg

Exit codes: 66 if there are reconstructions, 67 if nothing goes with failing, 2 for wrong usage.";

/// What `unpick reconstruct` can be told.
#[derive(clap::Args)]
pub struct Reconstruct {
    /// How many are shown, the most suspicious first
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=2000))]
    top: u32,
    /// The hunt, by the number of its first run (see unpick hunts); without it, the latest in which a run failed
    #[arg(long, value_name = "N")]
    hunt: Option<u64>,
    /// Write them as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write who communicated with whom as a graph for Graphviz to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    dot: Option<PathBuf>,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

pub fn run(reconstruct: Reconstruct) -> Result<ExitCode, Problem> {
    let store = Store::at(&reconstruct.store);
    let runs = store.runs_of_hunt(reconstruct.hunt.or_else(|| store.latest_failing_hunt()))?;
    let list = reconstruct.list(&store, &runs)?;
    reconstruct.tell(&list)?;
    // Nobody should believe what is only the least unlikely.
    if list.reconstructions.iter().all(|one| one.buggy_frequency <= 1.0) {
        contradiction(&runs).iter().for_each(|line| eprintln!("unpick: {line}"));
    }
    let code = if list.reconstructions.is_empty() { exit::NO_CORRELATION } else { exit::FINDINGS };
    Ok(ExitCode::from(code))
}

impl Reconstruct {
    fn list(&self, store: &Store, runs: &[StoredRun]) -> Result<ReconstructionList, Problem> {
        check_labels(runs, &self.store)?;
        let all =
            reconstructions_of(runs, &stored_graphs)?.ok_or_else(|| no_graphs(&self.store))?;
        let imported = names_in(store.folder())?;
        let names = ProgramNames::new(imported.as_ref(), &NAMES);
        let hunt = runs.first().and_then(|run| run.info.hunt);
        let earlier = kept_findings::read(&self.store, hunt).ok();
        let packages = earlier.map(|findings| findings.packages).unwrap_or_default();
        let choices = Choices { packages, ..choices() };
        let all = own_first(all, &names, &choices);
        Ok(ReconstructionWords::new(&all, &names, &choices).list(self.top as usize))
    }

    fn tell(&self, list: &ReconstructionList) -> Result<(), Problem> {
        if let Some(goal) = &self.json {
            write_text(goal, &(list.to_json() + "\n"))?;
        }
        if let Some(goal) = &self.dot {
            write_text(goal, &unpick_report::dot::communication(&list.reconstructions))?;
        }
        if [&self.json, &self.dot].into_iter().flatten().any(|goal| is_stdout(goal)) {
            return Ok(());
        }
        print(&unpick_report::reconstructions(list, &terminal::style_of_stdout(&self.store)))
    }
}

fn check_labels(runs: &[StoredRun], store: &Path) -> Result<(), Problem> {
    let counts = counts_of(runs);
    let (what, next) = match (counts.failed, counts.passed) {
        (0, _) => ("no run failed", "hunt longer, or with other delays: unpick hunt -- PROGRAM"),
        (_, 0) => (
            "no run passed",
            "hunt with gentler delays, or a narrower rule for failing: unpick hunt -- PROGRAM",
        ),
        _ => return Ok(()),
    };
    Err(Problem::usage(format!("nothing can be reconstructed: {what}"))
        .at("folder", store.display())
        .why("reconstructions compare runs that failed with runs that passed")
        .next(next))
}

fn no_graphs(store: &Path) -> Problem {
    Problem::usage("nothing can be reconstructed: the runs have no communication graphs")
        .at("folder", store.display())
        .why("an earlier version of unpick made them, and their recordings were not kept")
        .next("hunt again: unpick hunt -- PROGRAM")
}
