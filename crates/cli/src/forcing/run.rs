//! One run under a plan, or without one.
//!
//! Takes   the plan, for which it writes the schedule file.      Gives  how the run ended, and what came of the plan.
//! Cost    the run. Its folder goes when it has been read.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use unpick_analyses::Options;
use unpick_events::{Label, schedule};
use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_reproduce::{Mode, Outcome, Plan, Prevention};
use unpick_runner::{Attempt, Choices, Invocation, Judged, Plan as RunPlan, attempt};

use super::Forcing;
use super::outcome::{outcome_in, prevention_in};
use crate::conclude::patterns_in;
use crate::record::fresh_seed;

/// As a hunt's.
const RECORDING_LIMIT: u64 = 1 << 30;

/// A run under a plan, or without one.
pub struct ForcedRun {
    pub label: Label,
    pub why: String,
    pub duration: Duration,
    pub outcome: Outcome,
    /// Its recording shows the order that was to be forced, although the runtime did not see it come about.
    pub is_shown: bool,
    /// What kept the order from coming about, if it did not.
    pub prevention: Option<Prevention>,
}

impl Forcing {
    /// The folder for a run that somebody else makes.
    pub fn new_run_folder(&self) -> Result<PathBuf, Problem> {
        self.store.new_run()
    }

    /// Writes the file that tells the runtime; it is read when the program starts.
    pub fn write_schedule(&self, plan: &Plan) -> Result<PathBuf, Problem> {
        let folder = std::path::absolute(self.store.folder())
            .map_err(|error| cannot_write(self.store.folder(), &error))?;
        fs::create_dir_all(&folder).map_err(|error| cannot_write(&folder, &error))?;
        let file = folder.join(format!("schedule-{}", std::process::id()));
        fs::write(&file, plan.to_bytes()?).map_err(|error| cannot_write(&file, &error))?;
        Ok(file)
    }

    /// Runs the program once, under a plan if there is one. None: the user wants no more.
    pub fn run(&self, plan: Option<&Plan>) -> Result<Option<ForcedRun>, Problem> {
        let look = |run: &ForcedRun, folder: &Path| {
            let open = plan.filter(|plan| plan.mode == Mode::Force && run.outcome.hits == 0);
            // What cannot be read shows nothing.
            let is_shown = open.is_some_and(|plan| {
                patterns_in(folder, Options::default())
                    .is_ok_and(|patterns| plan.is_shown_by(&patterns))
            });
            let prevention = open.filter(|_| !is_shown).and_then(|_| prevention_in(folder));
            Ok((is_shown, prevention))
        };
        let run = self.run_and(plan, look)?;
        Ok(run.map(|(run, (is_shown, prevention))| ForcedRun { is_shown, prevention, ..run }))
    }

    /// The same, and a look at the folder of the run before it goes.
    pub fn run_and<T>(
        &self,
        plan: Option<&Plan>,
        look: impl FnOnce(&ForcedRun, &Path) -> Result<T, Problem>,
    ) -> Result<Option<(ForcedRun, T)>, Problem> {
        let schedule = plan.map(|plan| self.write_schedule(plan)).transpose()?;
        let mut invocation = self.invocation.clone();
        if let Some(file) = &schedule {
            invocation.environment.push((schedule::VARIABLE.into(), file.into()));
        }
        let judged = self.attempt(invocation);
        if let Some(file) = schedule {
            // A file of some kilobytes that the next run writes anew.
            let _ = fs::remove_file(file);
        }
        let judged = judged?;
        let look_at = || {
            let run = forced_run(&judged)?;
            let seen = look(&run, &judged.run.folder)?;
            Ok((run, seen))
        };
        let run = (!judged.stopped).then(look_at).transpose();
        judged.run.discard();
        run
    }

    fn attempt(&self, invocation: Invocation) -> Result<Judged, Problem> {
        let options = RunOptions { limit: RECORDING_LIMIT, ..RunOptions::default() };
        let choices = Choices { options, seed: fresh_seed() };
        attempt(&Attempt {
            plan: &RunPlan { invocation, store: self.store.clone(), choices },
            limits: &self.limits,
            judge: &self.judge,
            hunt: None,
            own_folder: self.own_folder,
            stop: self.stop,
        })
    }
}

fn forced_run(judged: &Judged) -> Result<ForcedRun, Problem> {
    let outcome = outcome_in(&judged.run.folder)?;
    let duration = Duration::from_millis(judged.run.info.duration_ms);
    let mut run = ForcedRun {
        label: judged.label(),
        why: judged.why().to_owned(),
        duration,
        outcome,
        is_shown: false,
        prevention: None,
    };
    // Threads that all wait for each other do so whoever was held before.
    let may_be_slow = judged.hang.as_ref().is_some_and(|hang| !hang.is_standstill);
    if may_be_slow && 2 * run.outcome.held >= duration {
        run.label = Label::Unusable;
        run.why = format!("its time was used up by {:.1?} of being held", run.outcome.held);
    }
    Ok(run)
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("the schedule for the program cannot be written")
        .at("file", path.display())
        .why(error)
        .next("free some space, or choose another store: --store DIR")
}
