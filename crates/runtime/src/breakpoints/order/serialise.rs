//! Only one thread at a time is between the entrance of a role and its last step, or its exit if it has one. Who comes first waits for a
//! second one: what nobody else comes near to need not be kept apart.

use unpick_events::schedule::{Mode, Purpose};

use super::{Answer, Arrival, Bytes, GiveUp, Making, NOBODY, Order, Who};
use crate::breakpoints::plan::{Entry, MOST_ROLES, Plan};

/// After so many inverse hits, who comes first enters first: to take turns is slow.
const MOST_FAIR: u64 = 64;
/// More often nobody waits for a second thread at an entrance.
const MOST_LONELY: u8 = 3;

/// Who is inside.
pub struct Region {
    pub(super) owner: Option<(Who, u8)>,
    /// It makes the last step of its role.
    pub(super) is_leaving: bool,
    /// It has made that, but is inside until it has given back its lock.
    pub(super) has_made_last: bool,
    /// Robbed of the region while inside.
    pub(super) robbed: Option<Who>,
    /// Another has made a step since.
    pub(super) is_disturbed: bool,
    /// Roles that have gone through since the last inverse hit, as bits, and by whom the first.
    pub(super) seen: u32,
    pub(super) seen_by: Who,
    /// Who has left last.
    pub(super) last_inside: Who,
    /// The last one that was told to wait, if it is at its step.
    pub(super) waits_at_step: Who,
    /// Two threads were at entrances at the same time, or it was in vain to wait for that.
    pub(super) has_met: bool,
    /// How often it was in vain.
    pub(super) lonely: u8,
    /// What the owner read when it entered.
    pub(super) read: Bytes,
    /// Who has left because it came round, until another enters.
    pub(super) came_round: Who,
}

impl Region {
    pub const fn empty() -> Region {
        Region {
            owner: None,
            is_leaving: false,
            has_made_last: false,
            robbed: None,
            is_disturbed: false,
            seen: 0,
            seen_by: 0,
            last_inside: NOBODY,
            waits_at_step: NOBODY,
            has_met: false,
            lonely: 0,
            read: Bytes::UNKNOWN,
            came_round: NOBODY,
        }
    }
}

impl Order {
    pub(super) fn serialise(
        &mut self,
        plan: &Plan,
        who: Who,
        arrival: &Arrival<'_>,
        now: u64,
    ) -> Answer {
        let entry = arrival.entry;
        if self.has_come_round(plan, who, entry) || self.reads_again(plan, who, arrival) {
            self.region.owner = None;
            self.region.last_inside = who;
            self.region.came_round = who;
        }
        let is_inside = self.region.owner.is_some_and(|(owner, _)| owner == who);
        let enters = !is_inside && entry.purpose != Purpose::Exit && plan.is_entrance(entry);
        let must_wait =
            self.region.owner.is_some() || self.waits_for_second(plan, who) || self.gives_way(who);
        if enters && must_wait {
            self.region.waits_at_step = if entry.purpose.is_step() { who } else { NOBODY };
            return Answer::Wait { step: entry.step };
        }
        if enters {
            self.region.owner = Some((who, entry.role));
            self.region.is_leaving = false;
            self.region.has_made_last = false;
            self.region.read = arrival.bytes;
            if self.region.came_round != who {
                self.region.came_round = NOBODY;
            }
        }
        self.watch_robbed(plan, who, entry);
        self.perhaps_leave(plan, who, entry, now)
    }

    /// Whether a thread is where it takes its lock again, without having come to where it would wait for another: it has given the lock
    /// back. What threads do to variables between two steps lasts, so that it does not count for accesses.
    fn has_come_round(&self, plan: &Plan, who: Who, entry: &Entry) -> bool {
        let is_inside = self.region.owner == Some((who, entry.role));
        is_inside
            && entry.purpose == Purpose::Gate
            && plan.is_entrance(entry)
            && (plan.is_of_waits() || plan.tests_before_wait(entry.role))
    }

    /// A thread has given a lock back; `holds` says whether it still holds the one with which it is to come to a step. Who tested whether to
    /// wait has found that it need not; who is alone until it has given back its lock has done so. Whether it is out now.
    pub fn gives_lock_back(&mut self, plan: &Plan, who: Who, holds: impl Fn(u8) -> bool) -> bool {
        let inside = self.region.owner.filter(|(owner, _)| *owner == who);
        let Some((_, role)) = inside.filter(|_| plan.mode == Mode::Serialise) else { return false };
        let held_for = plan.step_with_lock(role);
        let is_done = held_for.is_some_and(|step| !holds(step));
        if is_done && self.region.has_made_last {
            self.region.is_leaving = true;
            self.leave_region(who);
            return true;
        }
        let need_not_wait = plan.tests_before_wait(role) && !self.region.is_leaving;
        if is_done || need_not_wait {
            self.region.owner = None;
            self.region.last_inside = who;
        }
        is_done || need_not_wait
    }

