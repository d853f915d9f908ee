//! Which rules say something: MUVI's false ones are mostly variables that are read everywhere.

use super::{Rule, Thresholds, lower_bound};
use crate::correlation::AccessType;
use crate::database::{Database, owner, types_of};

/// Confidence that a rule without a write must have.
const SURE_WITHOUT_WRITE: f64 = 0.85;

/// In how many functions each variable is touched by the function itself, by type.
pub struct Popularity {
    own: Vec<[usize; 3]>,
}

impl Popularity {
    pub fn of(database: &Database) -> Self {
        let mut own = vec![[0; 3]; database.variables.len()];
        for function in &database.functions {
            for touches in function.by_variable() {
                let types = touches
                    .iter()
                    .filter(|touch| touch.source.is_own())
                    .fold(0, |types, touch| types | types_of(touch.kind));
                for (at, count) in own[touches[0].variable as usize].iter_mut().enumerate() {
                    *count += usize::from(types >> at & 1);
                }
            }
        }
        Self { own }
    }

    pub fn own(&self, variable: u32, access: AccessType) -> usize {
        self.own[variable as usize][super::bit_of(access)]
    }
}

/// How much of the right variable's functions the rule must explain, and how sure it must be, by what it says. Reads that go
/// together are mostly just read often; two writes are mostly meant.
fn least(rule: &Rule) -> (f64, f64) {
    let is_write = |access| access == AccessType::Write;
    match (is_write(rule.left.0), is_write(rule.right.0)) {
        (true, true) => (0.25, 0.0),
        (false, false) => (0.6, SURE_WITHOUT_WRITE),
        _ => (0.5, 0.8),
    }
}

/// What a rule of two types of accesses is worth: writes are decisions.
fn weight(rule: &Rule) -> f64 {
    match (rule.left.0, rule.right.0) {
        (AccessType::Write, AccessType::Write) => 1.0,
        (AccessType::Write, _) | (_, AccessType::Write) => 0.85,
        (AccessType::Read, AccessType::Read) => 0.6,
        _ => 0.75,
    }
}

/// The score of a rule; nothing if it does not say anything.
pub fn score(
    database: &Database,
    popularity: &Popularity,
    thresholds: &Thresholds,
    rule: &Rule,
) -> Option<f64> {
    let name = |variable: u32| database.variables[variable as usize].as_str();
    let (x, y) = (name(rule.left.1), name(rule.right.1));
    let share = rule.support as f64 / rule.right_functions.max(1) as f64;
    let says_something = if is_lock(y) {
        // A lock protects many things, each of which is rare beside it; what never changes needs none.
        popularity.own(rule.left.1, AccessType::Write) >= 2
    } else {
        is_enough(rule, share, owner(x) == owner(y))
            && [rule.left.1, rule.right.1].iter().all(|&variable| {
                popularity.own(variable, AccessType::Write) >= changes_needed(thresholds)
            })
    };
    let sure = lower_bound(rule.support, rule.left_functions);
    says_something.then(|| sure * weight(rule) * share.min(1.0).sqrt().max(0.3))
}

fn is_enough(rule: &Rule, share: f64, is_of_one_type: bool) -> bool {
    let (least_share, least_confidence) = least(rule);
    let has_write = least_confidence < SURE_WITHOUT_WRITE;
    let least_share = match (is_of_one_type, has_write) {
        (true, _) => least_share,
        (false, true) => (least_share + 0.25).min(0.7),
        // Fields of two types without a write: mostly the way from one to the other.
        (false, false) => return false,
    };
    share >= least_share && rule.confidence() >= least_confidence
}

/// Functions that must write a variable: what is set once and then only used goes with everything and means nothing.
fn changes_needed(thresholds: &Thresholds) -> usize {
    (thresholds.min_support / 2).clamp(1, 3)
}

/// By its name.
pub fn is_lock(name: &str) -> bool {
    let field = name.rsplit("::").next().unwrap_or(name).to_ascii_lowercase();
    ["mutex", "lock", "mtx", "mu_"].iter().any(|word| field.contains(word))
        && !["block", "clock"].iter().any(|word| field.contains(word))
}
