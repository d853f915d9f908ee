//! Races as SARIF has findings: at the first access, with the others as related places.

use std::path::Path;

use serde_json::Value;
use unpick_findings::{Frame, RaceDetector, RaceFinding};

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

/// The whole log; files are as seen from `folder`.
pub fn races_sarif(races: &[RaceFinding], folder: &Path) -> Value {
    let results: Vec<SarifResult> = races.iter().filter_map(result_of).collect();
    sarif(&[RACE, UNLOCKED, TORN], &results, folder, &[])
}

/// Nothing for a race whose first access is in no source.
fn result_of(race: &RaceFinding) -> Option<SarifResult> {
    let is_unordered = race.detectors.contains(&RaceDetector::HappensBefore);
    let rule = match (&race.correlated, is_unordered) {
        (Some(_), _) => TORN,
        (None, true) => RACE,
        (None, false) => UNLOCKED,
    };
    let (first, others) = race.accesses.split_first()?;
    let correlated = race.correlated.as_ref().map(|one| (&one.access, one.correlation.as_str()));
    let related = others.iter().map(|access| (access, "the access of the other thread"));
    let places = related
        .chain(correlated)
        .filter_map(|(access, what)| Some((place_of(&access.frame)?, what.to_owned())));
    Some(SarifResult {
        rule: rule.id,
        level: rule.level,
        message: format!("{} {}", race.sentence, race.why).trim().to_owned(),
        place: place_of(&first.frame)?,
        related: places.collect(),
        fingerprint: fingerprint(race, rule.id),
        score: if race.detectors.len() > 1 { 1.0 } else { 0.5 },
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

/// Of what stays while lines move: the functions and their files, whichever came first.
fn fingerprint(race: &RaceFinding, rule: &str) -> String {
    let part = |frame: &Frame| {
        let file = frame.file.as_deref().map(Path::new).and_then(Path::file_name);
        let file = file.unwrap_or_default().to_string_lossy().into_owned();
        format!("{} {file}", frame.function.as_deref().unwrap_or_default())
    };
    let mut parts: Vec<String> = race.accesses.iter().map(|access| part(&access.frame)).collect();
    parts.sort();
    parts.push(rule.to_owned());
    let hash = parts.join("\0").bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}
