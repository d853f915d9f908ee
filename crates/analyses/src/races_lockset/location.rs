//! What Eraser keeps of some bytes: their state, and the locks that were held at every access so far.

use super::lock_sets::{LockSet, LockSets};
use crate::races::RaceAccess;
use crate::races_happens_before::VectorClock;

/// Of how many accesses the locks are kept, to name one of a pair.
const MOST_RECENT: usize = 16;

/// How far bytes have come on the way from one thread's to everybody's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum State {
    #[default]
    Virgin,
    /// One thread alone has touched them.
    Exclusive,
    /// Others have read them.
    Shared,
    /// Others have written them, or one thread has and another has read.
    SharedModified,
}

/// An access, the locks that protected it, and the period of its thread between creations and joins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Guarded {
    pub access: RaceAccess,
    pub locks: LockSet,
    pub period: u32,
}

#[derive(Debug, Clone, Default)]
pub struct Protection {
    pub state: State,
    /// The locks that all accesses since they were shared have in common; none: any lock may be.
    candidates: Option<LockSet>,
    /// The last read and the last write of each thread, the oldest first.
    recent: Vec<Guarded>,
}

impl Protection {
    /// Takes in an access by a thread that was created and has joined others as its clock says. Gives the earlier one it is in
    /// conflict with, if no lock protects the bytes.
    pub fn take_in(
        &mut self,
        new: Guarded,
        knows: &VectorClock,
        sets: &mut LockSets,
    ) -> Option<Guarded> {
        // Most accesses repeat what the last one of their thread has shown.
        let may_pass = !self.is_unprotected();
        if let Some(last) = self.recent.last_mut()
            && may_pass
            && last.access.is_alike(&new.access)
            && (last.locks, last.period) == (new.locks, new.period)
        {
            *last = new;
            return None;
        }
        self.hand_over(&new, knows);
        let is_unprotected = self.advance(&new, sets);
        let partner = is_unprotected.then(|| self.partner(&new, sets)).flatten();
        self.note(new);
        partner
    }

    /// Takes in an access from before the bytes were shared. It belongs to the exclusive state, in which locks do not matter.
    pub fn take_in_past(&mut self, past: Guarded) {
        if self.recent.iter().any(|known| known.access.is_at_or_after(&past.access)) {
            return;
        }
        match self.state {
            State::Virgin => self.state = State::Exclusive,
            State::Exclusive if !self.is_of(&past) => {
                let modified = past.access.writes();
                self.state = if modified { State::SharedModified } else { State::Shared };
            }
            _ => {}
        }
        self.note(past);
    }

    /// Who was created or has joined after all that others did has the bytes alone again.
    fn hand_over(&mut self, new: &Guarded, knows: &VectorClock) {
        let is_own = |known: &Guarded| known.access.thread == new.access.thread;
        let is_before = |known: &Guarded| known.period <= knows.of(known.access.thread);
        let has_others = self.recent.iter().any(|known| !is_own(known));
        if has_others && self.recent.iter().all(|known| is_own(known) || is_before(known)) {
            self.recent.retain(is_own);
            self.state = State::Exclusive;
            self.candidates = None;
        }
    }

    /// Whether the bytes are shared, modified and without a lock after this access.
    fn advance(&mut self, new: &Guarded, sets: &mut LockSets) -> bool {
        let writes = new.access.writes();
        self.state = match self.state {
            State::Virgin => State::Exclusive,
            State::Exclusive if self.is_of(new) => State::Exclusive,
            State::Exclusive | State::Shared if !writes => State::Shared,
            _ => State::SharedModified,
        };
        if self.state == State::Exclusive {
            return false;
        }
        let left = match self.candidates {
            Some(candidates) => sets.common(candidates, new.locks),
            None => new.locks,
        };
        self.candidates = Some(left);
        self.is_unprotected()
    }

    fn is_unprotected(&self) -> bool {
        self.state == State::SharedModified && self.candidates == Some(LockSet::EMPTY)
    }

    fn is_of(&self, new: &Guarded) -> bool {
        self.recent.last().is_none_or(|last| last.access.thread == new.access.thread)
    }

    /// The latest access of another thread in conflict with this one that has no lock in common with it; if each has one, the latest.
    fn partner(&self, new: &Guarded, sets: &mut LockSets) -> Option<Guarded> {
        let mut latest = None;
        for known in self.recent.iter().rev() {
            let is_other = known.access.thread != new.access.thread;
            if is_other && known.access.conflicts_with(&new.access) {
                if sets.common(known.locks, new.locks) == LockSet::EMPTY {
                    return Some(*known);
                }
                latest = latest.or(Some(*known));
            }
        }
        latest
    }

    fn note(&mut self, new: Guarded) {
        let told = |access: &RaceAccess| (access.thread, access.writes());
        let same = self.recent.iter().position(|known| told(&known.access) == told(&new.access));
        let full = (self.recent.len() == MOST_RECENT).then_some(0);
        if let Some(at) = same.or(full) {
            self.recent.remove(at);
        }
        self.recent.push(new);
    }
}
