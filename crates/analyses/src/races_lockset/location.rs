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
    /// The last read and the last write of each thread.
    recent: Vec<Recent>,
    /// How many accesses there were.
    turns: u32,
}

#[derive(Debug, Clone, Copy)]
struct Recent {
    guarded: Guarded,
    /// Its place among the accesses.
    turn: u32,
    /// Its locks are taken into account.
    counts: bool,
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
        self.turns = self.turns.wrapping_add(1);
        let place = self.place_of(&new);
        if let Some(place) = place.filter(|&place| self.says_nothing_new(&new, place)) {
            let known = &mut self.recent[place];
            (known.guarded, known.turn) = (new, self.turns);
            return None;
        }
        self.hand_over(&new, knows);
        let is_unprotected = self.advance(&new, sets);
        let partner = is_unprotected.then(|| self.partner(&new, sets)).flatten();
        self.note(new, self.state != State::Exclusive);
        partner
    }

    /// The access of the same thread and kind that is known.
    fn place_of(&self, new: &Guarded) -> Option<usize> {
        let told = |access: &RaceAccess| (access.thread, access.writes());
        self.recent.iter().position(|known| told(&known.guarded.access) == told(&new.access))
    }

    /// Most accesses repeat what one of their thread has shown.
    fn says_nothing_new(&self, new: &Guarded, place: usize) -> bool {
        let Recent { guarded, counts, .. } = &self.recent[place];
        (*counts || self.state == State::Exclusive)
            && guarded.access.is_alike(&new.access)
            && (guarded.locks, guarded.period) == (new.locks, new.period)
            && !self.is_unprotected()
    }

    /// Takes in an access from before the bytes were shared. It belongs to the exclusive state, in which locks do not matter.
    pub fn take_in_past(&mut self, past: Guarded) {
        let is_known = |known: &Recent| known.guarded.access.is_at_or_after(&past.access);
        if self.recent.iter().any(is_known) {
            return;
        }
        self.turns = self.turns.wrapping_add(1);
        match self.state {
            State::Virgin => self.state = State::Exclusive,
            State::Exclusive if !self.is_of(&past) => {
                let modified = past.access.writes();
                self.state = if modified { State::SharedModified } else { State::Shared };
            }
            _ => {}
        }
        self.note(past, false);
    }

    /// Who was created or has joined after all that others did has the bytes alone again.
    fn hand_over(&mut self, new: &Guarded, knows: &VectorClock) {
        let is_own = |known: &Recent| known.guarded.access.thread == new.access.thread;
        let is_before =
            |known: &Recent| known.guarded.period <= knows.of(known.guarded.access.thread);
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
        self.recent.first().is_none_or(|one| one.guarded.access.thread == new.access.thread)
    }

    /// The latest access of another thread in conflict with this one that has no lock in common with it; if each has one, the latest.
    fn partner(&self, new: &Guarded, sets: &mut LockSets) -> Option<Guarded> {
        let mut latest: Option<(bool, u32, Guarded)> = None;
        for Recent { guarded: known, turn, .. } in &self.recent {
            let is_other = known.access.thread != new.access.thread;
            if is_other && known.access.conflicts_with(&new.access) {
                let has_none = sets.common(known.locks, new.locks) == LockSet::EMPTY;
                let is_better =
                    |(best, last, _): &(bool, u32, Guarded)| (has_none, *turn) > (*best, *last);
                if latest.as_ref().is_none_or(is_better) {
                    latest = Some((has_none, *turn, *known));
                }
            }
        }
        latest.map(|(.., known)| known)
    }

    fn note(&mut self, new: Guarded, counts: bool) {
        let recent = Recent { guarded: new, turn: self.turns, counts };
        let oldest = || {
            let oldest = self.recent.iter().enumerate().min_by_key(|(_, known)| known.turn);
            oldest.map(|(place, _)| place).filter(|_| self.recent.len() == MOST_RECENT)
        };
        match self.place_of(&new).or_else(oldest) {
            Some(place) => self.recent[place] = recent,
            None => self.recent.push(recent),
        }
    }
}
