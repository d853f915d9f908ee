//! Which of the patterns that no run tells apart is the cause, best said.
//!
//! Takes   the core of a group: patterns with the same score in the same failing runs; and all patterns of three accesses that
//!         have their failing runs among these or the other way round.
//! Gives   the one that leads.
//!
//! 1. **A leader must explain.** When thread 2 comes between two accesses A and C of thread 1 that passing runs make in a row, new
//!    patterns appear with A or C in them, only because the access window shows one access for each row: the other one, in passing runs. Such
//!    a pattern says nothing new, and does not lead, if passing runs have it with A in the place of C or C in the place of A. So B2 C1 does
//!    not lead A1 B2 C1 where passing runs have B2 A1: both serial orders are fine, and what is wrong is that B2 came between.
//!    Nor does what is doubtful for the reasons that `doubt` gives.
//! 2. **A cause comes before its effects.** In each failing run we look which pattern did its harm first; who is first in
//!    most runs leads.
//! 3. **The shortest** of those leads, also if it has only two accesses in common with the earliest; then the one the ranking has
//!    first. But a pair with which a torn row begins does not lead it: harm is done by the third access. Nor does a pattern by a thread
//!    that comes back to the same write.

use std::cmp::Reverse;
use std::collections::HashMap;

use unpick_analyses::PatternId;
use unpick_analyses::interleaving_patterns::{AccessKind, Arrangement, Class, of_two_pairs};
use unpick_analyses::ranking::{Conclusion, PatternKey, Ranked};

use super::doubt::is_doubtful;
use super::steps_of;

/// A row that passing runs tear at least this many times more seldom than failing ones is meant to stay whole.
const RARER: u64 = 4;

/// What an access does, and where.
type Step = (AccessKind, u32);

/// The place of the leader; `core` is not empty.
pub fn choose(conclusion: &Conclusion, partners: &Partners, core: &[usize]) -> usize {
    let standing = standing(conclusion, partners, core);
    let candidates = if standing.is_empty() { core.to_vec() } else { standing };
    let candidates = without_beginnings(conclusion, candidates);
    let candidates = without_new_beginnings(conclusion, candidates);
    let earliest = earliest_harm(conclusion, &candidates);
    let length = |place: usize| conclusion.ranked[place].key.pattern.steps().len();
    let preference = |&place: &usize| {
        let times = &conclusion.evidence[place].harmful_at;
        let first = times.iter().zip(&earliest).filter(|((_, time), earliest)| time == *earliest);
        (Reverse(first.count()), length(place), place)
    };
    let first = candidates.iter().copied().min_by_key(preference).unwrap_or(core[0]);
    let is_shorter = |&place: &usize| {
        length(place) < length(first)
            && tears_a_row(conclusion, place)
            && is_about_same(conclusion, place, first)
    };
    candidates.iter().copied().filter(is_shorter).min_by_key(preference).unwrap_or(first)
}

/// Leaves out pairs with which a torn row begins: what is there to see only after the third access is not told by the first two.
fn without_beginnings(conclusion: &Conclusion, candidates: Vec<usize>) -> Vec<usize> {
    let steps = |place: usize| steps_of(&conclusion.ranked[place]);
    let triples = candidates.iter().filter(|&&place| tears_a_row(conclusion, place));
    let beginnings: Vec<_> = triples.map(|&triple| steps(triple)[..2].to_vec()).collect();
    let begins = |&place: &usize| beginnings.contains(&steps(place));
    candidates.into_iter().filter(|place| !begins(place)).collect()
}

/// Leaves out patterns of one variable by a thread that has written and comes back to write again, where a row was torn at the same
/// moment: both its updates are whole.
fn without_new_beginnings(conclusion: &Conclusion, candidates: Vec<usize>) -> Vec<usize> {
    let torn: Vec<usize> =
        candidates.iter().copied().filter(|&place| tears_a_row(conclusion, place)).collect();
    let begins_anew = |&place: &usize| {
        conclusion.ranked[place].key.pattern.class() == Class::SingleVariable
            && steps_of(&conclusion.ranked[place])[0].0 == AccessKind::Write
            && !tears_a_row(conclusion, place)
            && torn.iter().any(|&torn| is_about_same(conclusion, place, torn))
    };
    candidates.iter().copied().filter(|place| !begins_anew(place)).collect()
}

/// Whether a pattern of one variable shows a row that was to stay whole. A thread that comes back to the same access has just begun
/// anew, and both its rows are whole.
fn tears_a_row(conclusion: &Conclusion, place: usize) -> bool {
    matches!(steps_of(&conclusion.ranked[place])[..], [before, _, after] if before != after)
}

/// Whether two patterns have two accesses in common: they tell of the same moment.
fn is_about_same(conclusion: &Conclusion, one: usize, other: usize) -> bool {
    let steps = steps_of(&conclusion.ranked[other]);
    let common =
        steps_of(&conclusion.ranked[one]).iter().filter(|step| steps.contains(step)).count();
    common >= 2
}

/// The patterns of the core that can be the cause.
pub fn standing(conclusion: &Conclusion, partners: &Partners, core: &[usize]) -> Vec<usize> {
    let explains = |&place: &usize| {
        let ranked = &conclusion.ranked[place];
        // A row that no passing run has written into is no matter of what the window keeps. Reads in between are: any of many.
        let is_written_into = steps_of(ranked)[1].0 == AccessKind::Write;
        let is_sure = tears_a_row(conclusion, place) && is_written_into && ranked.passed == 0;
        !is_doubtful(conclusion, ranked) && (is_sure || !partners.refute(conclusion, ranked))
    };
    core.iter().copied().filter(explains).collect()
}

