//! A single run of a hunt, from its start to its patterns and graphs in the store. Several may go on at once.
//!
//! Takes   the delays of the run, its limits.      Gives  a judged run, condensed; if it hung, how.

use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use unpick_analyses::Options;
use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_run_store::{Store, write_graphs, write_patterns};
use unpick_runner::{Attempt, Choices, Draw, Invocation, Judge, Judged, Limits, Plan, attempt};

use crate::conclude::{Condensed, NAMES};
use crate::condensing::{Deadline, NotRead, condense_within};
use crate::hang::tell_hang;

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
        if !judged.stopped && judged.label() != Label::Unusable {
            tell_hang(&mut judged, &NAMES)?;
            condensed = self.read(&mut judged, setup.limits.until, on_slow)?;
        }
        Ok(Done { draw: setup.draw, judged, condensed, reading: started.elapsed() })
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
        let plan = Plan {
            invocation: self.invocation.clone(),
            store: self.store.clone(),
            choices: Choices { options, seed: setup.draw.seed },
        };
        attempt(&Attempt {
            plan: &plan,
            limits: &setup.limits,
            judge: &self.judge,
            hunt: setup.hunt,
            own_folder: self.own_folder,
            stop: self.stop,
        })
    }
}

fn first_line(problem: &Problem) -> String {
    let text = problem.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
