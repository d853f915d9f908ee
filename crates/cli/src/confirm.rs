//! `unpick confirm`: forces each of the leading findings, and its inverse order: correlation becomes cause, or not.
//!
//! Takes   the findings of a store.      Gives  a verdict for the leading ones, in `findings.json` too, which is ordered by it.
//! Cost    three times as many runs as are asked for, per finding; runs without a plan are shared by all.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use indicatif::ProgressBar;
use unpick_findings::{Confirmation, Confirmed, Findings};
use unpick_problem::{Problem, exit};
use unpick_reproduce::{Plan, Trials};

use crate::calibration::calibrated;
use crate::forcing::{ForcedProgram, Forcing, PlanOptions};
use crate::hunt::{print, store_findings, write_json};
use crate::quantities::duration;
use crate::record::store_option;
use crate::reproduce::{Tally, plan_of_hang, repeat};
use crate::show::{self, FINDINGS_FILE};
use crate::terminal;

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
    #[arg(long, value_name = "N", default_value_t = USUAL_RUNS)]
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
    let trying = Trying {
        forcing: &forcing,
        store,
        plan: &confirm.program.plan,
        top: confirm.top,
        runs: confirm.runs,
        until: confirm.time.map(|time| Instant::now() + time),
        quiet: confirm.quiet,
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

/// A finding that was tried.
pub struct Tried {
    /// As it was numbered before.
    what: String,
    trials: Trials,
    confirmed: Confirmed,
    /// What stood in the way, if it was never reached.
    obstacle: Option<String>,
}

impl Tried {
    /// None: nothing could be forced, which says nothing about the finding.
    fn confirmed(&self) -> Option<Confirmed> {
        (self.trials.forced_runs > 0).then_some(self.confirmed)
    }

    pub fn is_cause(&self) -> bool {
        self.confirmed.verdict == Confirmation::Cause
    }
}

/// How findings are tried.
pub struct Trying<'a> {
    pub forcing: &'a Forcing,
    pub store: &'a Path,
    pub plan: &'a PlanOptions,
    pub top: usize,
    /// Of each kind.
    pub runs: u32,
    pub until: Option<Instant>,
    pub quiet: bool,
}

impl Trying<'_> {
    /// Tries the leading findings and hangs, and orders the findings by what came of it.
    pub fn try_all(&self, findings: &mut Findings) -> Result<Vec<Tried>, Problem> {
        let mut tried = Vec::new();
        let mut plain = None;
        for (at, hang) in findings.hangs.iter_mut().enumerate().take(self.top) {
            if hang.is_explained() && self.may_go_on() {
                let plan = plan_of_hang(self.store, u64::from(hang.example_run));
                let kind = if hang.deadlock { "deadlock" } else { "lost notification" };
                let what = format!("{kind} {}", at + 1);
                let one = self.try_one(what, plan, &mut plain)?;
                hang.confirmed = one.confirmed();
                tried.push(one);
            }
        }
        for (at, finding) in findings.findings.iter_mut().enumerate().take(self.top) {
            if self.may_go_on() {
                let what = format!("{}  {}", at + 1, finding.pattern);
                let one = self.try_one(what, Plan::of_finding(finding), &mut plain)?;
                finding.confirmed = one.confirmed();
                tried.push(one);
            }
        }
        findings.order_by_confirmation();
        Ok(tried)
    }

    fn may_go_on(&self) -> bool {
        !self.forcing.is_stopped() && self.until.is_none_or(|until| Instant::now() < until)
    }

    fn try_one(
        &self,
        what: String,
        plan: Result<Plan, Problem>,
        plain: &mut Option<Tally>,
    ) -> Result<Tried, Problem> {
        let bar = terminal::progress_bar(u64::from(3 * self.runs), self.quiet);
        bar.set_prefix(what.clone());
        let tried = match plan {
            Ok(plan) => self.try_plan(what, self.completed(plan), plain, &bar)?,
            // Nothing can be forced: that says nothing about the finding.
            Err(problem) => Tried {
                what,
                trials: Trials::default(),
                confirmed: Trials::default().confirmed(),
                obstacle: Some(problem.to_string()),
            },
        };
        bar.finish_and_clear();
        Ok(tried)
    }

    fn completed(&self, plan: Plan) -> Plan {
        self.forcing.completed(self.plan.applied_to(plan, self.forcing.usual_run))
    }

    fn try_plan(
        &self,
        what: String,
        plan: Plan,
        plain: &mut Option<Tally>,
        bar: &ProgressBar,
    ) -> Result<Tried, Problem> {
        let inverse_plan = plan.inverse();
        let plan = calibrated(self.forcing, plan, self.plan, self.time_left())?;
        let forced = self.repeat(Some(&plan), bar)?;
        let inverse = self.repeat(Some(&inverse_plan), bar)?;
        if plain.is_none() {
            *plain = Some(self.repeat(None, bar)?);
        }
        let alone = plain.as_ref().map_or((0, 0), |tally| (tally.usable(), tally.failed));
        let trials = Trials {
            forced_runs: forced.usable(),
            forced_hits: forced.hits,
            forced_failures: forced.failed_hits,
            inverse_runs: inverse.usable(),
            inverse_hits: inverse.hits,
            inverse_failures: inverse.failed_hits,
            plain_runs: alone.0,
            plain_failures: alone.1,
        };
        let obstacle = (forced.hits == 0).then(|| forced.obstacle(&plan).to_string());
        Ok(Tried { what, trials, confirmed: trials.confirmed(), obstacle })
    }

    fn repeat(&self, plan: Option<&Plan>, bar: &ProgressBar) -> Result<Tally, Problem> {
        repeat(self.forcing, plan, self.runs, self.time_left(), bar)
    }

    fn time_left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
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
            what.clone(),
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
    let obstacles = tried.iter().filter_map(|tried| {
        let obstacle = tried.obstacle.as_ref()?;
        Some(format!("\n{}: {}\n", tried.what, obstacle.trim_start_matches("error: ")))
    });
    format!("{table}\n{}", obstacles.collect::<String>())
}
