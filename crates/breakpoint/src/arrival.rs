//! The waiting layer: what a thread does from its arrival until it goes on.
//!
//! Takes   an `Ask`, and a `Room`: the lock around the registry, a bell and a clock. Real ones in `process`, those of a
//!         model checker in the tests.
//! Gives   the outcome; never later than the pause, twice, and the time the user's own condition takes.
//! Misses  nothing it could wait for without a bound: every wait here has a deadline.

use std::collections::BTreeMap;
use std::ops::DerefMut;
use std::time::Duration;

use crate::board::{Standing, Ticket};
use crate::kind::Brings;
use crate::outcome::{Order, Outcome, Why};
use crate::registry::{Ask, Registry};

/// How long a thread stays behind one that does not say when its step is done.
pub const ORDER_DELAY: Duration = Duration::from_millis(10);

pub trait Room {
    type Inside<'a>: DerefMut<Target = Registry>
    where
        Self: 'a;
    type Instant: Copy;

    fn enter(&self) -> Self::Inside<'_>;
    fn after(&self, pause: Duration) -> Self::Instant;
    fn is_over(&self, deadline: Self::Instant) -> bool;
    /// Leaves the room until the bell rings or the deadline is over. May come back early.
    fn wait<'a>(&'a self, inside: Self::Inside<'a>, deadline: Self::Instant) -> Self::Inside<'a>;
    /// Wakes everybody who waits.
    fn ring(&self);
    /// Shows what was counted so far to the outside; called where no lock is held.
    fn publish(&self);
}

/// How an arrival ended; the ticket is needed to say that the step is done.
pub struct Passage {
    pub outcome: Outcome,
    pub ticket: Option<Ticket>,
}

impl Passage {
    pub fn missed(why: Why) -> Self {
        Self { outcome: Outcome::Missed(why), ticket: None }
    }
}

pub fn arrive<R: Room>(room: &R, ask: &Ask<'_>) -> Passage {
    match take_place(room, ask) {
        Ok(ticket) => meet(room, ask, ticket).unwrap_or_else(Passage::missed),
        Err(why) => Passage::missed(why),
    }
}

/// The thread's step is done: whoever is behind it may go on.
pub fn step_done<R: Room>(room: &R, name: &str, ticket: Ticket) {
    room.enter().step_done(name, ticket);
    room.ring();
}

fn take_place<R: Room>(room: &R, ask: &Ask<'_>) -> Result<Ticket, Why> {
    let mut inside = room.enter();
    inside.admit(ask)?;
    let (mut inside, judged) = judge(room, inside, ask);
    let (ticket, has_met) = inside.arrive(ask, &judged)?;
    if has_met {
        open(room, inside, ask, ticket);
    }
    Ok(ticket)
}

/// Before any step, because it may be the end of the program; and not between two steps, where it would take time.
fn open<'a, R: Room>(room: &'a R, mut inside: R::Inside<'a>, ask: &Ask<'_>, ticket: Ticket) {
    if inside.is_to_be_published(ask.name) {
        drop(inside);
        room.publish();
        inside = room.enter();
    }
    inside.open(ask.name, ticket);
    drop(inside);
    room.ring();
}

/// Asks the own condition about everybody who waits, outside the room: it is the user's code, and may take locks
/// that a thread on its way into the room holds.
fn judge<'a, R: Room>(
    room: &'a R,
    mut inside: R::Inside<'a>,
    ask: &Ask<'_>,
) -> (R::Inside<'a>, BTreeMap<Ticket, bool>) {
    let mut judged = BTreeMap::new();
    let Some(own) = ask.own else { return (inside, judged) };
    while let Some((ticket, brings)) = inside.unjudged(ask, &judged) {
        drop(inside);
        let may_meet = match (&ask.brings, &brings) {
            (Brings::State(mine), Brings::State(theirs)) => own(mine.as_ref(), theirs.as_ref()),
            _ => false,
        };
        judged.insert(ticket, may_meet);
        inside = room.enter();
    }
    (inside, judged)
}

fn meet<R: Room>(room: &R, ask: &Ask<'_>, ticket: Ticket) -> Result<Passage, Why> {
    let inside = wait_for_partners(room, ask, ticket)?;
    let (mut inside, order) = wait_for_turn(room, inside, ask, ticket);
    inside.note_order(ask.name, order);
    inside.go(ask, ticket);
    drop(inside);
    room.ring();
    Ok(Passage { outcome: Outcome::Hit(order), ticket: Some(ticket) })
}

fn wait_for_partners<'a, R: Room>(
    room: &'a R,
    ask: &Ask<'_>,
    ticket: Ticket,
) -> Result<R::Inside<'a>, Why> {
    let deadline = room.after(ask.pause);
    let mut inside = room.enter();
    loop {
        match inside.standing(ask.name, ticket) {
            Standing::Waiting if room.is_over(deadline) => {
                inside.give_up(ask, ticket);
                return Err(Why::TimedOut);
            }
            Standing::Waiting => inside = room.wait(inside, deadline),
            Standing::Dismissed => {
                inside.forget(ask.name, ticket);
                return Err(Why::BoundReached);
            }
            Standing::Turn | Standing::AfterStep | Standing::AfterDelay => return Ok(inside),
        }
    }
}

fn wait_for_turn<'a, R: Room>(
    room: &'a R,
    mut inside: R::Inside<'a>,
    ask: &Ask<'_>,
    ticket: Ticket,
) -> (R::Inside<'a>, Order) {
    let deadline = room.after(ask.pause);
    loop {
        match inside.standing(ask.name, ticket) {
            Standing::Turn => return (inside, Order::Kept),
            _ if room.is_over(deadline) => return (inside, Order::Broken),
            Standing::AfterDelay => return (delay(room, inside, ask), Order::Delayed),
            _ => inside = room.wait(inside, deadline),
        }
    }
}

fn delay<'a, R: Room>(room: &'a R, mut inside: R::Inside<'a>, ask: &Ask<'_>) -> R::Inside<'a> {
    let deadline = room.after(ORDER_DELAY.min(ask.pause));
    while !room.is_over(deadline) {
        inside = room.wait(inside, deadline);
    }
    inside
}