/// For each failing run, when the first of these patterns did harm. All of them were in the same runs.
fn earliest_harm(conclusion: &Conclusion, places: &[usize]) -> Vec<(u32, u32)> {
    let times = |place: usize| conclusion.evidence[place].harmful_at.iter().map(|(_, time)| *time);
    let mut earliest: Vec<_> = places.first().map_or(Vec::new(), |&place| times(place).collect());
    for &place in places {
        earliest.iter_mut().zip(times(place)).for_each(|(known, time)| *known = time.min(*known));
    }
    earliest
}

/// For accesses between which another thread came: the one before it, and the one after it.
pub struct Partners {
    of: HashMap<Step, Vec<Step>>,
    /// The patterns of three accesses that tell of partners.
    triples: Vec<usize>,
}

impl Partners {
    /// Partners are told by the patterns of three accesses among `places`, but not by such as say nothing new themselves.
    pub fn of(conclusion: &Conclusion, places: impl Iterator<Item = usize>) -> Partners {
        let ranked = |place: usize| &conclusion.ranked[place];
        let is_triple = |place: &usize| ranked(*place).key.pattern.class() == Class::SingleVariable;
        let tells =
            |place: &usize| is_triple(place) && is_rare_in_passing(conclusion, ranked(*place));
        let mut triples: Vec<usize> = places.filter(tells).collect();
        loop {
            let partners = Partners::told_by(conclusion, triples.clone());
            triples.retain(|&triple| !partners.refute(conclusion, ranked(triple)));
            if triples.len() == partners.triples.len() {
                return partners;
            }
        }
    }

    /// The patterns that tell of partners for an access of this one.
    pub fn told_about<'a>(
        &'a self,
        conclusion: &'a Conclusion,
        ranked: &Ranked,
    ) -> impl Iterator<Item = usize> + 'a {
        let steps = steps_of(ranked);
        self.triples.iter().copied().filter(move |&triple| {
            let triple = steps_of(&conclusion.ranked[triple]);
            [triple[0], triple[2]].iter().any(|end| steps.contains(end))
        })
    }

    fn told_by(conclusion: &Conclusion, triples: Vec<usize>) -> Partners {
        let mut partners = Partners { of: HashMap::new(), triples: Vec::new() };
        for &triple in &triples {
            if let [before, _, after] = steps_of(&conclusion.ranked[triple])[..]
                && before != after
            {
                partners.add(before, after);
                partners.add(after, before);
            }
        }
        Partners { triples, ..partners }
    }

    fn add(&mut self, one: Step, other: Step) {
        let known = self.of.entry(one).or_default();
        if !known.contains(&other) {
            known.push(other);
        }
    }

    /// Whether passing runs have the same pattern with a partner in the place of an access.
    pub fn refute(&self, conclusion: &Conclusion, ranked: &Ranked) -> bool {
        let steps = steps_of(ranked);
        let substitutes = steps.iter().enumerate().flat_map(|(at, step)| {
            self.of.get(step).into_iter().flatten().map(move |partner| (at, *partner))
        });
        // A pattern with both partners in it is about just what came between them. An exchange that only reads has failed: that is another
        // outcome of the same access.
        let mut sensible = substitutes
            .filter(|(at, partner)| !steps.contains(partner) && partner.1 != steps[*at].1);
        sensible.any(|(at, partner)| {
            let mut changed = steps.clone();
            changed[at] = partner;
            is_in_passing(conclusion, ranked.key.pattern, &changed)
        })
    }
}

/// Whether a row is torn there in failing runs in the first place: where passing runs do that too, it is no row.
fn is_rare_in_passing(conclusion: &Conclusion, triple: &Ranked) -> bool {
    let [failed, passed] = [triple.failed, triple.passed].map(u64::from);
    let [all_failed, all_passed] = [conclusion.runs.failed, conclusion.runs.passed].map(u64::from);
    RARER * passed * all_failed <= failed * all_passed
}

/// Whether a passing run has these accesses, by the threads and on the variables of `shape`.
fn is_in_passing(conclusion: &Conclusion, shape: PatternId, steps: &[Step]) -> bool {
    let pair = |[first, second]: [usize; 2]| [steps[first], steps[second]];
    let passed = |key: Option<PatternKey>| {
        key.and_then(|key| conclusion.find(&key)).is_some_and(|found| found.passed > 0)
    };
    match shape.pairs()[..] {
        [only] => passed(key_of_pair(pair(only))),
        [first, second] if shape.class() == Class::SingleVariable => {
            passed(key_of_two(pair(first), pair(second), Arrangement::Shared))
        }
        // The partner was at another time: the pairs may lie differently.
        [first, second] => Arrangement::OF_TWO_VARIABLES
            .into_iter()
            .any(|arrangement| passed(key_of_two(pair(first), pair(second), arrangement))),
        _ => false,
    }
}

fn pattern_of_pair([first, second]: [Step; 2]) -> Option<PatternId> {
    PatternId::of_pair(first.0, second.0)
}

fn key_of_pair(pair: [Step; 2]) -> Option<PatternKey> {
    Some(PatternKey::new(pattern_of_pair(pair)?, pair.map(|step| step.1)))
}

fn key_of_two(first: [Step; 2], second: [Step; 2], arrangement: Arrangement) -> Option<PatternKey> {
    let pattern = of_two_pairs(pattern_of_pair(first)?, pattern_of_pair(second)?, arrangement)?;
    let steps = arrangement.in_order(first, second).into_iter().flatten();
    Some(PatternKey::new(pattern, steps.map(|step| step.1)))
}
