//! Correlations that were judged by reading the code.

use std::collections::HashMap;

use serde::Deserialize;
use unpick_correlations::{Correlation, CorrelationList};
use unpick_problem::Problem;

use crate::failed;

const JUDGED: &str = include_str!("../judged.toml");
/// Drawn of each code base.
const DRAWN: usize = 50;
const SEED: u64 = 6;

#[derive(Deserialize)]
struct File {
    judged: Vec<Judged>,
}

#[derive(Deserialize)]
struct Judged {
    base: String,
    /// As `unpick correlate` prints it: `write(A::x) => write(A::y)`.
    rule: String,
    is_true: bool,
    reason: String,
}

/// What came of the drawn ones.
pub struct Verdicts {
    base: &'static str,
    pub drawn: usize,
    pub correct: usize,
    pub wrong: Vec<String>,
    unjudged: Vec<String>,
}

impl Verdicts {
    pub fn judged(&self) -> usize {
        self.correct + self.wrong.len()
    }

    pub fn print_unjudged(&self) {
        for rule in &self.unjudged {
            println!("[[judged]]\nbase = \"{}\"\nrule = \"{rule}\"\n", self.base);
        }
    }
}

/// Draws correlations and looks up their verdicts.
pub fn judge(base: &'static str, list: &CorrelationList) -> Result<Verdicts, Problem> {
    let file: File = toml::from_str(JUDGED).map_err(|error| failed("judged.toml", error))?;
    let known: HashMap<&str, &Judged> = file
        .judged
        .iter()
        .filter(|judged| judged.base == base && !judged.reason.is_empty())
        .map(|judged| (judged.rule.as_str(), judged))
        .collect();
    // A code base of which nothing was judged is there for its speed.
    let drawn = match known.is_empty() {
        true => Vec::new(),
        false => draw(list.correlations.iter().map(rule_of).collect()),
    };
    let mut verdicts =
        Verdicts { base, drawn: drawn.len(), correct: 0, wrong: Vec::new(), unjudged: Vec::new() };
    for rule in drawn {
        match known.get(rule.as_str()) {
            Some(judged) if judged.is_true => verdicts.correct += 1,
            Some(_) => verdicts.wrong.push(rule),
            None => verdicts.unjudged.push(rule),
        }
    }
    Ok(verdicts)
}

fn rule_of(correlation: &Correlation) -> String {
    let Correlation { left, right, condition, .. } = correlation;
    let condition =
        condition.as_ref().map_or(String::new(), |condition| format!(" if {condition}"));
    format!("{left} => {right}{condition}")
}

/// A fixed choice: each rule has a number that its own words give it, so that a rule more or less changes one of the drawn.
fn draw(rules: Vec<String>) -> Vec<String> {
    let mut numbered: Vec<(u64, String)> =
        rules.into_iter().map(|rule| (number(&rule), rule)).collect();
    numbered.sort_unstable();
    numbered.into_iter().take(DRAWN).map(|(_, rule)| rule).collect()
}

fn number(rule: &str) -> u64 {
    let mixed = rule.bytes().fold(SEED, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    });
    // The last letters must count as much as the first.
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 33
}
