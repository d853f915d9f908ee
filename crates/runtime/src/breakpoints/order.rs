//! Who may go on and who waits: the order of steps as a state machine, without clocks, threads or memory of its own.
//!
//! Takes   arrivals of threads at places, their next events, the time.   Gives  whether a thread passes, makes a step, or waits.
//! A thread that waits asks again whenever something has changed; asking twice does no harm.
//!
//! Three ways: `force` makes steps one after the other (`meeting`: where threads wait for each other first), `serialise` keeps
//! threads apart, `reverse` lets the last step come first.
//!
//! Misses  that a thread has made its step before its next event arrives; after `SETTLED` it is taken for granted.
//! Invents that a first step is made when its thread comes by while another is under way: nobody watches for its next event.

mod force;
mod made;
mod meeting;
mod reverse;
mod serialise;

use unpick_events::schedule::{MOST_STEPS, MOST_VARIABLES, Mode};

use made::Made;
use meeting::Rounds;
use reverse::Reversal;
use serialise::Region;

use super::plan::{Entry, MOST_ROLES, Plan};

/// A thread's number.
pub type Who = u16;

/// A step is taken as made after so many nanoseconds if the thread has shown no further event.
pub const SETTLED: u64 = 10_000_000;
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

/// The last step of an order is being made.
#[derive(Debug, Clone, Copy)]
struct Completing {
    making: Making,
    /// Who had a part in it.
    roles: [Option<Who>; MOST_ROLES],
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
    /// It goes on when nobody else can.
    goes_last: bool,
}

impl Waiting {
    const NOBODY: Waiting = Waiting {
        who: NOBODY,
        for_bytes: Bytes::UNKNOWN,
        at_step: 0,
        is_early: false,
        goes_last: false,
    };
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
    /// What came about last, until its last step is made.
    completing: Option<Completing>,
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
    /// The thread that asks goes on when nobody else can.
    goes_last: bool,
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

impl Order {
    pub const fn new() -> Order {
        Order {
            counts: Counts { hits: 0, inverse_hits: 0 },
            next: 0,
            making: None,
            completing: None,
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
            goes_last: false,
            guarded: 0,
            next_excuse: 0,
            meetings: 0,
            met: [(0, 0); MOST_ROLES],
            rounds: Rounds::none(),
            region: Region::empty(),
            reversal: Reversal::none(),
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
        self.goes_last = false;
        for arrival in arrivals {
            let judged = match plan.mode {
                Mode::Force if plan.window => self.delay(plan, &arrival),
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
                    let (is_early, goes_last) = (self.is_early, self.goes_last);
                    let for_bytes = arrival.bytes;
                    waiting = Waiting { who, for_bytes, at_step: step, is_early, goes_last };
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

    /// Without turns: who comes to a step that another thread's should come before waits as long as it may.
    fn delay(&self, plan: &Plan, arrival: &Arrival<'_>) -> Answer {
        match plan.is_in_window(arrival.entry) {
            true => Answer::Wait { step: arrival.entry.step },
            false => Answer::Pass,
        }
    }

    /// The next event of a thread has come: the step it was making is made.
    pub fn event_of(&mut self, plan: &Plan, who: Who, now: u64) {
        if self.making.is_some_and(|making| making.who == who) {
            self.settle(plan, now);
        }
        if self.completing.is_some_and(|completing| completing.making.who == who) {
            self.completing = None;
        }
    }

    fn settle_by_time(&mut self, plan: &Plan, now: u64) {
        let is_long_ago = |making: Making| now.saturating_sub(making.since) >= SETTLED;
        if self.making.is_some_and(is_long_ago) {
            self.settle(plan, now);
        }
        if self.completing.is_some_and(|completing| is_long_ago(completing.making)) {
            self.completing = None;
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

    /// Of a thread that waits until nobody else can go on: whether somebody waits for it to go. None: it waits for something else.
    pub fn goes_last(&self, who: Who) -> Option<bool> {
        self.wait_of(who).filter(|wait| wait.goes_last)?;
        Some(self.others_waiting(who).any(|wait| wait.at_step == 1))
    }

    fn wait_of(&self, who: Who) -> Option<&Waiting> {
        self.waiting.iter().find(|waiting| waiting.who == who)
    }

    /// Whether a thread has a part in what is under way: it has made a step of its role.
    pub fn has_role(&self, who: Who) -> bool {
        self.roles.contains(&Some(who))
    }

    /// Whether what is under way still needs a step of a thread in this role.
    pub fn needs(&self, plan: &Plan, who: Who, role: u8) -> bool {
        let bound = self.roles.get(role as usize).copied().flatten();
        bound == Some(who) && self.has_steps_left(plan, who)
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
            // It makes its step now, and waits again the next time.
            Mode::Force if plan.window => {}
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

    /// A thread that was let on has come to its step after all, or one has left the call in which it would make its next one.
    pub fn abandon(&mut self, plan: &Plan, who: Who, now: u64) {
        if self.has_role(who) {
            self.forget_first(plan);
            self.begin_anew(now);
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

    /// A thread has come to a step or to a gate of it; told once, however often it asks.
    pub fn came_to(&mut self, step: u8) {
        self.came[step as usize % MOST_STEPS] += 1;
    }
}

impl Default for Order {
    fn default() -> Self {
        Self::new()
    }
}
