//! UNICORN mode: pairs are combined to patterns.
//!
//! Takes   the list of pairs of one process.      Gives  every pattern once.
//! Cost    one hash look-up per pattern that occurs; where threads are many, few pairs are even looked at.
//!
//! Only two pairs over the same two threads that go opposite ways can make a pattern. So from each pair we
//! follow a chain of the pairs that go the opposite way, up to the pair window. The chains are made on
//! the way, by walking through the list from its end.

use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;

use crate::access_pairs::{AccessId, Pair, PairList, WindowWalk};

use super::catalogue::{Arrangement, PatternId, of_two_pairs};
use super::falcon;
use super::fixed::Fixed;
use super::found::Found;

/// A pair as far as combining needs it.
struct Link {
    pair: Pair,
    pattern: PatternId,
    /// Number of its pattern and sites: pairs with the same number look alike.
    alike: u32,
    /// The next pair by the same threads in the same direction.
    next: u32,
}

const NONE: u32 = u32::MAX;

/// A bound on memory: a process with more kinds of patterns than this is far from a test that fails now and then.
const MOST_PATTERNS: usize = 2_000_000;

/// What all pairs of a process make.
pub struct Combined {
    pub found: Vec<Found>,
    /// Occurrences of further patterns, which did not fit.
    pub left_out: u64,
}

/// Finds the patterns of all pairs; `site_of` gives the number of an access's site.
pub fn combine(
    list: &PairList,
    walk: &WindowWalk,
    fixed: Fixed<'_>,
    pair_window: u32,
    site_of: impl Fn(AccessId) -> u32,
) -> Combined {
    let mut combiner = Combiner::new(list, walk, fixed, site_of);
    combiner.single_pairs();
    combiner.two_pairs(pair_window);
    let summaries = combiner.summaries.into_values();
    let found = summaries.map(|summary| summary.found(&combiner.links, list)).collect();
    Combined { found, left_out: combiner.left_out }
}

struct Combiner<'l> {
    list: &'l PairList,
    fixed: Fixed<'l>,
    links: Vec<Link>,
    /// For each pair the number of the threads and the direction, and the same for the opposite direction.
    ways: Vec<[u32; 2]>,
    way_count: usize,
    summaries: FxHashMap<u64, Summary>,
    left_out: u64,
}

