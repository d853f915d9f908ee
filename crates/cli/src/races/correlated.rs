//! Which variables belong together: by the sources of the program, as `unpick correlate --json` wrote it, or to be mined from the recordings.
//!
//! Takes   a file, trusted in nothing.      Gives  rules by the names that sources have for variables.

use std::fs;
use std::path::Path;
use std::time::Duration;

use serde::Deserialize;
use unpick_analyses::races::{CorrelationSource, NamedRule};
use unpick_analyses::races_multi_variable::{AccessType, Mining};
use unpick_correlations::{Correlation, Side};
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

impl Correlated {
    pub fn read(file: &Path) -> Result<Correlated, Problem> {
        rules_in(file).map(Correlated::Rules)
    }

    pub fn by_sources(store: &Path, quiet: bool) -> Correlated {
        Correlated::BySources { of: OfProgram::new(store, quiet), rules: Vec::new() }
    }

    /// The same, if reading the sources takes no longer than this.
    pub fn by_sources_within(store: &Path, time: Duration) -> Correlated {
        Correlated::BySources { of: OfProgram::within(store, time), rules: Vec::new() }
    }

    /// To be told of each recording before it is looked at.
    pub fn meet(&mut self, recording: &Recording) {
        if let Correlated::BySources { of, rules: known } = self
            && of.meet(recording)
        {
            *known = rules(&of.correlations);
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
    read_list(file).map(|(rules, _)| rules)
}

/// The same, and the text they stand in.
pub fn read_list(file: &Path) -> Result<(Vec<NamedRule>, String), Problem> {
    let text = fs::read_to_string(file).map_err(|error| unusable(file, &error.to_string()))?;
    let list: List =
        serde_json::from_str(&text).map_err(|error| unusable(file, &error.to_string()))?;
    Ok((rules(&list.correlations), text))
}

fn rules(correlations: &[Correlation]) -> Vec<NamedRule> {
    correlations.iter().flat_map(rules_of).take(MOST_RULES).collect()
}

/// The rule, and the others of the same two variables.
fn rules_of(correlation: &Correlation) -> Vec<NamedRule> {
    let Correlation { left, right, support, left_functions, .. } = correlation;
    let condition = correlation.condition.as_deref();
    let first = rule([left, right], [*support, *left_functions], condition);
    let others = correlation.others.iter().map(|other| {
        rule([&other.left, &other.right], [other.support, other.left_functions], condition)
    });
    [first].into_iter().chain(others).collect()
}

fn rule([left, right]: [&Side; 2], functions: [usize; 2], condition: Option<&str>) -> NamedRule {
    let condition = condition.map_or_else(String::new, |what| format!(" where {what}"));
    let text = format!("{left} => {right}{condition}");
    let because = match functions {
        // Who writes a rule by hand counts nothing.
        [_, 0] => text.clone(),
        [support, all] => format!(
            "{support} of {all} functions that {} the first {} the second{condition}",
            verb(left.access),
            verb(right.access)
        ),
    };
    let sides = [left, right].map(|side| (side.variable.clone(), kind(side.access)));
    NamedRule { sides, text, because }
}

fn verb(access: unpick_correlations::AccessType) -> &'static str {
    match access {
        unpick_correlations::AccessType::Any => "access",
        _ => access.word(),
    }
}

fn kind(access: unpick_correlations::AccessType) -> AccessType {
    match access {
        unpick_correlations::AccessType::Read => AccessType::Read,
        unpick_correlations::AccessType::Write => AccessType::Write,
        unpick_correlations::AccessType::Any => AccessType::Any,
    }
}

fn unusable(file: &Path, why: &str) -> Problem {
    Problem::usage("the correlations cannot be used")
        .at("file", file.display())
        .why(why.escape_debug())
        .next("write them anew: unpick correlate --json FILE SOURCES; or look at what recordings show: --mine")
}
