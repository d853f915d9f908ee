//! The state machine of one breakpoint: who waits, who has met, whose turn it is.
//!
//! Takes   arrivals with the earlier ones each agrees with; time-outs and ends of steps, as calls.
//! Gives   meetings of one thread per role, and for each thread whether it waits, may go on, or is behind another.
//! Misses  time and threads: there is no clock and no lock in here. `arrival` has both.
//! Cost    a search over those who wait; they are few.

/// Names one arrival; a later arrival has a greater one.
pub type Ticket = u64;

#[derive(Debug)]
pub struct Board {
    roles: usize,
    /// Whether threads that met go on one after the other.
    ordered: bool,
    next: Ticket,
    waiting: Vec<Waiter>,
    meetings: Vec<Meeting>,
    dismissed: Vec<Ticket>,
}

#[derive(Debug, Clone)]
struct Waiter {
    ticket: Ticket,
    role: usize,
    /// Those who waited when this one came and with whom it may meet.
    friends: Vec<Ticket>,
}

/// One thread per role, in the order of roles.
#[derive(Debug)]
struct Meeting {
    /// Nobody goes on before.
    is_open: bool,
    members: Vec<Member>,
}

#[derive(Debug)]
struct Member {
    ticket: Ticket,
    stage: Stage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    Called,
    InStep { says_when_done: bool },
    Done,
}

/// Where a ticket stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nobody to meet yet.
    Waiting,
    /// Met, and may go on.
    Turn,
    /// Met, and behind a thread that will say when its step is done, or that has not gone on yet; or the meeting is
    /// not open yet.
    AfterStep,
    /// Met, and behind a thread that has gone on and will not say when its step is done.
    AfterDelay,
    /// Sent away without a meeting.
    Dismissed,
}

impl Board {
    pub fn new(roles: usize, ordered: bool) -> Self {
        let (waiting, meetings, dismissed) = (Vec::new(), Vec::new(), Vec::new());
        Self { roles, ordered, next: 1, waiting, meetings, dismissed }
    }

    /// Who waits in another role than this, oldest first.
    pub fn waiting_in_other_roles(&self, role: usize) -> impl Iterator<Item = Ticket> + '_ {
        self.waiting.iter().filter(move |waiter| waiter.role != role).map(|waiter| waiter.ticket)
    }

    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// A thread comes to its place. True if it was the last one missing for a meeting.
    pub fn arrive(&mut self, role: usize, friends: Vec<Ticket>) -> (Ticket, bool) {
        let ticket = self.next;
        self.next += 1;
        let newcomer = Waiter { ticket, role, friends };
        let members = self.partners_of(&newcomer);
        self.waiting.push(newcomer);
        let has_met = members.is_some();
        if let Some(members) = members {
            self.call_together(&members);
        }
        (ticket, has_met)
    }

    /// Tickets by role, of those who all agree with each other; the oldest come first.
    fn partners_of(&self, newcomer: &Waiter) -> Option<Vec<Ticket>> {
        let mut chosen = vec![newcomer];
        self.choose(0, newcomer, &mut chosen).then(|| {
            chosen.sort_by_key(|waiter| waiter.role);
            chosen.iter().map(|waiter| waiter.ticket).collect()
        })
    }

    /// Fills this role and those after it; takes back what does not lead to the end.
    fn choose<'a>(&'a self, role: usize, newcomer: &Waiter, chosen: &mut Vec<&'a Waiter>) -> bool {
        if role == self.roles {
            return true;
        }
        if role == newcomer.role {
            return self.choose(role + 1, newcomer, chosen);
        }
        for waiter in self.waiting.iter().filter(|waiter| waiter.role == role) {
            if chosen.iter().all(|other| agree(waiter, other)) {
                chosen.push(waiter);
                if self.choose(role + 1, newcomer, chosen) {
                    return true;
                }
                chosen.pop();
            }
        }
        false
    }

    fn call_together(&mut self, tickets: &[Ticket]) {
        self.waiting.retain(|waiter| !tickets.contains(&waiter.ticket));
        let member = |&ticket: &Ticket| Member { ticket, stage: Stage::Called };
        let members = tickets.iter().map(member).collect();
        self.meetings.push(Meeting { is_open: false, members });
    }

    /// Whoever made the meeting lets it begin.
    pub fn open(&mut self, ticket: Ticket) {
        if let Some((at, _)) = self.place_of(ticket) {
            self.meetings[at].is_open = true;
        }
    }

    pub fn standing(&self, ticket: Ticket) -> Standing {
        if self.dismissed.contains(&ticket) {
            return Standing::Dismissed;
        }
        let Some((meeting, role)) = self.place_of(ticket) else { return Standing::Waiting };
        if !self.meetings[meeting].is_open {
            return Standing::AfterStep;
        }
        if role == 0 || !self.ordered {
            return Standing::Turn;
        }
        match self.meetings[meeting].members[role - 1].stage {
            Stage::Called | Stage::InStep { says_when_done: true } => Standing::AfterStep,
            Stage::InStep { says_when_done: false } => Standing::AfterDelay,
            Stage::Done => Standing::Turn,
        }
    }

    /// The thread's time is over. False if it has met somebody: then it is too late to give up.
    pub fn give_up(&mut self, ticket: Ticket) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiter| waiter.ticket != ticket);
        self.waiting.len() < before
    }

    /// Nobody shall meet any more: those who wait are sent away.
    pub fn dismiss_waiting(&mut self) {
        self.dismissed.extend(self.waiting.drain(..).map(|waiter| waiter.ticket));
    }

    /// A dismissed thread has taken note.
    pub fn forget(&mut self, ticket: Ticket) {
        self.dismissed.retain(|dismissed| *dismissed != ticket);
    }

    /// The thread goes on from its place.
    pub fn go(&mut self, ticket: Ticket, says_when_done: bool) {
        self.set_stage(ticket, Stage::InStep { says_when_done });
    }

    /// The thread's step is done: the next one may go on.
    pub fn step_done(&mut self, ticket: Ticket) {
        self.set_stage(ticket, Stage::Done);
    }

    fn set_stage(&mut self, ticket: Ticket, stage: Stage) {
        // A meeting of which everybody has gone on is forgotten; the end of a step may come after that.
        let Some((at, role)) = self.place_of(ticket) else { return };
        let members = &mut self.meetings[at].members;
        members[role].stage = stage;
        if members.iter().all(|member| member.stage != Stage::Called) {
            self.meetings.swap_remove(at);
        }
    }

    /// Which meeting, and which role in it.
    fn place_of(&self, ticket: Ticket) -> Option<(usize, usize)> {
        self.meetings.iter().enumerate().find_map(|(at, meeting)| {
            let role = meeting.members.iter().position(|member| member.ticket == ticket)?;
            Some((at, role))
        })
    }

    #[cfg(test)]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.meetings.is_empty() && self.dismissed.is_empty()
    }
}

/// The later one of two knows whether they may meet.
fn agree(one: &Waiter, other: &Waiter) -> bool {
    let (earlier, later) = if one.ticket < other.ticket { (one, other) } else { (other, one) };
    later.friends.contains(&earlier.ticket)
}

#[cfg(test)]
mod tests;
