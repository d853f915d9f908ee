//! `unpick confirm`: forces each of the leading findings, and its inverse order: correlation becomes cause, or not.
//!
//! Takes   the findings of a store.      Gives  a verdict for the leading ones, in `findings.json` too, which is ordered by it; or for a deadlock
//!         that can be, or a race, in the report of `unpick races`.
//! Cost    three times as many runs as are asked for, per finding; runs without a plan are shared by all.

mod asked_for;
mod evidence;
mod experiments;
mod failures;
mod laboratory;
mod plans;
mod race;
mod reading;
mod span;
mod telling_apart;
mod trying;
mod unit_counts;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use unpick_findings::{CandidateDeadlock, Findings, RaceFinding, RaceMark};
use unpick_problem::{Problem, exit};
use unpick_reproduce::Plan;
use unpick_run_store::Store;

use crate::conclude::{AsBefore, reconstructed};
use crate::deadlocks;
use crate::forcing::{ForcedProgram, Forcing};
use crate::kept_findings;
use crate::output::findings::{print, write_findings, write_json};
use crate::output::is_stdout;
use crate::quantities::duration;
use crate::race_orders;
use crate::races::Report;
use crate::record::store_option;
use crate::show::hunt_option;

pub use evidence::HuntEvidence;
pub use trying::{Tried, Trying};

pub const HELP: &str = "\
The orders of the leading findings, and of what else could be the cause of the same failing runs, are forced and prevented, and the program is
left alone as often. The one with the largest measured effect leads. Verdicts:
  cause            forced, nearly every run fails; prevented, none does; and the failing runs of the hunt had it
  likely           it makes the program fail, but one of the three is not shown
  related          it seems to change how often the program fails
  refuted          the program fails as often without it
  not-reproduced   too few runs had the order to say anything

With --race both orders of the two accesses of a race are forced; of a race of several variables, the other thread comes between. The race is then
  confirmed       an order makes the program fail
  benign so far   all orders came about, and no run failed
  undecided       runs fail in one order and none in its inverse, but too few to tell
  fails anyway    runs fail, but not because of its order
  not forced      an order did not come about; why is told
and unpick races keeps that with the race.

Exit codes: 66 a cause is confirmed, 67 none is, 2 the command line is wrong, 70 Unpick's own fault.

Examples:
  unpick confirm
  unpick confirm --top 5 --runs 50
  unpick confirm --json confirmed.json
  unpick confirm --deadlock 1       can it be? by the list of unpick races
  unpick confirm --race 1           does it matter? by the same list";

/// As the options' own defaults.
pub const USUAL_TOP: usize = 3;
pub const USUAL_RUNS: u32 = 10;

/// What `unpick confirm` can be told.
#[derive(clap::Args)]
pub struct Confirm {
    /// How many of the leading findings
    #[arg(long, value_name = "N", default_value_t = USUAL_TOP)]
    top: usize,
    /// Only this deadlock that can be, by its number in the list of unpick races
    #[arg(long, value_name = "N", conflicts_with = "top")]
    deadlock: Option<usize>,
    /// Only this race, by its number in the list of unpick races
    #[arg(long, value_name = "N", conflicts_with_all = ["top", "deadlock"])]
    race: Option<usize>,
    /// Runs of each kind: forced, prevented, left alone; more where these do not decide
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
    if let Some(number) = confirm.deadlock {
        return confirm.confirm_deadlock(number);
    }
    if let Some(number) = confirm.race {
        return confirm.confirm_race(number);
    }
    let store = &confirm.program.store;
    let mut findings = kept_findings::read(store, confirm.program.hunt)?;
    let forcing = confirm.program.forcing()?;
    let before = AsBefore::of(&findings);
    let hunt = kept_findings::meant(store, confirm.program.hunt);
    let kept = Store::at(store);
    let runs = kept.runs_of_hunt(hunt)?;
    let evidence = HuntEvidence::of(&kept, &runs, &before);
    let tried = confirm.trying(&forcing, &evidence).try_all(&mut findings)?;
    let findings = reconstructed(&kept, &runs, findings)?;
    let stored = kept_findings::keep(store, &findings);
    confirm.tell(&findings, &tried)?;
    stored?;
    Ok(exit_code(&tried))
}

fn exit_code(tried: &[Tried]) -> ExitCode {
    let is_found = tried.iter().any(|tried| tried.is_cause());
    ExitCode::from(if is_found { exit::FINDINGS } else { exit::NO_CORRELATION })
}

impl Confirm {
    fn trying<'a>(&'a self, forcing: &'a Forcing, evidence: &'a HuntEvidence<'a>) -> Trying<'a> {
        Trying {
            forcing,
            store: &self.program.store,
            plan: &self.program.plan,
            top: self.top,
            runs: self.runs,
            until: self.time.map(|time| Instant::now() + time),
            quiet: self.quiet,
            evidence,
        }
    }

