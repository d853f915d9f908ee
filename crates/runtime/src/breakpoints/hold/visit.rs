//! A thread at a place: which steps it is there for, and whether its turn has come.

use unpick_events::schedule::{Operand, Purpose, outcome_place, outcome_step};

use super::super::arm;
use super::super::order::{Answer, Arrival, Bytes};
use super::super::outcome as told;
use super::super::partners::bit_of;
use super::super::plan::{Entry, Plan};
use super::{Arguments, Board, now, tell_counts, wake_all, with_board};
use crate::frames;
use crate::thread::Thread;

/// A thread at a place.
pub struct Visit<'a> {
    pub thread: &'a Thread,
    pub site: usize,
    pub arguments: &'a Arguments,
}

impl Visit<'_> {
    pub fn count(&self) {
        with_board(|board| {
            for (at, entry) in arm::entries_at(&board.plan, self.site) {
                told::add(told::of_place(&board.plan, at, outcome_place::ARRIVED), 1);
                if entry.purpose == Purpose::Holding || !self.is_called_from(entry) {
                    continue;
                }
                // Who comes without its lock has come, but does not count: a fix may have moved the lock.
                if self.fits(&board.plan, entry) {
                    board.order.came_to(entry.step);
                }
                told::add(told::of_step(entry.step, outcome_step::ARRIVED), 1);
            }
        });
    }

    /// If it takes a lock here that counts for steps, that is known as held for these from its next acquisition on.
    pub fn note_lock(&self) {
        let noted = with_board(|board| {
            let (mut steps, mut are_sent_on) = (0, false);
            for (_, entry) in arm::entries_at(&board.plan, self.site) {
                if entry.purpose == Purpose::Holding && self.fits(&board.plan, entry) {
                    steps |= bit_of(entry.step);
                    are_sent_on |=
                        board.order.comes_round(&board.plan, self.thread.number(), entry);
                }
            }
            (steps, are_sent_on)
        });
        let (steps, are_sent_on) = noted.unwrap_or_default();
        self.thread.standing.takes_lock_for(steps);
        if are_sent_on {
            wake_all();
        }
    }

    /// If steps count within calls: the calls of a first step are remembered. Who still has steps to make, and comes to the places of its
    /// role when it has made one of those calls again, is out.
    pub fn note_calls(&self) {
        let who = self.thread.number();
        let is_out = with_board(|board| {
            let Board { plan, order } = board;
            if !plan.within_calls {
                return false;
            }
            let mut is_out = false;
            for (_, entry) in arm::entries_at(plan, self.site) {
                let is_needed = order.needs(plan, who, entry.role);
                if is_needed && frames::is_made_again(self.thread, entry.role) {
                    order.abandon(plan, who, now());
                    is_out = true;
                }
                let is_first = entry.purpose.is_step() && plan.is_first_of_role(entry);
                if is_first && self.fits(plan, entry) {
                    frames::begin_activation(self.thread, entry.role);
                }
            }
            is_out
        });
        if is_out == Some(true) {
            wake_all();
        }
    }

    pub fn is_step(&self, step: u8) -> bool {
        with_board(|board| {
            arm::entries_at(&board.plan, self.site)
                .any(|(_, entry)| entry.step == step && entry.purpose.is_step())
        })
        .unwrap_or(false)
    }

    pub fn ask(&self) -> Answer {
        let answer = with_board(|board| {
            let arrivals = arm::entries_at(&board.plan, self.site)
                .filter(|(_, entry)| board.plan.may_hold_at(entry) && self.fits(&board.plan, entry))
                .map(|(_, entry)| Arrival { entry, bytes: self.bytes(entry) });
            let before = board.order.counts;
            let answer = board.order.arrive(&board.plan, self.thread.number(), arrivals, now());
            if board.plan.undisturbed
                && matches!(answer, Answer::Wait { .. })
                && self.is_at_gate(board)
            {
                board.order.guard(self.thread.number(), self.arguments.first);
            }
            tell_counts(board, before);
            answer
        });
        answer.unwrap_or(Answer::Pass)
    }

    /// Whether it takes a lock here on the way to a step.
    fn is_at_gate(&self, board: &Board) -> bool {
        let mut entries = arm::entries_at(&board.plan, self.site);
        entries.any(|(_, entry)| entry.purpose == Purpose::Gate && self.fits(&board.plan, entry))
    }

    /// Whether it waits here for steps of others, though it has none to make.
    pub fn stands_aside(&self) -> bool {
        let must = with_board(|board| {
            board.plan.undisturbed && (self.takes_guarded_lock(board) || self.is_in_between(board))
        });
        must.unwrap_or(false)
    }

    /// Whether it takes a lock here that is kept for others, by calls that lead to no step.
    fn takes_guarded_lock(&self, board: &mut Board) -> bool {
        let mut entries = arm::entries_at(&board.plan, self.site);
        let takes_lock = entries.any(|(_, entry)| entry.purpose == Purpose::Gate);
        let (who, lock) = (self.thread.number(), self.arguments.first);
        takes_lock
            && !self.is_at_gate(board)
            && board.order.stands_aside(&board.plan, who, lock, now())
    }

    /// Whether its access would come between the steps of others.
    fn is_in_between(&self, board: &Board) -> bool {
        let who = self.thread.number();
        arm::entries_at(&board.plan, self.site).any(|(_, entry)| {
            let arrival = Arrival { entry, bytes: self.bytes(entry) };
            entry.purpose == Purpose::Step && board.order.keeps_away(&board.plan, who, &arrival)
        })
    }

    fn bytes(&self, entry: &Entry) -> Bytes {
        let operand = match (entry.variable, entry.operand) {
            (Some(_), Operand::First) => self.arguments.first,
            (Some(_), Operand::Second) => self.arguments.second,
            _ => return Bytes::default(),
        };
        Bytes { start: operand.wrapping_add(entry.distance), length: entry.bytes }
    }

    /// Whether the thread is here as the entry asks for: by these calls, with this lock.
    fn fits(&self, plan: &Plan, entry: &Entry) -> bool {
        self.is_called_from(entry)
            && (!entry.holds || self.thread.standing.holds_for(entry.step))
            && !(plan.is_later_in_call(entry) && frames::is_made_again(self.thread, entry.role))
    }

    fn is_called_from(&self, entry: &Entry) -> bool {
        let mut wanted = entry.calls().iter().map(arm::address_of);
        frames::innermost(self.thread).take(entry.calls().len()).eq(&mut wanted)
            || entry.calls().is_empty()
    }

    /// The thread makes a step: its next event says that it is made.
    pub fn makes(&self, step: u8) {
        told::add(told::of_step(step, outcome_step::MADE), 1);
        let slot = (&raw const self.arguments.return_address) as u64;
        self.thread.watch_next_event(slot, self.arguments.return_address);
        wake_all();
        let is_to_stop = with_board(|board| board.plan.stop && step + 1 == board.plan.steps);
        if is_to_stop == Some(true) {
            unpick_all_are_there();
        }
    }
}

/// A debugger stops here: the last step of a schedule is about to be made, and the threads are where they shall be.
#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn unpick_all_are_there() {
    // SAFETY: no instruction at all; keeps the function from being removed.
    unsafe { core::arch::asm!("", options(nostack, preserves_flags)) };
}
