//! `unpick runs`: what was run, with label, duration and seed, and how to run it again.
//!
//! Takes   a store.      Gives  a table, or one JSON object per run.

use std::path::PathBuf;
use std::process::ExitCode;

use serde_json::{Value, json};
use unpick_events::Label;
use unpick_problem::Problem;
use unpick_run_store::{Store, StoredRun};

use crate::dump::printable;
use crate::output;
use crate::repeat::{delays, repeat_command};
use crate::store_folder::store_folder;

/// What `unpick runs` can be told.
#[derive(clap::Args)]
pub struct Runs {
    /// Only runs with this label: pass, fail or unusable
    #[arg(long, value_name = "LABEL", value_parser = label)]
    label: Option<Label>,
    /// One JSON object per run
    #[arg(long)]
    json: bool,
    /// Folder that holds the runs
    #[arg(long, value_name = "DIR", default_value_os_t = Store::default_folder(), value_parser = store_folder())]
    store: PathBuf,
}

fn label(text: &str) -> Result<Label, String> {
    Label::from_name(text).ok_or_else(|| "the labels are pass, fail, unusable".to_owned())
}

pub fn run(runs: Runs) -> Result<ExitCode, Problem> {
    let (mut stored, problems) = Store::at(&runs.store).runs();
    if stored.is_empty() {
        return Err(problems.into_iter().next().unwrap_or_else(|| no_runs(&runs.store)));
    }
    stored.retain(|run| runs.label.is_none_or(|label| run.info.label == Some(label)));
    let text = if runs.json { as_json(&stored) } else { as_table(&stored) };
    say_left_out(&problems);
    output::print(text.as_bytes()).map(|()| ExitCode::SUCCESS).map_err(|error| {
        Problem::own_fault("the runs cannot be listed").at("file", "standard output").why(error)
    })
}

fn as_table(runs: &[StoredRun]) -> String {
    let mut text =
        format!("{:>6}  {:<8}  {:>9}  {:>10}  {}\n", "run", "label", "time", "seed", "why, delays");
    for run in runs {
        let info = &run.info;
        let label = info.label.map_or("-", Label::name);
        let time = format!("{:.3} s", info.duration_ms as f64 / 1000.0);
        let why = info.why.clone().unwrap_or_else(|| info.outcome.to_string());
        let delays = delays(&info.options);
        let line =
            format!("{:>6}  {label:<8}  {time:>9}  {:>10}  {why}{delays}", run.number, info.seed);
        text += &printable(&line);
        text.push('\n');
    }
    if let Some(failing) = runs.iter().rev().find(|run| run.info.label == Some(Label::Fail)) {
        let again = printable(&repeat_command(&failing.info, &failing.folder));
        text += &format!("\nfailing run {} again: {again}\n", failing.number);
    }
    text
}

fn as_json(runs: &[StoredRun]) -> String {
    runs.iter().map(|run| format!("{}\n", json(run))).collect()
}

/// As `docs/schema/runs.schema.json` says.
pub fn json(run: &StoredRun) -> Value {
    let info = &run.info;
    json!({
        "run": run.number,
        "hunt": info.hunt,
        "label": info.label.map(Label::name),
        "why": info.why,
        "command": info.command,
        "outcome": info.outcome,
        "started_ms": info.started_ms,
        "duration_ms": info.duration_ms,
        "seed": info.seed,
        "options": info.options,
        "repeat": repeat_command(info, &run.folder),
    })
}

/// One line on standard error for each run that cannot be read: the others are looked at all the same.
pub fn say_left_out(problems: &[Problem]) {
    for problem in problems {
        eprintln!("unpick: a run is left out: {}", problem.in_one_line());
    }
}

fn no_runs(store: &std::path::Path) -> Problem {
    Problem::usage("there are no runs yet")
        .at("folder", store.display())
        .next("unpick hunt -- PROGRAM")
}
