//! A single run of a hunt, from its start to its patterns and graphs in the store. Several may go on at once.
//!
//! Takes   the delays of the run, its limits.      Gives  a judged run, condensed; if it hung, how.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use unpick_analyses::Options;
use unpick_events::Label;
use unpick_events::schedule::{self, Arming};
use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_reproduce::PlaceOutcome;
use unpick_run_store::{Store, write_graphs, write_patterns};
use unpick_runner::{Attempt, Choices, Draw, Invocation, Judge, Judged, Limits, Plan, attempt};

use crate::conclude::{Condensed, NAMES};
use crate::condensing::{Deadline, NotRead, condense_within};
use crate::forcing::outcome_in;
use crate::hang::tell_hang;

/// The file of a run with targeted delays that says which.
pub const DELAY_PLAN: &str = "delay-plan";
/// Our delays take at most this part of the time limit.
const DELAYED_PART: u32 = 4;

/// What all runs of a hunt have in common.
pub struct Common<'a> {
    pub invocation: &'a Invocation,
    pub store: Store,
    pub judge: Judge,
    /// As the user gave it.
    pub timeout: Option<Duration>,
    /// Without delays.
    pub options: RunOptions,
    /// How runs are condensed.
    pub view: Options,
    /// Each in a folder of its own.
    pub own_folder: bool,
    pub stop: &'a AtomicBool,
}

/// A run that has ended.
pub struct Done {
    pub draw: Draw,
    pub judged: Judged,
    /// Not of runs that cannot be used.
    pub condensed: Option<Condensed>,
    /// How long that took.
    pub reading: Duration,
    /// How often each site of its delay plan was reached; none: it could not be watched.
    pub arrivals: Vec<Option<u64>>,
}

/// A run that takes long to be read.
#[derive(Debug, Clone, Copy)]
pub struct SlowReading {
    pub run: u64,
    pub bytes: u64,
}

/// What the thread of a run has to say.
pub enum News {
    Reading(SlowReading),
    Ended(Box<Result<Done, Problem>>),
}

/// What one run is made with.
#[derive(Debug)]
pub struct RunSetup {
    pub draw: Draw,
    /// None for the first run.
    pub hunt: Option<u64>,
    pub limits: Limits,
    /// Bytes of events per process.
    pub recording: u64,
}

impl Common<'_> {
    /// Runs the program and reads what it recorded.
    pub fn run_once(
        &self,
        setup: RunSetup,
        on_slow: impl FnMut(SlowReading),
    ) -> Result<Done, Problem> {
        let mut judged = self.attempt(&setup)?;
        let started = Instant::now();
        let mut condensed = None;
        let mut arrivals = Vec::new();
        if !judged.stopped && judged.label() != Label::Unusable {
            arrivals = arrivals_in(&judged.run.folder);
            tell_hang(&mut judged, &NAMES)?;
            condensed = self.read(&mut judged, setup.limits.until, on_slow)?;
        }
        Ok(Done { draw: setup.draw, judged, condensed, reading: started.elapsed(), arrivals })
    }

    /// What cannot be read, or not in time, is unusable.
    fn read(
        &self,
        judged: &mut Judged,
        until: Option<Instant>,
        mut on_slow: impl FnMut(SlowReading),
    ) -> Result<Option<Condensed>, Problem> {
        let run = judged.number;
        let bytes = judged.recorded_bytes();
        let deadline = Deadline { until, stop: self.stop };
        let folder = judged.run.folder.clone();
        match condense_within(&folder, self.view, deadline, || on_slow(SlowReading { run, bytes }))
        {
            Ok(condensed) => {
                write_patterns(&folder, &condensed.patterns)?;
                write_graphs(&folder, &condensed.graphs)?;
                Ok(Some(condensed))
            }
            Err(NotRead::Problem(problem)) => {
                judged.set_unusable(&first_line(&problem))?;
                Ok(None)
            }
            Err(NotRead::GivenUp(why)) => {
                judged.set_unusable(&format!("its recording was not read: {why}"))?;
                Ok(None)
            }
        }
    }

    fn attempt(&self, setup: &RunSetup) -> Result<Judged, Problem> {
        let mut options = RunOptions { limit: setup.recording, ..self.options.clone() };
        setup.draw.delays.put_into(&mut options);
        options.delay_budget_ns = delay_budget(setup);
        let mut invocation = self.invocation.clone();
        let file = self.write_delay_plan(&setup.draw)?;
        if let Some(file) = &file {
            invocation.environment.push((schedule::VARIABLE.into(), file.into()));
        }
        let plan = Plan {
            invocation,
            store: self.store.clone(),
            choices: Choices { options, seed: setup.draw.seed },
        };
        let judged = attempt(&Attempt {
            plan: &plan,
            limits: &setup.limits,
            judge: &self.judge,
            hunt: setup.hunt,
            own_folder: self.own_folder,
            stop: self.stop,
        });
        if let Some(file) = file {
            put_away(&file, judged.as_ref().ok());
        }
        judged
    }

    /// Writes the file that names the arrivals to delay, if there are any; it is read when the program starts.
    fn write_delay_plan(&self, draw: &Draw) -> Result<Option<PathBuf>, Problem> {
        if draw.plan.is_empty() {
            return Ok(None);
        }
        let folder = self.store.folder();
        let file = std::path::absolute(folder)
            .map(|folder| folder.join(format!("{DELAY_PLAN}-{}-{}", std::process::id(), draw.seed)))
            .and_then(|file| fs::write(&file, draw.plan.to_bytes()).map(|()| file));
        file.map(Some).map_err(|error| cannot_write(folder, &error))
    }
}

/// A run that runs into its time limit must not do so because of our delays.
fn delay_budget(setup: &RunSetup) -> u64 {
    let budget = setup.draw.budget.min(setup.limits.timeout / DELAYED_PART);
    u64::try_from(budget.as_nanos()).unwrap_or(u64::MAX)
}

/// The delay plan stays with its run, so that the run can be made again.
fn put_away(file: &Path, judged: Option<&Judged>) {
    let kept = judged.map(|judged| fs::rename(file, judged.run.folder.join(DELAY_PLAN)));
    if !matches!(kept, Some(Ok(()))) {
        // A file of some kilobytes in the store; nobody reads it.
        let _ = fs::remove_file(file);
    }
}

/// How often the sites of a run's delay plan were reached, over all its processes. What cannot be read teaches nothing.
fn arrivals_in(folder: &Path) -> Vec<Option<u64>> {
    let Ok(outcome) = outcome_in(folder) else { return Vec::new() };
    let is_watched = |place: &&PlaceOutcome| place.arming == Arming::Armed;
    let arrivals = |place| Some(place).filter(is_watched).map(|place: &PlaceOutcome| place.arrived);
    outcome.places.iter().map(arrivals).collect()
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Problem {
    Problem::own_fault("the delays of a run cannot be written")
        .at("folder", path.display())
        .why(error)
}

fn first_line(problem: &Problem) -> String {
    let text = problem.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
