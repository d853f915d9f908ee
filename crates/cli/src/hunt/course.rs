//! The course of a hunt: run after run, or several at once; learns from each.
//!
//! Takes   a `Setup`.      Gives  labelled runs in the store, counts, failure rates, and why it ended.
//!
//! What goes wrong after the first run ends the hunt, but takes nothing from the runs there are.

mod next_run;
mod resume;

use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_run_store::{Builds, Store};
use unpick_runner::{Judged, Perturbation, Rates};

use crate::conclude::{Condensed, View, findings_of};
use crate::hunt::budget::{Budget, Counts, Enough};
use crate::hunt::communicating_sites::communicating_sites;
use crate::hunt::keeping::Keeping;
use crate::hunt::progress::Progress;
use crate::hunt::ranking_time::RankingTime;
use crate::hunt::run_limits::RunLimits;
use crate::hunt::single::{Common, Done, News};
use crate::hunt::unusable::Unusable;
use crate::program::end_of_command_line;
use crate::record::nothing_recorded;

/// With so many runs a leading finding is looked for the first time, then whenever there are twice as many: all these looks
/// together cost no more than the one at the end.
const FIRST_LOOK: u32 = 10;

/// How far and in which way a hunt goes.
pub struct Setup<'a> {
    pub common: &'a Common<'a>,
    pub budget: Budget,
    pub perturbation: Perturbation,
    /// How runs are ranked.
    pub view: &'a View,
    pub keeping: Keeping,
    pub resume: bool,
    /// So many runs at once.
    pub jobs: usize,
}

/// Why a hunt ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Enough(Enough),
    /// By the user.
    Stopped,
    /// `Course::trouble` says what.
    Trouble,
}

pub struct Course<'a> {
    setup: Setup<'a>,
    progress: Progress,
    started: Instant,
    counts: Counts,
    /// Made by this process.
    new_runs: u32,
    number: Option<u64>,
    builds: Builds,
    incomplete: u32,
    unusable: Unusable,
    limits: RunLimits,
    next_look: u32,
    ranking: RankingTime,
    trouble: Option<Problem>,
}

