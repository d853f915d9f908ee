//! Closeness: whether two correlated variables say something about each other, or are only used in the same places.
//!
//! Takes   the database, the two sides of a correlation, its condition.
//! Gives   in how many functions both are touched, related, written; and whether that is close enough to be told unasked.
//! Misses  pairs that few functions relate and some write alone, though one of them does depend on the other.
//! Invents closeness of fields that are merely given to one call, or compared in one condition.
//! Cost    per correlation, the accesses of the functions that touch one of the two.

use crate::access_sets::kind;
use crate::correlation::Closeness;
use crate::database::{Database, Touch};
use crate::rules::{Rule, Thresholds, is_lock};

/// Counts the functions of two variables; with a condition, only what is done under it.
pub fn closeness_of(database: &Database, rule: &Rule, condition: Option<u32>) -> Closeness {
    let variables = [rule.left.1, rule.right.1];
    let mut functions: Vec<u32> =
        variables.iter().flat_map(|&variable| database.functions_with(variable)).copied().collect();
    functions.sort_unstable();
    functions.dedup();
    let mut counts = Closeness::default();
    for number in functions {
        let function = &database.functions[number as usize];
        let own = variables.map(|variable| {
            let touches = function.touches_of(variable).iter();
            touches.filter(|touch| is_counted(touch, condition)).collect::<Vec<_>>()
        });
        let has = |at: usize| !own[at].is_empty();
        let writes = |at: usize| own[at].iter().any(|touch| touch.kind & kind::WRITE != 0);
        counts.either += usize::from(has(0) || has(1));
        counts.both += usize::from(has(0) && has(1));
        counts.write_either += usize::from(writes(0) || writes(1));
        counts.write_both += usize::from(writes(0) && writes(1));
        counts.related += usize::from(are_related(database, variables, &own));
    }
    counts
}

/// What callees do is their decision.
fn is_counted(touch: &Touch, condition: Option<u32>) -> bool {
    touch.source.is_own() && condition.is_none_or(|held| touch.under.contains(&held))
}

/// Whether a statement has both, or one is touched where a condition on the other holds.
fn are_related(database: &Database, [x, y]: [u32; 2], [xs, ys]: &[Vec<&Touch>; 2]) -> bool {
    let is_under = |touches: &[&Touch], variable: u32| {
        touches
            .iter()
            .flat_map(|touch| &touch.under)
            .any(|&condition| database.conditions[condition as usize].variable == variable)
    };
    let share_a_statement =
        || xs.iter().any(|one| ys.iter().any(|other| one.statement == other.statement));
    !xs.is_empty() && !ys.is_empty() && (share_a_statement() || is_under(xs, y) || is_under(ys, x))
}

/// Whether a correlation is told unasked; else it is weak.
pub fn is_close(
    database: &Database,
    thresholds: &Thresholds,
    rule: &Rule,
    condition: Option<u32>,
    counts: &Closeness,
) -> bool {
    // A lock is taken in a statement of its own: that it is taken is all there is.
    let is_of_lock = is_lock(&database.variables[rule.right.1 as usize]);
    let tied = if is_of_lock { counts.both } else { counts.related };
    // Under one condition everything is related, by the condition.
    let may_be_related = condition.is_none();
    may_be_related && is_large_part(tied, counts.either)
        || are_written_as_one(counts, thresholds.min_support)
}

/// At least 30 %.
fn is_large_part(part: usize, whole: usize) -> bool {
    whole > 0 && 10 * part >= 3 * whole
}

/// Three quarters of the functions that write either write both; as many as a correlation needs.
fn are_written_as_one(counts: &Closeness, min_support: usize) -> bool {
    counts.write_both >= min_support && 4 * counts.write_both >= 3 * counts.write_either
}

#[cfg(test)]
mod tests;
