//! Runs of a program under a plan: what `reproduce`, `confirm`, `check` and an active hunt have in common.
//!
//! Takes   what was hunted (command, what counts as failing, time limit), or the same from a command line; a plan.
//! Gives   how each run ended, and what came of the plan.
//! Cost    the runs. Their folders go when they have been read.

mod hunted;
mod options;
mod outcome;
mod run;
mod subject;

use std::cell::OnceCell;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_reproduce::{Program, Reproducer};
use unpick_run_store::Store;
use unpick_runner::{Invocation, Judge, Limits, stop_on_signals};

use crate::hunt::{GRACE, OUTPUT_BYTES};
pub use hunted::Hunted;
use options::judge_of;
pub use options::{ForcedProgram, JudgeOptions, PlanOptions};
pub use outcome::outcome_in;
pub use run::ForcedRun;

/// Runs under a plan are made in a store of their own, inside the hunt's: they are no runs of the hunt.
const FORCED_FOLDER: &str = "forced";
/// A run that hangs is not waited for longer than so many times the longest of those that did not, but at least this long.
const PATIENCE: u32 = 20;
/// Where nothing is known about the program's runs.
const USUAL_TIMEOUT: Duration = Duration::from_secs(60);
/// How long, and how often, a program is run to see how long it takes.
const TIME_TO_LEARN: Duration = Duration::from_secs(10);
const RUNS_TO_LEARN: u32 = 3;
const SHORTEST_TIMEOUT: Duration = Duration::from_secs(1);

/// A program that can be run under plans.
pub struct Forcing {
    invocation: Invocation,
    judge: Judge,
    limits: Limits,
    own_folder: bool,
    store: Store,
    stop: &'static AtomicBool,
    /// How long a run takes that passes, if any has.
    pub usual_run: Option<Duration>,
    /// The median of those.
    pub median_run: Option<Duration>,
    /// Read when it is needed for the first time.
    program: OnceCell<Program>,
}

impl Forcing {
    /// The program of a hunt, unless a command says otherwise.
    pub fn new(
        store: &Path,
        hunted: &Hunted,
        options: &JudgeOptions,
        command: &[OsString],
    ) -> Result<Forcing, Problem> {
        let judge = match options.judge() {
            Some(judge) => judge,
            None => hunted.judge()?,
        };
        let invocation = if command.is_empty() {
            hunted.invocation()?
        } else {
            let stdin = hunted.info.stdin.clone();
            Invocation { stdin, ..Invocation::plain(command.to_vec()) }
        };
        let timeout = options.timeout.unwrap_or_else(|| hunted.timeout());
        Ok(Self::of_hunted(store, hunted, invocation, judge, timeout))
    }

    fn of_hunted(
        store: &Path,
        hunted: &Hunted,
        invocation: Invocation,
        judge: Judge,
        timeout: Duration,
    ) -> Forcing {
        let (usual_run, median_run) = (hunted.longest_pass, hunted.median_pass);
        let own_folder = hunted.has_own_folder();
        Forcing {
            usual_run,
            median_run,
            ..Self::with(store, invocation, judge, timeout, own_folder)
        }
    }

    fn with(
        store: &Path,
        invocation: Invocation,
        judge: Judge,
        timeout: Duration,
        own_folder: bool,
    ) -> Forcing {
        Forcing {
            invocation,
            judge,
            limits: Limits::new(timeout, GRACE, OUTPUT_BYTES),
            own_folder,
            store: Store::at(store.join(FORCED_FOLDER)),
            stop: stop_on_signals(),
            usual_run: None,
            median_run: None,
            program: OnceCell::new(),
        }
    }

    /// The program of a hunt that has just ended; a run that takes longer than `most` hangs.
    pub fn of_hunt(
        store: &Path,
        hunted: &Hunted,
        invocation: &Invocation,
        most: Duration,
    ) -> Result<Forcing, Problem> {
        let timeout = hunted.timeout().min(most.max(SHORTEST_TIMEOUT));
        Ok(Self::of_hunted(store, hunted, invocation.clone(), hunted.judge()?, timeout))
    }

    /// The program of a reproducer, unless an invocation says otherwise.
    pub fn of_reproducer(
        store: &Path,
        reproducer: &Reproducer,
        invocation: Invocation,
        options: &JudgeOptions,
    ) -> Result<Forcing, Problem> {
        let oracle = &reproducer.oracle;
        let judge = match options.judge() {
            Some(judge) => judge,
            None => judge_of(&oracle.fail_if, oracle.command.as_deref())?,
        };
        let pinned = oracle.timeout_ms.map(|time| Duration::from_millis(time.into()));
        let timeout = options.timeout.or(pinned).unwrap_or(USUAL_TIMEOUT);
        // Each run may have another working folder.
        let pinned = || std::path::absolute(reproducer.stdin.as_ref()?).ok();
        let stdin = invocation.stdin.clone().or_else(pinned);
        let invocation = Invocation { stdin, ..invocation };
        Ok(Self::with(store, invocation, judge, timeout, reproducer.own_folder))
    }

    /// Where nothing is known about how long a run takes: runs it, left alone, and takes the time of one that passes.
    pub fn knowing_its_time(mut self) -> Result<Forcing, Problem> {
        let patient = self.limits.timeout;
        let mut tries = 0;
        self.limits.timeout = patient.min(TIME_TO_LEARN);
        while self.usual_run.is_none() && tries < RUNS_TO_LEARN {
            let Some(run) = self.run(None)? else { break };
            self.usual_run = (run.label == Label::Pass).then_some(run.duration);
            tries += 1;
        }
        self.median_run = self.usual_run;
        let usual = self.usual_run.map_or(patient, |run| (run * PATIENCE).max(SHORTEST_TIMEOUT));
        self.limits.timeout = usual.min(patient);
        Ok(self)
    }

    /// The same, but no run goes on beyond this.
    #[must_use]
    pub fn ending_at(mut self, until: Option<Instant>) -> Forcing {
        self.limits.until = until;
        self.limits.longest_pass = self.usual_run;
        self
    }

    pub fn is_stopped(&self) -> bool {
        self.stop.load(std::sync::atomic::Ordering::Relaxed)
    }

    /// A run that takes longer hangs.
    pub fn timeout(&self) -> Duration {
        self.limits.timeout
    }

    pub fn invocation(&self) -> &Invocation {
        &self.invocation
    }
}
