//! Races, one per pair of sites.
//!
//! Takes   occurrences: two accesses and their bytes.      Gives  each pair of sites once, with how often it raced and one example.
//! Cost    one look-up per occurrence.

use rustc_hash::FxHashMap;
use unpick_events::{Context, Site};
use unpick_recording::history::HeapBlock;

use super::access::RaceAccess;

/// Two accesses that nothing orders, or that no lock has in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RacingPair {
    /// In the order in which they were made in the example.
    pub first: RaceAccess,
    pub second: RaceAccess,
    /// Bytes they have in common.
    pub address: u64,
    pub length: u32,
    /// The heap block they are in.
    pub block: Option<HeapBlock>,
    pub count: u64,
}

/// Of a process. Nobody reads more of them.
const MOST_PAIRS: usize = 10_000;

/// The racing pairs of a process.
#[derive(Debug, Default)]
pub struct RacingPairs {
    places: FxHashMap<[Site; 2], usize>,
    pairs: Vec<RacingPair>,
    /// Occurrences that were left out because there were too many pairs; 0: complete.
    pub left_out: u64,
}

impl RacingPairs {
    /// Takes in an occurrence.
    pub fn add(
        &mut self,
        first: &RaceAccess,
        second: &RaceAccess,
        address: u64,
        length: u32,
        block_at: impl FnOnce(u64) -> Option<HeapBlock>,
    ) {
        let mut sites = [first.site, second.site];
        sites.sort_unstable();
        let place = self.places.get(&sites).copied();
        if place.is_none() && self.pairs.len() >= MOST_PAIRS {
            self.left_out += 1;
            return;
        }
        let known = place.map(|place| &mut self.pairs[place]);
        if let Some(known) = known {
            known.count += 1;
            if stacks_known(first, second) <= stacks_known(&known.first, &known.second) {
                return;
            }
        }
        let count = place.map_or(1, |place| self.pairs[place].count);
        let block = block_at(address);
        let pair = RacingPair { first: *first, second: *second, address, length, block, count };
        match place {
            Some(place) => self.pairs[place] = pair,
            None => {
                self.places.insert(sites, self.pairs.len());
                self.pairs.push(pair);
            }
        }
    }

    /// In the order in which they were found.
    pub fn into_pairs(self) -> Vec<RacingPair> {
        self.pairs
    }
}

/// Of how many of the two it is known how they were reached: the more, the better an example.
fn stacks_known(first: &RaceAccess, second: &RaceAccess) -> usize {
    [first, second].iter().filter(|access| access.context != Context(0)).count()
}
