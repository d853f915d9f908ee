//! A group of patterns, led by another of its members.

use crate::finding::Relation;
use crate::grouping::Group;

/// The group with one of its supporters in front; who led it supports now.
pub(crate) fn led_by(group: &Group, at: usize) -> Group {
    let mut supporters = group.supporters.clone();
    let (leader, relation) = supporters.remove(at);
    for (_, relation) in &mut supporters {
        *relation = to_another(*relation);
    }
    supporters.insert(0, (group.leader, turned(relation)));
    Group { leader, cut_short: false, supporters, score: group.score, is_own: group.is_own }
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
