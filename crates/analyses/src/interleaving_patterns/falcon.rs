//! Falcon mode: patterns are read off the access window as its oldest access leaves.
//!
//! Looks for P4 to P8 that begin with the oldest access; only where there is none, for P1 to P3, and of those for the nearest:
//! the paper shows one pair for an access, and a later access meets what the nearer one left behind.

use unpick_recording::{Access, Histories};

use crate::access_pairs::window::{Together, is_pair};
use crate::access_pairs::{AccessTable, LocationId, WindowWalk};
use crate::knowledge::Knowledge;

use super::catalogue::{AccessKind, Arrangement, MOST_STEPS, PatternId, of_two_pairs};
use super::fixed::Fixed;
use super::found::Found;

/// Finds the patterns of a recording, one part of its memory after the other.
pub struct FalconCollector {
    pub walk: WindowWalk,
    found: Vec<Found>,
}

impl FalconCollector {
    pub fn new(window: usize) -> FalconCollector {
        FalconCollector { walk: WindowWalk::new(window), found: Vec::new() }
    }

    pub fn take_in(&mut self, histories: &Histories, knowledge: &dyn Knowledge) {
        let found = &mut self.found;
        self.walk.walk(histories, knowledge, |together, location, accesses| {
            let Together::Window(window) = together else { return false };
            let before = found.len();
            leave(window, |pattern, chosen| {
                found.push(occurrence(pattern, window, chosen, location, accesses));
            });
            found.len() > before
        });
    }

    /// All occurrences, one by one.
    pub fn occurrences(&self, ranks: &[u32]) -> impl Iterator<Item = Found> {
        self.found.iter().map(|found| {
            let complete_at = found.accesses.iter().flatten().map(|id| ranks[id.index()]).max();
            Found { complete_at: complete_at.unwrap_or(0), ..*found }
        })
    }
}

/// The oldest access leaves the window: gives `note` the patterns that begin with it, and where in the window
/// their accesses are.
fn leave(window: &[Access], mut note: impl FnMut(PatternId, &[usize])) {
    let mut has_triple = false;
    for last in (2..window.len()).filter(|&last| window[last].thread == window[0].thread) {
        for middle in 1..last {
            if let Some(pattern) = triple(&window[0], &window[middle], &window[last]) {
                note(pattern, &[0, middle, last]);
                has_triple = true;
            }
        }
    }
    let nearest = (1..window.len()).find(|&later| is_pair(&window[0], &window[later]));
    if let Some(nearest) = nearest.filter(|_| !has_triple)
        && let Some(pattern) = pair(&window[0], &window[nearest])
    {
        note(pattern, &[0, nearest]);
    }
}

fn occurrence(
    pattern: PatternId,
    window: &[Access],
    chosen: &[usize],
    location: LocationId,
    accesses: &mut AccessTable,
) -> Found {
    let mut ids = [None; MOST_STEPS];
    for (id, &place) in ids.iter_mut().zip(chosen) {
        *id = Some(accesses.id_of(&window[place]));
    }
    Found {
        pattern,
        accesses: ids,
        locations: [location, location],
        count: 1,
        access_window: chosen.last().map_or(0, |&last| last as u32 + 1),
        pair_distance: 0,
        // Known only when all accesses are.
        complete_at: 0,
    }
}

fn kind_of(access: &Access) -> AccessKind {
    AccessKind::of_write(access.is_write())
}

/// The pattern that two accesses to one location by different threads are.
pub fn pair(first: &Access, second: &Access) -> Option<PatternId> {
    PatternId::of_pair(kind_of(first), kind_of(second))
}

/// The patterns of torn rows, each once.
pub fn torn_rows(walk: &WindowWalk, fixed: &Fixed<'_>, ranks: &[u32]) -> Vec<Found> {
    let torn = walk.torn.iter().flat_map(|torn| torn.found.values());
    let torn = torn.filter(|torn| fixed.may_tear(torn.accesses));
    let found = torn.filter_map(|torn| {
        let [first, middle, last] = torn.accesses.map(|id| walk.accesses.get(id));
        let [one, two, three] = torn.accesses;
        Some(Found {
            pattern: triple(first, middle, last)?,
            accesses: [Some(one), Some(two), Some(three), None],
            locations: [torn.location, torn.location],
            count: torn.count,
            access_window: torn.window,
            pair_distance: 0,
            complete_at: ranks[three.index()],
        })
    });
    found.collect()
}

/// The pattern that three accesses to one location are, of which another thread made the middle one.
pub fn triple(first: &Access, middle: &Access, last: &Access) -> Option<PatternId> {
    if !is_pair(first, middle) {
        return None;
    }
    triple_by_kind(first, middle, last)
}

/// The same, whoever made them.
pub fn triple_by_kind(first: &Access, middle: &Access, last: &Access) -> Option<PatternId> {
    of_two_pairs(pair(first, middle)?, pair(middle, last)?, Arrangement::Shared)
}
