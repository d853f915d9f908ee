//! What is kept of the accesses to some bytes: those that a later one might race with.
//!
//! Nearly always one write, or one write and the last read of some threads. An access goes when a later one that conflicts with
//! all that it conflicts with is known to come after it: whoever raced with the one races with the other.

use crate::races::RaceAccess;

use super::clocks::VectorClock;

/// An access and the period of its thread in which it was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dated {
    pub access: RaceAccess,
    pub period: u32,
}

/// The accesses to bytes that are known alike.
#[derive(Debug, Clone, Default)]
pub struct Accesses {
    /// Most bytes have one or two; these need no memory of their own.
    first: Option<Dated>,
    second: Option<Dated>,
    more: Vec<Dated>,
}

impl Accesses {
    /// Takes in an access by a thread that knows this of others. Calls `races` with each earlier one that it races with.
    #[inline]
    pub fn take_in(&mut self, new: Dated, knows: &VectorClock, mut races: impl FnMut(&RaceAccess)) {
        if let (Some(known), None) = (&mut self.first, &self.second)
            && known.period == new.period
            && known.access.thread == new.access.thread
            && new.access.covers(&known.access)
        {
            *known = new;
            return;
        }
        self.retain(|known| {
            let is_before = known.access.thread == new.access.thread
                || known.period <= knows.of(known.access.thread);
            if !is_before && known.access.conflicts_with(&new.access) {
                races(&known.access);
            }
            !is_before || !new.access.covers(&known.access)
        });
        self.push(new);
    }

    /// Takes in an access from before the bytes were shared, of which a later event tells.
    pub fn take_in_past(&mut self, past: Dated) {
        if self.iter().any(|known| known.access.is_at_or_after(&past.access)) {
            return;
        }
        self.retain(|known| {
            known.access.thread != past.access.thread || !past.access.covers(&known.access)
        });
        self.push(past);
    }

    fn iter(&self) -> impl Iterator<Item = &Dated> {
        self.first.iter().chain(&self.second).chain(&self.more)
    }

    fn retain(&mut self, mut keep: impl FnMut(&Dated) -> bool) {
        self.first = self.first.filter(&mut keep);
        self.second = self.second.filter(&mut keep);
        self.more.retain(&mut keep);
        if self.first.is_none() {
            self.first = self.second.take();
        }
        if self.first.is_none() {
            self.first = self.more.pop();
        }
        if self.second.is_none() {
            self.second = self.more.pop();
        }
    }

    fn push(&mut self, new: Dated) {
        if self.first.is_none() {
            self.first = Some(new);
        } else if self.second.is_none() {
            self.second = Some(new);
        } else {
            self.more.push(new);
        }
    }
}
