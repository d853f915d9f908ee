//! Where threads come to a place, and wait.

mod visit;
mod wait;

use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use unpick_events::schedule::{MOST_WORDS, Mode, VARIABLE, outcome};

use super::order::{Answer, Order};
use super::outcome as told;
use super::plan::Plan;
use super::{ON, arm, delays};
use crate::local;
use crate::start::options;
use crate::start::path::{TEXT, create_first_free};
use crate::start::words::Shared;
use crate::sys;
use crate::thread::Thread;
use visit::Visit;
use wait::{Going, Wait};

struct Board {
    plan: Plan,
    order: Order,
}

static BOARD: Shared<Board> = Shared::new(Board { plan: Plan::NONE, order: Order::new() });
static WORDS: Shared<[u64; MOST_WORDS]> = Shared::new([0; MOST_WORDS]);

/// Changes whenever a thread that waits may go on.
static CHANGES: AtomicU32 = AtomicU32::new(0);
/// The order came about as often as it shall. The last step of the last time may still be about to be made.
static IS_BOUND_REACHED: AtomicBool = AtomicBool::new(false);

/// Reads the schedule that the environment names, if it does. Places are armed as modules are seen.
pub fn begin() {
    let name = VARIABLE.as_bytes();
    let Some(path) = options::variable(name).and_then(|rest| rest.strip_prefix(b"=")) else {
        return;
    };
    if read_plan(path) && begin_outcome() {
        let is_of_delays = with_board(|board| delays::begin(&board.plan));
        ON.store(is_of_delays == Some(false), Release);
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
    if !super::are_on() && !delays::are_on() {
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
    IS_BOUND_REACHED.store(false, Relaxed);
    delays::end();
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
        return delays::arrive(site);
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
    visit.note_calls();
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
    wait::forget_vain_waits();
    let is_forced = board.plan.mode == Mode::Force;
    if is_forced && board.plan.bound != 0 && counts.hits >= board.plan.bound {
        IS_BOUND_REACHED.store(true, Relaxed);
        is_over(BOUND_REACHED);
    }
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

/// The same of a lock of the system.
#[inline]
pub fn after_unlock() {
    after_release();
    if super::are_on()
        && let Some(thread) = local::thread()
    {
        gives_lock_back(thread);
    }
}

#[cold]
fn gives_lock_back(thread: &Thread) {
    let holds = |step| thread.standing.holds_for(step);
    let is_out = with_board(|board| {
        let before = board.order.counts;
        let is_out = board.order.gives_lock_back(&board.plan, thread.number(), holds);
        tell_counts(board, before);
        is_out
    });
    if is_out == Some(true) {
        wake_all();
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
    if may_be_under_way() {
        with_board(|board| {
            let before = board.order.counts;
            board.order.event_of(&board.plan, thread.number(), now());
            tell_counts(board, before);
        });
        wake_all();
        stay(thread, Wait::goes_on_aside, |board| {
            board.order.is_followed_at_once(&board.plan, thread.number(), now())
        });
    }
}

/// The thread is about to end. If it has made its steps, and the next one is about to be made, that comes first: who waits for
/// the end of the thread shall not undo what it did.
pub fn before_end_of_thread(thread: &Thread) {
    if super::are_on() {
        stay(thread, Wait::goes_on_aside, |board| {
            board.order.is_followed(&board.plan, thread.number(), now())
        });
    }
}

/// The thread is about to end the process. An order that is under way gets the time to come about, once.
pub fn before_exit(thread: &Thread) {
    static HAS_WAITED: AtomicBool = AtomicBool::new(false);
    if may_be_under_way() && !HAS_WAITED.swap(true, Relaxed) {
        stay(thread, Wait::goes_on_at_exit, |board| {
            board.order.is_under_way_without(&board.plan, thread.number(), now())
        });
    }
}

/// Whether there is an order that has begun and is not complete, as far as that can be told at a glance.
fn may_be_under_way() -> bool {
    super::are_on() || IS_BOUND_REACHED.load(Relaxed)
}

/// Keeps a thread that has no step to make while `must`, and as long as `goes_on` allows.
fn stay<'a>(
    thread: &'a Thread,
    goes_on: impl Fn(&mut Wait<'a>, u32) -> Going,
    must: impl Fn(&mut Board) -> bool,
) {
    if thread.at_place.replace(true) {
        return;
    }
    let mut wait = Wait::new(thread);
    loop {
        let seen = CHANGES.load(Acquire);
        if with_board(&must) != Some(true) || goes_on(&mut wait, seen) == Going::Free {
            break;
        }
    }
    wait.end();
    thread.at_place.set(false);
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
