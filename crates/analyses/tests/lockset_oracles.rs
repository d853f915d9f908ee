//! The lockset detector against a naive one: sets of locks as sets, the history of each byte gone through again at every access.

mod racing;

use std::collections::{BTreeSet, HashSet};

use proptest::prelude::*;
use racing::{Deed, SitePair, Step, life_at, sorted, traces};
use unpick_analyses::races_lockset::races;

fn found(steps: &[Step]) -> BTreeSet<SitePair> {
    racing::site_pairs(steps, |recording| races(recording, recording))
}

/// A lock, or `None` for what all atomic accesses have in common.
type Locks = HashSet<Option<u8>>;

/// The locks that protect an access.
fn locks_at(steps: &[Step], at: usize) -> Locks {
    let step = &steps[at];
    let mut held: Vec<(u8, bool)> = Vec::new();
    for earlier in steps[..at].iter().filter(|earlier| earlier.thread == step.thread) {
        match earlier.deed {
            Deed::Lock { lock, shared } => held.push((lock, shared)),
            Deed::Unlock { lock, .. } => held.retain(|(other, _)| *other != lock),
            _ => {}
        }
    }
    let protecting = held.into_iter().filter(|(_, shared)| !(step.writes() && *shared));
    let atomic = step.is_atomic().then_some(None);
    protecting.map(|(lock, _)| Some(lock)).chain(atomic).collect()
}

/// Whether a step comes after another by creations and joins alone.
fn is_after(steps: &[Step], first: usize, second: usize) -> bool {
    if steps[first].thread == steps[second].thread {
        return true;
    }
    (first + 1..=second).any(|between| {
        let joins = steps[between].deed == Deed::Join(steps[first].thread);
        joins && is_after(steps, between, second)
    }) || (first..second).any(|between| {
        let Deed::Create(thread) = steps[between].deed else { return false };
        let from = steps[between].thread == steps[first].thread;
        let began = (between + 1..=second).find(|&at| steps[at].thread == thread);
        from && began.is_some_and(|began| is_after(steps, began, second))
    })
}

/// What is unprotected at the last of these accesses to a byte, given all of them in order: the pair that is reported.
fn report(steps: &[Step], accesses: &[usize]) -> Option<(usize, usize)> {
    let last = *accesses.last()?;
    let mut known: Vec<usize> = Vec::new();
    let (mut is_shared, mut is_modified) = (false, false);
    let mut candidates: Option<Locks> = None;
    for &at in accesses {
        let thread = steps[at].thread;
        let is_other = |&&other: &&usize| steps[other].thread != thread;
        let has_others = known.iter().any(|other| is_other(&other));
        if has_others && known.iter().all(|&other| is_after(steps, other, at)) {
            known.retain(|&other| steps[other].thread == thread);
            (is_shared, is_modified, candidates) = (false, false, None);
        } else if has_others {
            is_shared = true;
        }
        if is_shared {
            is_modified |= steps[at].writes();
            let locks = locks_at(steps, at);
            candidates = Some(match candidates {
                Some(before) => before.intersection(&locks).copied().collect(),
                None => locks,
            });
        }
        if at == last {
            break;
        }
        let told = |at: usize| (steps[at].thread, steps[at].writes());
        known.retain(|&other| told(other) != told(at));
        known.push(at);
    }
    let is_unprotected = is_shared && is_modified && candidates.is_some_and(|left| left.is_empty());
    let in_conflict = |other: &&usize| {
        let (one, two) = (&steps[**other], &steps[last]);
        one.thread != two.thread
            && (one.writes() || two.writes())
            && !(one.is_atomic() && two.is_atomic())
    };
    let in_conflict: Vec<usize> = known.iter().rev().filter(in_conflict).copied().collect();
    let mine = locks_at(steps, last);
    let without_lock = in_conflict.iter().find(|&&other| locks_at(steps, other).is_disjoint(&mine));
    let partner = without_lock.or(in_conflict.first()).filter(|_| is_unprotected)?;
    Some((*partner, last))
}

fn expected(steps: &[Step]) -> BTreeSet<SitePair> {
    let lives = life_at(steps);
    let mut pairs = BTreeSet::new();
    for byte in 0..racing::VARIABLE_BYTES {
        let touches =
            |step: &Step| step.access().is_some_and(|(_, bytes, _)| bytes.contains(&byte));
        for life in 0..=lives.last().copied().unwrap_or(0) {
            let is_here = |&at: &usize| lives[at] == life && touches(&steps[at]);
            let accesses: Vec<usize> = (0..steps.len()).filter(is_here).collect();
            let reports =
                (1..=accesses.len()).filter_map(|count| report(steps, &accesses[..count]));
            pairs.extend(reports.map(|(one, two)| sorted([steps[one].site, steps[two].site])));
        }
    }
    pairs
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn numbered_sets_find_what_sets_find(steps in traces()) {
        prop_assert_eq!(found(&steps), expected(&steps));
    }
}

#[test]
fn the_generator_makes_traces_with_and_without_reports() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let reported = (0..300)
        .filter(|_| !expected(&traces().new_tree(&mut runner).unwrap().current()).is_empty())
        .count();
    assert!((30..270).contains(&reported), "{reported} of 300 are reported");
}
