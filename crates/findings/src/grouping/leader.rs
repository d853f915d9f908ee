//! Which of the patterns that no run tells apart is the cause, best said.
//!
//! Takes   the core of a group: patterns with the same score in the same failing runs.
//! Gives   the one that leads.
//!
//! 1. **A pair must explain.** A pair says that its order is wrong. If passing runs had the same order all the same, the order alone
//!    is not the cause. The pair by itself does not show that: thread 2 wrote, thread 1 wrote and read is no pair of
//!    the first write with the read. But if the pair is the end of a pattern A1 B2 C1, and passing runs have B2 before A1, they had B2 before C1;
//!    if it is the beginning, and passing runs have C1 before B2, they had A1 before B2. Then both serial orders are fine, and what is
//!    wrong is that B2 came between: the longer pattern stays, the pair does not lead.
//! 2. **A cause comes before its effects.** What only failing code does is in failing runs only, just like the cause. In
//!    each failing run we look which pattern did its harm first; who is first in most runs leads.
//! 3. **The shortest** of those leads, then the one the ranking has first.

use std::cmp::Reverse;

use unpick_analyses::interleaving_patterns::Class;
use unpick_analyses::ranking::{Conclusion, Ranked};

use super::steps_of;

/// The place of the leader; `core` is not empty.
pub fn choose(conclusion: &Conclusion, core: &[usize]) -> usize {
    let explains = |&place: &usize| !is_refuted(conclusion, &conclusion.ranked[place], core);
    let mut standing: Vec<usize> = core.iter().copied().filter(explains).collect();
    if standing.is_empty() {
        standing = core.to_vec();
    }
    let earliest = earliest_harm(conclusion, &standing);
    let standing_of = |&place: &usize| {
        let times = &conclusion.evidence[place].harmful_at;
        let first = times.iter().zip(&earliest).filter(|((_, time), earliest)| time == *earliest);
        let length = conclusion.ranked[place].key.pattern.steps().len();
        (Reverse(first.count()), length, place)
    };
    standing.iter().copied().min_by_key(|place| standing_of(place)).unwrap_or(core[0])
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

/// Whether passing runs had the order of this pair, as a longer pattern of the core shows.
fn is_refuted(conclusion: &Conclusion, pair: &Ranked, core: &[usize]) -> bool {
    if pair.key.pattern.class() != Class::Order {
        return false;
    }
    let steps = steps_of(pair);
    let in_passing = |first, second| {
        conclusion.find_pair([first, second]).is_some_and(|ranked| ranked.passed > 0)
    };
    core.iter().map(|&place| steps_of(&conclusion.ranked[place])).any(|longer| match longer[..] {
        [a, b, c] => steps == [b, c] && in_passing(b, a) || steps == [a, b] && in_passing(c, b),
        _ => false,
    })
}
