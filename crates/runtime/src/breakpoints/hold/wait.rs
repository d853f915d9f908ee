//! How long a thread waits at a place, and why it goes on.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};
use unpick_events::Kind;
use unpick_events::schedule::{LetGo, MOST_STEPS, outcome, outcome_step};

use super::super::are_on;
use super::super::order::{Afterwards, GiveUp};
use super::super::outcome as told;
use super::super::partners::{ASIDE, Obstacle, obstacle};
use super::{BUDGET_SPENT, CHANGES, is_over, now, tell_counts, wake_all, with_board};
use crate::sys;
use crate::thread::Thread;

/// How often waiting at each step was in vain, since the last hit: because the pause was over, because others were blocked. It becomes
/// shorter.
static TIMED_OUT: PerStep = [const { AtomicU32::new(0) }; MOST_STEPS];
static BLOCKED: PerStep = [const { AtomicU32::new(0) }; MOST_STEPS];
type PerStep = [AtomicU32; MOST_STEPS];
/// How often a thread stood aside in vain.
static ASIDE_IN_VAIN: AtomicU32 = AtomicU32::new(0);
/// Nanoseconds that threads were held.
static HELD: AtomicU64 = AtomicU64::new(0);

/// Who waits looks around this often, in nanoseconds.
const SLICE: u64 = 500_000;
/// Others are taken to be blocked if they were for so long.
const CERTAIN_AFTER: u64 = 2_000_000;
const PERHAPS_AFTER: u64 = 20_000_000;
/// Who stands aside goes on before those it stands aside for give up.
const ASIDE_AFTER: u64 = 1_000_000;
/// A wait in vain halves the next, so often.
const MOST_HALVINGS: u32 = 5;

/// Shorter is no pause at all, unless that is what was asked for.
const SHORTEST_PAUSE: u64 = 100_000;

fn shortened(pause: u64, step: u8) -> u64 {
    (pause >> halvings(&TIMED_OUT, step)).max(pause.min(SHORTEST_PAUSE))
}

fn halvings(vain: &PerStep, step: u8) -> u32 {
    vain[step as usize % MOST_STEPS].load(Relaxed).min(MOST_HALVINGS)
}

/// There was a hit: waiting is worth its time again.
pub fn forget_vain_waits() {
    TIMED_OUT.iter().chain(&BLOCKED).for_each(|vain| vain.store(0, Relaxed));
}

fn is_budget_spent() -> bool {
    with_board(|board| HELD.load(Relaxed) >= board.plan.budget).unwrap_or(true)
}

#[derive(PartialEq, Eq)]
pub enum Going {
    /// Ask again.
    On,
    Free,
}

/// One wait of a thread.
pub struct Wait<'a> {
    thread: &'a Thread,
    since: u64,
    /// Up to when its time has been counted: all threads that wait together must see what is left.
    counted: u64,
    step: Option<u8>,
    /// Since when others have been seen to be blocked.
    blocked_since: Option<u64>,
}

impl<'a> Wait<'a> {
    pub fn new(thread: &'a Thread) -> Self {
        Self { thread, since: 0, counted: 0, step: None, blocked_since: None }
    }

    /// Waits a little for its turn at `step`, unless it has been long enough.
    pub fn goes_on(&mut self, step: u8, seen: u32) -> Going {
        if !are_on() {
            return Going::Free;
        }
        let now = now();
        self.begin(step, now);
        let goes_last = with_board(|board| board.order.goes_last(self.thread.number())).flatten();
        let aside = if goes_last.is_some() { ASIDE } else { 0 };
        self.thread.standing.held_since_change.store((u64::from(seen) + 1) | aside, Relaxed);
        let is_awaited = goes_last == Some(true);
        let why = self.reason_to_give_up(step, seen, now, is_awaited);
        let Some(why) = why else {
            sys::wait_for_change(&CHANGES, seen, self.slice(step, now));
            return Going::On;
        };
        self.give_up(step, why, now, goes_last == Some(false))
    }

    /// Waits a little while others make their steps. It is the first to go on where nobody can come: what it does may be what they
    /// wait for.
    pub fn goes_on_aside(&mut self, seen: u32) -> Going {
        if !are_on() {
            return Going::Free;
        }
        let vain = ASIDE_IN_VAIN.load(Relaxed).min(MOST_HALVINGS);
        let going = self.stays(seen, vain, ASIDE, ASIDE_AFTER);
        if going == Going::Free {
            ASIDE_IN_VAIN.fetch_add(1, Relaxed);
        }
        going
    }

    /// Waits a little before the process ends. Who is held goes on first where nobody can come: that is told.
    pub fn goes_on_at_exit(&mut self, seen: u32) -> Going {
        self.stays(seen, 0, 0, PERHAPS_AFTER)
    }

    /// Waits a little for others, without a step of its own to make, unless it has been long enough: the pause, halved so often, or nobody
    /// having been able to come for `blocked_for`.
    fn stays(&mut self, seen: u32, halvings: u32, aside: u64, blocked_for: u64) -> Going {
        let Some(pause) = with_board(|board| board.plan.pause) else { return Going::Free };
        let now = now();
        if self.since == 0 {
            self.since = now;
            self.counted = now;
        }
        self.thread.standing.held_since_change.store((u64::from(seen) + 1) | aside, Relaxed);
        self.count_time(now);
        let is_over = now.saturating_sub(self.since) >= pause >> halvings;
        if is_over || self.is_blocked_for(blocked_for, seen, now) || is_budget_spent() {
            return Going::Free;
        }
        sys::wait_for_change(&CHANGES, seen, SLICE);
        Going::On
    }

