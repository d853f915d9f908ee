//! Which runs count as failing.
//!
//! Takes   conditions on exit code and output, perhaps an oracle: a command that looks at the output.
//! Gives   a label and what it rests on.
//!
//! A program that hangs fails. One that was ended because it was slow, or because there was no more time, says nothing: the run is
//! unusable; but if it had panicked, it has failed by that, however long it takes to print where.
//! Else any condition that holds makes a run fail, and without conditions and
//! oracle a nonzero exit code or death by a signal does. An oracle is asked last. An oracle that
//! crashes has said nothing: the run is unusable.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use regex::bytes::Regex;
use unpick_events::Label;
use unpick_recording::Outcome;

use crate::condition::Condition;
use crate::watch::{Ending, Limits, LookedFor, NotWatched, Watched, watch};

const ORACLE_TIMEOUT: Duration = Duration::from_secs(60);
/// What a shell answers for a command it cannot run, or cannot find.
const NOT_RUN: [i32; 2] = [126, 127];

/// The first line of what a panic in Rust prints; newer versions name the kernel's number of the thread.
static PANIC: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^thread '.*' (\(\d+\) )?panicked at ").expect("a pattern that is right")
});

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
        if self.judges_by_outcome() {
            looked_for.stderr.push(PANIC.clone());
        }
        looked_for
    }

    fn judges_by_outcome(&self) -> bool {
        self.conditions.is_empty() && self.oracle.is_none()
    }

    /// Whether a thread panicked, where that is a failure.
    pub(crate) fn saw_panic(&self, watched: &Watched) -> bool {
        self.judges_by_outcome() && watched.stderr.matched.last() == Some(&true)
    }

    /// Judges a program that has ended; `folder` holds its output.
    pub(crate) fn judge(
        &self,
        watched: &Watched,
        limits: &Limits,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Verdict {
        if watched.ending != Ending::ByItself {
            return self.judge_ended(watched, limits);
        }
        if let Some(why) = self.condition_that_holds(watched) {
            return Verdict::new(Label::Fail, why);
        }
        match &self.oracle {
            Some(oracle) => ask(oracle, watched, limits, folder, stop),
            None if self.judges_by_outcome() => by_outcome(watched.outcome),
            None => Verdict::new(Label::Pass, watched.outcome.to_string()),
        }
    }

    /// Judges a program that had to be ended.
    fn judge_ended(&self, watched: &Watched, limits: &Limits) -> Verdict {
        let limit = limits.timeout.as_secs_f64();
        let after = watched.duration.as_secs_f64();
        let panicked = self.saw_panic(watched);
        let fail = |why: String| Verdict::new(Label::Fail, why);
        let unusable = |why: String| Verdict::new(Label::Unusable, why);
        match watched.ending {
            Ending::Stopped => unusable("the hunt was stopped".to_owned()),
            Ending::Blocked if panicked => {
                fail("panicked, then every thread is blocked".to_owned())
            }
            Ending::Blocked => fail("hung: every thread is blocked".to_owned()),
            _ if panicked => fail(format!("panicked, and had not ended after {after:.1} s")),
            Ending::Slow => unusable(format!(
                "not finished after {after:.1} s, but still making progress: it is slow, or the limit of {limit} s too short"
            )),
            Ending::OutOfTime => {
                unusable(format!("time limit reached when it had run for {after:.1} s"))
            }
            Ending::TimedOut | Ending::ByItself => fail(format!("did not end within {limit} s")),
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
        .stdin(Stdio::null())
        .env("UNPICK_STDOUT", &watched.stdout.path)
        .env("UNPICK_STDERR", &watched.stderr.path)
        .env("UNPICK_EXIT", watched.outcome.exit_status().to_string());
    let limits = Limits { timeout: ORACLE_TIMEOUT, longest_pass: None, ..*limits };
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
        (Ending::Stopped | Ending::OutOfTime, _) => unusable("was stopped"),
        (Ending::TimedOut | Ending::Slow | Ending::Blocked, _) => {
            unusable("did not end within 60 s")
        }
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
        verdict_within(script, conditions, oracle, &LIMITS)
    }

    fn verdict_within(
        script: &str,
        conditions: &[&str],
        oracle: Option<&str>,
        limits: &Limits,
    ) -> (Label, String) {
        let folder = tempfile::tempdir().unwrap();
        let judge = Judge {
            conditions: conditions.iter().map(|text| text.parse().unwrap()).collect(),
            oracle: oracle.map(OsString::from),
        };
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::null());
        let stop = AtomicBool::new(false);
        let looked_for = judge.looked_for();
        let watched = watch(command, folder.path(), "", looked_for, limits, &stop).unwrap();
        let verdict = judge.judge(&watched, limits, folder.path(), &stop);
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
    fn a_run_that_has_panicked_failed_by_that_however_long_it_takes() {
        let panic = r#"echo "thread 'main' panicked at src/main.rs:7:5:" >&2; sleep 1000"#;
        let limits = Limits { timeout: Duration::from_secs(3), ..LIMITS };
        let judged = |conditions: &[&str]| verdict_within(panic, conditions, None, &limits);
        let (label, why) = judged(&[]);
        assert!(label == Label::Fail && why.starts_with("panicked, and had not ended "), "{why}");
        assert_eq!(judged(&["exit = 4"]), (Label::Fail, "did not end within 3 s".into()));
        assert!(PANIC.is_match(b"thread 'a b' (77) panicked at lib.rs:1:1:"));
        assert!(!PANIC.is_match(b"nobody panicked at all"));
    }

    #[test]
    fn a_run_for_which_there_is_no_more_time_says_nothing() {
        let limits = Limits { until: Some(std::time::Instant::now()), ..LIMITS };
        let (label, why) = verdict_within("sleep 1000", &[], None, &limits);
        assert_eq!(label, Label::Unusable);
        assert!(why.starts_with("time limit reached"), "{why}");
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
