//! Steps are made one after the other.
//!
//! Who comes to a step, or to a gate before it, that is not due yet, waits. A role belongs to the thread that made its first step, and a
//! variable to the bytes of its first access; others pass. When the last step is about to be made the order was forced (a hit), and
//! everything begins anew.
//! A step of one thread after a step of another is due when that other waits at its own next one, if it has one: many threads make a
//! first step and never come to the second. Who has waited for that in vain makes its step all the same, and so
//! does everybody if the plan is eager: a task may go on in another thread.
//! Who is to test whether to wait, and then to wait, does so when nobody else can go on: those who would wake it have come as far as they can.
//! If it is undisturbed, a lock at whose gate a thread with a role has waited is not for others: who has no role and comes to take it by
//! another way than the plan's stands aside until the last step. Where no gate is before that, everybody else who comes to a step on the
//! same bytes does while only the last one is missing.

use unpick_events::schedule::{MOST_STEPS, MOST_VARIABLES, Mode, Purpose};

use super::{Answer, Arrival, Completing, Making, Order, Waiting, Who};
use crate::breakpoints::plan::{Entry, MOST_ROLES, Plan};

/// If nobody has followed for so long, what is under way gives way to another first step.
const STALE: u64 = 1_000_000;

impl Order {
    /// A thread that was told to wait is where it takes a lock: if it has a role, others stand aside from now on.
    pub fn guard(&mut self, who: Who, lock: u64) {
        if self.has_role(who) {
            self.guarded = lock;
        }
    }

    /// Whether a thread that takes a lock, and not on the way to a step, waits until others have made theirs.
    pub fn stands_aside(&mut self, plan: &Plan, who: Who, lock: u64, now: u64) -> bool {
        self.event_of(plan, who, now);
        self.settle_by_time(plan, now);
        let is_under_way = plan.mode == Mode::Force && plan.undisturbed && self.next > 0;
        is_under_way && lock != 0 && self.guarded == lock && !self.has_role(who)
    }

    /// Whether a thread that is at a step, not in its turn, waits until the last one is made, which is all that is missing. Behind a gate
    /// it would keep a lock from the thread that is to make it.
    pub fn keeps_away(&self, plan: &Plan, who: Who, arrival: &Arrival<'_>) -> bool {
        let is_last_missing = self.next > 0 && self.next + 1 == plan.steps;
        let is_forced = plan.mode == Mode::Force && plan.undisturbed && is_last_missing;
        let role = plan.role_of_step(self.next).filter(|_| is_forced && !plan.has_gate(self.next));
        let owner = role.and_then(|role| self.roles[role as usize]);
        owner.is_some_and(|owner| owner != who && self.is_waiting(owner))
            && arrival.bytes.are_known()
            && self.fits_variable(arrival)
    }

    /// Whether an order is under way that others can still complete: this thread has no step of it left to make.
    pub fn is_under_way_without(&mut self, plan: &Plan, who: Who, now: u64) -> bool {
        if plan.mode != Mode::Force {
            return false;
        }
        self.event_of(plan, who, now);
        self.settle_by_time(plan, now);
        self.completing.is_some() || self.next > 0 && !self.has_steps_left(plan, who)
    }

    /// Whether a thread that has made all its steps of an order is followed: the step that is due is being made, or its thread waits
    /// there to be woken. Not if that shall be made later, so that this thread goes on.
    pub fn is_followed(&mut self, plan: &Plan, who: Who, now: u64) -> bool {
        if plan.linger > 0 || !self.is_under_way_without(plan, who, now) {
            return false;
        }
        if self.has_role(who) {
            let mut others = self.others_waiting(who);
            return self.making.is_some() || others.any(|wait| self.is_due(plan, wait));
        }
        self.completing.is_some_and(|completing| completing.roles.contains(&Some(who)))
    }

    /// As `is_followed`, of a thread that may have a lock in hand: who follows must be at its step, and not in front of a lock.
    pub fn is_followed_at_once(&mut self, plan: &Plan, who: Who, now: u64) -> bool {
        plan.undisturbed
            && self.is_followed(plan, who, now)
            && !(self.next > 0 && plan.has_gate(self.next))
    }

    /// Whether a thread waits for the step that is due, as the one that is to make it.
    fn is_due(&self, plan: &Plan, wait: &Waiting) -> bool {
        let of_step = |entry: &&Entry| entry.step == self.next && entry.purpose.is_step();
        let Some(entry) = plan.entries().iter().find(of_step) else { return false };
        let lacks_companion = !plan.eager && self.lacks_companion(plan);
        wait.at_step == self.next
            && !lacks_companion
            && self.concerns(plan, wait.who, &Arrival { entry, bytes: wait.for_bytes })
    }

    /// What was under way is over: its first step does not count any more, unless others can still follow it.
    pub(super) fn forget_first(&mut self, plan: &Plan) {
        let Some(first) = plan.first_step() else { return };
        let bytes = first.variable.and_then(|variable| self.variables[variable as usize]);
        if let (Some(who), Some(bytes)) = (self.roles[first.role as usize], bytes)
            && !plan.is_first_alone()
        {
            self.first_made.remove(who, bytes);
        }
    }

