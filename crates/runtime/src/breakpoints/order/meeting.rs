//! Threads that wait for each other: the first two of a plan that shall meet on the same bytes, and all that are at a meeting.
//!
//! Where the threads of the first two steps shall meet, each waits at its step until the other is there on the same bytes. Who was there first
//! goes on when the other has come for other bytes: so two that go through an array from its two ends meet somewhere. If the first step's
//! thread is about to come to where the other waits it goes on itself: what it does on the way to its step may turn the other away.

use unpick_events::schedule::{Mode, Purpose};

use super::{Answer, Arrival, Bytes, NOBODY, Order, Waiting, Who};
use crate::breakpoints::plan::{Entry, MOST_ROLES, Plan};

/// Who is missing at a meeting, and comes by without going there.
pub struct Rounds {
    pub(super) made: u64,
    /// By role: who was at the meeting and need not wait any more.
    pub(super) sent_on: [Who; MOST_ROLES],
}

impl Rounds {
    pub const fn none() -> Rounds {
        Rounds { made: 0, sent_on: [NOBODY; MOST_ROLES] }
    }
}

impl Order {
    /// Two threads that shall meet. None: they have, or it is not known on which bytes.
    pub(super) fn keeps_appointment(
        &mut self,
        plan: &Plan,
        who: Who,
        arrival: &Arrival<'_>,
    ) -> Option<Answer> {
        let entry = arrival.entry;
        let is_under_way = self.next > 0 && self.fits_variable(arrival);
        if entry.step > 1 || !plan.is_entrance(entry) || !arrival.bytes.are_known() || is_under_way
        {
            return None;
        }
        if self.sent_on.take_if(|sent| *sent == who).is_some() {
            return Some(self.go_on(who, arrival));
        }
        let partner = self.others_waiting(who).find(|wait| wait.at_step == 1 - entry.step);
        match partner {
            Some(partner) if partner.for_bytes.may_be(arrival.bytes) => return None,
            Some(partner) if self.comes_next_to(arrival, partner.for_bytes) => {
                return Some(self.go_on(who, arrival));
            }
            Some(partner) if !self.is_awaited(plan, partner) => self.sent_on = Some(partner.who),
            _ => {}
        }
        Some(self.wait_unless_excused(who, entry))
    }

    fn go_on(&mut self, who: Who, arrival: &Arrival<'_>) -> Answer {
        if arrival.entry.purpose == Purpose::Gate {
            self.excuse(who, arrival.entry.step);
        }
        if arrival.entry.step == 0 {
            self.went_on_from = arrival.bytes;
        }
        self.is_free = true;
        Answer::Pass
    }

    /// Whether the first step's thread is one stride before these bytes.
    fn comes_next_to(&self, arrival: &Arrival<'_>, bytes: Bytes) -> bool {
        let Bytes { start, length } = arrival.bytes;
        let stride = start.wrapping_sub(self.went_on_from.start);
        let next = Bytes { start: start.wrapping_add(stride), length };
        let is_known = self.went_on_from.are_known() && stride != 0;
        arrival.entry.step == 0 && is_known && next.may_be(bytes)
    }

    /// Whether a thread that waits is about to make the second step, after the first was made on its bytes.
    fn is_awaited(&self, plan: &Plan, waiting: &Waiting) -> bool {
        let first = plan.first_step().and_then(|first| first.variable);
        let bytes = first.and_then(|variable| self.variables[variable as usize]);
        plan.is_first_alone()
            && self.next == 1
            && bytes.is_some_and(|bytes| bytes.may_be(waiting.for_bytes))
    }

    /// A thread that has come to a meeting stays until all are there.
    pub(super) fn after_meeting(&mut self, plan: &Plan, who: Who, entry: &Entry) -> Answer {
        let is_over = self.next == 0 || entry.purpose != Purpose::Meeting;
        if is_over || plan.steps == 1 {
            return Answer::Make { step: entry.step };
        }
        self.met[entry.role as usize] = (who, self.meetings);
        self.rounds.made = 0;
        Answer::Wait { step: entry.step }
    }

    /// The answer for a thread that has come to a meeting before and asks again.
    pub(super) fn at_meeting(&mut self, who: Who, entry: &Entry) -> Option<Answer> {
        let met = &mut self.met[entry.role as usize];
        if met.0 != who {
            return None;
        }
        let sent_on = &mut self.rounds.sent_on[entry.role as usize];
        if core::mem::replace(sent_on, NOBODY) == who {
            *met = (0, 0);
            return Some(Answer::Pass);
        }
        if met.1 != self.meetings {
            *met = (0, 0);
            return Some(Answer::Make { step: entry.step });
        }
        if self.roles[entry.role as usize] == Some(who) {
            return Some(Answer::Wait { step: entry.step });
        }
        *met = (0, 0);
        None
    }

    /// A thread takes the lock with which it would come to a meeting; told once for each time. It was let on when the others were there;
    /// if it has not come since, they go on: what it does does not lead there now. Whether they do.
    pub fn comes_round(&mut self, plan: &Plan, who: Who, entry: &Entry) -> bool {
        let is_missing = self.next > 0 && entry.step >= self.next && !self.has_role(who);
        if plan.mode != Mode::Force || plan.rounds == 0 || !is_missing {
            return false;
        }
        self.rounds.made += 1;
        if self.rounds.made < plan.rounds {
            return false;
        }
        for (role, met) in self.met.iter().enumerate() {
            let is_there = met.0 != NOBODY && self.roles[role] == Some(met.0);
            self.rounds.sent_on[role] = if is_there { met.0 } else { NOBODY };
        }
        self.begin_anew(self.since);
        true
    }
}
