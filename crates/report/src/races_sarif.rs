//! Races, and deadlocks that can be, as SARIF has findings: at the first access or wait, with the others as related places.

use std::path::Path;

use serde_json::Value;
use unpick_findings::{CandidateDeadlock, Frame, RaceDetector, RaceFinding};

use crate::sarif::{SarifLevel, SarifPlace, SarifResult, SarifRule, sarif};

const RACE: SarifRule = SarifRule {
    id: "data-race",
    short: "Two threads access the same bytes, one of them writes, and nothing orders the accesses.",
    help: "Hold one lock at both accesses, make both atomic, or let one thread wait for the other. unpick races --explain shows stacks, \
           locks and what the threads did before.",
    level: SarifLevel::Error,
};

const UNLOCKED: SarifRule = SarifRule {
    id: "no-common-lock",
    short: "No lock is held at every access to bytes that threads share; this run happened to order them.",
    help: "Hold one lock at both accesses, unless something else than locks orders them: then it is no race, and can be suppressed.",
    level: SarifLevel::Warning,
};

const TORN: SarifRule = SarifRule {
    id: "torn-unit",
    short: "Another thread can come between two accesses to variables that belong together.",
    help: "Hold one lock over both accesses, in both threads.",
    level: SarifLevel::Warning,
};

const DEADLOCK: SarifRule = SarifRule {
    id: "lock-order",
    short: "Threads take the same locks in different orders: they can come to wait for each other for ever.",
    help: "Take the locks in the same order everywhere, or hold another lock around both. unpick confirm --deadlock forces it.",
    level: SarifLevel::Warning,
};

/// The whole log; files are as seen from `folder`, `missing` is what the recordings lack, in sentences.
pub fn races_sarif(
    races: &[RaceFinding],
    deadlocks: &[CandidateDeadlock],
    folder: &Path,
    missing: &[String],
) -> Value {
    let races = races.iter().filter_map(result_of);
    let results: Vec<SarifResult> =
        races.chain(deadlocks.iter().filter_map(result_of_deadlock)).collect();
    sarif(&[RACE, UNLOCKED, TORN, DEADLOCK], &results, folder, missing)
}

/// Nothing for a race of which no access is in a source.
fn result_of(race: &RaceFinding) -> Option<SarifResult> {
    let is_unordered = race.detectors.contains(&RaceDetector::HappensBefore);
    let rule = match (&race.correlated, is_unordered) {
        (Some(_), _) => TORN,
        (None, true) => RACE,
        (None, false) => UNLOCKED,
    };
    let correlated = race.correlated.as_ref().map(|one| (&one.access, one.correlation.as_str()));
    let accesses = race.accesses.iter().map(|access| (access, "the access of the other thread"));
    let mut places = accesses
        .chain(correlated)
        .filter_map(|(access, what)| Some((place_of(&access.frame)?, what.to_owned())));
    let (place, _) = places.next()?;
    let frames = race.accesses.iter().map(|access| &access.frame);
    Some(SarifResult {
        rule: rule.id,
        level: rule.level,
        message: format!("{} {}", race.sentence, race.why).trim().to_owned(),
        place,
        related: places.collect(),
        fingerprint: fingerprint(frames, &[bare_name(race.variable.as_deref()), rule.id]),
        score: if race.detectors.len() > 1 { 1.0 } else { 0.5 },
    })
}

fn result_of_deadlock(deadlock: &CandidateDeadlock) -> Option<SarifResult> {
    let threads = || deadlock.hang.processes.iter().flat_map(|process| &process.threads);
    let mut places = threads().filter_map(|thread| {
        Some((place_of(&thread.frame)?, format!("where thread {} waits", thread.thread)))
    });
    let (place, _) = places.next()?;
    let waits = threads().filter_map(|thread| thread.waits_for.as_ref());
    let mut locks: Vec<&str> = waits.map(|wait| bare_name(wait.name.as_deref())).collect();
    locks.sort_unstable();
    locks.push(DEADLOCK.id);
    Some(SarifResult {
        rule: DEADLOCK.id,
        level: DEADLOCK.level,
        message: deadlock.sentence.clone(),
        place,
        related: places.collect(),
        fingerprint: fingerprint(threads().map(|thread| &thread.frame), &locks),
        score: 0.5,
    })
}

fn place_of(frame: &Frame) -> Option<SarifPlace> {
    Some(SarifPlace {
        file: frame.file.clone()?,
        line: frame.line.unwrap_or(0),
        column: frame.column.unwrap_or(0),
        function: frame.function.clone().unwrap_or_default(),
    })
}

/// `account.balance` of `account.balance[3] (heap, allocated at bank.c:31)`: what does not change with lines or runs.
fn bare_name(variable: Option<&str>) -> &str {
    variable.unwrap_or_default().split([' ', '[', '+']).next().unwrap_or_default()
}

/// Of what stays while lines move: the functions and their files, whichever came first, and what they are about. Two findings of
/// the same functions are two.
fn fingerprint<'f>(frames: impl Iterator<Item = &'f Frame>, about: &[&str]) -> String {
    let part = |frame: &Frame| {
        let file = frame.file.as_deref().map(Path::new).and_then(Path::file_name);
        let file = file.unwrap_or_default().to_string_lossy().into_owned();
        format!("{} {file}", frame.function.as_deref().unwrap_or_default())
    };
    let mut parts: Vec<String> = frames.map(part).collect();
    parts.sort();
    parts.extend(about.iter().map(|&what| what.to_owned()));
    let hash = parts.join("\0").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
