//! The pairs of one recording, in order.

use unpick_recording::{Access, Histories};

use crate::knowledge::Knowledge;

use super::walk::{AccessId, AccessTable, LocationId, WindowWalk};
use super::window::{SMALLEST_WINDOW, Together, is_pair};

/// Two accesses by different threads to a location they share, at least one of them a write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub first: AccessId,
    pub second: AccessId,
    /// Where both accesses stand among all.
    pub first_rank: u32,
    pub second_rank: u32,
    /// The window it takes to see both, at the location where they are closest.
    pub window: u32,
    /// Only the edge between two rows shows it, no window.
    pub at_edge: bool,
    /// The first of the locations.
    pub location: LocationId,
    /// How many locations the two share.
    pub location_count: u32,
    /// Where the list of them begins.
    locations_at: u32,
}

/// The pairs of one recording, by the place of their first accesses; then of their second ones.
#[derive(Debug, Default)]
pub struct PairList {
    pub pairs: Vec<Pair>,
    /// The locations of all pairs, one list after the other, each sorted.
    pair_locations: Vec<LocationId>,
}

impl PairList {
    /// Without those that only edges show.
    pub fn pairs_of_windows(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| !pair.at_edge)
    }

    /// All locations at which the two accesses of the pair met.
    pub fn locations_of(&self, pair: &Pair) -> &[LocationId] {
        &self.pair_locations[pair.locations_at as usize..][..pair.location_count as usize]
    }

    /// A location that both pairs are at.
    pub fn common_location(&self, one: &Pair, other: &Pair) -> Option<LocationId> {
        if one.location_count == 1 && other.location_count == 1 {
            return (one.location == other.location).then_some(one.location);
        }
        first_common(self.locations_of(one), self.locations_of(other))
    }
}

/// The lowest number that is in both sorted lists.
fn first_common(mut one: &[LocationId], mut other: &[LocationId]) -> Option<LocationId> {
    while let (Some(a), Some(b)) = (one.first(), other.first()) {
        match a.cmp(b) {
            std::cmp::Ordering::Equal => return Some(*a),
            std::cmp::Ordering::Less => one = &one[1..],
            std::cmp::Ordering::Greater => other = &other[1..],
        }
    }
    None
}

/// A pair at one location, before it is put in order.
#[derive(Debug, Clone, Copy)]
struct Meeting {
    first: AccessId,
    second: AccessId,
    location: LocationId,
    window: u32,
    at_edge: bool,
}

/// Makes the pairs of a recording, one part of its memory after the other.
#[derive(Debug)]
pub struct PairCollector {
    pub walk: WindowWalk,
    meetings: Vec<Meeting>,
}

impl PairCollector {
    pub fn new(walk: WindowWalk) -> PairCollector {
        PairCollector { walk, meetings: Vec::new() }
    }

    /// Takes in all pairs of some histories.
    pub fn take_in(&mut self, histories: &Histories, knowledge: &dyn Knowledge) {
        let meetings = &mut self.meetings;
        self.walk.walk(histories, knowledge, |together, location, accesses| match together {
            Together::Window(window) => meet(window, location, accesses, meetings),
            Together::Edge([first, second]) => {
                let (first, second) = (accesses.id_of(first), accesses.id_of(second));
                let window = SMALLEST_WINDOW as u32;
                meetings.push(Meeting { first, second, location, window, at_edge: true });
                true
            }
        });
    }

    /// Puts the pairs in order, each once.
    pub fn pairs(&mut self, ranks: &[u32]) -> PairList {
        let rank = |id: AccessId| ranks[id.index()];
        let mut meetings = std::mem::take(&mut self.meetings);
        meetings.sort_unstable_by_key(|meeting| {
            let &Meeting { first, second, location, .. } = meeting;
            (rank(first), rank(second), first, second, location)
        });
        let mut list = PairList::default();
        for same in meetings.chunk_by(|a, b| (a.first, a.second) == (b.first, b.second)) {
            list.pairs.push(Pair {
                first: same[0].first,
                second: same[0].second,
                first_rank: rank(same[0].first),
                second_rank: rank(same[0].second),
                window: same.iter().map(|meeting| meeting.window).min().unwrap_or(0),
                at_edge: same.iter().all(|meeting| meeting.at_edge),
                location: same[0].location,
                location_count: same.len() as u32,
                locations_at: list.pair_locations.len() as u32,
            });
            list.pair_locations.extend(same.iter().map(|meeting| meeting.location));
        }
        list
    }
}

/// The oldest access of a window meets the others. Says whether it met any.
fn meet(
    window: &[Access],
    location: LocationId,
    accesses: &mut AccessTable,
    meetings: &mut Vec<Meeting>,
) -> bool {
    let Some((oldest, rest)) = window.split_first() else { return false };
    let before = meetings.len();
    for (between, later) in rest.iter().enumerate().filter(|(_, later)| is_pair(oldest, later)) {
        let (first, second) = (accesses.id_of(oldest), accesses.id_of(later));
        let window = between as u32 + 2;
        meetings.push(Meeting { first, second, location, window, at_edge: false });
    }
    meetings.len() > before
}
