//! How likely a break is a bug, by what is around it.

use crate::correlation::AccessType;
use crate::database::Database;
use crate::rules::{Rule, bit_of, lower_bound};

/// The right variable is touched, though not as the rule asks.
const TOUCHED: f64 = 0.7;
/// Somebody who calls the function touches it.
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

/// Who touches and who calls, the other way round.
pub struct Surroundings {
    functions_with: Vec<Vec<u32>>,
    callers: Vec<Vec<u32>>,
}

impl Surroundings {
    pub fn of(database: &Database) -> Self {
        let mut functions_with = vec![Vec::new(); database.variables.len()];
        let mut callers = vec![Vec::new(); database.functions.len()];
        for (number, function) in database.functions.iter().enumerate() {
            for touches in function.by_variable() {
                if touches.iter().any(|touch| touch.source.is_own()) {
                    functions_with[touches[0].variable as usize].push(number as u32);
                }
            }
            for &(callee, _) in &function.callees {
                let known: &mut Vec<u32> = &mut callers[callee as usize];
                if known.last() != Some(&(number as u32)) {
                    known.push(number as u32);
                }
            }
        }
        Self { functions_with, callers }
    }

    /// Functions that touch a variable themselves.
    pub fn functions_with(&self, variable: u32) -> &[u32] {
        &self.functions_with[variable as usize]
    }

    /// From 0 to 1: how sure the rule is, lowered by what speaks for the function.
    pub fn score(
        &self,
        database: &Database,
        number: u32,
        rule: &Rule,
        breaks: usize,
        is_touched: bool,
    ) -> f64 {
        let function = &database.functions[number as usize];
        let right = rule.right.1;
        let touches = |other: u32| !database.functions[other as usize].touches_of(right).is_empty();
        let callers = &self.callers[number as usize];
        let is_life = function.is_life || has_life_word(&function.name);
        let is_deeper = function.callees.iter().any(|&(callee, _)| touches(callee));
        let factors = [
            (is_touched, TOUCHED),
            (callers.iter().any(|&caller| touches(caller)), CALLER),
            (is_deeper, DEEPER),
            (is_life, LIFE),
        ];
        let share = rule.support as f64 / rule.right_functions.max(1) as f64;
        let kind = if bit_of(rule.right.0) == bit_of(AccessType::Write) { 1.0 } else { 0.8 };
        let sure = lower_bound(rule.support, rule.left_functions)
            * kind
            * share.min(1.0).sqrt()
            // One exception is a slip, five are another rule.
            / (0.75 + 0.25 * breaks as f64);
        factors.iter().filter(|(holds, _)| *holds).fold(sure, |score, (_, factor)| score * factor)
    }
}

fn has_life_word(name: &str) -> bool {
    let name = name.rsplit("::").next().unwrap_or(name).to_ascii_lowercase();
    LIFE_WORDS.iter().any(|word| name.contains(word))
}
