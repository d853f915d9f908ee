//! The same finding, led by another pattern of its cause: what is tried when forcing the one in front does not make the program fail.
//!
//! Takes   a finding, and the `Conclusion` it was made of.      Gives  findings that can take its place, the most suspicious first.
//! Misses  patterns with a lower score than the leader's; those in code that the user only depends on.
//!
//! Runs cannot always tell a cause from its effect: both are there whenever the program fails. To force them can.

use unpick_analyses::ranking::Conclusion;

use crate::confirmed::is_same;
use crate::describe::{Choices, Describer};
use crate::finding::{Finding, Relation};
use crate::grouping::Group;
use crate::names::Names;

/// Findings like this one, each led by a supporter that is as suspicious as its leader. None if the finding is not of these runs.
pub fn understudies(
    conclusion: &Conclusion,
    names: &dyn Names,
    choices: &Choices,
    of: &Finding,
) -> Vec<Finding> {
    let describer = Describer::new(conclusion, names, choices);
    let is_of = |group: &Group| {
        describer.finding(group, of.rank).is_some_and(|finding| is_same(&finding, of))
    };
    let Some(group) = describer.groups().into_iter().find(is_of) else { return Vec::new() };
    let score = |place: usize| conclusion.ranked[place].score;
    let may_lead = |place: usize| score(place) >= score(group.leader) && describer.is_own(place);
    let able = (0..group.supporters.len()).filter(|&at| may_lead(group.supporters[at].0));
    able.filter_map(|at| describer.finding(&led_by(&group, at), of.rank)).collect()
}

/// The group with one of its supporters in front; who led it supports now.
pub(crate) fn led_by(group: &Group, at: usize) -> Group {
    let mut supporters = group.supporters.clone();
    let (leader, relation) = supporters.remove(at);
    for (_, relation) in &mut supporters {
        *relation = to_another(*relation);
    }
    supporters.insert(0, (group.leader, turned(relation)));
    Group { leader, cut_short: false, supporters, score: group.score }
}

/// How the old leader stands to the new one.
fn turned(relation: Relation) -> Relation {
    match relation {
        Relation::Contains => Relation::PartOf,
        Relation::PartOf => Relation::Contains,
        Relation::SharesCode | Relation::SameRuns => relation,
    }
}

/// What has accesses in common with the old leader need not have all of them in common with the new one.
fn to_another(relation: Relation) -> Relation {
    match relation {
        Relation::Contains | Relation::PartOf => Relation::SharesCode,
        Relation::SharesCode | Relation::SameRuns => relation,
    }
}
