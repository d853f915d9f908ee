//! The same machine, written down as what happened to each ticket ever given out.

use crate::board::Standing;

#[derive(Default)]
pub struct Naive {
    pub tickets: Vec<NaiveTicket>,
    meetings: usize,
}

#[derive(Clone)]
pub struct NaiveTicket {
    role: usize,
    agrees_with: u64,
    pub meeting: Option<usize>,
    pub gave_up: bool,
    pub dismissed: bool,
    pub went: Option<bool>,
    pub done: bool,
}

impl Naive {
    pub fn waits(&self, at: usize) -> bool {
        let ticket = &self.tickets[at];
        ticket.meeting.is_none() && !ticket.gave_up && !ticket.dismissed
    }

    fn agree(&self, one: usize, other: usize) -> bool {
        let (earlier, later) = (one.min(other), one.max(other));
        self.tickets[later].agrees_with & (1 << earlier) != 0
    }

    /// Tries every combination of tickets, one per role, in the order of arrival.
    pub fn arrive(&mut self, role: usize, agrees_with: u64, roles: usize) -> bool {
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
            list.iter().all(|&one| list.iter().all(|&other| one == other || self.agree(one, other)))
        };
        let Some(found) = combinations.into_iter().find(all_agree) else { return false };
        for at in found {
            self.tickets[at].meeting = Some(self.meetings);
        }
        self.meetings += 1;
        true
    }

    pub fn standing(&self, at: usize) -> Standing {
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
    pub fn is_remembered(&self, at: usize) -> bool {
        let ticket = &self.tickets[at];
        match ticket.meeting {
            None => !ticket.gave_up,
            Some(_) => self.tickets.iter().any(|other| {
                other.meeting == ticket.meeting && other.went.is_none() && !other.done
            }),
        }
    }
}
