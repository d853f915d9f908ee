//! Threads of the program: how each becomes known, and when it has ended.
//!
//! A thread's end is the last run of the destructor of a key of ours. It asks for another round as long as the
//! C library grants one, so that what other destructors do is still recorded.

use core::ffi::c_void;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering::*};
use unpick_events::Kind;
use unpick_events::file::file_field;

use super::recorder;
use crate::breakpoints;
use crate::local::{self, Stage};
use crate::perturb::{self, Place};
use crate::stack;
use crate::sync;
use crate::sys;
use crate::thread::{self, MAX_THREADS, Thread};

/// A stretch of addresses that is a thread's stack.
#[derive(Debug, Clone, Copy)]
pub struct StackRange {
    pub low: u64,
    pub high: u64,
}

/// How often the C library runs destructors that set their key again (`PTHREAD_DESTRUCTOR_ITERATIONS`).
const DESTRUCTOR_ROUNDS: u32 = 4;
const NO_KEY: u32 = u32::MAX;

static END_KEY: AtomicU32 = AtomicU32::new(NO_KEY);
/// By number: the `pthread_t` of the thread, for who joins or detaches it.
static HANDLES: [AtomicU64; MAX_THREADS + 1] = [const { AtomicU64::new(0) }; MAX_THREADS + 1];

/// Size of the stack of a thread that is created without attributes.
static DEFAULT_STACK: AtomicU64 = AtomicU64::new(8 << 20);

/// Prepares for seeing threads end, and learns what is usual here.
pub fn prepare() {
    learn_default_stack();
    let mut key = 0;
    // SAFETY: `key` outlives the call and `end_of_thread` lives as long as the process.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(end_of_thread)) } == 0 {
        END_KEY.store(key, Release);
    }
}

fn learn_default_stack() {
    // SAFETY: attributes of our own, initialised before they are asked and destroyed after.
    unsafe {
        let mut attributes = core::mem::MaybeUninit::uninit();
        let mut bytes = 0;
        if libc::pthread_attr_init(attributes.as_mut_ptr()) == 0 {
            libc::pthread_attr_getstacksize(attributes.as_ptr(), &raw mut bytes);
            libc::pthread_attr_destroy(attributes.as_mut_ptr());
            DEFAULT_STACK.store(bytes as u64, Relaxed);
        }
    }
}

pub fn default_stack_bytes() -> u64 {
    DEFAULT_STACK.load(Relaxed)
}

/// The running thread is known under `number` from now on.
pub fn begins(
    number: u16,
    creator: u16,
    stack_range: Option<StackRange>,
) -> Option<&'static Thread> {
    local::cold().set_stage(Stage::Known);
    if !recorder().is_on() {
        return None;
    }
    let thread = thread::begin(recorder(), number)?;
    thread.run_on(local::hot());
    arm();
    remember_handle(number, this_handle());
    thread.handle.set(this_handle());
    let time = sys::clock(libc::CLOCK_MONOTONIC);
    sync::record_for(thread, Kind::ThreadStart, 0, creator as u64, 0, &[time]);
    tell_kernel_thread(thread);
    match stack_range {
        Some(range) => know_stack(thread, range),
        None => thread.stack.set((0, 0)),
    }
    perturb::at(thread, Place::ThreadStart);
    Some(thread)
}

/// Says how to find the running thread from outside, should it hang.
pub fn tell_kernel_thread(thread: &Thread) {
    let calls = (&raw const local::hot().frames_top) as u64;
    let kernel_id = local::cold().kernel_id() as u64;
    sync::record_for(thread, Kind::KernelThread, 0, kernel_id, 0, &[calls]);
}

fn know_stack(thread: &Thread, range: StackRange) {
    if let Some(_busy) = thread.enter() {
        stack::begin(thread, range.low, range.high);
    }
}

/// Makes a thread known that nobody told us of: made by `clone`, or before us. `None` if that is not wanted (nothing is
/// recorded), not possible, or too late. May be called in a signal handler.
#[cold]
pub fn attach_unknown() -> Option<&'static Thread> {
    let cold = local::cold();
    if !recorder().is_on() || cold.stage() != Stage::Unknown {
        return None;
    }
    // Before all else: a signal handler that comes now shall not begin a second time.
    cold.set_stage(Stage::Known);
    begins(thread::new_number(recorder())?, 0, None)
}

/// Has the C library call `end_of_thread` when the running thread ends.
fn arm() {
    let key = END_KEY.load(Acquire);
    if key != NO_KEY {
        // SAFETY: the key is ours and never deleted; any value but null will do.
        unsafe { libc::pthread_setspecific(key, (&raw const END_KEY).cast()) };
    }
}

unsafe extern "C" fn end_of_thread(_: *mut c_void) {
    let rounds = &local::cold().destructor_rounds;
    rounds.set(rounds.get() + 1);
    if rounds.get() < DESTRUCTOR_ROUNDS {
        return arm();
    }
    if let Some(thread) = local::thread() {
        breakpoints::before_end_of_thread(thread);
    }
    ends();
}

/// The running thread is not known any more, and will not be again.
fn ends() {
    local::heed_accesses();
    local::cold().set_stage(Stage::Ended);
    let Some(thread) = local::thread() else { return };
    let (_, high) = thread.stack.get();
    stack::frames_gone(thread, high, None);
    stack::needs_nothing(thread.number());
    sync::record_for(thread, Kind::ThreadEnd, 0, 0, 0, &[sys::clock(libc::CLOCK_MONOTONIC)]);
    recorder().set(file_field::STAMPS, recorder().last_stamp() as u64);
    breakpoints::end_of_thread(thread);
    thread::end(thread);
}

fn this_handle() -> u64 {
    // SAFETY: no arguments.
    unsafe { libc::pthread_self() }
}

pub fn remember_handle(number: u16, handle: u64) {
    HANDLES[number as usize].store(handle, Release);
}

/// The handle is free for another thread.
pub fn forget_handle(number: u16, handle: u64) {
    let _ = HANDLES[number as usize].compare_exchange(handle, 0, AcqRel, Relaxed);
}

/// The thread that the program knows by this handle. Handles are used again: the latest thread counts.
pub fn number_of_handle(handle: u64) -> Option<u16> {
    let latest = thread::threads_so_far().min(MAX_THREADS as u32) as u16;
    (1..=latest).rev().find(|number| HANDLES[*number as usize].load(Acquire) == handle)
}

/// The stack of the main thread: below the list of environment variables, as far as the limit lets it grow.
pub fn main_stack(variables: u64) -> Option<StackRange> {
    const UNLIMITED: u64 = 8 << 20;
    let here = 0_u8;
    let current = (&raw const here) as u64;
    let limit = sys::soft_limit(libc::RLIMIT_STACK);
    let most = if limit > 1 << 40 { UNLIMITED } else { limit };
    let is_near = variables > current && variables - current < most;
    is_near.then(|| StackRange { low: variables.saturating_sub(most), high: variables })
}
