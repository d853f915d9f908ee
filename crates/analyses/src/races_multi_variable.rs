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
//! - what lockset alone finds is held against the firm order (`firmness`).

mod correlations;
mod firmness;
mod mined;
mod names;
mod trace;
mod units;

use rustc_hash::FxHashMap;
use unpick_events::Site;
use unpick_recording::Recording;

use crate::knowledge::Knowledge;
use crate::races_lockset::Firmness;
pub use correlations::{AccessType, Correlations, Rule};
pub use mined::{MinedPair, Mining, mine};
pub(crate) use names::{is_called, is_field, parts_of};
pub(crate) use trace::LARGEST_OBJECT;
use trace::Trace;
pub use trace::{Held, Tracked};
use units::Unit;

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
    /// Of what is unlocked only: whether nothing firm ever put the remote one before both or after both, and else a step that did.
    pub firmness: Firmness,
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
    let mut found = Found::default();
    for_each_meeting(&trace, |meeting| found.look_at(&trace, meeting));
    found.hold_against_firm_order(recording, knowledge, &trace);
    found.torn
}

/// A unit, and an access of another thread that may tear it.
struct Meeting<'t> {
    first: &'t Tracked,
    second: &'t Tracked,
    remote: &'t Tracked,
    rule: usize,
}

impl Meeting<'_> {
    fn sites(&self) -> [Site; 3] {
        [self.first, self.second, self.remote].map(|one| one.access.site)
    }

    /// The remote access comes neither before both nor after both.
    fn is_unordered(&self, trace: &Trace) -> bool {
        !trace.is_before(self.remote, self.first) && !trace.is_before(self.second, self.remote)
    }

    /// No lock keeps the remote access out, and neither does the creation or joining of threads.
    fn is_unlocked(&self, trace: &Trace) -> bool {
        let Meeting { first, second, remote, .. } = self;
        !trace.is_in_earlier_segment(remote, first)
            && !trace.is_in_earlier_segment(second, remote)
            && !is_kept_out(first, second, remote)
    }

    /// Who creates a thread between the two accesses, and joins it there, means it to come between: there is no other order.
    fn is_meant(&self, trace: &Trace) -> bool {
        let Meeting { first, second, remote, .. } = self;
        trace.is_in_earlier_segment(first, remote) && trace.is_in_earlier_segment(remote, second)
    }
}

fn for_each_meeting(trace: &Trace, mut visit: impl FnMut(&Meeting<'_>)) {
    let mut by_variable: FxHashMap<u32, Vec<&Tracked>> = FxHashMap::default();
    for access in &trace.accesses {
        by_variable.entry(access.variable).or_default().push(access);
    }
    for &Unit { first, second, rule } in &trace.units {
        let [first, second] = [first, second].map(|number| &trace.accesses[number]);
        for own in [first, second] {
            for remote in by_variable[&own.variable].iter().filter(|one| may_tear(one, own)) {
                let meeting = Meeting { first, second, remote, rule };
                if !meeting.is_meant(trace) {
                    visit(&meeting);
                }
            }
        }
    }
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
    fn look_at(&mut self, trace: &Trace, meeting: &Meeting<'_>) {
        let unordered = meeting.is_unordered(trace);
        let unlocked = meeting.is_unlocked(trace);
        if !unordered && !unlocked {
            return;
        }
        if let Some(&place) = self.places.get(&meeting.sites()) {
            let known = &mut self.torn[place];
            known.count += 1;
            known.unlocked |= unlocked;
            known.unordered |= unordered;
            return;
        }
        self.places.insert(meeting.sites(), self.torn.len());
        let Meeting { first, second, remote, rule } = *meeting;
        self.torn.push(TornUnit {
            first: first.clone(),
            second: second.clone(),
            remote: remote.clone(),
            rule,
            unordered,
            unlocked,
            firmness: Firmness::default(),
            count: 1,
        });
    }
}

/// Whether a lock is held from the first access of a unit to the second, and at the remote one, so that it cannot come between.
fn is_kept_out(first: &Tracked, second: &Tracked, remote: &Tracked) -> bool {
    first.locks.iter().any(|held| {
        let stays = second.locks.contains(held);
        stays && remote.locks.iter().any(|other| held.excludes(other))
    })
}
