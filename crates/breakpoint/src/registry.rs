//! All breakpoints of a process by name: their shapes, boards and counts.
//!
//! Takes   arrivals (`Ask`), under the lock of `arrival::Room`.
//! Gives   who may wait, who meets whom, what was counted; complaints, which are said when the lock is free again.
//! Misses  own conditions: those run the user's code, which must not run under a lock of ours.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::time::Duration;

use crate::board::{Board, Standing, Ticket};
use crate::complaint;
use crate::kind::{Brings, Kind};
use crate::outcome::{Order, Why};

/// An own condition over the states of two sides: mine, theirs.
pub type OwnCondition<'a> = dyn Fn(&dyn Any, &dyn Any) -> bool + 'a;

/// One arrival, with all that was said about it.
pub struct Ask<'a> {
    pub name: &'a str,
    pub kind: Kind,
    pub role: usize,
    pub roles: usize,
    pub brings: Brings,
    pub own: Option<&'a OwnCondition<'a>>,
    pub condition_holds: bool,
    pub lock_is_held: bool,
    pub ignore_first: u64,
    pub bound: Option<u64>,
    pub pause: Duration,
    pub says_when_done: bool,
    pub place: &'static Location<'static>,
}

/// What was counted at one role.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    pub arrivals: u64,
    /// Arrivals whose condition did not hold, or whose lock was not held.
    pub skipped: u64,
    pub ignored: u64,
    pub timeouts: u64,
    /// Arrivals that were willing to wait.
    pub patient: u64,
    pub place: Option<&'static Location<'static>>,
}

pub struct Entry {
    pub kind: Kind,
    pub halves: Vec<Counts>,
    pub hits: u64,
    pub out_of_order: u64,
    bound: Option<u64>,
    board: Board,
    /// What those who wait have brought.
    brought: BTreeMap<Ticket, (usize, Brings)>,
    has_complained: bool,
}

#[derive(Default)]
pub struct Registry {
    entries: BTreeMap<String, Entry>,
    complaints: Vec<String>,
    /// Breakpoints that were complained about although they have no entry.
    blamed: BTreeSet<String>,
    /// Names asked for by the environment, to say which of them were never reached.
    pub only: BTreeSet<String>,
}

impl Registry {
    pub const fn new() -> Self {
        Self {
            entries: BTreeMap::new(),
            complaints: Vec::new(),
            blamed: BTreeSet::new(),
            only: BTreeSet::new(),
        }
    }

    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    pub fn complain(&mut self, text: String) {
        self.complaints.push(text);
    }

    pub fn take_complaints(&mut self) -> Vec<String> {
        std::mem::take(&mut self.complaints)
    }

    pub fn waiting(&self, name: &str) -> usize {
        self.entries.get(name).map_or(0, |entry| entry.board.waiting())
    }

    /// Counts an arrival; an error says why it may not take part.
    pub fn admit(&mut self, ask: &Ask<'_>) -> Result<(), Why> {
        if ask.roles < 2 || ask.role >= ask.roles {
            return Err(self.contradict(ask, complaint::impossible_role(ask)));
        }
        if !self.entries.contains_key(ask.name) {
            self.entries.insert(ask.name.to_owned(), Entry::new(ask));
        }
        let entry = self.entry(ask.name);
        if entry.kind != ask.kind || entry.halves.len() != ask.roles {
            let complaint = complaint::other_shape(ask, entry);
            return Err(self.contradict(ask, complaint));
        }
        entry.admit(ask)
    }

    fn contradict(&mut self, ask: &Ask<'_>, complaint: String) -> Why {
        let is_first = match self.entries.get_mut(ask.name) {
            Some(entry) => !std::mem::replace(&mut entry.has_complained, true),
            None => self.blamed.insert(ask.name.to_owned()),
        };
        if is_first {
            self.complain(complaint);
        }
        Why::Contradiction
    }

    /// Entries are never removed: whoever was admitted has one.
    fn entry(&mut self, name: &str) -> &mut Entry {
        self.entries.get_mut(name).expect("an entry for who was admitted")
    }

    /// Those who wait, with whom nothing but an own condition says whether they may meet.
    pub fn unjudged(
        &mut self,
        ask: &Ask<'_>,
        judged: &BTreeMap<Ticket, bool>,
    ) -> Option<(Ticket, Brings)> {
        let entry = self.entry(ask.name);
        let mut tickets = entry.board.waiting_in_other_roles(ask.role);
        let ticket = tickets.find(|ticket| !judged.contains_key(ticket))?;
        entry.brought.get(&ticket).map(|(_, brings)| (ticket, brings.clone()))
    }

    /// The thread takes its place. True if that makes a meeting.
    pub fn arrive(
        &mut self,
        ask: &Ask<'_>,
        judged: &BTreeMap<Ticket, bool>,
    ) -> Result<(Ticket, bool), Why> {
        let entry = self.entry(ask.name);
        if entry.is_bound_reached() {
            return Err(Why::BoundReached);
        }
        Ok(entry.arrive(ask, judged))
    }

    /// Whether what was counted is shown to the outside at this hit: each time at first, then ever more rarely.
    pub fn is_to_be_published(&mut self, name: &str) -> bool {
        self.entry(name).hits.is_power_of_two()
    }

    pub fn open(&mut self, name: &str, ticket: Ticket) {
        self.entry(name).board.open(ticket);
    }

    pub fn standing(&mut self, name: &str, ticket: Ticket) -> Standing {
        self.entry(name).board.standing(ticket)
    }

