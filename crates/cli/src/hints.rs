//! Which variables belong together, as a store knows it: what `unpick correlate` found in the sources, and what `unpick races --mine` found in
//! recordings. A hunt takes both as hints.
//!
//! Takes   a list that is named or found.      Gives  it back by rules, the surest first; keeps it in the store.
//! Misses  whether the sources are those of the program: a store belongs to one project.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use unpick_analyses::races::NamedRule;
use unpick_problem::Problem;

use crate::races::rules_in;

/// Of the sources.
const CORRELATIONS_FILE: &str = "correlations.json";
/// Of recordings.
const MINED_FILE: &str = "mined-correlations.json";

/// Keeps what `unpick correlate` found, as JSON.
pub fn keep_correlations(store: &Path, json: &str) -> Result<(), Problem> {
    keep(&store.join(CORRELATIONS_FILE), json)
}

/// Keeps what recordings show.
pub fn keep_mined(store: &Path, rules: &[NamedRule]) -> Result<(), Problem> {
    let side = |name: &str| json!({ "access": "any", "variable": name });
    let correlations = rules.iter().map(|rule| {
        let [(one, _), (other, _)] = &rule.sides;
        json!({ "left": side(one), "right": side(other), "because": rule.because })
    });
    let list = json!({ "correlations": correlations.collect::<Vec<Value>>() });
    keep(&store.join(MINED_FILE), &format!("{list:#}\n"))
}

/// Takes the list of a file that is named: it is checked, and kept.
pub fn take(store: &Path, named: Option<&Path>) -> Result<(), Problem> {
    let Some(named) = named else { return Ok(()) };
    rules_in(named)?;
    let text = fs::read_to_string(named).map_err(|error| {
        Problem::usage("the correlations cannot be read").at("file", named.display()).why(error)
    })?;
    keep_correlations(store, &text)
}

/// What the store knows: of the sources first. What cannot be read is told, and not used.
pub fn rules(store: &Path) -> Vec<NamedRule> {
    let files = [CORRELATIONS_FILE, MINED_FILE].map(|name| store.join(name));
    let there = files.iter().filter(|file| file.exists());
    let read = there.map(|file| {
        rules_in(file).unwrap_or_else(|problem| {
            eprintln!("unpick: correlations are not used: {}", problem.in_one_line());
            Vec::new()
        })
    });
    read.flatten().collect()
}

fn keep(file: &Path, text: &str) -> Result<(), Problem> {
    let written = file.parent().map_or(Ok(()), fs::create_dir_all);
    written.and_then(|()| fs::write(file, text)).map_err(|error| {
        Problem::own_fault("the correlations cannot be kept")
            .at("file", file.display())
            .why(error)
            .next("choose a store you can write to: --store DIR")
    })
}
