//! Which variables belong together, as a store knows it: what `unpick correlate` or `unpick races` found in the sources, and what `unpick races --mine`
//! found in recordings. A hunt takes both as hints.
//!
//! Takes   a list that is named or found.      Gives  it back by rules, the surest first; keeps it in the store.
//! Misses  whether the sources are those of the program: a store belongs to one project.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;
use unpick_analyses::races::NamedRule;
use unpick_analyses::races_multi_variable::AccessType;
use unpick_problem::Problem;
use unpick_run_store::Store;

use crate::races::{Correlated, read_list, rules_in};

/// Of the sources.
const CORRELATIONS_FILE: &str = "correlations.json";
/// Of recordings.
const MINED_FILE: &str = "mined-correlations.json";

/// Keeps what `unpick correlate` found, as JSON.
pub fn keep_correlations(store: &Path, json: &str) -> Result<(), Problem> {
    keep(&store.join(CORRELATIONS_FILE), json)
}

/// Keeps what `unpick races` knew by the sources or mined from recordings. What cannot be kept is no hint, and no reason to fail.
pub fn keep_found(store: &Path, correlated: &Correlated, looked_at: &[NamedRule]) {
    let kept = match correlated {
        Correlated::BySources { of, .. } if !of.correlations.is_empty() => {
            let list = json!({ "correlations": of.correlations });
            keep_correlations(store, &format!("{list:#}\n"))
        }
        Correlated::Mined => keep_mined(store, looked_at),
        _ => Ok(()),
    };
    if let Err(problem) = kept {
        eprintln!("unpick: a hunt will not know what belongs together: {}", problem.in_one_line());
    }
}

/// A rule that was mined: whoever accesses the one accesses the other.
#[derive(Serialize, Deserialize)]
struct MinedRule {
    variables: [String; 2],
    because: String,
}

fn keep_mined(store: &Path, rules: &[NamedRule]) -> Result<(), Problem> {
    let mined = rules.iter().map(|rule| MinedRule {
        variables: rule.sides.clone().map(|(name, _)| name),
        because: rule.because.clone(),
    });
    let mined = serde_json::to_value(mined.collect::<Vec<_>>()).unwrap_or_default();
    keep(&store.join(MINED_FILE), &format!("{mined:#}\n"))
}

/// What cannot be read was not mined.
fn mined_rules(store: &Path) -> Vec<NamedRule> {
    let text = fs::read_to_string(store.join(MINED_FILE)).unwrap_or_default();
    let mined: Vec<MinedRule> = serde_json::from_str(&text).unwrap_or_default();
    let rule = |MinedRule { variables, because }: MinedRule| NamedRule {
        text: format!("{} and {}: {because}", variables[0], variables[1]),
        sides: variables.map(|name| (name, AccessType::Any)),
        because,
    };
    mined.into_iter().map(rule).collect()
}

/// Takes the list of a file that is named: it is checked, and kept.
pub fn take(store: &Path, named: Option<&Path>) -> Result<(), Problem> {
    let Some(named) = named else { return Ok(()) };
    let (_, text) = read_list(named)?;
    keep_correlations(store, &text)
}

/// What the store knows: of the sources first. What cannot be read is told, and not used.
pub fn rules(store: &Path) -> Vec<NamedRule> {
    let file = store.join(CORRELATIONS_FILE);
    let of_sources = if file.exists() { rules_in(&file) } else { Ok(Vec::new()) };
    let of_sources = of_sources.unwrap_or_else(|problem| {
        eprintln!("unpick: correlations are not used: {}", problem.in_one_line());
        Vec::new()
    });
    of_sources.into_iter().chain(mined_rules(store)).collect()
}

fn keep(file: &Path, text: &str) -> Result<(), Problem> {
    let written = file.parent().map_or(Ok(()), |store| Store::at(store).create());
    written.and_then(|()| fs::write(file, text)).map_err(|error| {
        Problem::own_fault("the correlations cannot be kept")
            .at("file", file.display())
            .why(error)
            .next("choose a store you can write to: --store DIR")
    })
}
