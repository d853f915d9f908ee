//! What plans and runs under them can be told on a command line.
//!
//! Takes   options.      Gives  what counts as failing, if not the same as in the hunt; plans as they were asked for; the program of a hunt.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use unpick_problem::Problem;
use unpick_reproduce::Plan;
use unpick_run_store::Store;
use unpick_runner::{Condition, Judge};

use super::{Forcing, Hunted};
use crate::kept_findings;
use crate::quantities::duration;
use crate::store_folder::store_folder;

const SHORTEST_PAUSE: Duration = Duration::from_millis(100);
/// All threads together are held for at most so many usual runs, or this long: else a quick program is tried a few times only.
const BUDGET_IN_RUNS: u32 = 50;
const SHORTEST_BUDGET: Duration = Duration::from_secs(2);
/// In experiments, of which many are made: a partner that needs longer than twice a whole run is taken not to come.
const SHORTEST_QUICK_PAUSE: Duration = Duration::from_millis(20);
/// As `DEFAULT_BUDGET` is to `DEFAULT_PAUSE`.
const PAUSES_IN_BUDGET: u32 = 10;

/// What counts as failing, if not the same as in the hunt.
#[derive(clap::Args, Debug, Default)]
pub struct JudgeOptions {
    /// What makes a run fail, as in unpick hunt; without it, what did in the hunt
    #[arg(long, value_name = "CONDITION")]
    pub fail_if: Vec<Condition>,
    /// A shell command that judges a run, as in unpick hunt
    #[arg(long, value_name = "COMMAND")]
    pub oracle: Option<OsString>,
    /// A run that takes longer hangs; without it, twenty times as long as the longest run that passed, at least 1s
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub timeout: Option<Duration>,
}

impl JudgeOptions {
    /// None: as it was.
    pub(super) fn judge(&self) -> Option<Judge> {
        let is_given = !self.fail_if.is_empty() || self.oracle.is_some();
        is_given.then(|| Judge { conditions: self.fail_if.clone(), oracle: self.oracle.clone() })
    }
}

/// How plans are carried out, if not as usual.
#[derive(clap::Args, Debug, Default)]
pub struct PlanOptions {
    /// The longest that a thread is held at once
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub pause: Option<Duration>,
    /// The longest that all threads of a process together are held
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub budget: Option<Duration>,
    /// Force the order at most so often in a run
    #[arg(long, value_name = "N")]
    pub bound: Option<u64>,
    /// Let so many arrivals at the first step of each thread, and before it, pass first
    #[arg(long, value_name = "N")]
    pub ignore_first: Option<u64>,
    /// Let the other threads go on for so long before the last step
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub linger: Option<Duration>,
    /// The threads of the first two steps each wait until the other is at its step with the same bytes
    #[arg(long)]
    pub meet: bool,
    /// Do not wait with a step until the thread of the step before is at its own next one
    #[arg(long)]
    pub eager: bool,
}

impl PlanOptions {
    /// The plan as it was asked for. A partner that comes at all comes while a usual run lasts: nobody is held for longer.
    pub fn applied_to(&self, plan: Plan, usual_run: Option<Duration>) -> Plan {
        let usual = usual_run.map_or(plan.pause, |run| run.clamp(SHORTEST_PAUSE, plan.pause));
        let long = |run: Duration| (BUDGET_IN_RUNS * run).clamp(SHORTEST_BUDGET, plan.budget);
        let budget = usual_run.map_or(plan.budget, long);
        Plan {
            pause: self.pause.unwrap_or(usual),
            budget: self.budget.unwrap_or(budget),
            bound: self.bound.unwrap_or(plan.bound),
            ignored: self.ignore_first.unwrap_or(plan.ignored),
            linger: self.linger.unwrap_or(plan.linger),
            meet: self.meet || plan.meet,
            eager: self.eager || plan.eager,
            ..plan
        }
    }

    /// The same for experiments: a run in which the order does not come about must not take much longer than one that is left alone.
    pub fn applied_quickly_to(&self, plan: Plan, median_run: Option<Duration>) -> Plan {
        let patient = self.applied_to(plan, median_run);
        let Some(median_run) = median_run else { return patient };
        let quick = (2 * median_run).max(SHORTEST_QUICK_PAUSE).min(patient.pause);
        let pause = self.pause.unwrap_or(quick);
        let budget = self.budget.unwrap_or(patient.budget.min(pause * PAUSES_IN_BUDGET));
        Plan { pause, budget, ..patient }
    }
}

/// The program of a hunt, and how plans are carried out on it: what `reproduce`, `confirm` and `pin` are told.
#[derive(clap::Args, Debug)]
pub struct ForcedProgram {
    #[command(flatten)]
    pub plan: PlanOptions,
    #[command(flatten)]
    judge: JudgeOptions,
    /// Folder that holds the runs of the hunt
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    pub store: PathBuf,
    /// The hunt, by the number of its first run (see unpick hunts); without it, the latest in which a run failed
    #[arg(long, value_name = "N", conflicts_with_all = ["deadlock", "race"])]
    pub hunt: Option<u64>,
    /// Another program and its arguments than the hunt's; it must be the same build
    #[arg(last = true, value_name = "PROGRAM")]
    command: Vec<OsString>,
}

impl ForcedProgram {
    pub fn forcing(&self) -> Result<Forcing, Problem> {
        self.forcing_of(kept_findings::meant(&self.store, self.hunt))
    }

    /// Run as in this hunt; without a number, as in the last one.
    pub fn forcing_of(&self, hunt: Option<u64>) -> Result<Forcing, Problem> {
        let hunted = Hunted::of_hunt(&Store::at(&self.store), hunt)?;
        Forcing::new(&self.store, &hunted, &self.judge, &self.command)
    }

    /// Run as in runs that are no hunt's.
    pub fn forcing_as(&self, hunted: &Hunted) -> Result<Forcing, Problem> {
        let forcing = Forcing::new(&self.store, hunted, &self.judge, &self.command)?;
        if self.judge.timeout.is_some() { Ok(forcing) } else { forcing.knowing_its_time() }
    }
}

/// What counts as failing, from its texts in a file.
pub fn judge_of(fail_if: &[String], oracle: Option<&str>) -> Result<Judge, Problem> {
    let conditions = fail_if.iter().map(|text| text.parse());
    let conditions = conditions.collect::<Result<_, String>>().map_err(|error| {
        Problem::usage("what counts as failing cannot be read")
            .why(error)
            .next("say it again: --fail-if CONDITION")
    })?;
    Ok(Judge { conditions, oracle: oracle.map(OsString::from) })
}
