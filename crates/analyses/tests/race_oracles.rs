//! The happens-before detector against a naive one: all orders as a graph, all pairs of accesses compared.

mod racing;

use std::collections::BTreeSet;

use proptest::prelude::*;
use racing::{AccessKind, Deed, SitePair, Step, hand_overs, life_at, record, sorted, traces};
use unpick_analyses::races::RacingPair;
use unpick_analyses::races_happens_before::races;
use unpick_analyses::races_lockset;
use unpick_analyses::races_multi_variable::{
    AccessType, Correlations, Rule, TornUnit, Tracked, torn_units,
};
use unpick_events::{MemoryOrder, Site};

fn found(steps: &[Step]) -> BTreeSet<SitePair> {
    racing::site_pairs(steps, |recording| races(recording, recording))
}

fn acquires(order: MemoryOrder) -> bool {
    use MemoryOrder::*;
    matches!(order, Acquire | AcquireRelease | SequentiallyConsistent)
}

fn releases(order: MemoryOrder) -> bool {
    use MemoryOrder::*;
    matches!(order, Release | AcquireRelease | SequentiallyConsistent)
}

/// For each step, whether each earlier one comes before it.
struct Before(Vec<Vec<bool>>);

impl Before {
    fn of(steps: &[Step]) -> Before {
        let mut before: Vec<Vec<bool>> = Vec::new();
        for at in 0..steps.len() {
            let mut own = vec![false; at];
            for earlier in 0..at {
                if is_ordered_directly(steps, earlier, at) {
                    own[earlier] = true;
                    for (place, is) in before[earlier].iter().enumerate() {
                        own[place] |= is;
                    }
                }
            }
            before.push(own);
        }
        Before(before)
    }

    /// The firm order: locks count only where something is handed over, or where a section began before by other means.
    fn firmly(steps: &[Step]) -> Before {
        let mut before: Vec<Vec<bool>> = Vec::new();
        for at in 0..steps.len() {
            let mut own = vec![false; at];
            let take_in = |own: &mut Vec<bool>, earlier: usize| {
                own[earlier] = true;
                for (place, is) in before[earlier].iter().enumerate() {
                    own[place] |= is;
                }
            };
            let is_hard = |earlier: &usize| {
                let locks = matches!(steps[*earlier].deed, Deed::Unlock { .. });
                let locks = locks && matches!(steps[at].deed, Deed::Lock { .. });
                let is_own = steps[*earlier].thread == steps[at].thread;
                (is_own || !locks) && is_ordered_directly(steps, *earlier, at)
            };
            (0..at).filter(is_hard).for_each(|earlier| take_in(&mut own, earlier));
            let known = own.clone();
            let hands_over = |earlier: &usize| hands_over(steps, &known, *earlier, at);
            (0..at).filter(hands_over).for_each(|earlier| take_in(&mut own, earlier));
            before.push(own);
        }
        Before(before)
    }

    fn is(&self, first: usize, second: usize) -> bool {
        first < second && self.0[second][first]
    }

    /// Whether a step comes before another, whatever that one itself finds: its thread knew of it just before.
    fn is_known_before(&self, steps: &[Step], first: usize, second: usize) -> bool {
        let is_own = |step: &Step| {
            step.thread == steps[second].thread || step.deed == Deed::Create(steps[second].thread)
        };
        let mut own = (0..second).filter(|&at| is_own(&steps[at]));
        own.any(|at| at == first || self.is(first, at))
    }

    /// The same of a unit's first access, which the step may not be in conflict with: then what it finds counts.
    fn is_decided_at_unit(&self, steps: &[Step], remote: usize, first: usize) -> bool {
        let variable = |at: usize| steps[at].access().map(|(_, bytes, _)| bytes.start >= 8);
        let is_under_one_lock = [0, 1]
            .into_iter()
            .any(|lock| self.common_section(steps, remote, first, lock).is_some());
        match variable(remote) == variable(first) || is_under_one_lock {
            true => self.is_decided(steps, remote, first),
            false => self.is(remote, first),
        }
    }

    /// Where the later step's section of a lock begins, if the earlier one is in a section that keeps it out.
    fn common_section(
        &self,
        steps: &[Step],
        first: usize,
        second: usize,
        lock: u8,
    ) -> Option<usize> {
        let [(_, shared), (begin, with_others)] =
            [section_at(steps, first, lock)?, section_at(steps, second, lock)?];
        (!(shared && with_others)).then_some(begin)
    }