    pub(super) fn begin_anew(&mut self, now: u64) {
        self.next = 0;
        self.making = None;
        self.roles = [None; MOST_ROLES];
        self.variables = [None; MOST_VARIABLES];
        self.since = now;
        self.hasty = None;
        self.guarded = 0;
    }

    pub(super) fn force(
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
        if entry.purpose == Purpose::Meeting
            && let Some(answer) = self.at_meeting(who, entry)
        {
            return answer;
        }
        if plan.ignored > 0 && self.is_ignored(plan, entry) {
            return Answer::Pass;
        }
        let is_first = entry.step == 0 && entry.purpose.is_step();
        if is_first {
            let is_known = entry.variable.is_some() && arrival.bytes.are_known();
            self.first_asked = is_known.then_some(arrival.bytes);
        }
        if plan.meet
            && let Some(answer) = self.keeps_appointment(plan, who, arrival)
        {
            return answer;
        }
        if self.has_left_test(plan, who, entry) {
            self.begin_anew(now);
        }
        if self.waits_to_test(plan, who, entry, now) {
            (self.is_early, self.goes_last) = (true, true);
            return self.wait_unless_excused(who, entry);
        }
        if is_first && (self.may_begin_again(now) || self.tests_again(plan, who, arrival)) {
            self.begin_anew(now);
        }
        self.recall_first(plan, who, arrival);
        if self.waits_for_own_bytes(plan, who, arrival) {
            return self.wait_unless_excused(who, entry);
        }
        if !self.concerns(plan, who, arrival) || entry.step < self.next {
            return Answer::Pass;
        }
        let is_due = entry.step == self.next && self.making.is_none();
        let lacks_companion = !plan.eager && self.lacks_companion(plan);
        let lacks_something = lacks_companion || self.is_too_soon(plan, now);
        self.is_early = is_due && lacks_something && self.hasty != Some(who);
        if !is_due || self.is_early {
            return self.wait_unless_excused(who, entry);
        }
        if !entry.purpose.is_step() {
            return Answer::Pass;
        }
        self.make(plan, who, arrival, now);
        self.after_meeting(plan, who, entry)
    }

    pub(super) fn wait_unless_excused(&mut self, who: Who, entry: &Entry) -> Answer {
        self.is_free |= self.is_excused(who, entry);
        Answer::Wait { step: entry.step }
    }

    /// If nobody waits after the first step: takes up the one that was made on the bytes of this arrival, by the thread itself if
    /// its role has more to do, else by another.
    fn recall_first(&mut self, plan: &Plan, who: Who, arrival: &Arrival<'_>) {
        let (entry, Some(first)) = (arrival.entry, plan.first_step()) else { return };
        let is_own = entry.role == first.role;
        // Somebody who is there counts for more than somebody who may come.
        let is_free =
            self.making.is_none() && !self.is_first_waiting() && (is_own || self.next <= 1);
        let is_turn = self.roles[entry.role as usize] == Some(who) && entry.step == self.next;
        let is_known = arrival.bytes.are_known();
        // What the step will be made on may not be known at its gate: it is what the thread made its first one on.
        let is_at_gate = is_own && entry.purpose == Purpose::Gate && !is_known;
        let is_on_variable = is_at_gate || (is_known && entry.variable == first.variable);
        let is_later = entry.step > 0 && is_on_variable && !is_turn;
        if !is_free || !is_later || first.variable.is_none() {
            return;
        }
        // Another thread's first step counts if that has nothing more to do: else it would be waiting.
        if !(is_own || plan.is_first_of_role(entry) && plan.is_first_alone()) {
            return;
        }
        let made = self.first_made.find(arrival.bytes, |maker| (maker == who) == is_own);
        if let Some((maker, bytes)) = made {
            self.roles = [None; MOST_ROLES];
            self.roles[first.role as usize] = Some(maker);
            self.variables = [None; MOST_VARIABLES];
            if let Some(variable) = first.variable {
                self.variables[variable as usize] = Some(bytes);
            }
            self.next = 1;
        }
    }

    /// Whoever makes the first step may come to its next one when nobody else waits. Known only after all that the place is for: one
    /// arrival is not two steps.
    pub(super) fn note_first(&mut self, who: Who, answer: Answer) {
        let is_made = matches!(answer, Answer::Pass | Answer::Make { step: 0 });
        if let Some(bytes) = self.first_asked.take().filter(|_| is_made) {
            self.first_made.add(who, bytes);
        }
    }

    /// Whether a thread that has a role is at a step of it, or at a gate.
    fn is_first_waiting(&self) -> bool {
        self.roles.iter().flatten().any(|who| self.is_waiting(*who))
    }

