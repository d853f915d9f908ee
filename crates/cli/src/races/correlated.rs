//! Which variables belong together: by the sources of the program, as `unpick correlate --json` wrote it, or to be mined from the recordings.
//!
//! Takes   a file, trusted in nothing.      Gives  rules by the names that sources have for variables.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use unpick_analyses::races::{CorrelationSource, NamedRule};
use unpick_analyses::races_multi_variable::{AccessType, Mining};
use unpick_problem::Problem;
use unpick_recording::Recording;

use crate::correlate::of_program::OfProgram;

/// More of them say nothing about a program, and take long to look at.
const MOST_RULES: usize = 10_000;

/// What the extension is to look at.
pub enum Correlated {
    Nothing,
    Rules(Vec<NamedRule>),
    Mined,
    /// Found through the debug info of what is recorded.
    BySources {
        of: OfProgram,
        rules: Vec<NamedRule>,
    },
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
    #[serde(flatten)]
    counts: Counts,
    #[serde(default)]
    others: Vec<Sides>,
}

#[derive(Deserialize)]
struct Sides {
    left: Side,
    right: Side,
    #[serde(flatten)]
    counts: Counts,
}

/// What a rule rests on.
#[derive(Deserialize)]
struct Counts {
    #[serde(default)]
    support: Option<u64>,
    #[serde(default)]
    left_functions: Option<u64>,
    /// In words, where it is not functions.
    #[serde(default)]
    because: Option<String>,
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

    fn verb(self) -> &'static str {
        match self {
            Access::Any => "access",
            Access::Read | Access::Write => self.word(),
        }
    }
}

impl Correlated {
    pub fn by_sources(store: &Path, quiet: bool) -> Correlated {
        Correlated::BySources { of: OfProgram::new(store, quiet), rules: Vec::new() }
    }

    /// To be told of each recording before it is looked at.
    pub fn meet(&mut self, recording: &Recording) {
        if let Correlated::BySources { of, rules: known } = self
            && let Some(list) = of.meet(recording)
        {
            *known = rules_in_text(&list.to_json()).unwrap_or_default();
        }
    }

    pub fn source(&self) -> Option<CorrelationSource<'_>> {
        match self {
            Correlated::Nothing => None,
            Correlated::Rules(rules) | Correlated::BySources { rules, .. } => {
                Some(CorrelationSource::Named(rules))
            }
            Correlated::Mined => Some(CorrelationSource::Mined(Mining::default())),
        }
    }

    /// Why there may be more than is known.
    pub fn remark(&self) -> Option<&str> {
        match self {
            Correlated::BySources { of, .. } => of.remark.as_deref(),
            _ => None,
        }
    }

    /// Whether somebody asked, and so wants to hear that there is nothing.
    pub fn is_asked_for(&self) -> bool {
        matches!(self, Correlated::Rules(_) | Correlated::Mined)
    }
}

/// The rules of a file.
pub fn rules_in(file: &Path) -> Result<Vec<NamedRule>, Problem> {
    let text = fs::read_to_string(file).map_err(|error| unusable(file, &error.to_string()))?;
    rules_in_text(&text).map_err(|error| unusable(file, &error.to_string()))
}

fn rules_in_text(text: &str) -> serde_json::Result<Vec<NamedRule>> {
    let list: List = serde_json::from_str(text)?;
    Ok(list.correlations.iter().flat_map(rules_of).take(MOST_RULES).collect())
}

/// The rule, and the others of the same two variables.
fn rules_of(correlation: &Correlation) -> Vec<NamedRule> {
    let condition = correlation.condition.as_deref();
    let Correlation { left, right, counts, .. } = correlation;
    let first = rule(left, right, counts, condition);
    let others = correlation.others.iter();
    let others = others.map(|other| rule(&other.left, &other.right, &other.counts, condition));
    [first].into_iter().chain(others).collect()
}

fn rule(left: &Side, right: &Side, counts: &Counts, condition: Option<&str>) -> NamedRule {
    let side = |side: &Side| format!("{}({})", side.access.word(), side.variable);
    let condition = condition.map_or_else(String::new, |what| format!(" where {what}"));
    let text = format!("{} => {}{condition}", side(left), side(right));
    let because = match (&counts.because, counts.support.zip(counts.left_functions)) {
        (Some(because), _) => because.clone(),
        (None, Some((support, functions))) => format!(
            "{support} of {functions} functions that {} the first {} the second{condition}",
            left.access.verb(),
            right.access.verb()
        ),
        (None, None) => text.clone(),
    };
    let sides = [left, right].map(|side| (side.variable.clone(), side.access.kind()));
    NamedRule { sides, text, because }
}

fn unusable(file: &Path, why: &str) -> Problem {
    Problem::usage("the correlations cannot be used")
        .at("file", file.display())
        .why(why.escape_debug())
        .next("write them anew: unpick correlate --json FILE SOURCES; or look at what recordings show: --mine")
}