    /// Whether nobody can come, and has not been able to for so long.
    fn is_blocked_for(&mut self, long: u64, seen: u32, now: u64) -> bool {
        let obstacle = obstacle(self.thread, seen);
        if CHANGES.load(Acquire) != seen || obstacle == Obstacle::None {
            self.blocked_since = None;
            return false;
        }
        if obstacle == Obstacle::Alone {
            return true;
        }
        now.saturating_sub(*self.blocked_since.get_or_insert(now)) >= long
    }

    /// Until it is to be looked around again.
    fn slice(&self, step: u8, now: u64) -> u64 {
        let pause = with_board(|board| shortened(board.plan.pause, step)).unwrap_or(SLICE);
        pause.saturating_sub(now.saturating_sub(self.since)).clamp(SHORTEST_PAUSE / 2, SLICE)
    }

    fn begin(&mut self, step: u8, now: u64) {
        if self.step.is_none() {
            self.since = now;
            self.counted = now;
            told::add(told::of_step(step, outcome_step::HELD), 1);
            // That it is there may be what others wait for.
            wake_all();
        }
        self.step = Some(step);
    }

    /// `is_awaited`: somebody waits until this thread goes, which goes last.
    fn reason_to_give_up(
        &mut self,
        step: u8,
        seen: u32,
        now: u64,
        is_awaited: bool,
    ) -> Option<GiveUp> {
        let (pause, budget) = with_board(|board| (board.plan.pause, board.plan.budget))?;
        let waited = now.saturating_sub(self.since);
        self.count_time(now);
        if HELD.load(Relaxed) >= budget {
            is_over(BUDGET_SPENT);
        }
        if waited >= shortened(pause, step) {
            return Some(GiveUp::TimedOut);
        }
        let obstacle = obstacle(self.thread, seen);
        // What changed meanwhile may be what it waits for: the last thing that another did before it ended, or began to wait.
        let is_old = CHANGES.load(Acquire) != seen;
        let (kind, after) = match obstacle {
            _ if is_old => return None,
            Obstacle::None => {
                self.blocked_since = None;
                return None;
            }
            // There is no use in waiting, and none in waiting less the next time.
            Obstacle::Alone => {
                self.tell_let_go(step, LetGo::Alone);
                return Some(GiveUp::Alone);
            }
            Obstacle::Perhaps(kind) | Obstacle::Certain(kind) if is_awaited => (kind, ASIDE_AFTER),
            Obstacle::Perhaps(kind) => (kind, PERHAPS_AFTER),
            Obstacle::Certain(kind) => (kind, CERTAIN_AFTER),
        };
        let since = *self.blocked_since.get_or_insert(now);
        let is_long = now.saturating_sub(since) >= after >> halvings(&BLOCKED, step);
        if !is_long {
            return None;
        }
        told::word(outcome::WAITED_IN).store(kind as u64 + 1, Relaxed);
        let is_in_the_way = kind == Kind::LockWait as u8;
        self.tell_let_go(
            step,
            match obstacle {
                _ if is_in_the_way => LetGo::InTheWay,
                Obstacle::Perhaps(_) => LetGo::PerhapsBlocked,
                _ => LetGo::Blocked,
            },
        );
        Some(if is_in_the_way { GiveUp::InTheWay } else { GiveUp::Blocked })
    }

    fn tell_let_go(&self, step: u8, why: LetGo) {
        with_board(|board| told::let_go(&board.plan, self.thread, step, why));
    }

    fn give_up(&self, step: u8, why: GiveUp, now: u64, counts_if_asked_again: bool) -> Going {
        let who = self.thread.number();
        let (mut is_let_on, mut is_in_vain) = (false, true);
        let afterwards = with_board(|board| {
            let before = board.order.counts;
            let afterwards = board.order.give_up(&board.plan, who, step, why, now);
            tell_counts(board, before);
            is_let_on = why == GiveUp::InTheWay && board.order.has_role(who);
            is_in_vain = !board.plan.window;
            afterwards
        });
        if afterwards == Some(Afterwards::AsksAgain) {
            if counts_if_asked_again {
                count_wait(step, why, is_in_vain);
            }
            return Going::On;
        }
        count_wait(step, why, is_in_vain);
        if is_let_on {
            self.thread.let_on.set(Some(step));
        }
        wake_all();
        Going::Free
    }

    pub fn end(&mut self) {
        if self.since != 0 {
            self.thread.standing.held_since_change.store(0, Relaxed);
            self.count_time(now());
        }
    }

    fn count_time(&mut self, now: u64) {
        let more = now.saturating_sub(self.counted);
        self.counted = now;
        HELD.fetch_add(more, Relaxed);
        told::add(told::word(outcome::HELD), more);
    }
}

/// A wait for another thread's step was in vain; one that was only to give others time was not.
fn count_wait(step: u8, why: GiveUp, is_in_vain: bool) {
    let (of_step, of_all, vain) = match why {
        GiveUp::TimedOut => (outcome_step::TIMED_OUT, outcome::TIMED_OUT, Some(&TIMED_OUT)),
        GiveUp::Alone => (outcome_step::ALONE, outcome::ALONE, None),
        _ => (outcome_step::BLOCKED, outcome::BLOCKED, Some(&BLOCKED)),
    };
    told::add(told::of_step(step, of_step), 1);
    told::add(told::word(of_all), 1);
    if let Some(vain) = vain.filter(|_| is_in_vain) {
        vain[step as usize % MOST_STEPS].fetch_add(1, Relaxed);
    }
}
