//! Deadlocks that can be, by the order in which runs took their locks: `unpick races` tells of them; `reproduce`, `confirm` and `pin` take them by number.
//!
//! Takes   the recordings of runs; the last report of `unpick races`.      Gives  their cycles; a candidate, to be forced; its verdict, in the report.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde_json::Value;
use unpick_analyses::lock_order::{as_hang, lock_order};
use unpick_findings::{CandidateDeadlock, Confirmed, NumberedCycle};
use unpick_names::KnownRecording;
use unpick_problem::Problem;
use unpick_recording::{Recording, RunInfo};
use unpick_run_store::Store;

use crate::forcing::Hunted;

/// The report of `unpick races` in a store, and what is ours in it.
pub const RACES_FILE: &str = "races.json";
const DEADLOCKS: &str = "deadlocks";

/// The cycles that a recording of a run shows, and whether there may be more.
pub fn cycles_of(
    run: u64,
    recording: &Recording,
    known: &KnownRecording<'_>,
) -> (Vec<NumberedCycle>, bool) {
    let order = lock_order(recording, known);
    let process = recording.header().process;
    let cycles = order.cycles.iter().map(|cycle| NumberedCycle {
        run,
        ways: cycle.ways,
        hang: as_hang(cycle, process, recording, known),
    });
    (cycles.collect(), order.is_cut)
}

/// A candidate of the last report, by its number in the list.
pub fn candidate(store: &Path, number: usize) -> Result<CandidateDeadlock, Problem> {
    let report = read(store)?;
    let all = report.get(DEADLOCKS).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let one = number.checked_sub(1).and_then(|at| all.get(at));
    let one = one.ok_or_else(|| no_such(number, all.len(), store))?;
    serde_json::from_value(one.clone()).map_err(|error| damaged(store, &error.to_string()))
}

/// How the program is run: as in the run that shows the candidate.
pub fn run_of(store: &Path, candidate: &CandidateDeadlock) -> Result<Hunted, Problem> {
    let folder = Store::at(store).run(candidate.example_run)?;
    Ok(Hunted::of_run(RunInfo::read(&folder)?))
}

/// Keeps what forcing a candidate has shown.
pub fn keep(store: &Path, number: usize, confirmed: &Confirmed) -> Result<(), Problem> {
    let mut report = read(store)?;
    let all = report.get_mut(DEADLOCKS).and_then(Value::as_array_mut);
    let one = all.and_then(|all| all.get_mut(number - 1)).and_then(Value::as_object_mut);
    let verdict = serde_json::to_value(confirmed).unwrap_or_default();
    one.map(|one| one.insert("confirmed".to_owned(), verdict));
    let file = store.join(RACES_FILE);
    fs::write(&file, format!("{report:#}\n")).map_err(|error| {
        Problem::own_fault("the verdict cannot be kept")
            .at("file", file.display())
            .why(error)
            .next("free some space, and confirm it again")
    })
}

fn read(store: &Path) -> Result<Value, Problem> {
    let file = store.join(RACES_FILE);
    let text = fs::read_to_string(&file).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Problem::usage("there is no report of deadlocks that can be")
            .at("file", file.display())
            .next("look for some: unpick races -- PROGRAM; or name the store: --store DIR"),
        _ => Problem::own_fault("the last report of unpick races cannot be read")
            .at("file", file.display())
            .why(error),
    })?;
    serde_json::from_str(&text).map_err(|error| damaged(store, &error.to_string()))
}

fn no_such(number: usize, count: usize, store: &Path) -> Problem {
    let there_are = match count {
        0 => "no deadlock that can be".to_owned(),
        1 => "one deadlock that can be".to_owned(),
        count => format!("{count} deadlocks that can be"),
    };
    Problem::usage(format!("there is no deadlock {number}"))
        .at("file", store.join(RACES_FILE).display())
        .why(format!("the last report has {there_are}"))
        .next("see them all: unpick races; it looks at the last full run again")
}

fn damaged(store: &Path, why: &str) -> Problem {
    Problem::usage("the last report of unpick races is damaged, or of another version")
        .at("file", store.join(RACES_FILE).display())
        .why(why.escape_debug())
        .next("look again: unpick races -- PROGRAM")
}
