//! Scenarios, and random acts against the naive board.

mod naive;

use proptest::prelude::*;

use super::*;
use naive::Naive;

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
