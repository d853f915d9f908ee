//! `unpick confirm`: forces each of the leading findings, and its inverse order: correlation becomes cause, or not.
//!
//! Takes   the findings of a store.      Gives  a verdict for the leading ones, in `findings.json` too, which is ordered by it.
//! Cost    three times as many runs as are asked for, per finding; runs without a plan are shared by all.

mod rivals;
mod trying;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use unpick_findings::Findings;
use unpick_problem::{Problem, exit};
use unpick_run_store::Store;

use crate::conclude::understudies_of;
use crate::forcing::ForcedProgram;
use crate::hunt::{print, store_findings, write_json};
use crate::quantities::duration;
use crate::record::store_option;
use crate::show::{self, FINDINGS_FILE};

pub use trying::{Tried, Trying};

pub const HELP: &str = "\
Each of the leading findings is forced, then its inverse order, and the program is left alone as often. Verdicts:
  cause         forced it fails, inverted it does not
  contributes   it makes failing more likely, but is not enough, or not needed
  symptom       the program fails as often without it
  not-reached   too few runs came there to say anything

Exit codes: 66 a cause is confirmed, 67 none is, 2 the command line is wrong, 70 Unpick's own fault.

Examples:
  unpick confirm
  unpick confirm --top 5 --runs 50
  unpick confirm --json confirmed.json";

/// As the options' own defaults.
pub const USUAL_TOP: usize = 3;
pub const USUAL_RUNS: u32 = 10;

/// What `unpick confirm` can be told.
#[derive(clap::Args)]
pub struct Confirm {
    /// How many of the leading findings
    #[arg(long, value_name = "N", default_value_t = USUAL_TOP)]
    top: usize,
    /// Runs of each kind: forced, inverted, left alone
    #[arg(long, value_name = "N", default_value_t = USUAL_RUNS, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// At most this long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Write the findings with their verdicts as JSON to this file too; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    program: ForcedProgram,
}

pub fn run(confirm: Confirm) -> Result<ExitCode, Problem> {
    let store = &confirm.program.store;
    let file = store.join(FINDINGS_FILE);
    let mut findings = show::read(&file)?;
    let forcing = confirm.program.forcing()?;
    let formula = findings.formula.clone();
    let trying = Trying {
        forcing: &forcing,
        store,
        plan: &confirm.program.plan,
        top: confirm.top,
        runs: confirm.runs,
        until: confirm.time.map(|time| Instant::now() + time),
        quiet: confirm.quiet,
        understudies: &|finding| {
            let store = Store::at(store);
            let runs = store.runs_of_hunt(None)?;
            understudies_of(&store, &runs, &formula, finding)
        },
    };
    let tried = trying.try_all(&mut findings)?;
    let stored = store_findings(store, &findings);
    confirm.tell(&findings, &tried)?;
    stored?;
    let is_found = tried.iter().any(|tried| tried.is_cause());
    Ok(ExitCode::from(if is_found { exit::FINDINGS } else { exit::NO_CORRELATION }))
}

impl Confirm {
    fn tell(&self, findings: &Findings, tried: &[Tried]) -> Result<(), Problem> {
        if let Some(file) = &self.json {
            write_json(file, findings)?;
        }
        if self.json.as_deref() == Some(Path::new("-")) {
            return Ok(());
        }
        let store = store_option(&self.program.store);
        let leading = findings.leading_hang().map(|hang| hang.example_run);
        let next = match (tried.iter().find(|tried| tried.is_cause()), leading) {
            (Some(_), Some(run)) => format!(
                "next: the cause in full: unpick show{store} --run {run}; keep it as a test: unpick pin{store} --run {run} > bug.toml"
            ),
            (Some(_), None) => format!(
                "next: the cause in full: unpick show{store} 1; keep it as a test: unpick pin{store} 1 > bug.toml"
            ),
            (None, _) => format!(
                "next: try more of them: unpick confirm{store} --top {}; or hunt for more failing runs",
                2 * self.top
            ),
        };
        print(&format!("{}\n{next}\n", table(tried)))
    }
}

/// One row per finding.
pub fn table(tried: &[Tried]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "finding",
        "forced: hit",
        "failed",
        "inverse: hit",
        "failed",
        "alone: failed",
        "verdict",
    ]);
    let of = |part: u32, whole: u32| format!("{part} of {whole}");
    for Tried { what, trials, confirmed, .. } in tried {
        table.add_row([
            what.to_owned(),
            of(trials.forced_hits, trials.forced_runs),
            of(trials.forced_failures, trials.forced_hits),
            of(trials.inverse_hits, trials.inverse_runs),
            of(trials.inverse_failures, trials.inverse_hits),
            of(trials.plain_failures, trials.plain_runs),
            confirmed.verdict.name().to_owned(),
        ]);
    }
    for column in table.column_iter_mut().skip(1).take(5) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let remarks = tried.iter().filter_map(|tried| {
        let remark = tried.remark.as_ref()?;
        Some(format!("\n{}: {}\n", tried.what, remark.trim_start_matches("error: ")))
    });
    format!("{table}\n{}", remarks.collect::<String>())
}
