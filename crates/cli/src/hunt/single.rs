//! A single run of a hunt, from its start to its patterns and graphs in the store. Several may go on at once.
//!
//! Takes   the delays of the run.      Gives  a judged run, condensed; if it hung, how.

use std::sync::atomic::AtomicBool;

use unpick_analyses::Options;
use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_run_store::{Store, write_graphs, write_patterns};
use unpick_runner::{Attempt, Choices, Draw, Invocation, Judge, Judged, Limits, Plan, attempt};

use crate::conclude::{Condensed, NAMES, condense};
use crate::hang::tell_hang;

/// What all runs of a hunt have in common.
pub struct Common<'a> {
    pub invocation: &'a Invocation,
    pub store: Store,
    pub judge: Judge,
    pub limits: Limits,
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
}

impl Common<'_> {
    /// Runs the program; `hunt` is none for the first run.
    pub fn run_once(&self, draw: Draw, hunt: Option<u64>) -> Result<Done, Problem> {
        let mut judged = self.attempt(&draw, hunt)?;
        if judged.stopped || judged.label() == Label::Unusable {
            return Ok(Done { draw, judged, condensed: None });
        }
        tell_hang(&mut judged, &NAMES)?;
        let condensed = match condense(&judged.run.folder, self.view) {
            Ok(condensed) => {
                write_patterns(&judged.run.folder, &condensed.patterns)?;
                write_graphs(&judged.run.folder, &condensed.graphs)?;
                Some(condensed)
            }
            Err(problem) => {
                judged.set_unusable(&first_line(&problem))?;
                None
            }
        };
        Ok(Done { draw, judged, condensed })
    }

    fn attempt(&self, draw: &Draw, hunt: Option<u64>) -> Result<Judged, Problem> {
        let mut options = self.options.clone();
        draw.delays.put_into(&mut options);
        let plan = Plan {
            invocation: self.invocation.clone(),
            store: self.store.clone(),
            choices: Choices { options, seed: draw.seed },
        };
        attempt(&Attempt {
            plan: &plan,
            limits: &self.limits,
            judge: &self.judge,
            hunt,
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
