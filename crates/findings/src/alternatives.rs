//! What else could be the cause: patterns of the same failing runs that could lead their finding.
//!
//! Takes   the `Conclusion` the findings were made of; units of two variables that a race detector found open in some run.
//! Gives   for each finding the patterns that could lead it instead, the most suspicious first, each on lines of its own; those that correlate best of
//!         all; patterns that tear one of the units, whatever their score.
//! Misses  torn units that are in no pattern with evidence.
//! Cost    names for at most `MAX_PER_FINDING` patterns of each finding; with torn units, for those of all patterns with evidence.
//!
//! Correlation cannot tell apart what only ever happens together; experiments can, so they have to be offered all of it.

use std::collections::{BTreeSet, HashMap, HashSet};

use unpick_analyses::interleaving_patterns::Class;
use unpick_analyses::ranking::Conclusion;

use crate::describe::{Choices, Describer};
use crate::finding::{AccessKind, Finding};
use crate::grouping::{Group, Standing};
use crate::led_by::led_by;
use crate::names::Names;
use crate::race::OpenUnit;

const MAX_PER_FINDING: usize = 12;
/// Of the patterns that correlate best.
const MAX_BEST: usize = 8;
/// Of the leader's score: what correlates less is hardly the cause of the same runs.
const MIN_SHARE_OF_SCORE: f64 = 0.5;
/// Patterns that tear a unit: each costs two runs at least.
const MAX_TORN: usize = 6;
/// Of them, of the same functions: whoever looks at the one sees the other.
const MAX_OF_FUNCTIONS: usize = 2;

/// A finding that could take the place of another.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// The finding as it is listed; itself, if it belongs to none of them.
    pub of: Finding,
    /// The same cause, led by another pattern.
    pub finding: Finding,
    pub reason: Reason,
}

/// Why a pattern is offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// It correlates with failure.
    Correlates,
    /// It tears a unit of variables that belong together, which a race detector found open.
    TearsUnit,
}

/// The alternatives of all findings of these runs.
pub fn alternatives(
    conclusion: &Conclusion,
    names: &dyn Names,
    choices: &Choices,
    units: &[OpenUnit],
) -> Vec<Alternative> {
    let describer = Describer::new(conclusion, names, choices);
    let groups = describer.groups();
    let mut alternatives = correlating(conclusion, &describer, &groups);
    for new in best_ranked(&describer, &groups) {
        if !alternatives.iter().any(|known| known.finding.is_same(&new.finding)) {
            alternatives.push(new);
        }
    }
    alternatives.extend(tearing(conclusion, &describer, &groups, units));
    alternatives
}

fn correlating(
    conclusion: &Conclusion,
    describer: &Describer<'_>,
    groups: &[Group],
) -> Vec<Alternative> {
    let score = |place: usize| conclusion.ranked[place].score;
    let mut alternatives = Vec::new();
    for group in groups {
        let Some(of) = describer.finding(group, 1) else { continue };
        let mut known = HashSet::from([shape(&of)]);
        let enough = score(group.leader) * MIN_SHARE_OF_SCORE;
        let may_lead = |place: usize| score(place) >= enough && describer.can_be_cause(place);
        let able = (0..group.supporters.len()).filter(|&at| may_lead(group.supporters[at].0));
        let findings = able.filter_map(|at| describer.finding(&led_by(group, at), 1));
        let new = findings.filter(|finding| known.insert(shape(finding))).take(MAX_PER_FINDING);
        let reason = Reason::Correlates;
        alternatives.extend(new.map(|finding| Alternative { of: of.clone(), finding, reason }));
    }
    alternatives
}

/// The patterns that correlate best, whichever group they are in: a group may be led by one that correlates less, and only some groups are findings.
fn best_ranked(describer: &Describer<'_>, groups: &[Group]) -> Vec<Alternative> {
    let can_be_meant = |place: &usize| {
        let leads = groups.iter().any(|group| group.leader == *place);
        !leads && describer.can_be_cause(*place) && describer.standing(*place) != Standing::Ignored
    };
    let mut known = HashSet::new();
    let patterns = (0..describer.conclusion.evidence.len()).filter(can_be_meant);
    let best = patterns
        .filter_map(|place| in_its_group(describer, groups, place, Reason::Correlates))
        .filter(|one| known.insert(shape(&one.finding)));
    best.take(MAX_BEST).collect()
}

/// The patterns that tear a unit, the most suspicious first. How often runs fail with them is counted as for all others.
fn tearing(
    conclusion: &Conclusion,
    describer: &Describer<'_>,
    groups: &[Group],
    units: &[OpenUnit],
) -> Vec<Alternative> {
    let mut known = HashSet::new();
    let mut of_functions: HashMap<BTreeSet<String>, usize> = HashMap::new();
    let is_torn = |place: &usize| {
        let is_of_two = conclusion.ranked[*place].key.pattern.class() == Class::MultiVariable;
        is_of_two
            && describer.can_be_cause(*place)
            && describer.tears_one(*place, units)
            && describer.standing(*place) != Standing::Ignored
    };
    // Most programs have no such unit: then nobody asks for names.
    let patterns = if units.is_empty() { 0 } else { conclusion.evidence.len() };
    let torn = (0..patterns)
        .filter(is_torn)
        .filter_map(|place| in_its_group(describer, groups, place, Reason::TearsUnit));
    let new = torn.filter(|one| {
        let alike = of_functions.entry(functions(&one.finding)).or_default();
        let is_new = known.insert(shape(&one.finding));
        *alike += usize::from(is_new);
        is_new && *alike <= MAX_OF_FUNCTIONS
    });
    new.take(MAX_TORN).collect()
}

/// A pattern as the leader of the group it is in, or of its own.
fn in_its_group(
    describer: &Describer<'_>,
    groups: &[Group],
    place: usize,
    reason: Reason,
) -> Option<Alternative> {
    for group in groups {
        let of = || describer.finding(group, 1);
        if group.leader == place {
            return of().map(|of| Alternative { finding: of.clone(), of, reason });
        }
        if let Some(at) = group.supporters.iter().position(|(supporter, _)| *supporter == place) {
            let finding = describer.finding(&led_by(group, at), 1)?;
            return of().map(|of| Alternative { of, finding, reason });
        }
    }
    let score = describer.conclusion.ranked[place].score;
    let is_own = describer.standing(place) == Standing::Own;
    let alone = Group { leader: place, cut_short: false, supporters: Vec::new(), score, is_own };
    let finding = describer.finding(&alone, 1)?;
    Some(Alternative { of: finding.clone(), finding, reason })
}

fn functions(finding: &Finding) -> BTreeSet<String> {
    finding.accesses.iter().filter_map(|access| access.frame.function.clone()).collect()
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
