//! Races as people read them: the list, and one in full.

use unpick_findings::{FindingAccess, ForcedRace, RaceDetector, RaceFinding, RaceMark};

use crate::layout::{cut, padded, paragraph, printable, width_of};
use crate::short_names::with_short_names;
use crate::{Style, calls, excerpts, words};

/// Longest name inside a sentence.
const NAME_COLUMNS: usize = 40;
const INDENT: &str = "   ";
/// So many are listed; of what is no race, fewer.
const MOST_LISTED: usize = 50;
const MOST_ORDERED: usize = 10;

/// All races, the worst first: two lines each.
pub fn races(races: &[RaceFinding], style: &Style) -> String {
    numbered_from(1, races, MOST_LISTED, style)
}

/// What only lacks a lock in common: something else orders it. Numbers go on after `races` that are listed before.
pub fn ordered(ordered: &[RaceFinding], races: usize, style: &Style) -> String {
    let heading =
        style.paint().heading("Synchronized without a common lock (not reported as races)");
    format!("{heading}\n\n{}", numbered_from(races + 1, ordered, MOST_ORDERED, style))
}

fn numbered_from(first: usize, races: &[RaceFinding], most: usize, style: &Style) -> String {
    let listed = races.iter().take(most).zip(first..);
    let mut text: String = listed.map(|(race, number)| in_list(race, number, style)).collect();
    if races.len() > most {
        text += &format!("and {} more: see --json FILE\n", races.len() - most);
    }
    text
}

fn in_list(race: &RaceFinding, number: usize, style: &Style) -> String {
    let variable = variables(race);
    let title = cut(&format!("{number}. {variable}: {}", figures(race)), style.columns());
    let title = if race.is_ordered() { title } else { style.paint().bad(&title) };
    format!("{title}\n{}{}", both_accesses(race, style), mark(race, INDENT, style))
}

/// `total`; of a race of several variables both: `total and count`.
fn variables(race: &RaceFinding) -> String {
    let left_out = race.correlated.as_ref().map(|correlated| &correlated.access.variable);
    let names = [&race.variable].into_iter().chain(left_out);
    let names: Vec<String> =
        names.map(|name| words::variable(name.as_ref(), NAME_COLUMNS)).collect();
    names.join(" and ")
}

/// What forcing has shown, if anybody tried.
fn mark(race: &RaceFinding, indent: &str, style: &Style) -> String {
    let mark = race.forced.as_ref().map(race_mark);
    mark.map_or_else(String::new, |mark| {
        let short = with_short_names(&printable(&mark), NAME_COLUMNS);
        paragraph(&short, style.columns(), indent)
    })
}

/// `benign so far: both orders forced 10 times, none failed`.
pub fn race_mark(forced: &ForcedRace) -> String {
    let mark = match forced.mark {
        RaceMark::Confirmed => "confirmed",
        RaceMark::Undecided => "undecided",
        RaceMark::FailsAnyway => "fails anyway",
        RaceMark::NotForced => "not forced",
        RaceMark::BenignSoFar => "benign so far",
    };
    format!("{mark}: {}", forced.sentence)
}

/// Races that make the program fail, with their numbers in the list of `unpick races`.
pub fn confirmed_races(races: &[RaceFinding], style: &Style) -> String {
    let is_confirmed = |race: &RaceFinding| race.mark() == Some(RaceMark::Confirmed);
    let mut text = String::new();
    for (race, number) in races.iter().zip(1..).filter(|(race, _)| is_confirmed(race)) {
        text += &in_list(race, number, style);
        let command = style.command(&format!("pin --race {number}"));
        text += &format!("{INDENT}keep it as a test: {command} > race.toml\n");
    }
    if text.is_empty() {
        return text;
    }
    format!("{}\n\n{text}", style.paint().heading("Races that make it fail"))
}

