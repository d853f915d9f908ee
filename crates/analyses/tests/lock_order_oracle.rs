//! A slow second opinion on lock-order cycles: every choice of requests in every order, by the words of the definition.

mod locking;

use std::collections::BTreeSet;

use locking::{Deed, Step, order_of, places};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Sites are numbers of steps from 1, so a cycle is known by its places.
type Places = Vec<(u32, u32)>;

#[derive(Debug, Clone, Copy)]
struct Taken {
    lock: char,
    shared: bool,
    site: u32,
}

fn exclude(one: &Taken, other: &Taken) -> bool {
    one.lock == other.lock && !(one.shared && other.shared)
}

#[derive(Debug)]
struct Asked {
    step: usize,
    thread: u16,
    wanted: Taken,
    held: Vec<Taken>,
}

/// What a thread holds before a step, from the beginning.
fn held_before(steps: &[Step], at: usize) -> Vec<Taken> {
    let mut held: Vec<Taken> = Vec::new();
    for (step, site) in steps[..at].iter().zip(1..) {
        if step.thread != steps[at].thread {
            continue;
        }
        match step.deed {
            Deed::Lock(lock) | Deed::Try(lock) => held.push(Taken { lock, shared: false, site }),
            Deed::Read(lock) => held.push(Taken { lock, shared: true, site }),
            Deed::Unlock(lock) => {
                let last = held.iter().rposition(|taken| taken.lock == lock);
                last.map(|last| held.remove(last));
            }
            _ => {}
        }
    }
    held
}

fn asked(steps: &[Step]) -> Vec<Asked> {
    let ask = |at: usize| {
        let (lock, shared) = match steps[at].deed {
            Deed::Lock(lock) => (lock, false),
            Deed::Read(lock) => (lock, true),
            _ => return None,
        };
        let held = held_before(steps, at);
        let is_own = held.iter().any(|taken| taken.lock == lock);
        let wanted = Taken { lock, shared, site: at as u32 + 1 };
        let thread = steps[at].thread;
        (!held.is_empty() && !is_own).then_some(Asked { step: at, thread, wanted, held })
    };
    (0..steps.len()).filter_map(ask).collect()
}

/// Which steps come before which in every run: by thread, by its start and by its end, and all that follows.
fn always_before(steps: &[Step]) -> Vec<Vec<bool>> {
    let count = steps.len();
    let mut before = vec![vec![false; count]; count];
    for first in 0..count {
        for then in first + 1..count {
            let (one, other) = (steps[first], steps[then]);
            // A thread of which nothing else is known was started before it was joined.
            let is_whole_life = matches!((one.deed, other.deed),
                (Deed::Create(started), Deed::Join(joined)) if started == joined);
            before[first][then] = is_whole_life
                || one.thread == other.thread
                || one.deed == Deed::Create(other.thread)
                || other.deed == Deed::Join(one.thread);
        }
    }
    for by in 0..count {
        for first in 0..count {
            for then in 0..count {
                before[first][then] |= before[first][by] && before[by][then];
            }
        }
    }
    before
}

fn can_be_open_together(one: &Asked, other: &Asked, before: &[Vec<bool>]) -> bool {
    let share_a_lock = one.held.iter().any(|held| other.held.iter().any(|h| exclude(held, h)));
    one.thread != other.thread
        && one.wanted.lock != other.wanted.lock
        && !share_a_lock
        && !before[one.step][other.step]
        && !before[other.step][one.step]
}

/// If each asks for what the next one holds.
fn places_of(chosen: &[&Asked]) -> Option<Places> {
    let place = |at: usize| {
        let before = chosen[(at + chosen.len() - 1) % chosen.len()];
        let taken = chosen[at].held.iter().find(|held| exclude(held, &before.wanted))?;
        Some((taken.site, chosen[at].wanted.site))
    };
    let places: Places = (0..chosen.len()).map(place).collect::<Option<_>>()?;
    let rotated = |by: usize| [&places[by..], &places[..by]].concat();
    (0..places.len()).map(rotated).min()
}

fn extend<'a>(
    chosen: &mut Vec<&'a Asked>,
    all: &'a [Asked],
    before: &[Vec<bool>],
    found: &mut BTreeSet<Places>,
) {
    if chosen.len() > 1 {
        found.extend(places_of(chosen));
    }
    for one in all {
        if chosen.iter().all(|other| can_be_open_together(one, other, before)) {
            chosen.push(one);
            extend(chosen, all, before, found);
            chosen.pop();
        }
    }
}

fn naive(steps: &[Step]) -> BTreeSet<Places> {
    let mut found = BTreeSet::new();
    extend(&mut Vec::new(), &asked(steps), &always_before(steps), &mut found);
    found
}

const LOCKS: [char; 4] = ['a', 'b', 'c', 'd'];

/// Thread 1 is there from the beginning; others are started, take and release locks, and are joined.
fn trace() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec((0..5_u16, 0..12_u8, 0..4_usize), 1..60).prop_map(|choices| {
        let mut state = [State::Unborn; 5];
        state[0] = State::Alive;
        let mut steps: Vec<Step> = Vec::new();
        for (thread, deed, lock) in choices {
            let other = (lock as u16 + 1) % 5;
            let lock = LOCKS[lock];
            if state[usize::from(thread)] != State::Alive {
                continue;
            }
            let deed = match (deed, state[usize::from(other)]) {
                (0..=4, _) => Deed::Lock(lock),
                (5..=6, _) => Deed::Read(lock),
                (7, _) => Deed::Try(lock),
                (8..=9, _) => Deed::Unlock(lock),
                (_, State::Unborn) => Deed::Create(other + 1),
                (11, State::Alive) if other != thread => Deed::Join(other + 1),
                _ => continue,
            };
            match deed {
                Deed::Create(_) => state[usize::from(other)] = State::Alive,
                Deed::Join(_) => state[usize::from(other)] = State::Joined,
                _ => {}
            }
            steps.push(Step { thread: thread + 1, deed });
        }
        steps
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Unborn,
    Alive,
    Joined,
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 700, rng_seed: RngSeed::Fixed(6), failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn cycles_are_those_that_every_choice_of_requests_shows(steps in trace()) {
        let order = order_of(&steps);
        let found: BTreeSet<Places> = order.cycles.iter().map(places).collect();
        prop_assert_eq!(found.len(), order.cycles.len());
        prop_assert_eq!(found, naive(&steps));
    }
}

#[test]
fn random_traces_have_cycles_of_two_and_of_more_threads() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::{Config, TestRunner};
    let mut runner = TestRunner::new(Config { rng_seed: RngSeed::Fixed(6), ..Config::default() });
    let mut lengths = BTreeSet::new();
    for _ in 0..500 {
        let steps = trace().new_tree(&mut runner).unwrap().current();
        lengths.extend(naive(&steps).iter().map(Vec::len));
    }
    assert!(lengths.contains(&2) && lengths.contains(&3), "{lengths:?}");
}
