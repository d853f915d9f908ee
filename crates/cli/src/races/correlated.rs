//! Which variables belong together: as `unpick correlate --json` wrote it, or to be mined from the recordings.
//!
//! Takes   a file, trusted in nothing.      Gives  rules by the names that sources have for variables.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use unpick_analyses::races::{CorrelationSource, NamedRule};
use unpick_analyses::races_multi_variable::{AccessType, Mining};
use unpick_problem::Problem;

/// More of them say nothing about a program, and take long to look at.
const MOST_RULES: usize = 10_000;

/// What the extension is to look at.
pub enum Correlated {
    Nothing,
    Rules(Vec<NamedRule>),
    Mined,
}

#[derive(Deserialize)]
struct List {
    correlations: Vec<Correlation>,
}

#[derive(Deserialize)]
struct Correlation {
    left: Side,
    right: Side,
    #[serde(default)]
    condition: Option<String>,
    #[serde(default)]
    others: Vec<Sides>,
}

#[derive(Deserialize)]
struct Sides {
    left: Side,
    right: Side,
}

#[derive(Deserialize)]
struct Side {
    access: Access,
    variable: String,
}

#[derive(Deserialize, Clone, Copy)]
#[serde(rename_all = "lowercase")]
enum Access {
    Read,
    Write,
    Any,
}

impl Access {
    fn kind(self) -> AccessType {
        match self {
            Access::Read => AccessType::Read,
            Access::Write => AccessType::Write,
            Access::Any => AccessType::Any,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Access::Read => "read",
            Access::Write => "write",
            Access::Any => "any",
        }
    }
}

impl Correlated {
    pub fn read(file: Option<&Path>, mine: bool) -> Result<Correlated, Problem> {
        let Some(file) = file else {
            return Ok(if mine { Correlated::Mined } else { Correlated::Nothing });
        };
        let text = fs::read_to_string(file).map_err(|error| unusable(file, &error.to_string()))?;
        let list: List =
            serde_json::from_str(&text).map_err(|error| unusable(file, &error.to_string()))?;
        let rules = list.correlations.iter().flat_map(rules_of);
        Ok(Correlated::Rules(rules.take(MOST_RULES).collect()))
    }

    pub fn source(&self) -> Option<CorrelationSource<'_>> {
        match self {
            Correlated::Nothing => None,
            Correlated::Rules(rules) => Some(CorrelationSource::Named(rules)),
            Correlated::Mined => Some(CorrelationSource::Mined(Mining::default())),
        }
    }
}

/// The rule, and the others of the same two variables.
fn rules_of(correlation: &Correlation) -> Vec<NamedRule> {
    let condition = correlation.condition.as_deref();
    let first = rule(&correlation.left, &correlation.right, condition);
    let others = correlation.others.iter().map(|other| rule(&other.left, &other.right, condition));
    [first].into_iter().chain(others).collect()
}

fn rule(left: &Side, right: &Side, condition: Option<&str>) -> NamedRule {
    let side = |side: &Side| format!("{}({})", side.access.word(), side.variable);
    let condition = condition.map_or_else(String::new, |what| format!(" where {what}"));
    NamedRule {
        sides: [left, right].map(|side| (side.variable.clone(), side.access.kind())),
        text: format!("{} => {}{condition}", side(left), side(right)),
    }
}

fn unusable(file: &Path, why: &str) -> Problem {
    Problem::usage("the correlations cannot be used")
        .at("file", file.display())
        .why(why.escape_debug())
        .next("write them anew: unpick correlate --json FILE SOURCES; or look at what recordings show: --mine")
}