    /// Whether the owner, which has only read so far, reads the same bytes again: a thread that waits for a value by looking at it. It
    /// relies on its last look, so that nothing has to be kept apart since the one before.
    fn reads_again(&self, plan: &Plan, who: Who, arrival: &Arrival<'_>) -> bool {
        let entry = arrival.entry;
        let has_steps_left =
            plan.role(entry.role).is_some_and(|role| role.last > role.first && !role.has_exit);
        self.region.owner == Some((who, entry.role))
            && entry.reads
            && entry.purpose == Purpose::Step
            && plan.is_entrance(entry)
            && has_steps_left
            && arrival.bytes.are_known()
            && self.region.read.may_be(arrival.bytes)
    }

    /// Whether a thread that may enter waits until another one wants to as well. Who is about to wait for another anyway has in its hand
    /// what that other needs on its way.
    fn waits_for_second(&mut self, plan: &Plan, who: Who) -> bool {
        if plan.is_of_waits() {
            return false;
        }
        let is_second = self.others_waiting(who).next().is_some();
        self.region.has_met |= is_second;
        !self.region.has_met
    }

    /// Whether a thread that was inside last lets another go first: else a quick one does all it has to do while the other wakes up.
    fn gives_way(&self, who: Who) -> bool {
        let is_fair = self.counts.inverse_hits < MOST_FAIR || self.region.came_round == who;
        self.region.last_inside == who && is_fair && self.others_waiting(who).next().is_some()
    }

    /// Counts a hit if one who was robbed of the region goes on in it after another's step: what was to be kept apart was not.
    fn watch_robbed(&mut self, plan: &Plan, who: Who, entry: &Entry) {
        let Some(robbed) = self.region.robbed else { return };
        let is_step = entry.purpose.is_step();
        // In a whole function, the first step may come again and again.
        let has_exit = plan.role(entry.role).is_some_and(|role| role.has_exit);
        let begins = plan.is_first_of_role(entry) && (!has_exit || !is_step);
        if robbed == who && (begins || entry.purpose == Purpose::Exit) {
            // It was not inside any more: it begins again.
            self.region.robbed = None;
        } else if robbed == who && is_step {
            self.counts.hits += u64::from(self.region.is_disturbed);
            self.region.robbed = None;
        } else if is_step {
            self.region.is_disturbed = true;
        }
    }

    fn perhaps_leave(&mut self, plan: &Plan, who: Who, entry: &Entry, now: u64) -> Answer {
        let Some((owner, role)) = self.region.owner else { return Answer::Pass };
        let is_end = plan.role(role).is_some_and(|role| match role.has_exit {
            true => entry.purpose == Purpose::Exit,
            false => entry.purpose.is_step() && role.last == entry.step,
        });
        if owner != who || entry.role != role || !is_end {
            return Answer::Pass;
        }
        if plan.step_with_lock(role).is_some() {
            // There may be more to do under its lock, as in a loop.
            self.region.has_made_last = true;
            return Answer::Make { step: entry.step };
        }
        self.region.is_leaving = true;
        // Whoever is at an exit has made all its steps.
        match entry.purpose {
            Purpose::Exit => self.leave_region(who),
            _ => self.making = Some(Making { who, since: now }),
        }
        Answer::Make { step: entry.step }
    }

    pub(super) fn leave_region(&mut self, who: Who) {
        let Some((owner, role)) = self.region.owner else { return };
        if owner != who || !self.region.is_leaving {
            return;
        }
        self.region.owner = None;
        self.region.last_inside = who;
        self.region.is_leaving = false;
        if self.region.robbed == Some(who) {
            self.region.robbed = None;
        }
        let others = self.region.seen != 0 && self.region.seen_by != who;
        self.region.seen |= 1 << role;
        if others {
            self.counts.inverse_hits += 1;
            self.region.seen = 0;
        } else {
            self.region.seen_by = who;
        }
    }

    /// Who waits while nobody is inside waits for a second thread, which may never come.
    pub(super) fn note_loneliness(&mut self, why: GiveUp) {
        if self.region.owner.is_none() && why != GiveUp::Alone {
            self.region.lonely = self.region.lonely.saturating_add(1);
            self.region.has_met |= self.region.lonely >= MOST_LONELY;
        }
    }

    /// Who has waited long enough takes the region from its owner, who may never leave it.
    pub(super) fn rob(&mut self, plan: &Plan, who: Who, step: u8, now: u64) {
        let role = (0..MOST_ROLES as u8)
            .find(|role| plan.role(*role).is_some_and(|role| role.first == step));
        self.region.robbed = self.region.owner.map(|(owner, _)| owner);
        // Who waited at its step makes it now; it may be all there is to do.
        let is_at_step = self.region.waits_at_step == who;
        let is_all = role
            .and_then(|role| plan.role(role))
            .is_some_and(|role| role.last == step && !role.has_exit);
        self.region.is_disturbed = is_at_step;
        self.region.has_made_last = false;
        self.region.owner = role.map(|role| (who, role));
        self.region.is_leaving = is_at_step && is_all;
        self.making = self.region.is_leaving.then_some(Making { who, since: now });
    }
}