    /// As above; but of two steps under one lock the whole section of the later one is asked about.
    fn is_decided(&self, steps: &[Step], first: usize, second: usize) -> bool {
        let begins =
            [0, 1].into_iter().filter_map(|lock| self.common_section(steps, first, second, lock));
        match begins.min() {
            Some(begin) => self.is(first, begin),
            None => self.is_known_before(steps, first, second),
        }
    }
}

/// Where the section of a lock begins that a step is in, and whether others may read at the same time.
fn section_at(steps: &[Step], at: usize, lock: u8) -> Option<(usize, bool)> {
    let own = (0..at).rev().filter(|&earlier| steps[earlier].thread == steps[at].thread);
    let mut changes = own.filter_map(|earlier| match steps[earlier].deed {
        Deed::Lock { lock: its, shared } if its == lock => Some(Some((earlier, shared))),
        Deed::Unlock { lock: its, .. } if its == lock => Some(None),
        _ => None,
    });
    changes.next().flatten()
}

/// Whether the section that a step ends comes before another step, which knows this much by other means.
fn hands_over(steps: &[Step], known: &[bool], end: usize, at: usize) -> bool {
    let Deed::Unlock { lock, shared } = steps[end].deed else { return false };
    let begins = |step: &Step, thread| {
        step.thread == thread && matches!(step.deed, Deed::Lock { lock: its, .. } if its == lock)
    };
    let Some(begin) = steps[..end].iter().rposition(|step| begins(step, steps[end].thread)) else {
        return false;
    };
    match steps[at].deed {
        Deed::Lock { lock: its, shared: with_others } => {
            its == lock && !(shared && with_others) && known[begin]
        }
        Deed::Access { .. } => {
            let own = steps[..at].iter().rposition(|step| begins(step, steps[at].thread));
            let is_open = |own: &usize| {
                let ends = |step: &Step| matches!(step.deed, Deed::Unlock { lock: its, .. } if its == lock);
                !steps[*own..at].iter().any(|step| step.thread == steps[at].thread && ends(step))
            };
            let Some(own) = own.filter(is_open) else { return false };
            let with_others = matches!(steps[own].deed, Deed::Lock { shared: true, .. });
            let lives = life_at(steps);
            let meets = |&inside: &usize| {
                steps[inside].thread == steps[end].thread
                    && lives[inside] == lives[at]
                    && touch(&steps[inside], &steps[at])
            };
            !(shared && with_others) && (begin..end).any(|inside| meets(&inside))
        }
        _ => false,
    }
}

/// Whether two accesses of different threads have bytes in common, and one writes.
fn touch(one: &Step, two: &Step) -> bool {
    let (Some((_, a, _)), Some((_, b, _))) = (one.access(), two.access()) else { return false };
    one.thread != two.thread && (one.writes() || two.writes()) && a.start < b.end && b.start < a.end
}

fn is_ordered_directly(steps: &[Step], first: usize, second: usize) -> bool {
    let (one, two) = (&steps[first], &steps[second]);
    if one.thread == two.thread {
        return true;
    }
    match (one.deed, two.deed) {
        (Deed::Unlock { lock: a, shared: given_shared }, Deed::Lock { lock: b, shared }) => {
            a == b && !(given_shared && shared)
        }
        (Deed::Post, Deed::Wait) | (Deed::Before, Deed::After) | (Deed::Done, Deed::Done) => true,
        (Deed::Create(thread), _) if thread == two.thread => true,
        (_, Deed::Join(thread)) if thread == one.thread => true,
        (Deed::Arrive, Deed::Leave) => round(steps, first) == round(steps, second),
        _ => synchronises(steps, first, second),
    }
}

/// Which use of the barrier by its thread a step is: two threads use it, so they go round by round.
fn round(steps: &[Step], at: usize) -> usize {
    let same = |step: &&Step| step.thread == steps[at].thread && step.deed == steps[at].deed;
    steps[..at].iter().filter(same).count()
}

/// Atomics and fences: `first` releases (or is a release fence), `second` acquires (or is an acquire fence), and a read of the
/// one finds a value of a release sequence of the other.
fn synchronises(steps: &[Step], first: usize, second: usize) -> bool {
    let reads = (0..=second).filter(|&read| takes_effect_at(steps, read, second));
    reads.into_iter().any(|read| {
        release_sequences(steps, read)
            .into_iter()
            .any(|write| is_given_by(steps, write, first) && first < second)
    })
}

