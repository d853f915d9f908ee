//! Which runs count as failing.
//!
//! Takes   conditions on exit code and output, perhaps an oracle: a command that looks at the output.
//! Gives   a label and what it rests on.
//!
//! A program that runs into the time limit fails. Else any condition that holds makes a run fail, and without conditions and
//! oracle a nonzero exit code or death by a signal does. An oracle is asked last. An oracle that
//! crashes has said nothing: the run is unusable.

use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use regex::bytes::Regex;
use unpick_events::Label;
use unpick_recording::Outcome;

use crate::watch::{Ending, Limits, LookedFor, NotWatched, Watched, watch};

const ORACLE_TIMEOUT: Duration = Duration::from_secs(60);
/// What a shell answers for a command it cannot run, or cannot find.
const NOT_RUN: [i32; 2] = [126, 127];

/// Something that makes a run fail.
#[derive(Debug, Clone)]
pub enum Condition {
    Stdout(Regex),
    Stderr(Regex),
    /// Of the shell's exit status: 128 + n if signal n killed it.
    ExitIs(u8),
    ExitIsNot(u8),
}

impl FromStr for Condition {
    type Err = String;

    /// `stdout ~ /RE/`, `stderr ~ /RE/`, `exit = N`, `exit != N`.
    fn from_str(text: &str) -> Result<Condition, String> {
        let text = text.trim();
        let after = |word: &str, sign: &str| {
            text.strip_prefix(word)?.trim_start().strip_prefix(sign).map(str::trim)
        };
        if let Some(pattern) = after("stdout", "~") {
            return regex(pattern).map(Condition::Stdout);
        }
        if let Some(pattern) = after("stderr", "~") {
            return regex(pattern).map(Condition::Stderr);
        }
        if let Some(code) = after("exit", "!=") {
            return exit_code(code).map(Condition::ExitIsNot);
        }
        if let Some(code) = after("exit", "=") {
            return exit_code(code).map(Condition::ExitIs);
        }
        Err("expected 'stdout ~ /RE/', 'stderr ~ /RE/', 'exit = N' or 'exit != N'".to_owned())
    }
}

impl fmt::Display for Condition {
    /// As it is read.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Condition::Stdout(pattern) => write!(f, "stdout ~ /{pattern}/"),
            Condition::Stderr(pattern) => write!(f, "stderr ~ /{pattern}/"),
            Condition::ExitIs(code) => write!(f, "exit = {code}"),
            Condition::ExitIsNot(code) => write!(f, "exit != {code}"),
        }
    }
}

fn regex(text: &str) -> Result<Regex, String> {
    let inside = text.strip_prefix('/').and_then(|text| text.strip_suffix('/'));
    let pattern = inside.filter(|pattern| !pattern.is_empty());
    let pattern = pattern.ok_or("expected a pattern between slashes: stdout ~ /LOST/")?;
    Regex::new(pattern).map_err(|error| error.to_string())
}

fn exit_code(text: &str) -> Result<u8, String> {
    text.parse().map_err(|_| "expected an exit code from 0 to 255".to_owned())
}

/// A label, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    pub label: Label,
    pub why: String,
}

impl Verdict {
    pub fn new(label: Label, why: impl Into<String>) -> Verdict {
        Verdict { label, why: why.into() }
    }
}

/// Says which runs fail.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    pub conditions: Vec<Condition>,
    /// For `sh -c`.
    pub oracle: Option<OsString>,
}

impl Judge {
    /// The patterns of the conditions, by stream.
    pub(crate) fn looked_for(&self) -> LookedFor {
        let mut looked_for = LookedFor::default();
        for condition in &self.conditions {
            match condition {
                Condition::Stdout(pattern) => looked_for.stdout.push(pattern.clone()),
                Condition::Stderr(pattern) => looked_for.stderr.push(pattern.clone()),
                Condition::ExitIs(_) | Condition::ExitIsNot(_) => {}
            }
        }
        looked_for
    }

