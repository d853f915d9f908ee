//! What else could be the cause: patterns of the same failing runs that could lead their finding.
//!
//! Takes   the `Conclusion` the findings were made of.
//! Gives   for each finding the patterns that could lead it instead, the most suspicious first, each on lines of its own.
//! Cost    names for at most `MAX_PER_FINDING` patterns of each finding.
//!
//! Correlation cannot tell apart what only ever happens together; experiments can, so they have to be offered all of it.

use std::collections::HashSet;

use unpick_analyses::ranking::Conclusion;

use crate::describe::{Choices, Describer};
use crate::finding::{AccessKind, Finding};
use crate::led_by::led_by;
use crate::names::Names;

const MAX_PER_FINDING: usize = 12;
/// Of the leader's score: what correlates less is hardly the cause of the same runs.
const MIN_SHARE_OF_SCORE: f64 = 0.5;

/// A finding that could take the place of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The finding as it is listed.
    pub of: Finding,
    /// The same cause, led by another pattern.
    pub finding: Finding,
}

/// The alternatives of all findings of these runs.
pub fn alternatives(
    conclusion: &Conclusion,
    names: &dyn Names,
    choices: &Choices,
) -> Vec<Alternative> {
    let describer = Describer::new(conclusion, names, choices);
    let score = |place: usize| conclusion.ranked[place].score;
    let mut alternatives = Vec::new();
    for group in describer.groups() {
        let Some(of) = describer.finding(&group, 1) else { continue };
        let mut known = HashSet::from([shape(&of)]);
        let enough = score(group.leader) * MIN_SHARE_OF_SCORE;
        let may_lead = |place: usize| score(place) >= enough && describer.can_be_cause(place);
        let able = (0..group.supporters.len()).filter(|&at| may_lead(group.supporters[at].0));
        let findings = able.filter_map(|at| describer.finding(&led_by(&group, at), 1));
        let new = findings.filter(|finding| known.insert(shape(finding))).take(MAX_PER_FINDING);
        alternatives.extend(new.map(|finding| Alternative { of: of.clone(), finding }));
    }
    alternatives
}

/// What people see of an order: who does what on which line. Templates and inlined functions have many places for one line.
type Shape = Vec<(u8, AccessKind, Option<String>, Option<u32>, String)>;

fn shape(finding: &Finding) -> Shape {
    let accesses = finding.accesses.iter();
    let shape = accesses.map(|access| {
        let line = access.frame.line;
        // Code without a line is known by its place.
        let place = if line.is_some() { String::new() } else { access.code.offset.clone() };
        (access.role, access.kind, access.frame.file.clone(), line, place)
    });
    shape.collect()
}