impl<'l> Combiner<'l> {
    fn new(
        list: &'l PairList,
        walk: &'l WindowWalk,
        fixed: Fixed<'l>,
        site_of: impl Fn(AccessId) -> u32,
    ) -> Combiner<'l> {
        let mut alike: FxHashMap<(PatternId, u32, u32), u32> = FxHashMap::default();
        let mut ways: FxHashMap<(ThreadId, ThreadId), u32> = FxHashMap::default();
        let mut combiner = Combiner {
            list,
            fixed,
            links: Vec::with_capacity(list.pairs.len()),
            ways: Vec::with_capacity(list.pairs.len()),
            way_count: 0,
            summaries: FxHashMap::default(),
            left_out: 0,
        };
        for pair in list.pairs.iter().filter(|pair| !fixed.is_fixed_pair(pair)) {
            let (first, second) = (walk.accesses.get(pair.first), walk.accesses.get(pair.second));
            let pattern = falcon::pair(first, second).unwrap_or(PatternId::P3);
            let key = (pattern, site_of(pair.first), site_of(pair.second));
            let next_number = alike.len() as u32;
            let alike = *alike.entry(key).or_insert(next_number);
            combiner.links.push(Link { pair: *pair, pattern, alike, next: NONE });
            let mut way = |from, to| {
                let next_number = ways.len() as u32;
                *ways.entry((from, to)).or_insert(next_number)
            };
            let there_and_back =
                [way(first.thread, second.thread), way(second.thread, first.thread)];
            combiner.ways.push(there_and_back);
        }
        combiner.way_count = ways.len();
        combiner
    }

    fn single_pairs(&mut self) {
        for at in 0..self.links.len() {
            let link = &self.links[at];
            let hit = Hit {
                pattern: link.pattern,
                arrangement: None,
                links: [at as u32, at as u32],
                complete_at: link.pair.second_rank,
                access_window: link.pair.window,
                pair_distance: 0,
            };
            let key = key_of(link.pattern, link.alike, 0);
            self.note(key, hit);
        }
    }

    fn two_pairs(&mut self, pair_window: u32) {
        let mut latest = vec![NONE; self.way_count];
        for at in (0..self.links.len()).rev() {
            let [there, back] = self.ways[at];
            self.combine_with_chain(at, latest[back as usize], pair_window);
            self.links[at].next = std::mem::replace(&mut latest[there as usize], at as u32);
        }
    }

    fn combine_with_chain(&mut self, at: usize, mut other: u32, pair_window: u32) {
        let last = (at as u32).saturating_add(pair_window);
        while other <= last && other != NONE {
            let (first, second) = (&self.links[at], &self.links[other as usize]);
            if let Some((pattern, arrangement)) = self.pattern_of(first, second) {
                let hit = Hit {
                    pattern,
                    arrangement: Some(arrangement),
                    links: [at as u32, other],
                    complete_at: first.pair.second_rank.max(second.pair.second_rank),
                    access_window: first.pair.window.max(second.pair.window),
                    pair_distance: other - at as u32 + 1,
                };
                let key = key_of(pattern, first.alike, second.alike);
                self.note(key, hit);
            }
            other = self.links[other as usize].next;
        }
    }

    /// The pattern of two pairs that go opposite ways, of which `first` begins first.
    fn pattern_of(&self, first: &Link, second: &Link) -> Option<(PatternId, Arrangement)> {
        let arrangement = self.arrangement(&first.pair, &second.pair)?;
        let may_tear = match arrangement {
            Arrangement::Shared => {
                self.fixed.may_tear([first.pair.first, first.pair.second, second.pair.second])
            }
            _ => self.fixed.may_tear_two(ends(&first.pair), ends(&second.pair)),
        };
        if !may_tear {
            return None;
        }
        let pattern = of_two_pairs(first.pattern, second.pattern, arrangement)?;
        self.fixed.may_be(pattern).then_some((pattern, arrangement))
    }

    fn arrangement(&self, first: &Pair, second: &Pair) -> Option<Arrangement> {
        if self.list.common_location(first, second).is_some() {
            // What edges show of one variable is known by torn rows.
            let is_shown = !first.at_edge && !second.at_edge;
            return (first.second == second.first && is_shown).then_some(Arrangement::Shared);
        }
        Some(if first.second_rank <= second.first_rank {
            Arrangement::InTurn
        } else if first.second_rank < second.second_rank {
            Arrangement::Crossed
        } else {
            Arrangement::Inside
        })
    }

    fn note(&mut self, key: u64, hit: Hit) {
        let is_full = self.summaries.len() >= MOST_PATTERNS;
        match self.summaries.entry(key) {
            Entry::Occupied(mut known) => known.get_mut().add(hit),
            Entry::Vacant(_) if is_full => self.left_out += 1,
            Entry::Vacant(new) => {
                new.insert(Summary { best: hit, count: 1 });
            }
        }
    }
}

fn ends(pair: &Pair) -> [AccessId; 2] {
    [pair.first, pair.second]
}

/// Pattern and both pairs in one word. There are fewer kinds of pairs than pairs, and not 2^29 pairs in any memory.
fn key_of(pattern: PatternId, first: u32, second: u32) -> u64 {
    u64::from(pattern.number()) << 58 | u64::from(first) << 29 | u64::from(second)
}

/// One occurrence.
#[derive(Clone, Copy)]
struct Hit {
    pattern: PatternId,
    arrangement: Option<Arrangement>,
    links: [u32; 2],
    complete_at: u32,
    access_window: u32,
    pair_distance: u32,
}

/// All occurrences of one pattern.
struct Summary {
    /// The links of the one that was complete first; the smallest windows of all.
    best: Hit,
    count: u64,
}

impl Summary {
    fn add(&mut self, hit: Hit) {
        let access_window = self.best.access_window.min(hit.access_window);
        let pair_distance = self.best.pair_distance.min(hit.pair_distance);
        // Among those complete at the same access, the one that is looked at last stands for all.
        if hit.complete_at <= self.best.complete_at {
            self.best = hit;
        }
        self.best.access_window = access_window;
        self.best.pair_distance = pair_distance;
        self.count += 1;
    }

    fn found(&self, links: &[Link], list: &PairList) -> Found {
        let [first, second] = self.best.links.map(|at| &links[at as usize].pair);
        let accesses = match self.best.arrangement {
            Some(arrangement) => arrangement.in_order(ends(first), ends(second)),
            None => [Some(first.first), Some(first.second), None, None],
        };
        let locations = match list.common_location(first, second) {
            Some(common) => [common, common],
            None => [first.location, second.location],
        };
        Found {
            pattern: self.best.pattern,
            accesses,
            locations,
            count: self.count,
            access_window: self.best.access_window,
            pair_distance: self.best.pair_distance,
            complete_at: self.best.complete_at,
        }
    }
}