    /// Judges a program that has ended; `folder` holds its output.
    pub(crate) fn judge(
        &self,
        watched: &Watched,
        limits: &Limits,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Verdict {
        match watched.ending {
            Ending::Stopped => return Verdict::new(Label::Unusable, "the hunt was stopped"),
            Ending::TimedOut => {
                let seconds = limits.timeout.as_secs_f64();
                return Verdict::new(Label::Fail, format!("did not end within {seconds} s"));
            }
            Ending::ByItself => {}
        }
        if let Some(why) = self.condition_that_holds(watched) {
            return Verdict::new(Label::Fail, why);
        }
        match &self.oracle {
            Some(oracle) => ask(oracle, watched, limits, folder, stop),
            None if self.conditions.is_empty() => by_outcome(watched.outcome),
            None => Verdict::new(Label::Pass, watched.outcome.to_string()),
        }
    }

    /// In words, if there is one.
    fn condition_that_holds(&self, watched: &Watched) -> Option<String> {
        let status = watched.outcome.exit_status();
        let mut stdout = watched.stdout.matched.iter();
        let mut stderr = watched.stderr.matched.iter();
        let mut why = None;
        for condition in &self.conditions {
            let holds = match condition {
                Condition::Stdout(_) => stdout.next() == Some(&true),
                Condition::Stderr(_) => stderr.next() == Some(&true),
                Condition::ExitIs(code) => status == *code,
                Condition::ExitIsNot(code) => status != *code,
            };
            if holds && why.is_none() {
                why = Some(condition.in_words(watched.outcome));
            }
        }
        why
    }
}

impl Condition {
    fn in_words(&self, outcome: Outcome) -> String {
        match self {
            Condition::Stdout(pattern) => format!("standard output has /{pattern}/"),
            Condition::Stderr(pattern) => format!("standard error has /{pattern}/"),
            Condition::ExitIs(_) | Condition::ExitIsNot(_) => outcome.to_string(),
        }
    }
}

fn by_outcome(outcome: Outcome) -> Verdict {
    let label = match outcome {
        Outcome::Exit { code: 0 } => Label::Pass,
        Outcome::Exit { .. } | Outcome::Signal { .. } => Label::Fail,
        Outcome::Unknown => Label::Unusable,
    };
    Verdict::new(label, outcome.to_string())
}

/// Runs the oracle, which finds the output through its environment.
fn ask(
    oracle: &OsString,
    watched: &Watched,
    limits: &Limits,
    folder: &Path,
    stop: &AtomicBool,
) -> Verdict {
    let mut command = Command::new("sh");
    command
        .arg("-c")
        .arg(oracle)
        .env("UNPICK_STDOUT", &watched.stdout.path)
        .env("UNPICK_STDERR", &watched.stderr.path)
        .env("UNPICK_EXIT", watched.outcome.exit_status().to_string());
    let limits = Limits { timeout: ORACLE_TIMEOUT, ..*limits };
    match watch(command, folder, "oracle-", LookedFor::default(), &limits, stop) {
        Ok(asked) => said(&asked),
        Err(NotWatched::NotStarted(error) | NotWatched::Lost(error)) => {
            Verdict::new(Label::Unusable, format!("the oracle could not be asked: {error}"))
        }
    }
}

fn said(asked: &Watched) -> Verdict {
    let unusable = |why: &str| Verdict::new(Label::Unusable, format!("the oracle {why}"));
    match (asked.ending, asked.outcome) {
        (Ending::Stopped, _) => unusable("was stopped"),
        (Ending::TimedOut, _) => unusable("did not end within 60 s"),
        (Ending::ByItself, Outcome::Exit { code: 0 }) => {
            Verdict::new(Label::Pass, "the oracle says so")
        }
        (Ending::ByItself, Outcome::Exit { code }) if NOT_RUN.contains(&code) => {
            unusable(&format!("cannot be run (exit {code}); see its oracle-stderr"))
        }
        (Ending::ByItself, Outcome::Exit { code }) => {
            Verdict::new(Label::Fail, format!("the oracle says so (exit {code})"))
        }
        (Ending::ByItself, outcome) => unusable(&format!("crashed ({outcome})")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::tests::LIMITS;

    /// The label of a shell script's run, and why.
    fn verdict(script: &str, conditions: &[&str], oracle: Option<&str>) -> (Label, String) {
        let folder = tempfile::tempdir().unwrap();
        let judge = Judge {
            conditions: conditions.iter().map(|text| text.parse().unwrap()).collect(),
            oracle: oracle.map(OsString::from),
        };
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        let stop = AtomicBool::new(false);
        let looked_for = judge.looked_for();
        let watched = watch(command, folder.path(), "", looked_for, &LIMITS, &stop).unwrap();
        let verdict = judge.judge(&watched, &LIMITS, folder.path(), &stop);
        (verdict.label, verdict.why)
    }

    fn label(script: &str, conditions: &[&str]) -> Label {
        verdict(script, conditions, None).0
    }

    #[test]
    fn without_conditions_the_exit_code_or_a_signal_decides() {
        assert_eq!(verdict("exit 0", &[], None), (Label::Pass, "exit 0".into()));
        assert_eq!(verdict("exit 3", &[], None), (Label::Fail, "exit 3".into()));
        assert_eq!(verdict("kill -SEGV $$", &[], None).1, "killed by signal 11");
    }

    #[test]
    fn with_conditions_only_they_decide() {
        assert_eq!(label("echo a LOST coin", &["stdout ~ /LOST|GONE/"]), Label::Fail);
        assert_eq!(label("echo LOST >&2; exit 1", &["stdout ~ /LOST/"]), Label::Pass);
        assert_eq!(label("echo LOST >&2", &["stdout ~ /x/", "stderr~/^LOST$/"]), Label::Fail);
        assert_eq!(label("exit 3", &["exit = 4"]), Label::Pass);
        assert_eq!(label("exit 4", &["exit = 4"]), Label::Fail);
        assert_eq!(label("exit 4", &["exit != 0"]), Label::Fail);
        assert_eq!(label("kill -KILL $$", &["exit = 137"]), Label::Fail);
    }

    #[test]
    fn conditions_that_cannot_be_understood_are_refused() {
        for text in ["stdout ~ LOST", "stdout = /a/", "exit = many", "exit", "stdout ~ /(/", "a"] {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_condition_is_told_as_it_is_read() {
        for text in ["stdout ~ /a b/", "stderr ~ /^x$/", "exit = 4", "exit != 0"] {
            assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_oracle_sees_output_and_exit_code() {
        let oracle = Some("grep -q good \"$UNPICK_STDOUT\" && test \"$UNPICK_EXIT\" = 5");
        assert_eq!(verdict("echo good; exit 5", &[], oracle).0, Label::Pass);
        assert_eq!(verdict("echo good", &[], oracle).0, Label::Fail);
        assert_eq!(verdict("echo bad; exit 5", &[], oracle).0, Label::Fail);
    }

    #[test]
    fn an_oracle_that_crashes_has_said_nothing() {
        let (label, why) = verdict("exit 1", &[], Some("kill -SEGV $$"));
        assert_eq!(label, Label::Unusable);
        assert!(why.contains("crashed"), "{why}");
        assert_eq!(verdict("exit 1", &[], Some("/no/such/oracle")).0, Label::Unusable);
    }
}
