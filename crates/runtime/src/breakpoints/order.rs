//! Who may go on and who waits: the order of steps as a state machine, without clocks, threads or memory of its own.
//!
//! Takes   arrivals of threads at places, their next events, the time.   Gives  whether a thread passes, makes a step, or waits.
//! A thread that waits asks again whenever something has changed; asking twice does no harm.
//!
//! **Force**: steps are made one after the other. Who comes to a step, or to a gate before it, that is not due yet, waits. A role
//! belongs to the thread that made its first step, and a variable to the bytes of its first access; others pass. When the last step is
//! about to be made the order was forced (a hit), and everything begins anew.
//! A step of one thread after a step of another is due when that other waits at its own next one, if it has one: many threads make a
//! first step and never come to the second. Who has waited for that in vain makes its step all the same, and so
//! does everybody if the plan is eager: a task may go on in another thread.
//! Where the threads of the first two steps shall meet, each waits at its step until the other is there on the same bytes. Who was there first
//! goes on when the other has come for other bytes: so two that go through an array from its two ends meet somewhere. If the first step's
//! thread is about to come to where the other waits it goes on itself: what it does on the way to its step may turn the other away.
//! If it is undisturbed, a lock at whose gate a thread with a role has waited is not for others: who has no role and comes to take it by
//! another way than the plan's stands aside until the last step. Where no gate is before that, everybody else who comes to a step on the
//! same bytes does while only the last one is missing.
//! **Serialise**: only one thread at a time is between the entrance of a role and its last step, or its exit if it has one. Who comes
//! first waits for a second one: what nobody else comes near to need not be kept apart.
//! **Reverse**: the first step waits until the last one has been made, and has not been for a little while.
//!
//! Misses  that a thread has made its step before its next event arrives; after `SETTLED` it is taken for granted.
//! Invents that a first step is made when its thread comes by while another is under way: nobody watches for its next event.

use unpick_events::schedule::{MOST_STEPS, MOST_VARIABLES, Mode, Purpose};

use super::plan::{Entry, MOST_ROLES, Plan};

/// A thread's number.
pub type Who = u16;

/// A step is taken as made after so many nanoseconds if the thread has shown no further event.
pub const SETTLED: u64 = 10_000_000;
/// If nobody has followed for so long, what is under way gives way to another first step.
const STALE: u64 = 1_000_000;
/// `Reverse`: the last step may come again; the first waits until it has not for so long.
const QUIET: u64 = 5_000_000;
/// Who was let go at a gate is not stopped again at its step. More than this many at a time are forgotten.
const MOST_EXCUSED: usize = 16;

/// Some bytes; empty if not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bytes {
    pub start: u64,
    pub length: u64,
}

impl Bytes {
    pub const UNKNOWN: Bytes = Bytes { start: 0, length: 0 };

    pub fn are_known(self) -> bool {
        self.length != 0
    }

    fn may_be(self, other: Bytes) -> bool {
        self.length == 0
            || other.length == 0
            || (self.start < other.start.saturating_add(other.length)
                && other.start < self.start.saturating_add(self.length))
    }
}

/// A thread at a place that is an entry of the plan.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a> {
    pub entry: &'a Entry,
    pub bytes: Bytes,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Pass,
    /// The thread makes this step now.
    Make {
        step: u8,
    },
    /// It waits for its turn to make this step.
    Wait {
        step: u8,
    },
}

const NOTHING_MADE: (Who, Bytes) = (NOBODY, Bytes::UNKNOWN);

/// Steps that were made on some bytes: the latest ones. A program that goes through an array makes its first step on all of it before
/// anybody makes the second on one of them.
struct Made {
    entries: [(Who, Bytes); MOST_MADE],
    next: usize,
}

const MOST_MADE: usize = 512;

impl Made {
    const fn none() -> Made {
        Made { entries: [NOTHING_MADE; MOST_MADE], next: 0 }
    }

    fn add(&mut self, who: Who, bytes: Bytes) {
        if let Some(known) = self.entries.iter_mut().find(|made| **made == (who, bytes)) {
            *known = NOTHING_MADE;
        }
        self.entries[self.next % MOST_MADE] = (who, bytes);
        self.next = (self.next + 1) % MOST_MADE;
    }

    /// Who made the step on these bytes last, among those who qualify.
    fn find(&self, bytes: Bytes, may_be: impl Fn(Who) -> bool) -> Option<(Who, Bytes)> {
        let (newer, older) = self.entries.split_at(self.next);
        let latest_first = newer.iter().rev().chain(older.iter().rev());
        let mut made = latest_first.filter(|(who, _)| *who != NOBODY && may_be(*who));
        made.find(|(_, made)| made.may_be(bytes)).copied()
    }

