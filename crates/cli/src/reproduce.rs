//! `unpick reproduce`: runs the program with the order of a finding forced, so that it fails on demand.
//!
//! Takes   a finding, a run that hung in a deadlock or for a lost notification, a deadlock that can be, or a race.      Gives  how often the order came about and the program failed.

mod debugger;
mod tally;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_problem::{Problem, exit};
use unpick_reproduce::Plan;

use crate::calibration::calibrated;
use crate::chosen::{Choice, Chosen};
use crate::deadlocks;
use crate::forcing::{ForcedProgram, Forcing};
use crate::output::findings::{print, write_text};
use crate::output::is_stdout;
use crate::quantities::duration;
use crate::race_orders;
use crate::record::store_option;
use crate::show::{self, hunt_option};
use crate::terminal;
pub use tally::{Tally, is_reached};

pub const HELP: &str = "\
Exit codes: 66 the program failed under the forced order, 0 it did not, 2 the order never came about or the command line is wrong,
70 Unpick's own fault.

The program, what counts as failing and the time limit are those of the hunt, unless they are given again.

Examples:
  unpick reproduce 1                    what leads, a finding or a hang: 100 runs, or as many as a minute allows
  unpick reproduce 1 --runs 20 --json - the counts for other tools
  unpick reproduce 1 --inverse          the other way round: if it is the cause, nothing fails
  unpick reproduce --run 12             a deadlock, by a run that hung in it
  unpick reproduce --deadlock 1         one that can be, by the list of unpick races
  unpick reproduce --race 1             a race of the same list: the order that makes it fail, or that the run did not have
  unpick reproduce 1 --gdb              stop in gdb when both threads are there";

const USUAL_RUNS: u32 = 100;
const USUAL_TIME: Duration = Duration::from_secs(60);

/// What `unpick reproduce` can be told.
#[derive(clap::Args)]
pub struct Reproduce {
    #[command(flatten)]
    choice: Choice,
    /// How many runs; without it 100, but no longer than a minute
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    runs: Option<u32>,
    /// At most this long
    #[arg(long, value_name = "TIME", value_parser = duration)]
    time: Option<Duration>,
    /// Force the inverse order: of two steps the other one first, of more one thread at a time
    #[arg(long)]
    inverse: bool,
    /// Run once in gdb, and stop when the last step is about to be made
    #[arg(long, conflicts_with_all = ["runs", "time", "inverse", "json"])]
    gdb: bool,
    /// Make as many runs without forcing anything, for comparison
    #[arg(long)]
    compare: bool,
    /// Write the counts as JSON to this file; - for standard output, in place of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Show no progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    program: ForcedProgram,
}

pub fn run(reproduce: Reproduce) -> Result<ExitCode, Problem> {
    let chosen = reproduce.choice.chosen(&reproduce.program.store, reproduce.program.hunt)?;
    let forcing = reproduce.choice.forcing(&reproduce.program)?;
    let plan = forcing.completed(reproduce.plan(chosen, forcing.usual_run)?);
    if reproduce.gdb {
        return debugger::run(&forcing, &Plan { stop: true, ..plan });
    }
    let plan = reproduce.calibrated(&forcing, plan)?;
    let tally = reproduce.tally(&forcing, Some(&plan))?;
    let alone = reproduce.compare.then(|| reproduce.tally(&forcing, None)).transpose()?;
    reproduce.tell(chosen, &plan, &tally, alone.as_ref())
}

impl Reproduce {
    fn plan(&self, chosen: Chosen, usual_run: Option<Duration>) -> Result<Plan, Problem> {
        let store = &self.program.store;
        let plan = match chosen {
            Chosen::Deadlock(number) => {
                Plan::of_deadlock(&deadlocks::candidate(store, number)?.hang)?
            }
            Chosen::Race(number) => {
                Plan::of_order(&race_orders::order_of(&race_orders::race(store, number)?)?)?
            }
            Chosen::Hang(run) => plan_of_hang(store, run)?,
            Chosen::Finding(number) => {
                Plan::of_finding(&show::finding(store, self.program.hunt, number)?)?
            }
        };
        Ok(self.program.plan.applied_to(plan, usual_run))
    }

