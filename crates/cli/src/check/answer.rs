//! What a reproducer says about a program.
//!
//! Takes   a plan, and what came of runs under it.      Gives  an answer in one line, as JSON, and as an exit code.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use unpick_problem::{Problem, exit};
use unpick_reproduce::Plan;

use crate::reproduce::Tally;

/// A file that was tried.
pub struct Checked {
    pub file: PathBuf,
    pub program: PathBuf,
    pub answer: Answer,
    /// What in the program is not as it was.
    pub changes: Vec<String>,
    /// None: nothing was run.
    pub tally: Option<Tally>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    Fails,
    /// The order came about, and nothing failed.
    Passes,
    /// Threads came to all steps, but keep each other from making them in this order.
    CannotComeAbout(String),
    NeverReached(String),
    DoesNotApply(String),
    /// No run failed, and the file does not say that one ever did: it may just be no test.
    NotChecked,
}

impl Answer {
    /// `was_seen_to_fail`: runs by this file have failed when the bug was there.
    pub fn of(plan: &Plan, tally: &Tally, was_seen_to_fail: bool) -> Answer {
        match Answer::by_runs(plan, tally) {
            Answer::Passes | Answer::CannotComeAbout(_) if !was_seen_to_fail => Answer::NotChecked,
            answer => answer,
        }
    }

    fn by_runs(plan: &Plan, tally: &Tally) -> Answer {
        if tally.failed > 0 {
            return Answer::Fails;
        }
        if tally.hits > 0 {
            return Answer::Passes;
        }
        let why = tally.obstacle(plan).reason().unwrap_or_default();
        if is_prevented(tally) { Answer::CannotComeAbout(why) } else { Answer::NeverReached(why) }
    }

    pub fn does_not_apply(problem: &Problem) -> Answer {
        Answer::DoesNotApply(problem.in_one_line())
    }

    pub fn is_failure(&self) -> bool {
        *self == Answer::Fails
    }

    /// Neither that the bug is there nor that it is gone.
    pub fn says_nothing(&self) -> bool {
        matches!(self, Answer::NeverReached(_) | Answer::DoesNotApply(_))
    }

    pub fn is_not_checked(&self) -> bool {
        *self == Answer::NotChecked
    }

    fn name(&self) -> &'static str {
        match self {
            Answer::Fails => "fails",
            Answer::Passes => "passes",
            Answer::CannotComeAbout(_) => "cannot-come-about",
            Answer::NeverReached(_) => "never-reached",
            Answer::DoesNotApply(_) => "does-not-apply",
            Answer::NotChecked => "not-checked",
        }
    }

    fn why(&self) -> Option<&str> {
        match self {
            Answer::Fails | Answer::Passes | Answer::NotChecked => None,
            Answer::CannotComeAbout(why)
            | Answer::NeverReached(why)
            | Answer::DoesNotApply(why) => Some(why),
        }
    }
}

/// Somebody came to every step, and who was held there was held in vain for sure: all others waited, or there was no other. A pause that
/// was over says less: the partner may just have been slow.
fn is_prevented(tally: &Tally) -> bool {
    let outcome = &tally.outcome;
    let all_reached = outcome.steps.iter().all(|step| step.arrived > 0);
    all_reached && (outcome.blocked > 0 || (outcome.alone > 0 && outcome.timed_out == 0))
}

/// That of all files together.
pub fn exit_code(all: &[Checked]) -> u8 {
    if all.iter().any(|checked| checked.answer.is_failure()) {
        exit::FINDINGS
    } else if all.iter().any(|checked| checked.answer.says_nothing()) {
        exit::DOES_NOT_APPLY
    } else if all.iter().any(|checked| checked.answer.is_not_checked()) {
        exit::NOT_CHECKED
    } else {
        0
    }
}

impl Checked {
    /// Nothing is known yet.
    pub fn new(file: &Path, program: &Path) -> Checked {
        Checked {
            file: file.to_owned(),
            program: program.to_owned(),
            answer: Answer::NeverReached(String::new()),
            changes: Vec::new(),
            tally: None,
        }
    }

    /// One line, and what has changed below it.
    pub fn text(&self) -> String {
        let changes = self.changes.iter().map(|change| format!("  {change}\n"));
        format!("{}: {}\n{}", self.file.display(), self.line(), changes.collect::<String>())
    }

    fn line(&self) -> String {
        let (runs, hits, failed) = self.counts();
        match &self.answer {
            Answer::Fails if hits == runs => format!("FAILS ({failed} of {runs} failed)"),
            Answer::Fails => {
                format!("FAILS ({failed} of {runs} failed, order forced {hits} of {runs})")
            }
            Answer::Passes => format!("passes (order forced {hits} of {runs}, 0 failed)"),
            Answer::CannotComeAbout(why) => {
                format!("passes: the order can no longer come about (0 of {runs} failed): {why}")
            }
            Answer::NeverReached(why) => format!("never reached {why} (0 of {runs} failed)"),
            Answer::DoesNotApply(why) => format!("does not apply: {why}"),
            Answer::NotChecked => {
                format!("not checked: this file was never seen to fail (0 of {runs} failed)")
            }
        }
    }

    /// Runs, those in which the order came about, and those that failed.
    fn counts(&self) -> (u32, u32, u32) {
        self.tally.as_ref().map_or((0, 0, 0), |tally| (tally.usable(), tally.hits, tally.failed))
    }

    /// As `docs/schema/check.schema.json` says.
    pub fn to_json(&self) -> Value {
        let (runs, hits, failed) = self.counts();
        let tally = self.tally.as_ref();
        json!({
            "file": self.file.to_string_lossy(),
            "program": self.program.to_string_lossy(),
            "answer": self.answer.name(),
            "why": self.answer.why(),
            "changes": self.changes,
            "runs": runs,
            "hits": hits,
            "failed": failed,
            "unusable": tally.map_or(0, |tally| tally.unusable),
            "first_failure": tally.and_then(|tally| tally.first_failure.as_deref()),
        })
    }
}
