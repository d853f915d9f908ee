//! How likely a break is a bug, by what is around it.

use super::Candidate;
use crate::correlation::AccessType;
use crate::database::Database;
use crate::rules::{Rule, bit_of, lower_bound};

/// The right variable is touched, though not as the rule asks.
const TOUCHED: f64 = 0.7;
/// A callee touches both: perhaps of the same object.
const HELPED: f64 = 0.6;
/// Somebody who calls the function touches it, and not the left one.
const CALLER: f64 = 0.6;
/// Somebody further down touches it.
const DEEPER: f64 = 0.5;
/// The function makes or destroys: what is left out may not be there yet, or not matter any more.
const LIFE: f64 = 0.7;

/// Words for functions that make or destroy.
const LIFE_WORDS: [&str; 12] = [
    "init", "create", "new", "alloc", "open", "close", "free", "destroy", "delete", "release",
    "clear", "reset",
];

/// Who calls, the other way round.
pub struct Surroundings {
    callers: Vec<Vec<u32>>,
}

impl Surroundings {
    pub fn of(database: &Database) -> Self {
        let mut callers = vec![Vec::new(); database.functions.len()];
        for (number, function) in database.functions.iter().enumerate() {
            for &(callee, _) in &function.callees {
                let known: &mut Vec<u32> = &mut callers[callee as usize];
                if known.last() != Some(&(number as u32)) {
                    known.push(number as u32);
                }
            }
        }
        Self { callers }
    }

    /// From 0 to 1: how sure the rule is, lowered by what speaks for the function.
    pub fn score(
        &self,
        database: &Database,
        candidate: &Candidate<'_>,
        rule: &Rule,
        breaks: usize,
    ) -> f64 {
        let number = candidate.function;
        let function = &database.functions[number as usize];
        let (left, right) = (rule.left.1, rule.right.1);
        // Who does both does it for itself.
        let completes = |caller: &u32| {
            let caller = &database.functions[*caller as usize];
            caller.touches_itself(right) && !caller.touches_itself(left)
        };
        let passes_on = |callee: u32| {
            let callee = &database.functions[callee as usize];
            !callee.touches_of(right).is_empty() && callee.touches_of(left).is_empty()
        };
        let is_life = function.is_life || has_life_word(&function.name);
        let factors = [
            (candidate.is_touched, TOUCHED),
            (candidate.is_helped, HELPED),
            (self.callers[number as usize].iter().any(completes), CALLER),
            (function.callees.iter().any(|&(callee, _)| passes_on(callee)), DEEPER),
            (is_life, LIFE),
        ];
        let share = rule.support as f64 / rule.right_functions.max(1) as f64;
        let kind = if bit_of(rule.right.0) == bit_of(AccessType::Write) { 1.0 } else { 0.8 };
        let sure = lower_bound(rule.support, rule.left_functions)
            * kind
            * share.min(1.0).sqrt()
            // One exception is a slip, five are another rule.
            / (0.5 + 0.5 * breaks as f64);
        factors.iter().filter(|(holds, _)| *holds).fold(sure, |score, (_, factor)| score * factor)
    }
}

fn has_life_word(name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name).to_ascii_lowercase();
    LIFE_WORDS.iter().any(|word| name.contains(word))
}