    fn calibrated(&self, forcing: &Forcing, plan: Plan) -> Result<Plan, Problem> {
        if self.inverse {
            return Ok(plan.inverse());
        }
        calibrated(forcing, plan, &self.program.plan, self.time.map(|time| time / 4))
    }

    fn tally(&self, forcing: &Forcing, plan: Option<&Plan>) -> Result<Tally, Problem> {
        let runs = self.runs.unwrap_or(USUAL_RUNS);
        let time = self.time.or(self.runs.is_none().then_some(USUAL_TIME));
        let bar = terminal::progress_bar(u64::from(runs), self.quiet);
        repeat(forcing, plan, runs, time, &bar)
    }

    fn tell(
        &self,
        chosen: Chosen,
        plan: &Plan,
        tally: &Tally,
        alone: Option<&Tally>,
    ) -> Result<ExitCode, Problem> {
        if tally.usable() == 0 {
            return Err(nothing_usable(tally));
        }
        if let Some(file) = &self.json {
            write_text(file, &(tally.to_json(plan, alone) + "\n"))?;
        }
        if !self.json.as_deref().is_some_and(is_stdout) {
            print(&self.text(chosen, plan, tally, alone))?;
        }
        if tally.came_about(plan) == 0 {
            return Err(tally.obstacle(plan));
        }
        Ok(ExitCode::from(if tally.failed > 0 { exit::FINDINGS } else { 0 }))
    }

    fn text(&self, chosen: Chosen, plan: &Plan, tally: &Tally, alone: Option<&Tally>) -> String {
        let way = if self.inverse { "its inverse order" } else { "its order" };
        let mut text = format!("{chosen}, {way} forced\n\n{}\n", tally.table(plan, alone));
        text += &self.next(chosen, tally);
        text
    }

    fn next(&self, chosen: Chosen, tally: &Tally) -> String {
        let store = store_option(&self.program.store) + &hunt_option(self.program.hunt);
        let which = chosen.option();
        let is_listed = matches!(chosen, Chosen::Deadlock(_) | Chosen::Race(_));
        let confirm = if is_listed { format!(" {which}") } else { String::new() };
        match (self.inverse, tally.failed) {
            (false, 1..) => format!(
                "next: is it the cause? unpick confirm{store}{confirm}; keep it as a test: unpick pin{store} {which} > bug.toml\n"
            ),
            (false, 0) if matches!(chosen, Chosen::Deadlock(_)) => format!(
                "next: its threads came there and the program did not hang: unpick confirm{store}{confirm} says how sure that is\n"
            ),
            (false, 0) if matches!(chosen, Chosen::Race(_)) => format!(
                "next: this order does not make it fail: unpick confirm{store}{confirm} tries all that there are\n"
            ),
            (false, 0) => format!(
                "next: the order alone does not make it fail: look at the other findings: unpick show{store}\n"
            ),
            (true, _) => format!("next: the order itself: unpick reproduce{store} {which}\n"),
        }
    }
}

/// Runs a program under a plan, or without, so often, or as often as the time allows.
pub fn repeat(
    forcing: &Forcing,
    plan: Option<&Plan>,
    runs: u32,
    time: Option<Duration>,
    bar: &ProgressBar,
) -> Result<Tally, Problem> {
    let begun = Instant::now();
    let mut tally = Tally::default();
    for _ in 0..runs {
        let is_over = time.is_some_and(|time| tally.runs > 0 && begun.elapsed() >= time);
        if is_over || !tally.run_once(forcing, plan)? {
            break;
        }
        bar.inc(1);
        bar.set_message(format!("{} of {} failed", tally.failed, tally.usable()));
    }
    bar.finish_and_clear();
    Ok(tally)
}

/// The plan that forces what made a run of a store hang.
pub fn plan_of_hang(store: &Path, run: u64) -> Result<Plan, Problem> {
    Plan::of_hang(&show::hang(store, run)?)
}

pub fn nothing_usable(tally: &Tally) -> Problem {
    let why = tally.last_unusable.as_deref().unwrap_or("it was stopped");
    Problem::own_fault("no forced run can be used").why(why).next("unpick doctor")
}
