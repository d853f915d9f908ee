//! The first step waits until the last one has been made, and has not been for a little while.

use unpick_events::schedule::Purpose;

use super::{Answer, Arrival, Bytes, Making, Order, Who};
use crate::breakpoints::plan::Plan;

/// The last step may come again; the first waits until it has not for so long.
const QUIET: u64 = 5_000_000;

/// What was made.
pub struct Reversal {
    pub(super) last_seen: u64,
    pub(super) is_counted: bool,
}

impl Reversal {
    pub const fn none() -> Reversal {
        Reversal { last_seen: 0, is_counted: false }
    }
}

impl Order {
    pub(super) fn reverse(
        &mut self,
        plan: &Plan,
        who: Who,
        arrival: &Arrival<'_>,
        now: u64,
    ) -> Answer {
        let entry = arrival.entry;
        if entry.purpose == Purpose::Exit {
            return Answer::Pass;
        }
        if entry.step == 0 {
            return self.first_of_reversal(plan, who, arrival, now);
        }
        if entry.step + 1 != plan.steps || entry.purpose == Purpose::Gate {
            return Answer::Pass;
        }
        let is_late = self.first_made.find(arrival.bytes, |maker| maker != who);
        if let Some((maker, bytes)) = is_late {
            self.counts.hits += 1;
            self.first_made.remove(maker, bytes);
        }
        self.last_made.add(who, arrival.bytes);
        self.reversal.last_seen = now;
        self.making = Some(Making { who, since: now });
        Answer::Make { step: entry.step }
    }

    fn first_of_reversal(
        &mut self,
        plan: &Plan,
        who: Who,
        arrival: &Arrival<'_>,
        now: u64,
    ) -> Answer {
        let entry = arrival.entry;
        if plan.is_entrance(entry) && !self.is_reversed_for(who, arrival, now) {
            return Answer::Wait { step: entry.step };
        }
        if entry.purpose == Purpose::Gate {
            return Answer::Pass;
        }
        self.first_is_made(who, arrival.bytes);
        Answer::Make { step: entry.step }
    }

    pub(super) fn first_is_made(&mut self, who: Who, bytes: Bytes) {
        if self.last_made.find(bytes, |maker| maker != who).is_some() {
            self.counts.inverse_hits += u64::from(!self.reversal.is_counted);
            self.reversal.is_counted = true;
        }
        self.first_made.add(who, bytes);
    }

    fn is_reversed_for(&self, who: Who, arrival: &Arrival<'_>, now: u64) -> bool {
        let is_made = self.last_made.find(arrival.bytes, |maker| maker != who).is_some();
        let is_calm = self.making.is_none() && now.saturating_sub(self.reversal.last_seen) >= QUIET;
        is_made && is_calm
    }
}
