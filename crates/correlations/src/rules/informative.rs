//! Which rules say something: MUVI's false ones are mostly variables that are read everywhere.

use super::{Rule, lower_bound};
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

/// How much of the right variable's functions the rule must explain, by what it says. Reads that go together are mostly just
/// read often; two writes are mostly meant.
fn least_share(rule: &Rule) -> f64 {
    match (rule.left.0, rule.right.0) {
        (AccessType::Write, AccessType::Write) => 0.25,
        (AccessType::Write, AccessType::Any) | (AccessType::Any, AccessType::Write) => 0.35,
        (AccessType::Read, AccessType::Read) => 0.6,
        _ => 0.45,
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
pub fn score(database: &Database, popularity: &Popularity, rule: &Rule) -> Option<f64> {
    let name = |variable: u32| database.variables[variable as usize].as_str();
    let (x, y) = (name(rule.left.1), name(rule.right.1));
    let share = rule.support as f64 / rule.right_functions.max(1) as f64;
    let is_of_one_type = owner(x) == owner(y);
    let needed = match (is_lock(y), is_of_one_type) {
        // A lock protects many things, each of which is rare beside it.
        (true, _) => 0.0,
        (false, true) => least_share(rule),
        (false, false) => (least_share(rule) + 0.25).min(0.7),
    };
    let has_write = rule.left.0 == AccessType::Write || rule.right.0 == AccessType::Write;
    // Without a write between them, fields of two types are mostly the way from one to the other.
    let is_strict = is_lock(y)
        || has_write
        || (is_of_one_type && rule.confidence() >= SURE_WITHOUT_WRITE && share >= 0.6);
    let never_written = |variable| popularity.own(variable, AccessType::Write) == 0;
    let is_idle = never_written(rule.left.1) && never_written(rule.right.1);
    if share < needed || !is_strict || is_idle {
        return None;
    }
    let sure = lower_bound(rule.support, rule.left_functions);
    Some(sure * weight(rule) * share.min(1.0).sqrt().max(0.3))
}

fn is_lock(name: &str) -> bool {
    let field = name.rsplit("::").next().unwrap_or(name).to_ascii_lowercase();
    ["mutex", "lock", "mtx", "mu_"].iter().any(|word| field.contains(word))
        && !["block", "clock"].iter().any(|word| field.contains(word))
}