/// `happens-before and lockset, 37 times`.
fn figures(race: &RaceFinding) -> String {
    let names = race.detectors.iter().map(|detector| match detector {
        RaceDetector::HappensBefore => "happens-before",
        RaceDetector::Lockset => "lockset",
    });
    let names: Vec<&str> = names.collect();
    let times = match race.unordered.max(race.unlocked) {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let ordered = match &race.ordered_by {
        Some(step) if race.is_ordered() => format!("; ordered by {}", printable(&step.to_string())),
        _ => String::new(),
    };
    format!("{}, {times}{ordered}", names.join(" and "))
}

/// Who did what, where, and the line of source: a line for each access.
fn both_accesses(race: &RaceFinding, style: &Style) -> String {
    let rows: Vec<[String; 3]> = accesses(race).iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| width_of(&row[column])).max().unwrap_or(0);
    let widths = [width(0), width(1)];
    let line = |row: &[String; 3]| {
        let line = format!(
            "{INDENT}{}  {}  {}",
            padded(&row[0], widths[0]),
            padded(&row[1], widths[1]),
            row[2]
        );
        format!("{}\n", cut(line.trim_end(), style.columns()))
    };
    rows.iter().map(line).collect()
}

/// All accesses that are shown: of several variables, the one that belongs to the first comes last.
fn accesses(race: &RaceFinding) -> Vec<FindingAccess> {
    let left_out = race.correlated.iter().map(|correlated| &correlated.access);
    race.accesses.iter().chain(left_out).cloned().collect()
}

fn row(access: &FindingAccess) -> [String; 3] {
    let atomic = if access.atomic { "atomic " } else { "" };
    let place = words::brief_place(&access.frame).unwrap_or_else(|| access.code.offset.clone());
    [
        format!("thread {} {atomic}{}", access.role, words::kind(access.kind)),
        place,
        access.text.as_deref().map(|text| printable(text.trim())).unwrap_or_default(),
    ]
}

/// Race number `number`, from 1, in full: both stacks, locks held, why nothing orders the two.
pub fn race(races: &[RaceFinding], number: usize, style: &Style) -> Option<String> {
    let race = races.get(number.checked_sub(1)?)?;
    let parts = [
        head(race, number, races.len(), style),
        sentence(race, style) + &mark(race, "", style),
        both_accesses(race, style),
        locks(race, style),
        why(race, style),
        excerpts::excerpts(&accesses(race), style),
        calls::calls(&accesses(race), style),
    ];
    Some(parts.join("\n"))
}

fn head(race: &RaceFinding, number: usize, count: usize, style: &Style) -> String {
    let variable = variables(race);
    let title = if race.is_ordered() {
        style.paint().heading(&format!("Number {number} of {count}, ordered: {variable}"))
    } else {
        style.paint().bad(&format!("Race {number} of {count}: {variable}"))
    };
    let runs = match race.runs {
        1 => "in one run".to_owned(),
        runs => format!("in {runs} runs"),
    };
    let whose = if race.own_code { "" } else { "; in code of libraries only" };
    format!("{title}\nfound by {}, {runs}{whose}\n", figures(race))
}

fn sentence(race: &RaceFinding, style: &Style) -> String {
    let allocated = race.allocated_at.as_ref().and_then(words::brief_place);
    let allocated = allocated
        .map_or_else(String::new, |place| format!(" The memory was allocated at {place}."));
    let text = format!("{}{allocated}", printable(&race.sentence));
    paragraph(&with_short_names(&text, NAME_COLUMNS), style.columns(), "")
}

fn locks(race: &RaceFinding, style: &Style) -> String {
    let mut text = format!("{}\n\n", style.paint().heading("Locks held"));
    for access in &accesses(race) {
        let names = access.locks.iter().map(|lock| {
            let taken = words::brief_place(&lock.taken_at);
            let taken = taken.filter(|_| lock.name.is_some());
            let taken = taken.map_or_else(String::new, |place| format!(", taken at {place}"));
            format!("{}{taken}", words::lock(lock, NAME_COLUMNS))
        });
        let names: Vec<String> = names.collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join("; ") };
        text += &paragraph(&format!("thread {}: {names}", access.role), style.columns(), INDENT);
    }
    text
}

fn why(race: &RaceFinding, style: &Style) -> String {
    let heading = match (race.unordered, &race.correlated) {
        (_, Some(_)) if race.is_ordered() => "Why no lock keeps another thread out",
        (_, Some(_)) => "Why another thread can come between",
        (0, None) => "Why no lock protects them",
        (_, None) => "Why nothing orders them",
    };
    let why = with_short_names(&printable(&race.why), NAME_COLUMNS);
    format!("{}\n\n{}", style.paint().heading(heading), paragraph(&why, style.columns(), INDENT))
}