    /// The pause is over. False if the thread has met somebody just before.
    pub fn give_up(&mut self, ask: &Ask<'_>, ticket: Ticket) -> bool {
        let entry = self.entry(ask.name);
        let has_given_up = entry.board.give_up(ticket);
        if has_given_up {
            entry.brought.remove(&ticket);
            entry.halves[ask.role].timeouts += 1;
        }
        has_given_up
    }

    pub fn forget(&mut self, name: &str, ticket: Ticket) {
        let entry = self.entry(name);
        entry.brought.remove(&ticket);
        entry.board.forget(ticket);
    }

    pub fn note_order(&mut self, name: &str, order: Order) {
        self.entry(name).out_of_order += u64::from(order == Order::Broken);
    }

    pub fn go(&mut self, ask: &Ask<'_>, ticket: Ticket) {
        let entry = self.entry(ask.name);
        entry.brought.remove(&ticket);
        entry.board.go(ticket, ask.says_when_done);
    }

    /// Nobody waits and no meeting is open.
    #[cfg(test)]
    pub fn is_idle(&mut self, name: &str) -> bool {
        let entry = self.entry(name);
        entry.board.is_empty() && entry.brought.is_empty()
    }

    pub fn step_done(&mut self, name: &str, ticket: Ticket) {
        self.entry(name).board.step_done(ticket);
    }
}

impl Entry {
    fn new(ask: &Ask<'_>) -> Self {
        Self {
            kind: ask.kind,
            halves: vec![Counts::default(); ask.roles],
            hits: 0,
            out_of_order: 0,
            bound: None,
            board: Board::new(ask.roles, ask.kind.is_ordered()),
            brought: BTreeMap::new(),
            has_complained: false,
        }
    }

    fn admit(&mut self, ask: &Ask<'_>) -> Result<(), Why> {
        self.bound = self.bound.into_iter().chain(ask.bound).min();
        let is_bound_reached = self.is_bound_reached();
        let half = &mut self.halves[ask.role];
        half.arrivals += 1;
        half.place.get_or_insert(ask.place);
        if !ask.condition_holds || !ask.lock_is_held {
            half.skipped += 1;
            return Err(if ask.condition_holds { Why::LockNotHeld } else { Why::Condition });
        }
        if half.arrivals - half.skipped <= ask.ignore_first {
            half.ignored += 1;
            return Err(Why::Ignored);
        }
        half.patient += u64::from(!ask.pause.is_zero());
        if is_bound_reached { Err(Why::BoundReached) } else { Ok(()) }
    }

    fn is_bound_reached(&self) -> bool {
        self.bound.is_some_and(|bound| self.hits >= bound)
    }

    fn arrive(&mut self, ask: &Ask<'_>, judged: &BTreeMap<Ticket, bool>) -> (Ticket, bool) {
        let waiting = self.board.waiting_in_other_roles(ask.role);
        let friends = waiting.filter(|ticket| match judged.get(ticket) {
            Some(may_meet) => *may_meet,
            None => self.may_meet(ask, *ticket),
        });
        let friends = friends.collect();
        let (ticket, has_met) = self.board.arrive(ask.role, friends);
        self.brought.insert(ticket, (ask.role, ask.brings.clone()));
        if has_met {
            self.hits += 1;
            if self.is_bound_reached() {
                self.board.dismiss_waiting();
            }
        }
        (ticket, has_met)
    }

    fn may_meet(&self, ask: &Ask<'_>, ticket: Ticket) -> bool {
        self.brought.get(&ticket).is_some_and(|(role, brings)| {
            fit((ask.role, &ask.brings), (*role, brings), self.halves.len())
        })
    }

    /// Which role, in the words of its constructor.
    pub fn role_word(&self, role: usize) -> String {
        match (self.kind, self.halves.len(), role) {
            (Kind::Atomicity, 2, 0) => "intruder".to_owned(),
            (Kind::Atomicity, 2, 1) => "gap".to_owned(),
            (_, 2, 0) => "first".to_owned(),
            (_, 2, 1) => "second".to_owned(),
            _ => format!("role {role}"),
        }
    }
}

/// Do two arrivals fit together, as far as what they bring says?
fn fit(one: (usize, &Brings), other: (usize, &Brings), roles: usize) -> bool {
    match (one, other) {
        ((_, Brings::Nothing), (_, Brings::Nothing)) => true,
        ((_, Brings::Object(mine)), (_, Brings::Object(theirs))) => mine == theirs,
        (
            (role, Brings::Locks { held, wanted }),
            (other, Brings::Locks { held: other_held, wanted: other_wanted }),
        ) => {
            let next = |role: usize| (role + 1) % roles;
            (next(role) != other || wanted == other_held)
                && (next(other) != role || other_wanted == held)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locks(held: usize, wanted: usize) -> Brings {
        Brings::Locks { held, wanted }
    }

    #[test]
    fn two_threads_deadlock_if_each_wants_what_the_other_holds() {
        assert!(fit((0, &locks(1, 2)), (1, &locks(2, 1)), 2));
        assert!(!fit((0, &locks(1, 2)), (1, &locks(1, 2)), 2));
        assert!(!fit((0, &locks(1, 2)), (1, &locks(2, 3)), 2));
    }

    #[test]
    fn three_threads_deadlock_in_a_circle() {
        let circle = [locks(1, 2), locks(2, 3), locks(3, 1)];
        for (one, other) in [(0, 1), (1, 2), (2, 0), (0, 2)] {
            assert!(fit((one, &circle[one]), (other, &circle[other]), 3), "{one} {other}");
        }
        assert!(!fit((2, &locks(3, 2)), (0, &circle[0]), 3));
    }
}
