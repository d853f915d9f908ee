//! The last report on disk: `races.json` in the store, which is also what `--json` writes.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use unpick_findings::{CandidateDeadlock, RACES_SCHEMA, RaceFinding, RaceMark};
use unpick_problem::Problem;

use super::course::Looked;
use super::suppressed::Suppressed;
use crate::deadlocks::RACES_FILE;
use crate::output::findings::print;
use crate::output::is_stdout;
use crate::record::store_option;

/// What was found, as JSON shows it. `docs/schema/races.schema.json` says the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    schema: String,
    command: Vec<String>,
    runs: u32,
    events: u64,
    threads: u64,
    /// Nothing is missing in the recordings.
    complete: bool,
    /// Correlations that were looked at; none: it was not asked for.
    correlations: Option<u32>,
    suppressed: Vec<SuppressedBy>,
    /// The worst first.
    pub races: Vec<RaceFinding>,
    /// What only lacks a lock in common: something else orders it.
    #[serde(default)]
    pub ordered: Vec<RaceFinding>,
    /// Lock-order cycles, those of most runs first.
    #[serde(default)]
    pub deadlocks: Vec<CandidateDeadlock>,
}

/// A rule of a suppression file that covered races.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SuppressedBy {
    rule: String,
    races: u64,
}

impl Report {
    pub fn new(
        looked: &Looked,
        races: Vec<RaceFinding>,
        ordered: Vec<RaceFinding>,
        deadlocks: Vec<CandidateDeadlock>,
        suppressed: &Suppressed,
    ) -> Report {
        let used = suppressed.counts().filter(|(_, count)| *count > 0);
        Report {
            schema: RACES_SCHEMA.to_owned(),
            command: looked.command.clone(),
            runs: looked.runs.len() as u32,
            events: looked.events(),
            threads: looked.threads(),
            complete: looked.is_complete(),
            correlations: looked.runs.iter().filter_map(|run| run.races.correlations).max(),
            suppressed: used
                .map(|(rule, races)| SuppressedBy { rule: rule.to_owned(), races })
                .collect(),
            races,
            ordered,
            deadlocks,
        }
    }

    /// Drops all races but the one with this number; those that are ordered come last.
    pub fn keep_only(&mut self, number: usize) {
        let mut index = 0..;
        let mut is_it = |_: &RaceFinding| index.next() == Some(number - 1);
        self.races.retain(&mut is_it);
        self.ordered.retain(&mut is_it);
    }

    /// Whether there is nothing to worry about.
    pub fn is_empty(&self) -> bool {
        self.races.is_empty() && self.deadlocks.is_empty()
    }

    /// What forcing has shown stays true while the program is the same build.
    pub fn take_over_marks(&mut self, store: &Path) {
        RaceFinding::take_over_marks(&mut self.races, &marks_in(store));
        // Without an earlier report that can be read there are no verdicts.
        if let Ok(earlier) = Report::read(store) {
            CandidateDeadlock::take_over_verdicts(&mut self.deadlocks, &earlier.deadlocks);
        }
    }

    /// The number of the first race that nobody has forced yet.
    pub fn first_unmarked(&self) -> Option<usize> {
        self.first_with(None)
    }

    pub fn first_confirmed(&self) -> Option<usize> {
        self.first_with(Some(RaceMark::Confirmed))
    }

    fn first_with(&self, mark: Option<RaceMark>) -> Option<usize> {
        self.races.iter().position(|race| race.mark() == mark).map(|at| at + 1)
    }

    pub fn to_json(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Keeps the report for `--explain` and whoever forces a race, and the marks for later reports, which may be of other inputs.
    pub fn write(&self, store: &Path) -> Result<(), Problem> {
        write(&store.join(RACES_FILE), &self.to_json())?;
        let mut marks = RaceFinding::remembered(marks_in(store), &self.races);
        marks.drain(..marks.len().saturating_sub(MOST_MARKS));
        if marks.is_empty() {
            return Ok(());
        }
        let races = serde_json::to_value(marks).unwrap_or_default();
        write(&store.join(MARKS_FILE), &json!({ "schema": RACES_SCHEMA, "races": races }))
    }

    /// Writes the report where the user wants it, too; `-` is standard output.
    pub fn write_as_json(&self, to: &Path) -> Result<(), Problem> {
        let text = format!("{:#}\n", self.to_json());
        if is_stdout(to) {
            return print(&text);
        }
        fs::write(to, text).map_err(|error| {
            Problem::own_fault("the races cannot be written")
                .at("file", to.display())
                .why(error)
                .next("choose a file you can write to: unpick races --json FILE looks at the last full run again")
        })
    }

    pub fn read(store: &Path) -> Result<Report, Problem> {
        let file = store.join(RACES_FILE);
        let text = fs::read_to_string(&file).map_err(|error| cannot_read(&file, &error))?;
        let report: Report =
            serde_json::from_str(&text).map_err(|error| damaged(&file, &error.to_string()))?;
        if report.schema != RACES_SCHEMA {
            let why = format!("its form is `{}`", report.schema.escape_debug());
            return Err(damaged(&file, &why));
        }
        Ok(report)
    }
}

/// Marks of races of this report and of earlier ones.
const MARKS_FILE: &str = "race-marks.json";
/// More are forgotten, the oldest first.
const MOST_MARKS: usize = 500;

#[derive(Deserialize)]
struct Marks {
    schema: String,
    races: Vec<RaceFinding>,
}

/// What cannot be read is as good as not marked.
fn marks_in(store: &Path) -> Vec<RaceFinding> {
    let text = fs::read_to_string(store.join(MARKS_FILE)).unwrap_or_default();
    let marks = serde_json::from_str(&text).ok();
    let marks = marks.filter(|marks: &Marks| marks.schema == RACES_SCHEMA);
    marks.map_or_else(Vec::new, |marks| marks.races)
}

fn write(file: &Path, value: &Value) -> Result<(), Problem> {
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder.and_then(|()| fs::write(file, format!("{value:#}\n"))).map_err(|error| {
        Problem::own_fault("the races cannot be kept")
            .at("file", file.display())
            .why(error)
            .next("choose a store you can write to: unpick races --store DIR -- PROGRAM")
    })
}

fn cannot_read(file: &Path, error: &std::io::Error) -> Problem {
    if error.kind() == ErrorKind::NotFound {
        return Problem::usage("there is no report of races yet")
            .at("file", file.display())
            .why("unpick races writes it there when it has looked at a program")
            .next("look for some: unpick races -- PROGRAM; or name the store: --store DIR");
    }
    Problem::own_fault("the last report of races cannot be read")
        .at("file", file.display())
        .why(error)
        .next("look again: unpick races -- PROGRAM")
}

fn damaged(file: &Path, why: &str) -> Problem {
    Problem::usage("the last report of races cannot be read: it is damaged, or of another version")
        .at("file", file.display())
        .why(why.escape_debug())
        .next("look again: unpick races -- PROGRAM")
}

pub fn no_such_race(number: usize, count: usize, store: &Path) -> Problem {
    let there_are = match count {
        0 => "no race".to_owned(),
        1 => "one race".to_owned(),
        count => format!("{count} races"),
    };
    Problem::usage(format!("there is no race {number}"))
        .at("file", store.join(RACES_FILE).display())
        .why(format!("the last report has {there_are}"))
        .next(format!(
            "see them all: unpick races{}; it looks at the last full run again",
            store_option(store)
        ))
}