    fn remove(&mut self, who: Who, bytes: Bytes) {
        for made in &mut self.entries {
            if made.0 == who && made.1.may_be(bytes) {
                *made = NOTHING_MADE;
            }
        }
    }
}

/// Why a thread is let go before its turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GiveUp {
    TimedOut,
    /// There is nobody else.
    Alone,
    /// Nobody else can come.
    Blocked,
    /// Somebody waits for a lock that it holds, as far as can be told.
    InTheWay,
}

/// What happened, for the outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub hits: u64,
    pub inverse_hits: u64,
}

/// A thread that is making a step.
#[derive(Debug, Clone, Copy)]
struct Making {
    who: Who,
    since: u64,
}

/// A thread that waits.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    who: Who,
    for_bytes: Bytes,
    /// The step it is at, or at a gate of, or was let on from.
    at_step: u8,
    /// It is its turn, but another has not come to where it shall be meanwhile.
    is_early: bool,
}

impl Waiting {
    const NOBODY: Waiting =
        Waiting { who: NOBODY, for_bytes: Bytes::UNKNOWN, at_step: 0, is_early: false };
}

/// What a thread does that has waited long enough.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    GoesOn,
    /// It hears another answer now.
    AsksAgain,
}

pub struct Order {
    pub counts: Counts,
    /// The step that is due.
    next: u8,
    making: Option<Making>,
    roles: [Option<Who>; MOST_ROLES],
    variables: [Option<Bytes>; MOST_VARIABLES],
    /// When the last step was made.
    since: u64,
    /// Threads that wait.
    waiting: [Waiting; MOST_WAITING],
    /// It has waited long enough for another to come to its next step, and makes its own without.
    hasty: Option<Who>,
    /// Its partner has come to other bytes than those it waits for: it goes on.
    sent_on: Option<Who>,
    /// The bytes from which the first step's thread went on last.
    went_on_from: Bytes,
    /// How often threads came to each step or its gates.
    came: [u64; MOST_STEPS],
    excused: [(Who, u8); MOST_EXCUSED],
    /// The bytes of the thread that asks, if it is at the first step.
    first_asked: Option<Bytes>,
    /// The thread that asks has used an excuse, or was sent on: it is not stopped at this place, whatever else that is for.
    is_free: bool,
    /// All that the thread that asks lacks is that another comes to its next step.
    is_early: bool,
    /// The lock that a thread with a role waited to take, since what is under way began; 0: none.
    guarded: u64,
    next_excuse: usize,
    /// Counts meetings: who waits at one goes on when it has changed.
    meetings: u32,
    met: [(Who, u32); MOST_ROLES],
    rounds: Rounds,
    region: Region,
    reversal: Reversal,
    /// First steps, and for `Reverse` last ones.
    first_made: Made,
    last_made: Made,
}

const MOST_WAITING: usize = 64;
const NOBODY: Who = 0;

/// `Serialise`: who is inside.
struct Region {
    owner: Option<(Who, u8)>,
    /// It makes the last step of its role.
    is_leaving: bool,
    /// Robbed of the region while inside.
    robbed: Option<Who>,
    /// Another has made a step since.
    is_disturbed: bool,
    /// Roles that have gone through since the last inverse hit, as bits, and by whom the first.
    seen: u32,
    seen_by: Who,
    /// Who has left last.
    last_inside: Who,
    /// The last one that was told to wait, if it is at its step.
    waits_at_step: Who,
    /// Two threads were at entrances at the same time, or it was in vain to wait for that.
    has_met: bool,
    /// How often it was in vain.
    lonely: u8,
}

/// Who is missing at a meeting, and comes by without going there.
struct Rounds {
    made: u64,
    /// By role: who was at the meeting and need not wait any more.
    sent_on: [Who; MOST_ROLES],
}
/// After so many inverse hits, who comes first enters first: to take turns is slow.
const MOST_FAIR: u64 = 64;
/// More often nobody waits for a second thread at an entrance.
const MOST_LONELY: u8 = 3;

/// `Reverse`: what was made.
struct Reversal {
    last_seen: u64,
    is_counted: bool,
}