/// Whether what an atomic read finds is acquired at a step: at itself, or at a fence after it.
fn takes_effect_at(steps: &[Step], read: usize, at: usize) -> bool {
    let Some((kind, _, Some(order))) = steps[read].access() else { return false };
    if kind == AccessKind::Write || steps[read].thread != steps[at].thread {
        return false;
    }
    match steps[at].deed {
        Deed::Fence(fence) => acquires(fence),
        _ => read == at && acquires(order),
    }
}

/// Whether the release of an atomic write is a step: itself, or a fence before it.
fn is_given_by(steps: &[Step], write: usize, at: usize) -> bool {
    let Some((_, _, Some(order))) = steps[write].access() else { return false };
    match steps[at].deed {
        Deed::Fence(fence) => {
            at < write && steps[at].thread == steps[write].thread && releases(fence)
        }
        _ => at == write && releases(order),
    }
}

/// The atomic writes whose release sequence has the value that an atomic read finds: the write it reads, and, as long as that
/// is an update, the one before it.
fn release_sequences(steps: &[Step], read: usize) -> Vec<usize> {
    let mut heads = Vec::new();
    let mut at = read;
    while let Some(write) = atomic_write_before(steps, at) {
        heads.push(write);
        let is_update = steps[write].access().is_some_and(|(kind, ..)| kind == AccessKind::Update);
        if !is_update {
            break;
        }
        at = write;
    }
    heads
}

/// The last atomic write to the same bytes; none in an earlier life of theirs.
fn atomic_write_before(steps: &[Step], at: usize) -> Option<usize> {
    let bytes = steps[at].access()?.1;
    for earlier in (0..at).rev() {
        if steps[earlier].deed == Deed::Gone {
            return None;
        }
        let is_same = steps[earlier].access().is_some_and(|(_, other, _)| other == bytes);
        if is_same && steps[earlier].is_atomic() && steps[earlier].writes() {
            return Some(earlier);
        }
    }
    None
}

fn conflict(one: &Step, two: &Step) -> bool {
    one.thread != two.thread
        && (one.writes() || two.writes())
        && !(one.is_atomic() && two.is_atomic())
}

fn touches(step: &Step, byte: u64) -> bool {
    step.access().is_some_and(|(_, bytes, _)| bytes.contains(&byte))
}

/// All pairs of accesses to a byte that nothing orders.
fn unordered_pairs(steps: &[Step]) -> Vec<(u64, usize, usize)> {
    let (before, lives) = (Before::of(steps), life_at(steps));
    let mut pairs = Vec::new();
    for byte in 0..racing::VARIABLE_BYTES {
        let accesses: Vec<usize> =
            (0..steps.len()).filter(|&at| touches(&steps[at], byte)).collect();
        for (place, &second) in accesses.iter().enumerate() {
            for &first in &accesses[..place] {
                let is_race = lives[first] == lives[second]
                    && conflict(&steps[first], &steps[second])
                    && !before.is(first, second);
                if is_race {
                    pairs.push((byte, first, second));
                }
            }
        }
    }
    pairs
}

/// Those of which the earlier access is not followed by one that conflicts with as much and comes after it.
fn leading_pairs(steps: &[Step]) -> BTreeSet<SitePair> {
    let before = Before::of(steps);
    let covers = |one: &Step, earlier: &Step| {
        (one.writes() || !earlier.writes()) && (!one.is_atomic() || earlier.is_atomic())
    };
    unordered_pairs(steps)
        .into_iter()
        .filter(|&(byte, first, second)| {
            !(first + 1..second).any(|between| {
                touches(&steps[between], byte)
                    && covers(&steps[between], &steps[first])
                    && before.is(first, between)
            })
        })
        .map(|(_, first, second)| sorted([steps[first].site, steps[second].site]))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn epochs_find_what_the_graph_of_all_orders_finds(steps in traces()) {
        prop_assert_eq!(found(&steps), leading_pairs(&steps));
    }

    #[test]
    fn a_trace_with_any_unordered_pair_has_a_leading_one(steps in traces()) {
        prop_assert_eq!(found(&steps).is_empty(), unordered_pairs(&steps).is_empty());
    }
}

#[test]
fn the_generator_makes_traces_with_and_without_races() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let racy = (0..300)
        .filter(|_| !unordered_pairs(&traces().new_tree(&mut runner).unwrap().current()).is_empty())
        .count();
    assert!((30..270).contains(&racy), "{racy} of 300 are racy");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn firm_is_what_a_graph_of_hand_overs_says(steps in traces()) {
        assert_firm_as_in_graph(&steps)?;
    }

    #[test]
    fn so_it_is_where_little_but_hand_overs_orders_and_code_is_run_again_and_again(steps in hand_overs()) {
        assert_firm_as_in_graph(&steps)?;
    }
}

