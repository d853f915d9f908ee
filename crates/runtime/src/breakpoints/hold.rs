//! Where threads come to a place, and wait.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};
use unpick_events::Kind;
use unpick_events::schedule::{
    LetGo, MOST_STEPS, MOST_WORDS, Mode, Operand, Purpose, VARIABLE, outcome, outcome_place,
    outcome_step,
};

use super::order::{Afterwards, Answer, Arrival, Bytes, GiveUp, Order};
use super::outcome as told;
use super::partners::{ASIDE, Obstacle, bit_of, obstacle};
use super::plan::{Entry, Plan};
use super::{ON, arm};
use crate::frames;
use crate::local;
use crate::start::options;
use crate::start::path::{TEXT, create_first_free};
use crate::start::words::Shared;
use crate::sys;
use crate::thread::Thread;

struct Board {
    plan: Plan,
    order: Order,
}

static BOARD: Shared<Board> = Shared::new(Board { plan: Plan::NONE, order: Order::new() });
static WORDS: Shared<[u64; MOST_WORDS]> = Shared::new([0; MOST_WORDS]);

/// Changes whenever a thread that waits may go on.
static CHANGES: AtomicU32 = AtomicU32::new(0);
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

/// Reads the schedule that the environment names, if it does. Places are armed as modules are seen.
pub fn begin() {
    let name = VARIABLE.as_bytes();
    let Some(path) = options::variable(name).and_then(|rest| rest.strip_prefix(b"=")) else {
        return;
    };
    if read_plan(path) && begin_outcome() {
        ON.store(true, Release);
    }
}

fn read_plan(path: &[u8]) -> bool {
    let read = WORDS.try_with(|words| {
        let length = TEXT.try_with(|text| {
            text.cut(0);
            text.push(path);
            text.push(b"\0");
            // SAFETY: the words as bytes: any content is a value of theirs.
            let bytes = unsafe {
                core::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), MOST_WORDS * 8)
            };
            sys::read_file(text.as_bytes(), bytes)
        });
        let Some(Ok(length)) = length else { return false };
        let words = &words[..length / 8];
        BOARD.try_with(|board| board.plan.read(words)).unwrap_or(false)
    });
    read.unwrap_or(false)
}

/// Creates `<run folder>/<process>-<n>.outcome` with the first n that is free.
fn begin_outcome() -> bool {
    let begin = |path: &[u8]| {
        BOARD.try_with(|board| told::begin(path, &board.plan)).unwrap_or(Err(libc::EBUSY))
    };
    create_first_free(b".outcome\0", begin).is_ok()
}

/// A module is there: its places are armed.
pub fn module_is_there(bias: u64, range: arm::Range, is_it: impl Fn(bool, &[u8]) -> bool) {
    if !super::are_on() {
        return;
    }
    with_board(|board| {
        let plan = &board.plan;
        let is_meant = |module: &u8| {
            let name = plan.modules().get(*module as usize);
            name.is_some_and(|name| is_it(name.is_build_id, name.text()))
        };
        // It may be meant by several: all is forgotten before anything is armed.
        let modules = || (0..plan.modules().len() as u8).filter(is_meant);
        modules().for_each(|module| arm::forget(plan, module));
        modules().for_each(|module| arm::arm(plan, module, bias, range));
    });
}

/// In the child after a fork, and when the process is over: nobody is held any more.
pub fn end_of_process_image() {
    ON.store(false, Release);
    BOARD.free_after_fork();
    told::leave();
}

/// Runs `action` with the board. It is held for moments only, and never by a thread that waits.
fn with_board<A>(mut action: impl FnMut(&mut Board) -> A) -> Option<A> {
    const MOST_TRIES: u32 = 10_000;
    for _ in 0..MOST_TRIES {
        if let Some(answer) = BOARD.try_with(&mut action) {
            return Some(answer);
        }
        sys::yield_now();
    }
    None
}

fn now() -> u64 {
    sys::clock(libc::CLOCK_MONOTONIC)
}

/// The stack of a thread at a place, as `arm::arrival` leaves it: the arguments of the call that leads there come first.
#[repr(C)]
pub struct Arguments {
    pub first: u64,
    pub second: u64,
    others: [u64; 6],
    site: u64,
    return_address: u64,
}

/// A thread is at a place: perhaps waits until it may go on.
pub fn arrive(site: usize, arguments: &Arguments) {
    if !super::are_on() {
        return;
    }
    let Some(thread) = local::thread() else { return };
    // A signal handler that comes to a place while its thread is at one passes.
    if thread.at_place.get() {
        return;
    }
    thread.at_place.set(true);
    come(thread, site, arguments);
    thread.at_place.set(false);
}

