//! Violated invariants in words: who came between which two accesses.
//!
//! Takes   what a run violated, and names.      Gives  data like that of findings, without a score: one run is no statistics.

use serde::{Deserialize, Serialize};
use unpick_analyses::invariants::{Case, RunInvariants, Trained, Violation};
use unpick_analyses::ranking::{CodeBook, ExampleAccess, accesses_of};

use crate::describe::{AccessWords, Choices};
use crate::finding::{AccessKind, FindingAccess};
use crate::names::Names;
use crate::places::Places;

/// An invariant that a run violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViolatedInvariant {
    /// The same in every run and build that has this code.
    pub id: String,
    /// As AVIO numbers it: 2, 3, 5 or 6.
    pub case: u8,
    /// `r [w] w`: two accesses of a thread, in brackets what came between.
    pub order: String,
    /// What is wrong about it, in plain words.
    pub sentence: String,
    /// How often it happened in the run.
    pub count: u64,
    /// Of the first time, in the order of execution: the P-access, those of other threads, the I-access. Role 1 is the thread
    /// that was disturbed.
    pub accesses: Vec<FindingAccess>,
    /// Which of them makes it unserializable, from 0.
    pub deciding: usize,
    /// Accesses of other threads that are not listed.
    pub further: u64,
    /// What training had seen.
    pub trained: TrainedSite,
}

/// How the site of an I-access fared in training.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct TrainedSite {
    /// Passing runs that executed it, and how many of them violated it.
    pub runs: u32,
    pub violated_runs: u32,
    pub checked: u64,
    pub challenged: u64,
}

impl From<Trained> for TrainedSite {
    fn from(trained: Trained) -> TrainedSite {
        TrainedSite {
            runs: trained.runs,
            violated_runs: trained.violated_runs,
            checked: trained.checks.checked,
            challenged: trained.checks.challenged,
        }
    }
}

/// Violations of a run in words; `id` and `trained` are for the caller to know.
pub fn describe_violations<'v>(
    run: &RunInvariants,
    violations: impl Iterator<Item = &'v Violation>,
    names: &dyn Names,
    choices: &Choices,
) -> Vec<ViolatedInvariant> {
    let mut code = CodeBook::default();
    let accesses = accesses_of(&run.code, &mut code);
    let words = AccessWords { places: Places::chosen(&code, names, choices) };
    violations.map(|violation| described(violation, &accesses, &words)).collect()
}

fn described(
    violation: &Violation,
    all: &[ExampleAccess],
    words: &AccessWords<'_>,
) -> ViolatedInvariant {
    let examples: Vec<_> =
        violation.example().iter().map(|&number| &all[number as usize]).collect();
    let accesses: Vec<_> =
        examples.iter().map(|access| words.access(role_of(access, &examples), access)).collect();
    ViolatedInvariant {
        id: String::new(),
        case: violation.case.number(),
        order: violation.case.to_string(),
        sentence: sentence(violation, &accesses),
        count: violation.count,
        accesses,
        deciding: violation.deciding,
        further: violation.further,
        trained: TrainedSite::default(),
    }
}

/// 1 for the thread that was disturbed, 2 for all others.
fn role_of(access: &ExampleAccess, examples: &[&ExampleAccess]) -> u8 {
    if examples.first().is_some_and(|first| first.thread == access.thread) { 1 } else { 2 }
}

fn sentence(violation: &Violation, accesses: &[FindingAccess]) -> String {
    let ([first, ..], [.., last]) = (accesses, accesses) else { return String::new() };
    let between = accesses.get(violation.deciding).unwrap_or(last);
    let variable = last.variable.as_ref().or(first.variable.as_ref());
    let what = variable.map_or_else(|| "the same memory".to_owned(), |name| format!("`{name}`"));
    let (own, other) = (who(first), who(between));
    match violation.case {
        Case::ReadsDiffer => format!(
            "{own} read {what} twice, and between the two reads {other} {}: they can give different values.",
            did(between)
        ),
        Case::WriteIsGone => format!(
            "{own} wrote {what} and then read it, but in between {other} {}: what is read is not what was written.",
            did(between)
        ),
        Case::IntermediateIsSeen => format!(
            "{own} wrote {what} twice, and between the two writes {other} read it: a value was seen that was to be replaced."
        ),
        Case::ReadIsStale => format!(
            "{own} read {what} and then {}, but in between {other} {}: the value it rests on was out of date.",
            did(last),
            did(between)
        ),
    }
}

/// `Thread 1 (deposit)`, as it stands at the beginning of a sentence and inside.
fn who(access: &FindingAccess) -> String {
    let function = access.frame.function.as_ref();
    let function = function.map_or_else(String::new, |name| format!(" (`{name}`)"));
    let thread = if access.role == 1 { "Thread" } else { "thread" };
    format!("{thread} {}{function}", access.role)
}

fn did(access: &FindingAccess) -> &'static str {
    match access.kind {
        AccessKind::Read => "read it",
        AccessKind::Write => "wrote it",
        AccessKind::Free => "freed it",
    }
}
