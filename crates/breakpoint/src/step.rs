//! From what a user wrote to the room of the process, and back.

use crate::arrival::{self, Passage};
use crate::board::Ticket;
use crate::breakpoint::Breakpoint;
use crate::outcome::{Outcome, Why};
use crate::registry::Ask;
use crate::settings::LONGEST_PAUSE;
use crate::{holding, process};

pub fn arrive(breakpoint: Breakpoint<'_>, says_when_done: bool) -> (Outcome, Option<Ticket>) {
    let Some(room) = process::room() else { return (Outcome::Missed(Why::Off), None) };
    let settings = room.settings();
    if !settings.choice.has(breakpoint.name) {
        return (Outcome::Missed(Why::Off), None);
    }
    let condition_holds = breakpoint.when.is_none_or(|condition| condition());
    let ask = Ask {
        name: breakpoint.name,
        kind: breakpoint.kind,
        role: breakpoint.role,
        roles: breakpoint.roles,
        brings: breakpoint.brings,
        own: breakpoint.own.as_deref(),
        condition_holds,
        lock_is_held: breakpoint.lock.is_none_or(holding::is_held),
        ignore_first: breakpoint.ignore_first,
        bound: breakpoint.bound,
        pause: settings.pause.unwrap_or(breakpoint.pause).min(LONGEST_PAUSE),
        says_when_done,
        place: breakpoint.place,
    };
    let Passage { outcome, ticket } = arrival::arrive(room, &ask);
    if outcome == Outcome::Missed(Why::Contradiction) {
        room.say_complaints();
    }
    (outcome, ticket)
}

/// A thread's next step after a breakpoint. Those behind it go on when it ends: by [`done`](Step::done), or when it is
/// dropped.
#[must_use = "the step ends when this is dropped: keep it until the step is done"]
#[derive(Debug)]
pub struct Step {
    outcome: Outcome,
    /// Name and ticket, while somebody may wait for the end.
    open: Option<(String, Ticket)>,
}

impl Step {
    pub(crate) fn begin(name: String, outcome: Outcome, ticket: Option<Ticket>) -> Self {
        Self { outcome, open: ticket.map(|ticket| (name, ticket)) }
    }

    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.outcome
    }

    #[must_use]
    pub fn is_hit(&self) -> bool {
        self.outcome.is_hit()
    }

    /// The step is done.
    pub fn done(self) {}
}

impl Drop for Step {
    fn drop(&mut self) {
        if let (Some((name, ticket)), Some(room)) = (self.open.take(), process::room()) {
            arrival::step_done(room, &name, ticket);
        }
    }
}