    /// Whether the thread that made the step before the one that is due, and is to make another later, has not come to that yet.
    fn lacks_companion(&self, plan: &Plan) -> bool {
        let Some(made) = self.next.checked_sub(1) else { return false };
        let Some(role) = plan.role_of_step(made) else { return false };
        let Some(later) = plan.next_of_role(made).filter(|later| *later > self.next) else {
            return false;
        };
        let is_there = |wait: &Waiting| wait.at_step == later;
        let companion = self.roles[role as usize].and_then(|who| self.wait_of(who));
        !companion.is_some_and(is_there)
    }

    /// Whether the others shall still go on a little before the last step.
    fn is_too_soon(&self, plan: &Plan, now: u64) -> bool {
        self.next > 0 && self.next + 1 == plan.steps && now.saturating_sub(self.since) < plan.linger
    }

    /// Where the first role has nothing to do but the first step, the second step waits until that was made on its own bytes.
    fn waits_for_own_bytes(&self, plan: &Plan, who: Who, arrival: &Arrival<'_>) -> bool {
        let entry = arrival.entry;
        plan.is_first_alone()
            && entry.step == 1
            && self.next == 1
            && arrival.bytes.are_known()
            && !self.has_role(who)
            && !self.fits_variable(arrival)
    }

    /// Whether what is under way may give way to another first step: nobody waits for it, and nobody has followed, or not for long
    /// enough. A thread that comes to its next step later finds its first one again.
    fn may_begin_again(&self, now: u64) -> bool {
        let is_stale = self.next == 1 || now.saturating_sub(self.since) > STALE;
        self.next > 0 && self.making.is_none() && !self.is_first_waiting() && is_stale
    }

    /// Whether a thread is on its way to test whether to wait, and others still come. It keeps a lock from them when it has tested: those who
    /// are to write and notify must be so far that they need it no more.
    fn waits_to_test(&self, plan: &Plan, who: Who, entry: &Entry, now: u64) -> bool {
        let is_own = self.roles[entry.role as usize] == Some(who);
        entry.step == 0
            && plan.is_entrance(entry)
            && plan.tests_before_wait(entry.role)
            && plan.has_gate(1)
            && self.hasty != Some(who)
            && (self.next == 0 || is_own || self.may_begin_again(now))
    }

    /// Whether a thread that has tested whether to wait comes to what another is to do, at a place that is none of its own: it did not wait.
    fn has_left_test(&self, plan: &Plan, who: Who, entry: &Entry) -> bool {
        let Some(own) = self.roles.iter().position(|bound| *bound == Some(who)) else {
            return false;
        };
        let is_of_own = |other: &Entry| other.role as usize == own && other.may_be_with(entry);
        self.making.is_none()
            && own != entry.role as usize
            && plan.tests_before_wait(own as u8)
            && !plan.entries().iter().any(is_of_own)
    }

    /// Whether a thread that tests whether to wait has done so before: what it found then it does not wait for any more, and what others
    /// did since it sees now.
    fn tests_again(&self, plan: &Plan, who: Who, arrival: &Arrival<'_>) -> bool {
        let role = arrival.entry.role;
        self.next > 0
            && self.roles[role as usize] == Some(who)
            && self.fits_variable(arrival)
            && plan.tests_before_wait(role)
    }

    /// Whether the arrival can be the step of what is under way.
    pub(super) fn concerns(&self, plan: &Plan, who: Who, arrival: &Arrival<'_>) -> bool {
        let entry = arrival.entry;
        let in_role = self.roles[entry.role as usize];
        let is_own = match in_role {
            Some(bound) => bound == who,
            None => plan.is_first_of_role(entry) && !self.has_role(who),
        };
        is_own && self.fits_variable(arrival)
    }

    pub(super) fn fits_variable(&self, arrival: &Arrival<'_>) -> bool {
        let bound = arrival.entry.variable.and_then(|variable| self.variables[variable as usize]);
        bound.is_none_or(|bytes| bytes.may_be(arrival.bytes))
    }

    /// Whether it is too early for anybody to take up a role by this.
    pub(super) fn is_ignored(&self, plan: &Plan, entry: &Entry) -> bool {
        plan.is_first_of_role(entry) && self.came[entry.step as usize % MOST_STEPS] <= plan.ignored
    }

    pub(super) fn make(&mut self, plan: &Plan, who: Who, arrival: &Arrival<'_>, now: u64) {
        let entry = arrival.entry;
        self.roles[entry.role as usize] = Some(who);
        if let Some(variable) = entry.variable {
            self.variables[variable as usize].get_or_insert(arrival.bytes);
        }
        self.next = entry.step + 1;
        self.since = now;
        self.hasty = None;
        // To be at a meeting is all there is to do.
        self.making = (entry.purpose == Purpose::Step).then_some(Making { who, since: now });
        if self.next >= plan.steps {
            self.completing = self.making.map(|making| Completing { making, roles: self.roles });
            self.counts.hits += 1;
            self.meetings = self.meetings.wrapping_add(1);
            self.forget_first(plan);
            self.begin_anew(now);
        }
    }
}
