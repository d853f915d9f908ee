//! Multi-variable extension of both race detectors: accesses that belong together, and that another thread can come between.
//!
//! Takes   the events of one recording, which should be full, and correlations: which variables belong together.
//! Gives   for every unit of two correlated accesses of a thread, the accesses of others in conflict with one of them that are not kept out.
//! Misses  what the correlations do not name; variables whose names the program's files do not tell; units whose accesses are more than one call
//!         apart, or from before their bytes were shared (how those were reached is not known).
//! Invents harm where a thread needs no consistent view: reads of one variable alone do not count, writes do.
//! Cost    as the happens-before detector; then pairs of the few accesses that are kept of each site.
//!
//! Method: MUVI (Lu et al. 2007): for accesses A1(x) and A2(x) of different threads, one a write, a correlated access A3(y) of either must share a lock
//! with them (lockset), or be ordered (happens-before). Made precise:
//! - lockset: one lock must be held from A1 to A3 without being given back, and at A2; two readers of a lock do not exclude each other.
//! - happens-before: A2 must come before both or after both. Where locks put it between the two, each access is ordered, and the unit is torn.
//! - neither: A2 is of a thread that is created after the one and joined before the other, and so always between.

mod correlations;
mod mined;
mod names;
mod trace;

use rustc_hash::FxHashMap;
use unpick_events::Site;
use unpick_recording::Recording;

use crate::knowledge::Knowledge;
pub use correlations::{AccessType, Correlations, Rule};
pub use mined::{MinedPair, Mining, mine};
pub(crate) use names::{is_called, is_field, parts_of};
pub(crate) use trace::LARGEST_OBJECT;
pub use trace::{Held, Tracked};
use trace::{Trace, Unit};

/// Two accesses that belong together, and one of another thread that can come between.
#[derive(Debug, Clone)]
pub struct TornUnit {
    /// By one thread, in this order.
    pub first: Tracked,
    pub second: Tracked,
    /// By another, in conflict with one of them.
    pub remote: Tracked,
    /// Number of the rule.
    pub rule: usize,
    /// It comes neither before both nor after both.
    pub unordered: bool,
    /// No lock keeps it out, and neither does the creation or joining of threads.
    pub unlocked: bool,
    pub count: u64,
}

impl TornUnit {
    /// The access of the unit that the remote one is in conflict with, and the one that is left out.
    pub fn conflict_and_left_out(&self) -> [&Tracked; 2] {
        if self.remote.variable == self.first.variable {
            [&self.first, &self.second]
        } else {
            [&self.second, &self.first]
        }
    }
}

/// The torn units of a recording, one for each three sites.
pub fn torn_units(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    correlations: &Correlations,
) -> Vec<TornUnit> {
    let trace = Trace::of(recording, knowledge, correlations);
    let mut by_variable: FxHashMap<u32, Vec<&Tracked>> = FxHashMap::default();
    for access in &trace.accesses {
        by_variable.entry(access.variable).or_default().push(access);
    }
    let mut found = Found::default();
    for unit in &trace.units {
        let sides = [unit.first, unit.second].map(|number| &trace.accesses[number]);
        for own in sides {
            for remote in by_variable[&own.variable].iter().filter(|one| may_tear(one, own)) {
                found.look_at(&trace, unit, remote);
            }
        }
    }
    found.torn
}

/// Whether an access is in conflict with one of a unit, and matters: it writes, or belongs to a unit itself.
fn may_tear(remote: &Tracked, own: &Tracked) -> bool {
    remote.access.thread != own.access.thread
        && (remote.access.writes() || own.access.writes() && remote.in_unit)
        && remote.is_to_same_bytes(own)
}

#[derive(Default)]
struct Found {
    places: FxHashMap<[Site; 3], usize>,
    torn: Vec<TornUnit>,
}

impl Found {
    fn look_at(&mut self, trace: &Trace, unit: &Unit, remote: &Tracked) {
        let (first, second) = (&trace.accesses[unit.first], &trace.accesses[unit.second]);
        let unordered = !trace.is_before(remote, first) && !trace.is_before(second, remote);
        let are_apart = trace.is_in_earlier_segment(remote, first)
            || trace.is_in_earlier_segment(second, remote);
        let unlocked = !are_apart && !is_kept_out(first, second, remote);
        // Who creates a thread between the two accesses, and joins it there, means it to come between: there is no other order.
        let is_meant = trace.is_in_earlier_segment(first, remote)
            && trace.is_in_earlier_segment(remote, second);
        if is_meant || !unordered && !unlocked {
            return;
        }
        let sites = [first, second, remote].map(|one| one.access.site);
        let torn = TornUnit {
            first: first.clone(),
            second: second.clone(),
            remote: remote.clone(),
            rule: unit.rule,
            unordered,
            unlocked,
            count: 1,
        };
        match self.places.get(&sites) {
            Some(&place) => {
                let known = &mut self.torn[place];
                known.count += 1;
                known.unlocked |= unlocked;
                known.unordered |= unordered;
            }
            None => {
                self.places.insert(sites, self.torn.len());
                self.torn.push(torn);
            }
        }
    }
}

/// Whether a lock is held from the first access of a unit to the second, and at the remote one, so that it cannot come between.
fn is_kept_out(first: &Tracked, second: &Tracked, remote: &Tracked) -> bool {
    first.locks.iter().any(|held| {
        let stays = second.locks.contains(held);
        let excludes = |other: &Held| other.lock == held.lock && !(other.shared && held.shared);
        stays && remote.locks.iter().any(excludes)
    })
}
