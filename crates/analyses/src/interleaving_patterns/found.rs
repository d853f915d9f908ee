//! What was found in one process: each pattern once.

use rustc_hash::FxHashMap;

use crate::access_pairs::{AccessId, LocationId};

use super::catalogue::{MOST_STEPS, PatternId};

/// One occurrence of a pattern, or all of them summed up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Found {
    pub pattern: PatternId,
    /// The accesses of the occurrence that was complete first; as many as the pattern has steps.
    pub accesses: [Option<AccessId>; MOST_STEPS],
    /// Where x and y are; the same for patterns of one variable.
    pub locations: [LocationId; 2],
    pub count: u64,
    /// The smallest access window that shows it.
    pub access_window: u32,
    /// Places from its first to its second pair in the list of pairs, both included; 0 with one pair.
    pub pair_distance: u32,
    /// Where the last access stands among all.
    pub complete_at: u32,
}

impl Found {
    /// Takes in more occurrences of the same pattern.
    pub fn merge(&mut self, other: &Found) {
        if other.complete_at < self.complete_at {
            self.accesses = other.accesses;
            self.locations = other.locations;
            self.complete_at = other.complete_at;
        }
        self.count += other.count;
        self.access_window = self.access_window.min(other.access_window);
        self.pair_distance = self.pair_distance.min(other.pair_distance);
    }
}

/// A pattern and the sites of its accesses, as numbers of the run's table; unused ones are 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Identity {
    pub pattern: PatternId,
    pub sites: [u32; MOST_STEPS],
}

/// Patterns by identity.
pub type FoundMap = FxHashMap<Identity, Found>;

/// Adds an occurrence to the map.
pub fn add(map: &mut FoundMap, identity: Identity, found: Found) {
    map.entry(identity).and_modify(|known| known.merge(&found)).or_insert(found);
}
