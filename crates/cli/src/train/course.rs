//! The course of a training: run after run, until the set has settled or the budget is used up.
//!
//! Takes   what `unpick train` was told, and what was learned before.      Gives  what these runs teach; recordings are dropped.

use std::path::Path;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_analyses::invariants::{Change, Rules, Training};
use unpick_events::Label;
use unpick_invariants::{Invariants, SiteKey, Sites};
use unpick_problem::Problem;
use unpick_recording::RunOptions;
use unpick_run_store::{Builds, Store};
use unpick_runner::{
    Attempt, Choices, Draw, Invocation, Judge, Judged, Lacking, Limits, Perturbation, Plan,
    attempt, stop_on_signals,
};

use crate::hunt::{GRACE, OUTPUT_BYTES};
use crate::program::end_of_command_line;
use crate::quantities::counted;
use crate::record::nothing_recorded;
use crate::terminal::progress_bar;
use crate::train::{Train, program_name};
use crate::trained::{self, check_run};

/// Why a training ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Settled,
    Budget,
    /// By the user.
    Stopped,
}

#[derive(Debug, Default)]
pub struct Counts {
    pub passed: u32,
    pub failed: u32,
    pub unusable: u32,
    pub incomplete: u32,
}

impl Counts {
    fn total(&self) -> u32 {
        self.passed + self.failed + self.unusable
    }
}

/// A training that goes on.
pub struct Course<'t> {
    train: &'t Train,
    pub invocation: &'t Invocation,
    store: Store,
    perturbation: Perturbation,
    sites: Sites,
    builds: Builds,
    /// With what was known before.
    pub training: Training<SiteKey>,
    /// Of this training alone.
    pub learned: Invariants,
    pub change: Change,
    pub counts: Counts,
    pub last_why: Option<String>,
    bar: ProgressBar,
    started: Instant,
}

impl<'t> Course<'t> {
    /// What is in the file must be readable and of this program, before anything is run.
    pub fn begin(
        train: &'t Train,
        invocation: &'t Invocation,
        file: &Path,
    ) -> Result<Course<'t>, Problem> {
        let before = trained::read(file)?;
        let known = before.as_ref().map_or(1, |before| before.leaves_after);
        let leaves_after = train.leaves_after.unwrap_or(known);
        let mut learned = Invariants::new(&program_name(invocation), train.labels(), leaves_after);
        learned.hardware = train.simulation.hardware()?;
        let words = invocation.words();
        learned.command = Some(end_of_command_line(&words, invocation.written_as.as_deref()));
        let mut all = before.unwrap_or_else(|| learned.clone());
        all.absorb(&learned)?;
        let rules = Rules { settled_after: train.settled_after, leaves_after };
        Ok(Course {
            train,
            invocation,
            store: Store::at(train.training_folder()),
            perturbation: train.perturbation(),
            sites: Sites::seen_from(&std::env::current_dir().unwrap_or_default()),
            builds: Builds::default(),
            training: all.training(rules),
            learned,
            change: Change::default(),
            counts: Counts::default(),
            last_why: None,
            bar: progress_bar(train.runs.into(), train.quiet).with_prefix("training"),
            started: Instant::now(),
        })
    }

    pub fn run(&mut self) -> Result<Ended, Problem> {
        let stop = stop_on_signals();
        let ended = loop {
            if let Some(ended) = self.ended() {
                break ended;
            }
            let draw = self.perturbation.next(Lacking::Passing);
            let judged = self.attempt(&draw)?;
            if judged.stopped || stop.load(Relaxed) {
                judged.run.discard();
                break Ended::Stopped;
            }
            let taken = self.take(&draw, &judged);
            judged.run.discard();
            taken?;
        };
        self.bar.finish_and_clear();
        Ok(ended)
    }

    fn ended(&self) -> Option<Ended> {
        let time_is_over = self.train.time.is_some_and(|time| self.started.elapsed() >= time);
        match () {
            () if self.training.has_settled() => Some(Ended::Settled),
            () if self.counts.total() >= self.train.runs || time_is_over => Some(Ended::Budget),
            () => None,
        }
    }

    fn attempt(&self, draw: &Draw) -> Result<Judged, Problem> {
        let train = self.train;
        let mut options = RunOptions { full: true, limit: train.limit, ..RunOptions::default() };
        draw.delays.put_into(&mut options);
        options.delay_budget_ns = u64::try_from(draw.budget.as_nanos()).unwrap_or(u64::MAX);
        let plan = Plan {
            invocation: self.invocation.clone(),
            store: self.store.clone(),
            choices: Choices { options, seed: draw.seed },
        };
        attempt(&Attempt {
            plan: &plan,
            limits: &Limits::new(train.timeout, GRACE, OUTPUT_BYTES),
            judge: &Judge { conditions: train.fail_if.clone(), oracle: train.oracle.clone() },
            hunt: None,
            own_folder: train.own_folder,
            stop: stop_on_signals(),
        })
    }

    /// Takes in a run that has ended.
    fn take(&mut self, draw: &Draw, judged: &Judged) -> Result<(), Problem> {
        let label = judged.label();
        if self.counts.total() == 0 && judged.run.event_files.is_empty() {
            return Err(nothing_recorded(&judged.run));
        }
        let took = Duration::from_millis(judged.run.info.duration_ms);
        self.perturbation.learn(draw, label, took);
        match label {
            Label::Pass => self.learn(judged)?,
            Label::Fail => self.counts.failed += 1,
            Label::Unusable => self.counts.unusable += 1,
        }
        if label != Label::Pass {
            self.last_why = Some(judged.why().to_owned());
        }
        self.show();
        Ok(())
    }

    fn learn(&mut self, judged: &Judged) -> Result<(), Problem> {
        let checked = check_run(&judged.run.folder, self.learned.variant())?;
        let number = u64::from(self.counts.total()) + 1;
        self.builds.add(number, &checked.run.code)?;
        self.counts.incomplete += u32::from(!checked.is_complete);
        self.counts.passed += 1;
        let checks = self.learned.learn(&checked.run, &self.sites);
        if let Some(change) = self.training.add(Label::Pass, checks) {
            self.change.entered += change.entered;
            self.change.left += change.left;
        }
        Ok(())
    }

    fn show(&self) {
        let line = self.line();
        self.bar.set_position(self.counts.total().into());
        self.bar.set_message(line.clone());
        let is_due = self.counts.total().is_multiple_of(10);
        if self.bar.is_hidden() && !self.train.quiet && is_due {
            eprintln!("unpick: {line}");
        }
    }

    /// `20 runs passed, 1 failed; 390 of 412 places hold an invariant; unchanged for 4 of 10 runs`.
    fn line(&self) -> String {
        let failed = match self.counts.failed {
            0 => String::new(),
            failed => format!(", {failed} failed"),
        };
        format!(
            "{} passed{failed}; {} of {} hold an invariant; unchanged for {} of {} runs",
            counted(self.counts.passed.into(), "run"),
            self.training.invariants().count(),
            counted(self.training.sites().len() as u64, "place"),
            self.training.unchanged(),
            self.train.settled_after
        )
    }
}