    /// Brings the threads of a lock-order cycle together, and keeps them apart: whether it is a deadlock.
    fn confirm_deadlock(&self, number: usize) -> Result<ExitCode, Problem> {
        let store = &self.program.store;
        let candidate = deadlocks::candidate(store, number)?;
        let forcing = self.program.forcing_as(&deadlocks::run_of(store, &candidate)?)?;
        let evidence = HuntEvidence::default();
        let plan = Plan::of_deadlock(&candidate.hang);
        let tried = self.trying(&forcing, &evidence).try_deadlock(number, plan)?;
        deadlocks::keep(store, number, &tried.confirmed)?;
        let confirmed = CandidateDeadlock { confirmed: Some(tried.confirmed), ..candidate };
        if let Some(file) = &self.json {
            write_deadlock(file, &confirmed)?;
        }
        if !self.is_json_on_stdout() {
            print(&self.deadlock_text(number, &confirmed, &tried))?;
        }
        Ok(exit_code(&[tried]))
    }

    fn deadlock_text(&self, number: usize, candidate: &CandidateDeadlock, tried: &Tried) -> String {
        let store = store_option(&self.program.store);
        let next = if tried.is_cause() {
            format!("keep it as a test: unpick pin{store} --deadlock {number} > deadlock.toml")
        } else {
            format!(
                "more patience: unpick confirm{store} --deadlock {number} --pause 5s --budget 60s"
            )
        };
        let table = table(std::slice::from_ref(tried));
        format!("{}\n\n{table}\nnext: {next}\n", candidate.sentence)
    }

    /// Forces both orders of a race, and marks it.
    fn confirm_race(&self, number: usize) -> Result<ExitCode, Problem> {
        let store = &self.program.store;
        let race = race_orders::race(store, number)?;
        let forcing = self.program.forcing_as(&race_orders::run_of(store, &race)?)?;
        let evidence = HuntEvidence::default();
        let forced = self.trying(&forcing, &evidence).try_race(number, &race)?;
        let race = RaceFinding { forced: Some(forced.clone()), ..race };
        let report = race_orders::keep(store, number, forced)?;
        if let Some(file) = &self.json {
            write_json(file, &serde_json::to_value(&race).unwrap_or_default())?;
        }
        if !self.is_json_on_stdout() {
            print(&self.race_text(number, &race, &report))?;
        }
        let is_confirmed = race.mark() == Some(RaceMark::Confirmed);
        Ok(ExitCode::from(if is_confirmed { exit::FINDINGS } else { exit::NO_CORRELATION }))
    }

    fn race_text(&self, number: usize, race: &RaceFinding, report: &Report) -> String {
        let Some(forced) = &race.forced else { return String::new() };
        let store = store_option(&self.program.store);
        let next = match forced.mark {
            RaceMark::Confirmed => {
                format!("keep it as a test: unpick pin{store} --race {number} > race.toml")
            }
            RaceMark::NotForced => format!(
                "more patience: unpick confirm{store} --race {number} --pause 5s --budget 60s"
            ),
            RaceMark::Undecided => {
                let runs = self.runs.saturating_mul(5);
                format!("more runs: unpick confirm{store} --race {number} --runs {runs}")
            }
            RaceMark::BenignSoFar | RaceMark::FailsAnyway => match report.first_unmarked() {
                Some(other) => format!("unpick confirm{store} --race {other}"),
                None => format!("unpick races{store} --explain {number}"),
            },
        };
        let mark = unpick_report::race_mark(forced);
        format!("{}\n\n{}\n\n{mark}\nnext: {next}\n", race.sentence, race::table(forced))
    }

    fn is_json_on_stdout(&self) -> bool {
        self.json.as_deref().is_some_and(is_stdout)
    }

    fn tell(&self, findings: &Findings, tried: &[Tried]) -> Result<(), Problem> {
        if let Some(file) = &self.json {
            write_findings(file, findings)?;
        }
        if self.is_json_on_stdout() {
            return Ok(());
        }
        let store = store_option(&self.program.store) + &hunt_option(self.program.hunt);
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

fn write_deadlock(file: &Path, candidate: &CandidateDeadlock) -> Result<(), Problem> {
    let value = serde_json::to_value(candidate)
        .map_err(|error| Problem::own_fault("a deadlock cannot be told as JSON").why(error))?;
    write_json(file, &value)
}

/// One row per finding.
pub fn table(tried: &[Tried]) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "finding",
        "forced: reached",
        "failed",
        "prevented: reached",
        "failed",
        "baseline: failed",
        "verdict",
    ]);
    let of = |part: u32, whole: u32| format!("{part} of {whole}");
    for Tried { what, confirmed, .. } in tried {
        table.add_row([
            what.to_owned(),
            of(confirmed.forced_hits, confirmed.forced_runs),
            of(confirmed.forced_failures, confirmed.forced_hits),
            of(confirmed.inverse_hits, confirmed.inverse_runs),
            of(confirmed.inverse_failures, confirmed.inverse_hits),
            of(confirmed.baseline_failures, confirmed.baseline_runs),
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