impl Order {
    pub const fn new() -> Order {
        Order {
            counts: Counts { hits: 0, inverse_hits: 0 },
            next: 0,
            making: None,
            roles: [None; MOST_ROLES],
            variables: [None; MOST_VARIABLES],
            since: 0,
            waiting: [Waiting::NOBODY; MOST_WAITING],
            hasty: None,
            sent_on: None,
            went_on_from: Bytes::UNKNOWN,
            came: [0; MOST_STEPS],
            excused: [(0, 0); MOST_EXCUSED],
            first_asked: None,
            is_free: false,
            is_early: false,
            guarded: 0,
            next_excuse: 0,
            meetings: 0,
            met: [(0, 0); MOST_ROLES],
            rounds: Rounds { made: 0, sent_on: [NOBODY; MOST_ROLES] },
            region: Region {
                owner: None,
                is_leaving: false,
                robbed: None,
                is_disturbed: false,
                seen: 0,
                seen_by: 0,
                last_inside: NOBODY,
                waits_at_step: NOBODY,
                has_met: false,
                lonely: 0,
            },
            reversal: Reversal { last_seen: 0, is_counted: false },
            first_made: Made::none(),
            last_made: Made::none(),
        }
    }

    /// A thread is at a place: all entries of the plan that speak of it.
    pub fn arrive<'a>(
        &mut self,
        plan: &Plan,
        who: Who,
        arrivals: impl Iterator<Item = Arrival<'a>>,
        now: u64,
    ) -> Answer {
        self.event_of(plan, who, now);
        self.settle_by_time(plan, now);
        let mut answer = Answer::Pass;
        let mut waiting = Waiting { who, ..Waiting::NOBODY };
        self.is_free = false;
        self.is_early = false;
        for arrival in arrivals {
            let judged = match plan.mode {
                Mode::Force => self.force(plan, who, &arrival, now),
                Mode::Serialise => self.serialise(plan, who, &arrival, now),
                Mode::Reverse => self.reverse(plan, who, &arrival, now),
            };
            match judged {
                Answer::Make { .. } => {
                    answer = judged;
                    break;
                }
                Answer::Wait { step } => {
                    answer = judged;
                    let is_early = self.is_early;
                    waiting = Waiting { who, for_bytes: arrival.bytes, at_step: step, is_early };
                }
                Answer::Pass => {}
            }
        }
        if self.is_free && matches!(answer, Answer::Wait { .. }) {
            answer = Answer::Pass;
        }
        self.note_first(who, answer);
        self.set_waiting(who, matches!(answer, Answer::Wait { .. }).then_some(waiting));
        answer
    }

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

    /// The next event of a thread has come: the step it was making is made.
    pub fn event_of(&mut self, plan: &Plan, who: Who, now: u64) {
        if self.making.is_some_and(|making| making.who == who) {
            self.settle(plan, now);
        }
    }

    fn settle_by_time(&mut self, plan: &Plan, now: u64) {
        if self.making.is_some_and(|making| now.saturating_sub(making.since) >= SETTLED) {
            self.settle(plan, now);
        }
    }

    fn settle(&mut self, plan: &Plan, now: u64) {
        let Some(making) = self.making.take() else { return };
        self.since = now;
        match plan.mode {
            Mode::Force => {}
            Mode::Serialise => self.leave_region(making.who),
            Mode::Reverse => self.reversal.last_seen = now,
        }
    }

    fn set_waiting(&mut self, who: Who, waiting: Option<Waiting>) {
        let place = if self.is_waiting(who) { who } else { NOBODY };
        if waiting.is_none() && place == NOBODY {
            return;
        }
        if let Some(place) = self.waiting.iter_mut().find(|waiting| waiting.who == place) {
            *place = waiting.unwrap_or(Waiting::NOBODY);
        }
    }

    pub fn is_waiting(&self, who: Who) -> bool {
        self.wait_of(who).is_some()
    }

    fn others_waiting(&self, who: Who) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(move |waiting| waiting.who != NOBODY && waiting.who != who)
    }

    fn wait_of(&self, who: Who) -> Option<&Waiting> {
        self.waiting.iter().find(|waiting| waiting.who == who)
    }

    /// Whether a thread has a part in what is under way: it has made a step of its role.
    pub fn has_role(&self, who: Who) -> bool {
        self.roles.contains(&Some(who))
    }

    /// Whether a thread that was let on from `step` still has to wait before it makes it.
    pub fn must_wait_for(&mut self, plan: &Plan, who: Who, step: u8, now: u64) -> bool {
        self.event_of(plan, who, now);
        self.settle_by_time(plan, now);
        let must = plan.mode == Mode::Force
            && self.has_role(who)
            && (step > self.next || (step == self.next && self.making.is_some()));
        self.set_waiting(who, must.then_some(Waiting { who, at_step: step, ..Waiting::NOBODY }));
        must
    }

    /// A thread has waited long enough.
    pub fn give_up(
        &mut self,
        plan: &Plan,
        who: Who,
        step: u8,
        why: GiveUp,
        now: u64,
    ) -> Afterwards {
        let wait = self.wait_of(who).copied().unwrap_or(Waiting::NOBODY);
        self.set_waiting(who, None);
        match plan.mode {
            Mode::Force if wait.is_early => {
                self.hasty = Some(who);
                return Afterwards::AsksAgain;
            }
            // It goes on to where it gives the lock back: what has been made still counts.
            Mode::Force if why == GiveUp::InTheWay && self.has_role(who) => {}
            Mode::Force if self.has_role(who) => {
                self.forget_first(plan);
                self.begin_anew(now);
            }
            Mode::Force => self.excuse(who, step),
            Mode::Serialise => {
                self.note_loneliness(why);
                self.rob(plan, who, step, now);
            }
            // At its step, it makes it now; after a gate it will come there.
            Mode::Reverse if plan.has_gate_before_first() => {}
            Mode::Reverse => self.first_is_made(who, wait.for_bytes),
        }
        Afterwards::GoesOn
    }

    /// A thread that was let on has come to its step after all.
    pub fn abandon(&mut self, plan: &Plan, who: Who, now: u64) {
        if self.has_role(who) {
            self.forget_first(plan);
            self.begin_anew(now);
        }
    }

    /// What was under way is over: its first step does not count any more, unless others can still follow it.
    fn forget_first(&mut self, plan: &Plan) {
        let Some(first) = plan.first_step() else { return };
        let bytes = first.variable.and_then(|variable| self.variables[variable as usize]);
        if let (Some(who), Some(bytes)) = (self.roles[first.role as usize], bytes)
            && !plan.is_first_alone()
        {
            self.first_made.remove(who, bytes);
        }
    }

    /// The thread has ended.
    pub fn end_of(&mut self, plan: &Plan, who: Who, now: u64) {
        self.event_of(plan, who, now);
        self.set_waiting(who, None);
        if self.has_steps_left(plan, who) {
            self.begin_anew(now);
        }
        if self.region.owner.is_some_and(|(owner, _)| owner == who) {
            self.region.owner = None;
        }
        if self.region.robbed == Some(who) {
            self.region.robbed = None;
        }
    }

    fn has_steps_left(&self, plan: &Plan, who: Who) -> bool {
        let role = self.roles.iter().position(|bound| *bound == Some(who));
        role.and_then(|role| plan.role(role as u8)).is_some_and(|role| role.last >= self.next)
    }

    fn excuse(&mut self, who: Who, step: u8) {
        self.excused[self.next_excuse] = (who, step);
        self.next_excuse = (self.next_excuse + 1) % MOST_EXCUSED;
    }

    /// Whether the thread is at the step that it was let go before. An excuse is good once, and not beyond the next gate.
    fn is_excused(&mut self, who: Who, entry: &Entry) -> bool {
        let known = self.excused.iter_mut().find(|excused| **excused == (who, entry.step));
        let Some(known) = known else { return false };
        *known = (0, 0);
        entry.purpose.is_step()
    }

    // Force

    fn begin_anew(&mut self, now: u64) {
        self.next = 0;
        self.making = None;
        self.roles = [None; MOST_ROLES];
        self.variables = [None; MOST_VARIABLES];
        self.since = now;
        self.hasty = None;
        self.guarded = 0;
    }

    fn force(&mut self, plan: &Plan, who: Who, arrival: &Arrival<'_>, now: u64) -> Answer {
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
        if is_first && self.may_begin_again(now) {
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

    fn wait_unless_excused(&mut self, who: Who, entry: &Entry) -> Answer {
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
    fn note_first(&mut self, who: Who, answer: Answer) {
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

    /// Two threads that shall meet. None: they have, or it is not known on which bytes.
    fn keeps_appointment(
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

    /// Whether the arrival can be the step of what is under way.
    fn concerns(&self, plan: &Plan, who: Who, arrival: &Arrival<'_>) -> bool {
        let entry = arrival.entry;
        let in_role = self.roles[entry.role as usize];
        let is_own = match in_role {
            Some(bound) => bound == who,
            None => plan.is_first_of_role(entry) && !self.has_role(who),
        };
        is_own && self.fits_variable(arrival)
    }

    fn fits_variable(&self, arrival: &Arrival<'_>) -> bool {
        let bound = arrival.entry.variable.and_then(|variable| self.variables[variable as usize]);
        bound.is_none_or(|bytes| bytes.may_be(arrival.bytes))
    }

    /// A thread has come to a step or to a gate of it; told once, however often it asks.
    pub fn came_to(&mut self, step: u8) {
        self.came[step as usize % MOST_STEPS] += 1;
    }

    /// Whether it is too early for anybody to take up a role by this.
    fn is_ignored(&self, plan: &Plan, entry: &Entry) -> bool {
        plan.is_first_of_role(entry) && self.came[entry.step as usize % MOST_STEPS] <= plan.ignored
    }

    fn make(&mut self, plan: &Plan, who: Who, arrival: &Arrival<'_>, now: u64) {
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
            self.counts.hits += 1;
            self.meetings = self.meetings.wrapping_add(1);
            self.forget_first(plan);
            self.begin_anew(now);
        }
    }

    /// A thread that has come to a meeting stays until all are there.
    fn after_meeting(&mut self, plan: &Plan, who: Who, entry: &Entry) -> Answer {
        let is_over = self.next == 0 || entry.purpose != Purpose::Meeting;
        if is_over || plan.steps == 1 {
            return Answer::Make { step: entry.step };
        }
        self.met[entry.role as usize] = (who, self.meetings);
        self.rounds.made = 0;
        Answer::Wait { step: entry.step }
    }

    /// The answer for a thread that has come to a meeting before and asks again.
    fn at_meeting(&mut self, who: Who, entry: &Entry) -> Option<Answer> {
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

    // Serialise

    fn serialise(&mut self, plan: &Plan, who: Who, arrival: &Arrival<'_>, now: u64) -> Answer {
        let entry = arrival.entry;
        if self.has_come_round(plan, who, entry) {
            self.region.owner = None;
            self.region.last_inside = who;
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
        }
        self.watch_robbed(plan, who, entry);
        self.perhaps_leave(plan, who, entry, now)
    }

    /// Whether a thread is where it takes its lock again, without having come to where it would wait for another: it has given the lock
    /// back. What threads do to variables between two steps lasts, so that it does not count for accesses.
    fn has_come_round(&self, plan: &Plan, who: Who, entry: &Entry) -> bool {
        let is_inside = self.region.owner == Some((who, entry.role));
        is_inside && entry.purpose == Purpose::Gate && plan.is_entrance(entry) && plan.is_of_waits()
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
        self.region.last_inside == who
            && self.counts.inverse_hits < MOST_FAIR
            && self.others_waiting(who).next().is_some()
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
        self.region.is_leaving = true;
        // Whoever is at an exit has made all its steps.
        match entry.purpose {
            Purpose::Exit => self.leave_region(who),
            _ => self.making = Some(Making { who, since: now }),
        }
        Answer::Make { step: entry.step }
    }

    fn leave_region(&mut self, who: Who) {
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
    fn note_loneliness(&mut self, why: GiveUp) {
        if self.region.owner.is_none() && why != GiveUp::Alone {
            self.region.lonely = self.region.lonely.saturating_add(1);
            self.region.has_met |= self.region.lonely >= MOST_LONELY;
        }
    }

    /// Who has waited long enough takes the region from its owner, who may never leave it.
    fn rob(&mut self, plan: &Plan, who: Who, step: u8, now: u64) {
        let role = (0..MOST_ROLES as u8)
            .find(|role| plan.role(*role).is_some_and(|role| role.first == step));
        self.region.robbed = self.region.owner.map(|(owner, _)| owner);
        // Who waited at its step makes it now; it may be all there is to do.
        let is_at_step = self.region.waits_at_step == who;
        let is_all = role
            .and_then(|role| plan.role(role))
            .is_some_and(|role| role.last == step && !role.has_exit);
        self.region.is_disturbed = is_at_step;
        self.region.owner = role.map(|role| (who, role));
        self.region.is_leaving = is_at_step && is_all;
        self.making = self.region.is_leaving.then_some(Making { who, since: now });
    }

    // Reverse

    fn reverse(&mut self, plan: &Plan, who: Who, arrival: &Arrival<'_>, now: u64) -> Answer {
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

    fn first_is_made(&mut self, who: Who, bytes: Bytes) {
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

impl Default for Order {
    fn default() -> Self {
        Self::new()
    }
}
