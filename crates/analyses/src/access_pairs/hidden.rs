//! Pairs that the access window does not show, because it keeps one access of a row.
//!
//! Takes   the accesses of a life.      Gives  which sites met in which order, if only behind others.
//! Misses  all but the first few sites of a long row.
//!
//! These are no patterns and have no score. They tell whether passing runs had an order that only failing runs show: when a
//! failing run ends early, or another thread cuts a row in two, the window keeps another access of it.

use rustc_hash::FxHashSet;
use unpick_events::Site;
use unpick_recording::Access;

use super::window::{SMALLEST_WINDOW, is_pair, rows};

/// Sites of a row that are looked at.
const MOST_OF_A_ROW: usize = 8;

/// An access as far as its site goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SiteAccess {
    pub site: Site,
    pub is_write: bool,
}

/// The pairs of sites that met.
#[derive(Debug)]
pub struct HiddenPairs {
    window: usize,
    pub met: FxHashSet<[SiteAccess; 2]>,
    /// The rows of the life that is looked at, each site once.
    rows: Vec<Vec<Access>>,
}

impl HiddenPairs {
    pub fn new(window: usize) -> HiddenPairs {
        let window = window.max(SMALLEST_WINDOW);
        HiddenPairs { window, met: FxHashSet::default(), rows: Vec::new() }
    }

    pub fn take_in(&mut self, accesses: &[Access]) {
        self.rows.clear();
        self.rows.extend(rows(accesses).map(different_sites));
        for (at, row) in self.rows.iter().enumerate() {
            for later in self.rows[at + 1..].iter().take(self.window - 1) {
                // What stands alone is what the window keeps.
                if row.len() > 1 || later.len() > 1 {
                    self.met.extend(pairs_of(row, later));
                }
            }
        }
    }
}

fn pairs_of(row: &[Access], later: &[Access]) -> impl Iterator<Item = [SiteAccess; 2]> {
    let both = row.iter().flat_map(|first| later.iter().map(move |second| (first, second)));
    both.filter(|(first, second)| is_pair(first, second))
        .map(|(first, second)| [site_access(first), site_access(second)])
}

fn different_sites(row: &[Access]) -> Vec<Access> {
    let mut different: Vec<Access> = Vec::new();
    for access in row {
        let is_new = different.iter().all(|known| site_access(known) != site_access(access));
        if is_new && different.len() < MOST_OF_A_ROW {
            different.push(*access);
        }
    }
    different
}

pub fn site_access(access: &Access) -> SiteAccess {
    SiteAccess { site: access.site, is_write: access.is_write() }
}
