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
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn two_that_agree_meet_and_the_first_goes_first() {
        let mut board = Board::new(2, true);
        let (second, met) = board.arrive(1, vec![]);
        assert!(!met);
        assert_eq!(board.standing(second), Standing::Waiting);
        let (first, met) = board.arrive(0, vec![second]);
        assert!(met);
        assert_eq!(board.standing(first), Standing::AfterStep);
        board.open(first);
        assert_eq!(board.standing(first), Standing::Turn);
        assert_eq!(board.standing(second), Standing::AfterStep);
        board.go(first, true);
        assert_eq!(board.standing(second), Standing::AfterStep);
        board.step_done(first);
        assert_eq!(board.standing(second), Standing::Turn);
        board.go(second, false);
        assert!(board.is_empty());
    }

    #[test]
    fn behind_a_thread_that_will_not_say_when_it_is_done_there_is_a_delay() {
        let mut board = Board::new(2, true);
        let (first, _) = board.arrive(0, vec![]);
        let (second, _) = board.arrive(1, vec![first]);
        board.open(second);
        board.go(first, false);
        assert_eq!(board.standing(second), Standing::AfterDelay);
    }

    #[test]
    fn an_end_of_a_step_that_nobody_waits_for_changes_nothing() {
        let mut board = Board::new(2, true);
        let (first, _) = board.arrive(0, vec![]);
        let (second, _) = board.arrive(1, vec![first]);
        board.open(second);
        board.go(first, true);
        board.go(second, true);
        board.step_done(first);
        board.step_done(second);
        assert!(board.is_empty());
    }

    #[test]
    fn without_an_order_both_go_at_once() {
        let mut board = Board::new(2, false);
        let (first, _) = board.arrive(0, vec![]);
        let (second, _) = board.arrive(1, vec![first]);
        board.open(second);
        assert_eq!(board.standing(first), Standing::Turn);
        assert_eq!(board.standing(second), Standing::Turn);
    }

    /// What a thread does to the board.
    #[derive(Debug, Clone)]
    enum Act {
        /// Comes to the role, and agrees with those earlier tickets whose bit is set.
        Arrive(usize, u64),
        GiveUp(u64),
        Go(u64, bool),
        StepDone(u64),
        Dismiss,
    }

    fn act() -> impl Strategy<Value = Act> {
        prop_oneof![
            6 => (0..3usize, any::<u64>()).prop_map(|(role, bits)| Act::Arrive(role, bits)),
            2 => (1..20u64).prop_map(Act::GiveUp),
            3 => (1..20u64, any::<bool>()).prop_map(|(ticket, says)| Act::Go(ticket, says)),
            3 => (1..20u64).prop_map(Act::StepDone),
            1 => Just(Act::Dismiss),
        ]
    }

    /// The same machine, written down as what happened to each ticket ever given out.
    #[derive(Default)]
    struct Naive {
        tickets: Vec<NaiveTicket>,
        meetings: usize,
    }

    #[derive(Clone)]
    struct NaiveTicket {
        role: usize,
        agrees_with: u64,
        meeting: Option<usize>,
        gave_up: bool,
        dismissed: bool,
        went: Option<bool>,
        done: bool,
    }

    impl Naive {
        fn waits(&self, at: usize) -> bool {
            let ticket = &self.tickets[at];
            ticket.meeting.is_none() && !ticket.gave_up && !ticket.dismissed
        }

        fn agree(&self, one: usize, other: usize) -> bool {
            let (earlier, later) = (one.min(other), one.max(other));
            self.tickets[later].agrees_with & (1 << earlier) != 0
        }

        /// Tries every combination of tickets, one per role, in the order of arrival.
        fn arrive(&mut self, role: usize, agrees_with: u64, roles: usize) -> bool {
            let new = NaiveTicket {
                role,
                agrees_with,
                meeting: None,
                gave_up: false,
                dismissed: false,
                went: None,
                done: false,
            };
            self.tickets.push(new);
            let newest = self.tickets.len() - 1;
            let mut combinations = vec![vec![]];
            for role in 0..roles {
                let fits = |at: &usize| {
                    self.tickets[*at].role == role
                        && self.waits(*at)
                        && (role != self.tickets[newest].role || *at == newest)
                };
                let candidates: Vec<usize> = (0..=newest).filter(fits).collect();
                let longer = |list: Vec<usize>| {
                    candidates.iter().map(move |&at| [list.clone(), vec![at]].concat())
                };
                combinations = combinations.into_iter().flat_map(longer).collect();
            }
            let all_agree = |list: &Vec<usize>| {
                list.iter()
                    .all(|&one| list.iter().all(|&other| one == other || self.agree(one, other)))
            };
            let Some(found) = combinations.into_iter().find(all_agree) else { return false };
            for at in found {
                self.tickets[at].meeting = Some(self.meetings);
            }
            self.meetings += 1;
            true
        }

        fn standing(&self, at: usize) -> Standing {
            let ticket = &self.tickets[at];
            if ticket.dismissed {
                return Standing::Dismissed;
            }
            let Some(meeting) = ticket.meeting else { return Standing::Waiting };
            let before = self
                .tickets
                .iter()
                .find(|other| other.meeting == Some(meeting) && other.role + 1 == ticket.role);
            match before {
                None => Standing::Turn,
                Some(NaiveTicket { done: true, .. }) => Standing::Turn,
                Some(NaiveTicket { went: Some(false), .. }) => Standing::AfterDelay,
                Some(_) => Standing::AfterStep,
            }
        }

        /// Only of those who have not gone on, or whose partners have not, does the board still know.
        fn is_remembered(&self, at: usize) -> bool {
            let ticket = &self.tickets[at];
            match ticket.meeting {
                None => !ticket.gave_up,
                Some(_) => self.tickets.iter().any(|other| {
                    other.meeting == ticket.meeting && other.went.is_none() && !other.done
                }),
            }
        }
    }

    proptest! {
        #[test]
        fn the_board_does_what_the_naive_one_does(
            roles in 2..=3usize,
            acts in proptest::collection::vec(act(), 0..24),
        ) {
            let mut board = Board::new(roles, true);
            let mut naive = Naive::default();
            for act in acts {
                let known = naive.tickets.len();
                match act {
                    Act::Arrive(role, bits) => {
                        let role = role % roles;
                        let waiting: Vec<Ticket> = board.waiting_in_other_roles(role).collect();
                        let friends = waiting.into_iter().filter(|ticket| bits & (1 << (ticket - 1)) != 0);
                        let (ticket, met) = board.arrive(role, friends.collect());
                        prop_assert_eq!(ticket as usize, known + 1);
                        prop_assert_eq!(met, naive.arrive(role, bits, roles));
                        board.open(ticket);
                    }
                    Act::GiveUp(ticket) if ticket as usize <= known => {
                        let at = ticket as usize - 1;
                        let waits = naive.waits(at);
                        naive.tickets[at].gave_up |= waits;
                        prop_assert_eq!(board.give_up(ticket), waits);
                    }
                    // Only a thread whose turn it is, or that waits no longer, goes; only one that went is done.
                    Act::Go(ticket, says) if ticket as usize <= known => {
                        let at = ticket as usize - 1;
                        if naive.tickets[at].meeting.is_some() && naive.tickets[at].went.is_none() {
                            naive.tickets[at].went = Some(says);
                            board.go(ticket, says);
                        }
                    }
                    Act::StepDone(ticket) if ticket as usize <= known => {
                        let at = ticket as usize - 1;
                        if naive.tickets[at].went.is_some() {
                            naive.tickets[at].done = true;
                            board.step_done(ticket);
                        }
                    }
                    Act::Dismiss => {
                        for at in 0..known {
                            naive.tickets[at].dismissed |= naive.waits(at);
                        }
                        board.dismiss_waiting();
                    }
                    Act::GiveUp(_) | Act::Go(..) | Act::StepDone(_) => {}
                }
                for at in (0..naive.tickets.len()).filter(|at| naive.is_remembered(*at)) {
                    prop_assert_eq!(board.standing(at as Ticket + 1), naive.standing(at), "{}", at);
                }
                let waiting = (0..naive.tickets.len()).filter(|at| naive.waits(*at)).count();
                prop_assert_eq!(board.waiting(), waiting);
            }
        }
    }
}
