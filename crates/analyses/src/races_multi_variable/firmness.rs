//! Torn units that lockset alone finds, looked at again: what keeps the remote access out, if no lock does?
//!
//! Takes   what was found, and the firm order (`races_happens_before::FirmOrder`).      Gives  for each torn unit whether the remote access was ever loose,
//!         and else a step that put it before both accesses of the unit, or after both.
//! Misses  units that are torn only by a thread that was handed something: see `FirmOrder`.
//! Invents loose units where a critical section waits for what is under its own lock: it counts as one that could have come earlier.
//! Cost    one more walk over the recording, only if there are such units.
//!
//! An access must not be put in order by itself: that it finds what the unit has written is the very thing that may be otherwise. So what counts
//! is what its thread knew just before it; and if it is under a lock that the unit's access is under, too, what that thread knew where it took the
//! lock: two sections of a lock can come either way round, as wholes. Of a unit whose second access is the one in conflict, what its thread has
//! learned by the first one counts too: who reads which of two buffers is in use has been handed it, before it touches the buffer.

use rustc_hash::FxHashSet;
use unpick_recording::Recording;

use super::trace::{Trace, Tracked};
use super::{Found, Meeting, TornUnit, for_each_meeting};
use crate::knowledge::Knowledge;
use crate::locks_held::Moment;
use crate::races::SyncStep;
use crate::races_happens_before::FirmMoments;
use crate::races_lockset::Firmness;

impl Found {
    /// Says of what lockset alone has found what orders it.
    pub(super) fn hold_against_firm_order(
        &mut self,
        recording: &Recording,
        knowledge: &dyn Knowledge,
        trace: &Trace,
    ) {
        let mut moments = FxHashSet::default();
        for_each_meeting(trace, |meeting| {
            if self.of_lockset_alone(trace, meeting).is_some() {
                moments.extend(meeting.moments());
            }
        });
        if moments.is_empty() {
            return;
        }
        let mut moments: Vec<Moment> = moments.into_iter().collect();
        moments.sort_unstable();
        let firm = FirmMoments::of(recording, knowledge, &moments);
        for_each_meeting(trace, |meeting| {
            if let Some(torn) = self.of_lockset_alone(trace, meeting) {
                torn.firmness.take_in(meeting.kept_out_by(&firm));
            }
        });
    }

    /// What a meeting was found as, if only locks were missing whenever it was.
    fn of_lockset_alone(&mut self, trace: &Trace, meeting: &Meeting<'_>) -> Option<&mut TornUnit> {
        let place = *self.places.get(&meeting.sites())?;
        let torn = &mut self.torn[place];
        (!torn.unordered && !torn.firmness.is_loose && meeting.is_unlocked(trace)).then_some(torn)
    }
}

/// What the firm order says of a meeting.
enum KeptOut {
    Not,
    By(Option<SyncStep>),
}

impl Firmness {
    fn take_in(&mut self, kept_out: KeptOut) {
        match kept_out {
            KeptOut::Not => *self = Firmness { is_loose: true, ordered_by: None },
            KeptOut::By(step) => self.ordered_by = self.ordered_by.or(step),
        }
    }
}

impl<'t> Meeting<'t> {
    /// The two ways to be in order, each with the earlier access and the later one: the remote one comes before both, or after both.
    fn ways(&self) -> [[&'t Tracked; 2]; 2] {
        [[self.remote, self.first], [self.second, self.remote]]
    }

    /// All moments that must be known to say what keeps the remote access out.
    fn moments(&self) -> impl Iterator<Item = Moment> + use<> {
        let deciding = self.ways().map(|[earlier, later]| self.deciding_moment(earlier, later));
        let own = [self.first, self.second, self.remote].map(|one| one.access.moment());
        deciding.into_iter().chain(own)
    }

    fn kept_out_by(&self, firm: &FirmMoments) -> KeptOut {
        for [earlier, later] in self.ways() {
            let moment = self.deciding_moment(earlier, later);
            if firm.is_before(&earlier.access, moment) {
                return KeptOut::By(firm.learned(moment, earlier.access.thread));
            }
        }
        KeptOut::Not
    }

    /// When it is decided whether an access comes after an earlier one: where its thread takes a lock that both are under, else just before
    /// it; but just after it if it is not the access of the unit that is in conflict.
    fn deciding_moment(&self, earlier: &Tracked, later: &Tracked) -> Moment {
        let moment = later.access.moment();
        let common =
            later.locks.iter().filter(|held| earlier.locks.iter().any(|one| held.excludes(one)));
        let taken = common.map(|held| held.acquisition).min();
        let is_in_conflict = self.remote.variable == self.first.variable;
        match taken {
            Some(taken) => Moment { ordinal: taken + 1, ..moment },
            None if is_in_conflict || std::ptr::eq(later, self.remote) => moment,
            None => Moment { ordinal: moment.ordinal + 1, ..moment },
        }
    }
}
