//! Orders that a process did not show, but might have.
//!
//! Takes   its pairs, the gaps that nobody came into, and the locks held there.
//! Gives   pairs the other way round, and P4 to P8 over the gaps, each once, with accesses of the process as example.
//! Misses  patterns of two variables. A gap whose one example was closed by a lock, if it was open at another time.
//! Invents orders that conditions, barriers or the program's own flags forbid: only trying tells.

use rustc_hash::FxHashMap;

use crate::access_pairs::{AccessId, PairList, UntornRows, WindowWalk};
use crate::locks_held::HeldLock;

use super::catalogue::MOST_STEPS;
use super::falcon::{pair as pair_of, triple};
use super::found::{Found, FoundMap, Identity, add};

/// The pairs that starting and joining threads does not keep in their order, turned round. `sites` are those of all accesses.
pub fn turned_pairs(list: &PairList, walk: &WindowWalk, sites: &[u32]) -> Vec<(Identity, Found)> {
    let Some(threads) = walk.untorn.as_ref().map(UntornRows::threads) else { return Vec::new() };
    let mut turned = FoundMap::default();
    for pair in &list.pairs {
        let [first, second] = [pair.first, pair.second].map(|id| walk.accesses.get(id));
        let Some(pattern) = pair_of(second, first) else { continue };
        let site = |id: AccessId| sites[id.index()];
        let identity = Identity { pattern, sites: [site(pair.second), site(pair.first), 0, 0] };
        if threads.is_before(first, second) {
            continue;
        }
        let found = Found {
            pattern,
            accesses: [Some(pair.second), Some(pair.first), None, None],
            locations: [pair.location; 2],
            count: 1,
            access_window: 0,
            pair_distance: 0,
            complete_at: pair.second_rank,
        };
        add(&mut turned, identity, found);
    }
    in_order(turned)
}

/// The patterns that somebody in a gap would have made.
pub fn untorn_rows(rows: &UntornRows) -> Vec<Found> {
    let found = rows.found.values().filter_map(|untorn| {
        let [first, middle, last] = untorn.accesses.map(|id| rows.accesses.get(id));
        let mut accesses = [None; MOST_STEPS];
        accesses.iter_mut().zip(untorn.accesses).for_each(|(place, id)| *place = Some(id));
        Some(Found {
            pattern: triple(first, middle, last)?,
            accesses,
            locations: [untorn.location; 2],
            count: untorn.count,
            access_window: 0,
            pair_distance: 0,
            complete_at: 0,
        })
    });
    found.collect()
}

/// Whether a lock that the one thread keeps from its first access to its last, and that the other one needs, closes a gap.
pub fn is_kept_out<'h>(found: &Found, held_at: impl Fn(AccessId) -> &'h [HeldLock]) -> bool {
    let [Some(first), Some(middle), Some(last), None] = found.accesses else { return false };
    let is_kept = |lock: &&HeldLock| {
        held_at(last).iter().any(|later| later.acquisition == lock.acquisition)
    };
    let excludes = |lock: &HeldLock| {
        let needed = held_at(middle).iter().filter(|needed| needed.lock == lock.lock);
        needed.into_iter().any(|needed| !(needed.shared && lock.shared))
    };
    held_at(first).iter().filter(is_kept).any(excludes)
}

fn in_order(found: FxHashMap<Identity, Found>) -> Vec<(Identity, Found)> {
    let mut found: Vec<_> = found.into_iter().collect();
    found.sort_unstable_by_key(|(identity, _)| *identity);
    found
}