impl<'a> Course<'a> {
    pub fn begin(setup: Setup<'a>, progress: Progress) -> Result<Course<'a>, Problem> {
        let resume = setup.resume;
        let limits = RunLimits::new(setup.common.timeout, setup.common.options.limit);
        let mut course = Course {
            setup,
            progress,
            started: Instant::now(),
            counts: Counts::default(),
            new_runs: 0,
            number: None,
            builds: Builds::default(),
            incomplete: 0,
            unusable: Unusable::default(),
            limits,
            next_look: FIRST_LOOK,
            ranking: RankingTime::default(),
            trouble: None,
        };
        if resume {
            course.take_up()?;
        }
        Ok(course)
    }

    /// Runs the program until it is enough. A problem: it cannot be run or recorded at all.
    pub fn run(&mut self) -> Result<Ended, Problem> {
        let common = self.setup.common;
        std::thread::scope(|scope| {
            let (tell, told) = mpsc::channel();
            let mut running = 0;
            loop {
                while self.may_start(running) {
                    let (setup, tell) = (self.next_run(), tell.clone());
                    // Nobody listens any more only if this thread has died.
                    scope.spawn(move || {
                        let on_slow = |slow| drop(tell.send(News::Reading(slow)));
                        let done = common.run_once(setup, on_slow);
                        drop(tell.send(News::Ended(Box::new(done))));
                    });
                    running += 1;
                }
                if running == 0 {
                    return;
                }
                let done = match told.recv() {
                    Ok(News::Ended(done)) => *done,
                    Ok(News::Reading(slow)) => {
                        self.progress.reading(slow);
                        continue;
                    }
                    Err(_) => return,
                };
                running -= 1;
                if let Err(problem) = done.and_then(|done| self.take(done)) {
                    self.trouble.get_or_insert(problem);
                }
            }
        });
        self.progress.finish();
        match self.trouble.take() {
            Some(problem) if self.new_runs == 0 => Err(problem),
            trouble => {
                self.trouble = trouble;
                Ok(self.ended().unwrap_or(Ended::Stopped))
            }
        }
    }

    /// Whether one more run is to be started beside those that are running.
    fn may_start(&self, running: u32) -> bool {
        // The first run gives the hunt its number.
        let most = if self.number.is_none() { 1 } else { self.setup.jobs };
        let started = self.new_runs + running;
        let has_room = self.setup.budget.runs.is_none_or(|runs| started < runs);
        (running as usize) < most && has_room && self.ended().is_none()
    }

    /// Why no more runs are needed or possible, if that is so.
    fn ended(&self) -> Option<Ended> {
        if self.trouble.is_some() {
            return Some(Ended::Trouble);
        }
        if self.setup.common.stop.load(Relaxed) {
            return Some(Ended::Stopped);
        }
        let elapsed = self.started.elapsed() + self.reserve();
        self.setup.budget.reached(&self.counts, self.new_runs, elapsed).map(Ended::Enough)
    }

    /// Takes in a run that has ended. A problem ends the hunt.
    fn take(&mut self, done: Done) -> Result<(), Problem> {
        let Done { draw, mut judged, condensed, reading, arrivals } = done;
        if judged.stopped {
            judged.run.discard();
            return Ok(());
        }
        if self.new_runs == 0 && judged.run.event_files.is_empty() && judged.run.trouble.is_none() {
            judged.run.discard();
            return Err(nothing_recorded(&judged.run));
        }
        self.number = Some(judged.hunt);
        if let Some(condensed) = &condensed {
            self.limits.observe_reading(judged.recorded_bytes(), reading);
            let sites = communicating_sites(&condensed.patterns, &condensed.synchronised_at);
            self.setup.perturbation.observe_sites(&sites);
        }
        self.setup.perturbation.observe_arrivals(&draw, &arrivals);
        let mixed = condensed.and_then(|Condensed { patterns, is_complete, .. }| {
            self.incomplete += u32::from(!is_complete);
            self.builds.add(judged.number, &patterns).err()
        });
        if mixed.is_some() {
            judged.set_unusable("it is of another build of the program")?;
        }
        self.setup.keeping.keep_or_drop(&judged)?;
        let duration = Duration::from_millis(judged.run.info.duration_ms);
        self.setup.perturbation.learn(&draw, judged.label(), duration);
        self.take_note(&judged, duration);
        self.look_ahead();
        mixed.map_or(Ok(()), Err)
    }

    fn take_note(&mut self, judged: &Judged, duration: Duration) {
        let label = judged.label();
        self.limits.observe(label, duration);
        self.counts.add(label);
        self.new_runs += 1;
        if label == Label::Unusable {
            self.unusable.observe(judged.why());
        }
        self.progress.told(judged, &self.counts, self.started.elapsed());
    }

    /// Shows the leading finding as it forms, and learns how long ranking takes.
    fn look_ahead(&mut self) {
        let Counts { passed, failed, .. } = self.counts;
        let is_due = self.counts.total() >= self.next_look && passed > 0 && failed > 0;
        let is_wanted = self.progress.shows_findings() || self.setup.budget.time.is_some();
        if !is_due || !is_wanted {
            return;
        }
        self.next_look = 2 * self.counts.total();
        let started = Instant::now();
        let store = &self.setup.common.store;
        let runs = store.runs_of_hunt(self.number);
        // A problem comes again at the end, and is told there.
        let findings = runs.and_then(|runs| findings_of(store, &runs, self.setup.view));
        self.ranking.observe(started.elapsed(), self.counts.total());
        if let Some(first) = findings.ok().and_then(|found| found.findings.into_iter().next()) {
            self.progress.leading(&first);
        }
    }

    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// The number of the hunt; none before the first run.
    pub fn number(&self) -> Option<u64> {
        self.number
    }

    pub fn rates(&self) -> Rates {
        self.setup.perturbation.rates()
    }

    /// What a further hunt of the same program ends with.
    pub fn end_of_command_line(&self) -> String {
        let invocation = self.setup.common.invocation;
        end_of_command_line(&invocation.words(), invocation.written_as.as_deref())
    }

    /// Whether the program has something to read.
    pub fn has_input(&self) -> bool {
        self.setup.common.invocation.stdin.is_some()
    }

    pub fn store(&self) -> &Store {
        &self.setup.common.store
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long it may take.
    pub fn time(&self) -> Option<Duration> {
        self.setup.budget.time
    }

    /// When its time is over.
    pub fn until(&self) -> Option<Instant> {
        self.setup.budget.time.map(|time| self.started + time)
    }

    /// How many more runs it may make.
    pub fn runs_left(&self) -> Option<u32> {
        self.setup.budget.runs.map(|runs| runs.saturating_sub(self.new_runs))
    }

    pub fn progress(&mut self) -> &mut Progress {
        &mut self.progress
    }

    /// What went wrong after the first run.
    pub fn trouble(&self) -> Option<&Problem> {
        self.trouble.as_ref()
    }

    /// Runs whose recordings lack something.
    pub fn incomplete(&self) -> u32 {
        self.incomplete
    }

    /// Why runs could not be used.
    pub fn unusable(&self) -> &Unusable {
        &self.unusable
    }

    /// Whether the user wanted it to end.
    pub fn is_interrupted(&self) -> bool {
        self.setup.common.stop.load(Relaxed)
    }

    /// Recordings were not kept although they should have been: there were too many.
    pub fn has_dropped_for_space(&self) -> bool {
        self.setup.keeping.has_dropped_for_space()
    }
}
