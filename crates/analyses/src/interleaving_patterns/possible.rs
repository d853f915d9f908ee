//! Orders that a process did not show, but might have.
//!
//! Takes   its pairs, the gaps that nobody came into, and the locks held there.
//! Gives   pairs the other way round, and P4 to P8 over the gaps, each once, with accesses of the process as example.
//! Misses  patterns of two variables. A gap whose one example was closed by a lock, if it was open at another time.
//! Invents gaps between code that is next to each other and never executed in a row; orders that conditions, barriers or the program's own flags forbid: only trying tells.

use rustc_hash::FxHashMap;
use unpick_events::access::PastKind;

use crate::access_pairs::{AccessId, PairList, UntornRows, WindowWalk};
use crate::locks_held::HeldLock;

use super::catalogue::{MOST_STEPS, PatternId};
use super::falcon::{pair as pair_of, triple_by_kind};
use super::found::{Found, FoundMap, Identity, add};
use super::result::CodeSite;

/// The pairs that starting and joining threads does not keep in their order, turned round. `sites` are those of all accesses.
pub fn turned_pairs(list: &PairList, walk: &WindowWalk, sites: &[u32]) -> Vec<(Identity, Found)> {
    let Some(threads) = walk.untorn.as_ref().map(UntornRows::threads) else { return Vec::new() };
    let mut turned = FoundMap::default();
    for pair in list.pairs_of_windows() {
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

/// Gaps that are supposed to be there, with the thread in them that was seen: of two threads at the same code the one has read where
/// the other, a little further on, has written; had it read before that, it would have come to the same write (P7). What the
/// writing thread read itself is often not known: of a thread's accesses nobody met before, a recording keeps the last read and write.
pub fn supposed_gaps(
    list: &PairList,
    walk: &WindowWalk,
    sites: &[u32],
    place_of: impl Fn(u32) -> CodeSite,
) -> Vec<(Identity, Found)> {
    let Some(threads) = walk.untorn.as_ref().map(UntornRows::threads) else { return Vec::new() };
    let mut supposed = FoundMap::default();
    for pair in list.pairs_of_windows() {
        // The other way round it has been read before it was written: the pattern is there, or the thread did not go on.
        let (write, read) = (pair.first, pair.second);
        let [writes, reads] = [write, read].map(|id| walk.accesses.get(id));
        let [write_site, read_site] = [write, read].map(|id| sites[id.index()]);
        let is_check = writes.kind == PastKind::Write
            && !reads.is_write()
            && is_a_little_further(place_of(read_site), place_of(write_site));
        if !is_check || threads.is_before(writes, reads) {
            continue;
        }
        let pattern = PatternId::P7;
        let identity = Identity { pattern, sites: [read_site, write_site, write_site, 0] };
        let found = Found {
            pattern,
            accesses: [Some(read), Some(write), Some(write), None],
            locations: [pair.location; 2],
            count: 1,
            access_window: 0,
            pair_distance: 0,
            complete_at: pair.second_rank,
        };
        add(&mut supposed, identity, found);
    }
    in_order(supposed)
}

/// Bytes of code: about one function.
const A_LITTLE: u64 = 1024;

fn is_a_little_further(from: CodeSite, to: CodeSite) -> bool {
    let distance = to.offset.checked_sub(from.offset);
    from.module.is_some()
        && from.module == to.module
        && distance.is_some_and(|distance| (1..=A_LITTLE).contains(&distance))
}

/// The patterns that somebody in a gap would have made.
pub fn untorn_rows(rows: &UntornRows) -> Vec<Found> {
    let found = rows.found.values().filter_map(|untorn| {
        let [first, middle, last] = untorn.accesses.map(|id| rows.accesses.get(id));
        let mut accesses = [None; MOST_STEPS];
        accesses.iter_mut().zip(untorn.accesses).for_each(|(place, id)| *place = Some(id));
        Some(Found {
            pattern: triple_by_kind(first, middle, last)?,
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
    let is_kept =
        |lock: &&HeldLock| held_at(last).iter().any(|later| later.acquisition == lock.acquisition);
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
