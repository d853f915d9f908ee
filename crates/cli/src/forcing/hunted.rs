//! What was hunted: how the program was run, what counted as failing, and how long a run takes.
//!
//! Takes   the runs of a hunt, or one that is no hunt's.      Gives  what it takes to run the program again in the same way.

use std::ffi::OsString;
use std::time::Duration;

use unpick_events::Label;
use unpick_problem::Problem;
use unpick_recording::{Outcome as RunOutcome, RunInfo};
use unpick_run_store::{Store, StoredRun};
use unpick_runner::{Invocation, Judge};

use super::options::judge_of;
use super::{PATIENCE, SHORTEST_TIMEOUT, USUAL_TIMEOUT};
use crate::cargo_test;

/// The runs of a hunt tell how the program is run; the longest that passed without delays tells how long one takes.
pub struct Hunted {
    pub info: RunInfo,
    pub longest_pass: Option<Duration>,
    /// The median of the same runs: one that began on a busy machine does not count.
    pub median_pass: Option<Duration>,
}

impl Hunted {
    /// As the last hunt of a store ran its program.
    pub fn of_store(store: &Store) -> Result<Hunted, Problem> {
        Self::of_hunt(store, None)
    }

    /// As a hunt ran its program; without a number, the last one.
    pub fn of_hunt(store: &Store, hunt: Option<u64>) -> Result<Hunted, Problem> {
        Self::of_runs(store.runs_of_hunt(hunt)?).ok_or_else(|| no_runs(store))
    }

    /// None: there is no run.
    pub fn of_runs(runs: Vec<StoredRun>) -> Option<Hunted> {
        let passed: Vec<&StoredRun> =
            runs.iter().filter(|run| run.label() == Label::Pass).collect();
        let duration = |run: &&StoredRun| Duration::from_millis(run.info.duration_ms);
        // Delays say nothing about how long the program takes by itself.
        let plain = passed.iter().filter(|run| run.info.options.has_no_delays());
        let mut plain: Vec<Duration> = plain.map(duration).collect();
        plain.sort_unstable();
        let shortest = passed.iter().map(duration).min();
        let longest_pass = plain.last().copied().or(shortest);
        let median_pass = plain.get(plain.len() / 2).copied().or(shortest);
        let last = runs.into_iter().next_back()?;
        Some(Hunted { info: last.info, longest_pass, median_pass })
    }

    /// As a run that is no hunt's. How long one took that was ended by a signal, as those that hang are, says nothing about others.
    pub fn of_run(info: RunInfo) -> Hunted {
        let has_ended = matches!(info.outcome, RunOutcome::Exit { .. });
        let longest_pass = has_ended.then(|| Duration::from_millis(info.duration_ms));
        Hunted { info, longest_pass, median_pass: longest_pass }
    }

    pub(super) fn invocation(&self) -> Result<Invocation, Problem> {
        if let Some(words) = &self.info.written_as {
            // `--cargo test NAME`: cargo knows the folder and the variables.
            let words: Vec<_> = words.iter().skip(1).map(OsString::from).collect();
            let stdin = self.info.stdin.clone();
            return Ok(Invocation { stdin, ..cargo_test::invocation(&words)? });
        }
        let command = self.info.command.iter().map(OsString::from).collect();
        let folder = (!self.has_own_folder()).then(|| self.info.working_folder.clone());
        let stdin = self.info.stdin.clone();
        Ok(Invocation { folder, stdin, ..Invocation::plain(command) })
    }

    pub fn has_own_folder(&self) -> bool {
        self.info.judged_by.as_ref().is_some_and(|judged| judged.own_folder)
    }

    pub(super) fn judge(&self) -> Result<Judge, Problem> {
        let Some(judged) = &self.info.judged_by else { return Ok(Judge::default()) };
        judge_of(&judged.fail_if, judged.oracle.as_deref())
    }

    pub(super) fn timeout(&self) -> Duration {
        let hunted = self.info.judged_by.as_ref().map(|by| Duration::from_millis(by.timeout_ms));
        let usual = self.longest_pass.map_or(Duration::MAX, |longest| longest * PATIENCE);
        usual.max(SHORTEST_TIMEOUT).min(hunted.unwrap_or(USUAL_TIMEOUT))
    }
}

fn no_runs(store: &Store) -> Problem {
    Problem::usage("there is nothing to run again: no hunt has ended in this store")
        .at("folder", store.folder().display())
        .next("hunt: unpick hunt -- PROGRAM")
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use unpick_recording::RunOptions;

    use super::*;

    #[test]
    fn how_long_a_run_took_that_was_ended_says_nothing() {
        let ended = |outcome: RunOutcome| {
            let info = RunInfo { outcome, duration_ms: 20_000, ..a_run() };
            Hunted::of_run(info).longest_pass
        };
        assert_eq!(ended(RunOutcome::Exit { code: 1 }), Some(Duration::from_secs(20)));
        assert_eq!(ended(RunOutcome::Signal { number: 15 }), None);
    }

    #[test]
    fn the_program_is_run_again_with_the_same_input() {
        let stdin = Some(PathBuf::from("/tmp/words.txt"));
        let hunted = Hunted::of_run(RunInfo { stdin: stdin.clone(), ..a_run() });
        assert_eq!(hunted.invocation().unwrap().stdin, stdin);
    }

    fn a_run() -> RunInfo {
        RunInfo {
            command: vec!["./bank".to_owned()],
            working_folder: PathBuf::from("/"),
            started_ms: 0,
            duration_ms: 0,
            outcome: RunOutcome::Unknown,
            options: RunOptions::default(),
            seed: 1,
            unpick_version: String::new(),
            format_version: 2,
            label: None,
            why: None,
            hunt: None,
            written_as: None,
            stdin: None,
            judged_by: None,
        }
    }
}
