//! Premature use: thread 2 takes what thread 1 has handed over, and goes on to a second variable before thread 1 has come there.
//!
//! Takes   the pairs of one process.      Returns  P9 and P12 whose second pair the access window does not show.
//! Misses  a second variable that thread 2 comes to later than after `MAX_STEPS` accesses that others met.
//! Cost    `MAX_STEPS` look-ups for each pair that begins with a write.
//!
//! A window shows neighbours: two accesses to a variable with nothing in between but a few others. That is right for the first variable, by which
//! the threads communicate. But to the second one other threads may come in the meantime: a client posts a request and enters it into a table
//! afterwards; the loop looks for it in the table, in vain; and before the client goes on, others add to the table and take from it. The two
//! accesses to the table are far apart, and no window shows that they are the wrong way round. So the second pair is looked for by what each thread does next.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::ThreadId;
use unpick_recording::Order;

use crate::access_pairs::{AccessId, LocationId, Pair, PairList, WindowWalk};

use super::catalogue::{Arrangement, of_two_pairs};
use super::falcon;
use super::fixed::Fixed;
use super::found::Found;

/// How far thread 2 is followed.
const MAX_STEPS: usize = 8;

/// An access to a location, by its thread.
type Visit = (Order, AccessId, LocationId);

/// The premature uses of a process, occurrence by occurrence.
pub fn premature_uses(
    list: &PairList,
    walk: &WindowWalk,
    fixed: &Fixed<'_>,
    ranks: &[u32],
) -> Vec<Found> {
    if walk.torn.is_none() {
        return Vec::new();
    }
    let threads = by_thread(list, walk);
    let search = Search { walk, fixed, ranks, pairs: list.pairs.len() as u32, threads };
    let pairs = list.pairs.iter().filter(|pair| !fixed.is_fixed_pair(pair));
    pairs.flat_map(|pair| search.uses_after(pair)).collect()
}

struct Search<'w> {
    walk: &'w WindowWalk,
    fixed: &'w Fixed<'w>,
    ranks: &'w [u32],
    /// How many there are.
    pairs: u32,
    /// What each thread did, in order.
    threads: FxHashMap<ThreadId, Vec<Visit>>,
}

impl Search<'_> {
    /// What thread 2 came to too early after it had taken what the pair hands over.
    fn uses_after(&self, handed: &Pair) -> Vec<Found> {
        let [first, taken] = [handed.first, handed.second].map(|id| self.walk.accesses.get(id));
        if !first.is_write() {
            return Vec::new();
        }
        let next = self.after(taken.thread, taken.order).iter().take(MAX_STEPS);
        let uses = next.filter(|(_, _, location)| *location != handed.location);
        uses.filter_map(|used| self.premature(handed, used)).collect()
    }

    fn premature(&self, handed: &Pair, &(used_at, used, location): &Visit) -> Option<Found> {
        let accesses = &self.walk.accesses;
        let first = accesses.get(handed.first);
        let later = self.after(first.thread, first.order).iter();
        // The first that thread 1 does there after it has handed over: whether that comes too late.
        let (made_at, made, _) = later.copied().find(|(_, _, other)| *other == location)?;
        let [use_, make] = [used, made].map(|id| accesses.get(id));
        let (hand_over, use_too_early) = ([handed.first, handed.second], [used, made]);
        let may_tear = self.fixed.may_tear_two(hand_over, use_too_early);
        if used_at >= made_at || !may_tear || self.fixed.is_fixed(used, made) {
            return None;
        }
        let pairs = [falcon::pair(first, accesses.get(handed.second))?, falcon::pair(use_, make)?];
        Some(Found {
            pattern: of_two_pairs(pairs[0], pairs[1], Arrangement::InTurn)?,
            accesses: Arrangement::InTurn.in_order(hand_over, use_too_early),
            locations: [handed.location, location],
            count: 1,
            access_window: handed.window,
            // Further apart than any window.
            pair_distance: self.pairs,
            complete_at: self.ranks[made.index()],
        })
    }

    /// What a thread did after a moment.
    fn after(&self, thread: ThreadId, moment: Order) -> &[Visit] {
        let visits = self.threads.get(&thread).map_or(&[][..], Vec::as_slice);
        &visits[visits.partition_point(|(order, ..)| *order <= moment)..]
    }
}

fn by_thread(list: &PairList, walk: &WindowWalk) -> FxHashMap<ThreadId, Vec<Visit>> {
    let ends = list
        .pairs
        .iter()
        .flat_map(|pair| [(pair.first, pair.location), (pair.second, pair.location)]);
    let distinct: FxHashSet<(AccessId, LocationId)> = ends.collect();
    let mut threads: FxHashMap<ThreadId, Vec<Visit>> = FxHashMap::default();
    for (id, location) in distinct {
        let access = walk.accesses.get(id);
        threads.entry(access.thread).or_default().push((access.order, id, location));
    }
    threads.values_mut().for_each(|visits| visits.sort_unstable());
    threads
}