fn assert_firm_as_in_graph(steps: &[Step]) -> Result<(), TestCaseError> {
    let recording = record(steps);
    let unlocked = races_lockset::races(&recording, &recording).into_pairs();
    let unordered = races(&recording, &recording).into_pairs();
    let mut pairs: Vec<_> = unlocked.iter().chain(&unordered).collect();
    let sites = |pair: &&RacingPair| sorted([pair.first.site.0, pair.second.site.0]);
    pairs.sort_by_key(sites);
    pairs.dedup_by_key(|pair| sites(pair));
    let loose = loose_pairs(steps);
    for (pair, firmness) in
        pairs.iter().zip(races_lockset::firmness(&recording, &recording, &pairs))
    {
        prop_assert_eq!(loose.contains(&sites(pair)), firmness.is_loose, "{:?}", pair);
    }
    Ok(())
}

#[test]
fn hand_overs_leave_some_pairs_loose_and_order_others() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut loose, mut firm) = (0, 0);
    for _ in 0..300 {
        let steps = hand_overs().new_tree(&mut runner).unwrap().current();
        let recording = record(&steps);
        let pairs = races_lockset::races(&recording, &recording).into_pairs();
        let is_loose = loose_pairs(&steps);
        for pair in pairs {
            let is = is_loose.contains(&sorted([pair.first.site.0, pair.second.site.0]));
            *if is { &mut loose } else { &mut firm } += 1;
        }
    }
    assert!(loose >= 100 && firm >= 100, "{loose} loose, {firm} firm");
}

/// The places whose accesses nothing orders firmly, at least once.
fn loose_pairs(steps: &[Step]) -> BTreeSet<SitePair> {
    let (firm, lives) = (Before::firmly(steps), life_at(steps));
    let meet = |first: usize, second: usize| {
        conflict(&steps[first], &steps[second])
            && lives[first] == lives[second]
            && touch(&steps[first], &steps[second])
    };
    let pairs = (0..steps.len()).flat_map(|second| (0..second).map(move |first| (first, second)));
    pairs
        .filter(|&(first, second)| meet(first, second) && !firm.is(first, second))
        .map(|(first, second)| sorted([steps[first].site, steps[second].site]))
        .collect()
}

/// The bytes from 8 on belong to those before.
fn torn(steps: &[Step]) -> Vec<TornUnit> {
    let variable = |step: &Step| Some((Site(step.site), u32::from(step.access()?.1.start >= 8)));
    let sides = [(0, AccessType::Any), (1, AccessType::Any)];
    let correlations = Correlations {
        variable_at: steps.iter().filter_map(variable).collect(),
        rules: vec![Rule { sides, of_one_object: true }],
    };
    let recording = record(steps);
    torn_units(&recording, &recording, &correlations)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_torn_unit_is_loose_if_no_graph_puts_the_other_access_before_or_after_it(steps in traces()) {
        let (before, firm) = (Before::of(&steps), Before::firmly(&steps));
        let place = |one: &Tracked| steps.iter().position(|step| step.site == one.access.site.0).unwrap();
        for torn in torn(&steps) {
            let [first, second, remote] = [&torn.first, &torn.second, &torn.remote].map(place);
            let is_ordered = before.is(remote, first) || before.is(second, remote);
            prop_assert_eq!(torn.unordered, !is_ordered, "{:?}", torn);
            let is_firm = firm.is_decided_at_unit(&steps, remote, first) || firm.is_decided(&steps, second, remote);
            let is_loose = torn.unlocked && !torn.unordered && !is_firm;
            prop_assert_eq!(torn.firmness.is_loose, is_loose, "{:?}", torn);
            let has_step = torn.unlocked && !torn.unordered && is_firm;
            prop_assert_eq!(torn.firmness.ordered_by.is_some(), has_step, "{:?}", torn);
        }
    }
}

#[test]
fn the_generator_makes_torn_units_that_are_loose_and_others_that_are_firmly_ordered() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let all: Vec<TornUnit> =
        (0..300).flat_map(|_| torn(&traces().new_tree(&mut runner).unwrap().current())).collect();
    let loose = all.iter().filter(|torn| torn.firmness.is_loose).count();
    let firm = all.iter().filter(|torn| torn.firmness.ordered_by.is_some()).count();
    assert!(loose >= 30 && firm >= 30, "{loose} loose, {firm} firm");
}
