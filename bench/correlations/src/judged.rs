//! Correlations that were judged by reading the code.

use std::collections::HashMap;

use serde::Deserialize;
use unpick_correlations::{Correlation, CorrelationList};
use unpick_problem::Problem;

use crate::failed;

const JUDGED: &str = include_str!("../judged.toml");
/// By somebody who knew neither how correlations are found nor the other verdicts.
const JUDGED_BLIND: &str = include_str!("../judged_blind.toml");
/// Drawn of each code base.
const DRAWN: usize = 50;
/// What `judged.toml` was drawn by.
pub const SEED: u64 = 6;

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
    unjudged_blind: Vec<String>,
    /// Blind verdicts on what is told now, drawn or not: how many, and how many of them say that it is false.
    pub blind: (usize, usize),
    /// The same of all correlations, weak ones too.
    pub blind_of_all: (usize, usize),
}

impl Verdicts {
    pub fn judged(&self) -> usize {
        self.correct + self.wrong.len()
    }

    /// As a beginning for `judged.toml`, or for `judged_blind.toml`.
    pub fn print_unjudged(&self, is_blind: bool) {
        for rule in if is_blind { &self.unjudged_blind } else { &self.unjudged } {
            println!("[[judged]]\nbase = \"{}\"\nrule = \"{rule}\"\n", self.base);
        }
    }
}

/// Draws correlations of those told unasked, and looks up their verdicts.
pub fn judge(base: &'static str, list: &CorrelationList, seed: u64) -> Result<Verdicts, Problem> {
    let [known, blind] = [verdicts_in(JUDGED, base)?, verdicts_in(JUDGED_BLIND, base)?];
    let [told, all] = [false, true].map(|weak| list.told(weak).map(rule_of).collect::<Vec<_>>());
    let counts = |rules: &[String]| {
        let verdicts: Vec<bool> =
            rules.iter().filter_map(|rule| blind.get(rule).copied()).collect();
        (verdicts.len(), verdicts.iter().filter(|is_true| !**is_true).count())
    };
    let (blind_of_told, blind_of_all) = (counts(&told), counts(&all));
    let mut drawn = draw(told, seed);
    let unjudged_blind = drawn.iter().filter(|rule| !blind.contains_key(*rule)).cloned().collect();
    // A code base of which nothing was judged is there for its speed.
    if known.is_empty() {
        drawn.clear();
    }
    let mut verdicts = Verdicts {
        base,
        drawn: drawn.len(),
        correct: 0,
        wrong: Vec::new(),
        unjudged: Vec::new(),
        unjudged_blind,
        blind: blind_of_told,
        blind_of_all,
    };
    for rule in drawn {
        match known.get(&rule) {
            Some(true) => verdicts.correct += 1,
            Some(false) => verdicts.wrong.push(rule),
            None => verdicts.unjudged.push(rule),
        }
    }
    Ok(verdicts)
}

/// Whether each rule is true; only what has a reason counts.
fn verdicts_in(text: &str, base: &str) -> Result<HashMap<String, bool>, Problem> {
    let file: File =
        toml::from_str(text).map_err(|error| failed("verdicts cannot be read", error))?;
    let of_base =
        file.judged.into_iter().filter(|judged| judged.base == base && !judged.reason.is_empty());
    Ok(of_base.map(|judged| (judged.rule, judged.is_true)).collect())
}

fn rule_of(correlation: &Correlation) -> String {
    let Correlation { left, right, condition, .. } = correlation;
    let condition =
        condition.as_ref().map_or(String::new(), |condition| format!(" if {condition}"));
    format!("{left} => {right}{condition}")
}

/// A fixed choice: each rule has a number that its own words give it, so that a rule more or less changes one of the drawn.
fn draw(rules: Vec<String>, seed: u64) -> Vec<String> {
    let mut numbered: Vec<(u64, String)> =
        rules.into_iter().map(|rule| (number(&rule, seed), rule)).collect();
    numbered.sort_unstable();
    numbered.into_iter().take(DRAWN).map(|(_, rule)| rule).collect()
}

fn number(rule: &str, seed: u64) -> u64 {
    let mixed = rule.bytes().fold(seed, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3).rotate_left(23)
    });
    // The last letters must count as much as the first.
    let mixed = (mixed ^ mixed >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    mixed ^ mixed >> 33
}
