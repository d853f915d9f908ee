//! Steps that were made a while ago: who made them, on which bytes.

use super::{Bytes, NOBODY, Who};

const NOTHING_MADE: (Who, Bytes) = (NOBODY, Bytes::UNKNOWN);

/// Steps that were made on some bytes: the latest ones. A program that goes through an array makes its first step on all of it before
/// anybody makes the second on one of them.
pub struct Made {
    entries: [(Who, Bytes); MOST_MADE],
    next: usize,
}

const MOST_MADE: usize = 512;

impl Made {
    pub const fn none() -> Made {
        Made { entries: [NOTHING_MADE; MOST_MADE], next: 0 }
    }

    pub fn add(&mut self, who: Who, bytes: Bytes) {
        if let Some(known) = self.entries.iter_mut().find(|made| **made == (who, bytes)) {
            *known = NOTHING_MADE;
        }
        self.entries[self.next % MOST_MADE] = (who, bytes);
        self.next = (self.next + 1) % MOST_MADE;
    }

    /// Who made the step on these bytes last, among those who qualify.
    pub fn find(&self, bytes: Bytes, may_be: impl Fn(Who) -> bool) -> Option<(Who, Bytes)> {
        let (newer, older) = self.entries.split_at(self.next);
        let latest_first = newer.iter().rev().chain(older.iter().rev());
        let mut made = latest_first.filter(|(who, _)| *who != NOBODY && may_be(*who));
        made.find(|(_, made)| made.may_be(bytes)).copied()
    }

    pub fn remove(&mut self, who: Who, bytes: Bytes) {
        for made in &mut self.entries {
            if made.0 == who && made.1.may_be(bytes) {
                *made = NOTHING_MADE;
            }
        }
    }
}