fn come(thread: &Thread, site: usize, arguments: &Arguments) {
    let visit = Visit { thread, site, arguments };
    visit.count();
    visit.note_lock();
    if let Some(step) = thread.let_on.take()
        && visit.is_step(step)
    {
        // It was let on to where it gives back what others wait for, and that did not come before its step.
        with_board(|board| board.order.abandon(&board.plan, thread.number(), now()));
        return;
    }
    let mut wait = Wait::new(thread);
    loop {
        let seen = CHANGES.load(Acquire);
        match visit.ask() {
            Answer::Pass => {
                if !visit.stands_aside() || wait.goes_on_aside(seen) == Going::Free {
                    break;
                }
            }
            Answer::Make { step } => {
                visit.makes(step);
                break;
            }
            Answer::Wait { step } => {
                if wait.goes_on(step, seen) == Going::Free {
                    break;
                }
            }
        }
    }
    wait.end();
}

/// A thread at a place.
struct Visit<'a> {
    thread: &'a Thread,
    site: usize,
    arguments: &'a Arguments,
}

impl Visit<'_> {
    fn count(&self) {
        with_board(|board| {
            for (at, entry) in arm::entries_at(&board.plan, self.site) {
                told::add(told::of_place(&board.plan, at, outcome_place::ARRIVED), 1);
                if entry.purpose == Purpose::Holding || !self.is_called_from(entry) {
                    continue;
                }
                // Who comes without its lock has come, but does not count: a fix may have moved the lock.
                if self.fits(entry) {
                    board.order.came_to(entry.step);
                }
                told::add(told::of_step(entry.step, outcome_step::ARRIVED), 1);
            }
        });
    }

    /// If it takes a lock here that counts for steps, that is known as held for these from its next acquisition on.
    fn note_lock(&self) {
        let noted = with_board(|board| {
            let (mut steps, mut are_sent_on) = (0, false);
            for (_, entry) in arm::entries_at(&board.plan, self.site) {
                if entry.purpose == Purpose::Holding && self.fits(entry) {
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

    fn is_step(&self, step: u8) -> bool {
        with_board(|board| {
            arm::entries_at(&board.plan, self.site)
                .any(|(_, entry)| entry.step == step && entry.purpose.is_step())
        })
        .unwrap_or(false)
    }

    fn ask(&self) -> Answer {
        let answer = with_board(|board| {
            let arrivals = arm::entries_at(&board.plan, self.site)
                .filter(|(_, entry)| board.plan.may_hold_at(entry) && self.fits(entry))
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
        entries.any(|(_, entry)| entry.purpose == Purpose::Gate && self.fits(entry))
    }

    /// Whether it waits here for steps of others, though it has none to make.
    fn stands_aside(&self) -> bool {
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
    fn fits(&self, entry: &Entry) -> bool {
        self.is_called_from(entry) && (!entry.holds || self.thread.standing.holds_for(entry.step))
    }

    fn is_called_from(&self, entry: &Entry) -> bool {
        let mut wanted = entry.calls().iter().map(arm::address_of);
        frames::innermost(self.thread).take(entry.calls().len()).eq(&mut wanted)
            || entry.calls().is_empty()
    }

    /// The thread makes a step: its next event says that it is made.
    fn makes(&self, step: u8) {
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

fn tell_counts(board: &Board, before: super::order::Counts) {
    let counts = board.order.counts;
    if counts == before {
        return;
    }
    told::word(outcome::HITS).store(counts.hits, Relaxed);
    told::word(outcome::INVERSE_HITS).store(counts.inverse_hits, Relaxed);
    if before.hits == 0 && counts.hits > 0 {
        told::word(outcome::HIT_AT).store(now(), Relaxed);
    }
    TIMED_OUT.iter().chain(&BLOCKED).for_each(|vain| vain.store(0, Relaxed));
    let is_forced = board.plan.mode == Mode::Force;
    if is_forced && board.plan.bound != 0 && counts.hits >= board.plan.bound {
        is_over(BOUND_REACHED);
    }
}

fn is_budget_spent() -> bool {
    with_board(|board| HELD.load(Relaxed) >= board.plan.budget).unwrap_or(true)
}

const BOUND_REACHED: u64 = 1;
const BUDGET_SPENT: u64 = 2;

fn is_over(why: u64) {
    told::word(outcome::OVER).store(why, Relaxed);
    ON.store(false, Release);
    wake_all();
}

fn wake_all() {
    CHANGES.fetch_add(1, Release);
    sys::wake_all(&CHANGES);
}

#[derive(PartialEq, Eq)]
enum Going {
    /// Ask again.
    On,
    Free,
}

/// One wait of a thread.
struct Wait<'a> {
    thread: &'a Thread,
    since: u64,
    /// Up to when its time has been counted: all threads that wait together must see what is left.
    counted: u64,
    step: Option<u8>,
    /// Since when others have been seen to be blocked.
    blocked_since: Option<u64>,
}

impl<'a> Wait<'a> {
    fn new(thread: &'a Thread) -> Self {
        Self { thread, since: 0, counted: 0, step: None, blocked_since: None }
    }

    /// Waits a little for its turn at `step`, unless it has been long enough.
    fn goes_on(&mut self, step: u8, seen: u32) -> Going {
        if !super::are_on() {
            return Going::Free;
        }
        let now = now();
        self.begin(step, now);
        self.thread.standing.held_since_change.store(u64::from(seen) + 1, Relaxed);
        let why = self.reason_to_give_up(step, seen, now);
        let Some(why) = why else {
            sys::wait_for_change(&CHANGES, seen, self.slice(step, now));
            return Going::On;
        };
        self.give_up(step, why, now)
    }

    /// Waits a little while others make their steps. It is the first to go on where nobody can come: what it does may be what they
    /// wait for.
    fn goes_on_aside(&mut self, seen: u32) -> Going {
        let Some(pause) = with_board(|board| board.plan.pause).filter(|_| super::are_on()) else {
            return Going::Free;
        };
        let now = now();
        if self.since == 0 {
            self.since = now;
            self.counted = now;
        }
        self.thread.standing.held_since_change.store((u64::from(seen) + 1) | ASIDE, Relaxed);
        self.count_time(now);
        let vain = ASIDE_IN_VAIN.load(Relaxed).min(MOST_HALVINGS);
        let is_over = now.saturating_sub(self.since) >= pause >> vain;
        if is_over || self.is_blocked_for(ASIDE_AFTER, seen, now) || is_budget_spent() {
            ASIDE_IN_VAIN.fetch_add(1, Relaxed);
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

    fn reason_to_give_up(&mut self, step: u8, seen: u32, now: u64) -> Option<GiveUp> {
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

    fn give_up(&self, step: u8, why: GiveUp, now: u64) -> Going {
        let who = self.thread.number();
        let mut is_let_on = false;
        let afterwards = with_board(|board| {
            let before = board.order.counts;
            let afterwards = board.order.give_up(&board.plan, who, step, why, now);
            tell_counts(board, before);
            is_let_on = why == GiveUp::InTheWay && board.order.has_role(who);
            afterwards
        });
        if afterwards == Some(Afterwards::AsksAgain) {
            return Going::On;
        }
        count_vain_wait(step, why);
        if is_let_on {
            self.thread.let_on.set(Some(step));
        }
        wake_all();
        Going::Free
    }

    fn end(&mut self) {
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

fn count_vain_wait(step: u8, why: GiveUp) {
    let (of_step, of_all, vain) = match why {
        GiveUp::TimedOut => (outcome_step::TIMED_OUT, outcome::TIMED_OUT, Some(&TIMED_OUT)),
        GiveUp::Alone => (outcome_step::ALONE, outcome::ALONE, None),
        _ => (outcome_step::BLOCKED, outcome::BLOCKED, Some(&BLOCKED)),
    };
    told::add(told::of_step(step, of_step), 1);
    told::add(told::word(of_all), 1);
    if let Some(vain) = vain {
        vain[step as usize % MOST_STEPS].fetch_add(1, Relaxed);
    }
}

/// The thread has released a lock. If it was let on to do so it waits here for its turn.
#[inline]
pub fn after_release() {
    if super::are_on()
        && let Some(thread) = local::thread()
        && let Some(step) = thread.let_on.take()
    {
        wait_for_turn(thread, step);
    }
}

#[cold]
fn wait_for_turn(thread: &Thread, step: u8) {
    if thread.at_place.replace(true) {
        return;
    }
    let mut wait = Wait::new(thread);
    loop {
        let seen = CHANGES.load(Acquire);
        let must = with_board(|board| {
            board.order.must_wait_for(&board.plan, thread.number(), step, now())
        });
        if must != Some(true) || wait.goes_on(step, seen) == Going::Free {
            break;
        }
    }
    wait.end();
    thread.at_place.set(false);
}

/// The next event of a thread that has just passed a step: the step is made.
#[cold]
pub fn next_event(thread: &Thread) {
    if super::are_on() {
        with_board(|board| {
            let before = board.order.counts;
            board.order.event_of(&board.plan, thread.number(), now());
            tell_counts(board, before);
        });
        wake_all();
    }
}

/// The thread has ended.
pub fn end_of_thread(thread: &Thread) {
    if super::are_on() {
        with_board(|board| {
            let before = board.order.counts;
            board.order.end_of(&board.plan, thread.number(), now());
            tell_counts(board, before);
        });
        wake_all();
    }
}
