//! Threads: created, joined, detached. Their end is seen elsewhere: `start::threads`.
//!
//! A creation is recorded before it is tried, so that it comes before everything the new thread does. One that
//! fails leaves a `ThreadCreate` whose thread never starts. Signals wait until the new thread is known: see `early_signals`.

use core::sync::atomic::{AtomicU64, Ordering::*};
use libc::{c_int, c_void, pthread_attr_t, pthread_t, timespec};
use unpick_events::Kind;

use super::early_signals;
use super::intercepts;
use crate::local;
use crate::stack;
use crate::start::threads::{self, StackRange};
use crate::start::{process, recorder};
use crate::sync;
use crate::thread::{self, MAX_THREADS};

intercepts! {
    "r8": fn pthread_create(handle: *mut pthread_t, attributes: *const pthread_attr_t, routine: Routine, argument: *mut c_void) -> c_int => create;
    "rcx": fn thrd_create(handle: *mut pthread_t, routine: Routine, argument: *mut c_void) -> c_int => create_c11;
    "rdx": fn pthread_join(handle: pthread_t, answer: *mut *mut c_void) -> c_int => join;
    "rdx": fn pthread_tryjoin_np(handle: pthread_t, answer: *mut *mut c_void) -> c_int => try_join;
    "rcx": fn pthread_timedjoin_np(handle: pthread_t, answer: *mut *mut c_void, limit: *const timespec) -> c_int => timed_join;
    "r8": fn pthread_clockjoin_np(handle: pthread_t, answer: *mut *mut c_void, clock: c_int, limit: *const timespec) -> c_int => clock_join;
    "rdx": fn thrd_join(handle: pthread_t, answer: *mut c_int) -> c_int => join_c11;
    "rsi": fn pthread_detach(handle: pthread_t) -> c_int => detach;
    "rsi": fn thrd_detach(handle: pthread_t) -> c_int => detach_c11;
}

/// The program's function for a new thread; its answer is a pointer, or an `int` in C11: it is only passed through.
type Routine = unsafe extern "C" fn(*mut c_void) -> *mut c_void;

/// What a new thread needs to begin, by its number: no allocation, and nobody has to wait until it is taken.
struct Beginning {
    routine: AtomicU64,
    argument: AtomicU64,
    /// Address of the stack (0: the C library chooses it) and its size.
    stack: AtomicU64,
    stack_bytes: AtomicU64,
    creator: AtomicU64,
    /// The creator's mask of signals.
    creator_mask: AtomicU64,
}

static BEGINNINGS: [Beginning; MAX_THREADS + 1] = [const {
    Beginning {
        routine: AtomicU64::new(0),
        argument: AtomicU64::new(0),
        stack: AtomicU64::new(0),
        stack_bytes: AtomicU64::new(0),
        creator: AtomicU64::new(0),
        creator_mask: AtomicU64::new(0),
    }
}; MAX_THREADS + 1];

/// The stack that attributes ask for: its address (0: none given) and size.
fn wanted_stack(attributes: *const pthread_attr_t) -> (u64, u64) {
    if attributes.is_null() {
        return (0, threads::default_stack_bytes());
    }
    let (mut address, mut bytes) = (core::ptr::null_mut(), 0);
    // SAFETY: the program's own attributes, and two variables that outlive the calls.
    unsafe {
        libc::pthread_attr_getstack(attributes, &raw mut address, &raw mut bytes);
        // Without a given stack the address is what a stack would have that ends at 0.
        if (address as u64).wrapping_add(bytes as u64) == 0 {
            address = core::ptr::null_mut();
            libc::pthread_attr_getstacksize(attributes, &raw mut bytes);
        }
    }
    (address as u64, bytes as u64)
}

/// Records a creation. Gives the number of the new thread, or `None` if it shall not be known.
fn announce(routine: Routine, argument: *mut c_void, stack: (u64, u64), site: u64) -> Option<u16> {
    let me = local::thread_that_may_ignore().or_else(threads::attach_unknown)?;
    process::watch_early();
    let number = if recorder().is_on() { thread::new_number(recorder())? } else { return None };
    let beginning = &BEGINNINGS[number as usize];
    beginning.routine.store(routine as usize as u64, Relaxed);
    beginning.argument.store(argument as u64, Relaxed);
    stack::give(me, number, argument as u64);
    beginning.stack.store(stack.0, Relaxed);
    beginning.stack_bytes.store(stack.1, Relaxed);
    beginning.creator.store(me.number() as u64, Release);
    sync::record(Kind::ThreadCreate, 0, number as u64, site as u32, &[]);
    Some(number)
}

extern "C" fn create(
    handle: *mut pthread_t,
    attributes: *const pthread_attr_t,
    routine: Routine,
    argument: *mut c_void,
    site: u64,
) -> c_int {
    let Some(number) = announce(routine, argument, wanted_stack(attributes), site) else {
        // SAFETY: the program's own arguments.
        return unsafe { real::pthread_create(handle, attributes, routine, argument) };
    };
    // SAFETY: as the program asked, but for the routine, which is ours and goes on to the program's.
    let answer = holding_back_signals(number, || unsafe {
        real::pthread_create(handle, attributes, begin_thread, number as usize as *mut c_void)
    });
    was_created(number, handle, answer)
}

extern "C" fn create_c11(
    handle: *mut pthread_t,
    routine: Routine,
    argument: *mut c_void,
    site: u64,
) -> c_int {
    let Some(number) = announce(routine, argument, wanted_stack(core::ptr::null()), site) else {
        // SAFETY: the program's own arguments.
        return unsafe { real::thrd_create(handle, routine, argument) };
    };
    // SAFETY: as in `create`.
    let answer = holding_back_signals(number, || unsafe {
        real::thrd_create(handle, begin_thread, number as usize as *mut c_void)
    });
    was_created(number, handle, answer)
}

/// Creates a thread to which no signal comes before it is known.
fn holding_back_signals(number: u16, create: impl FnOnce() -> c_int) -> c_int {
    let creator_mask = early_signals::hold_back();
    BEGINNINGS[number as usize].creator_mask.store(creator_mask, Relaxed);
    let answer = create();
    early_signals::let_through(creator_mask);
    answer
}

/// The creator also remembers the handle: it may detach the thread before that has begun.
fn was_created(number: u16, handle: *mut pthread_t, answer: c_int) -> c_int {
    if answer == 0 {
        // SAFETY: a successful creation has stored the handle there.
        threads::remember_handle(number, unsafe { *handle });
        sync::perturb();
    } else {
        stack::needs_nothing(number);
    }
    answer
}

/// A routine and its argument, as two registers.
#[repr(C)]
struct Start {
    routine: u64,
    argument: u64,
}

/// What a new thread runs: makes itself known, then becomes the program's routine. No frame of ours stays on the
/// stack, so an exception, cancellation or `pthread_exit` ends the thread as it would without us; a handler of an early signal
/// may do so while it makes itself known, hence the unwind directives.
#[unsafe(naked)]
unsafe extern "C" fn begin_thread(number: *mut c_void) -> *mut c_void {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rax",
        ".cfi_adjust_cfa_offset 8",
        "call {make_known}",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "mov rdi, rdx",
        "jmp rax",
        ".cfi_endproc",
        make_known = sym make_known,
    )
}

extern "C" fn make_known(number: u64) -> Start {
    let beginning = &BEGINNINGS[number as usize & 0xffff];
    let creator = beginning.creator.load(Acquire) as u16;
    let stack = (beginning.stack.load(Relaxed), beginning.stack_bytes.load(Relaxed));
    let start = Start {
        routine: beginning.routine.load(Relaxed),
        argument: beginning.argument.load(Relaxed),
    };
    threads::begins(number as u16, creator, own_stack(stack));
    early_signals::let_through_to_new(beginning.creator_mask.load(Relaxed));
    start
}

/// The running thread's stack, from what was asked for. If the C library chose it, the thread's descriptor, whose
/// address is its handle, lies at its end.
fn own_stack((address, bytes): (u64, u64)) -> Option<StackRange> {
    const PAGE: u64 = 4096;
    // SAFETY: no arguments.
    let descriptor = unsafe { libc::pthread_self() };
    let high = if address != 0 { address + bytes } else { (descriptor + 1).next_multiple_of(PAGE) };
    let low = high.checked_sub(bytes)?;
    let here = (&raw const high) as u64;
    (low..high).contains(&here).then_some(StackRange { low, high })
}

/// Whether a join may last for ever; if so, it is told before it begins.
#[derive(PartialEq, Eq)]
enum Patience {
    Endless,
    Limited,
}

/// Calls one of the joining functions and records its success.
fn joining(
    handle: pthread_t,
    site: u64,
    patience: Patience,
    join: impl FnOnce() -> c_int,
) -> c_int {
    // Before: afterwards the handle may already be another thread's.
    let number = threads::number_of_handle(handle);
    sync::perturb();
    if let Some(number) = number.filter(|_| patience == Patience::Endless) {
        sync::record(Kind::ThreadJoinWait, 0, number as u64, site as u32, &[]);
    }
    let answer = join();
    // Or else the thread had not even begun before.
    if answer == 0
        && let Some(number) = number.or_else(|| threads::number_of_handle(handle))
    {
        threads::forget_handle(number, handle);
        sync::record(Kind::ThreadJoin, 0, number as u64, site as u32, &[]);
    }
    answer
}

extern "C" fn join(handle: pthread_t, answer: *mut *mut c_void, site: u64) -> c_int {
    // SAFETY: the program's own arguments.
    joining(handle, site, Patience::Endless, || unsafe { real::pthread_join(handle, answer) })
}

extern "C" fn try_join(handle: pthread_t, answer: *mut *mut c_void, site: u64) -> c_int {
    // SAFETY: the program's own arguments.
    joining(handle, site, Patience::Limited, || unsafe { real::pthread_tryjoin_np(handle, answer) })
}

extern "C" fn timed_join(
    handle: pthread_t,
    answer: *mut *mut c_void,
    limit: *const timespec,
    site: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    joining(handle, site, Patience::Limited, || unsafe {
        real::pthread_timedjoin_np(handle, answer, limit)
    })
}

extern "C" fn clock_join(
    handle: pthread_t,
    answer: *mut *mut c_void,
    clock: c_int,
    limit: *const timespec,
    site: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    joining(handle, site, Patience::Limited, || unsafe {
        real::pthread_clockjoin_np(handle, answer, clock, limit)
    })
}

extern "C" fn join_c11(handle: pthread_t, answer: *mut c_int, site: u64) -> c_int {
    // SAFETY: the program's own arguments.
    joining(handle, site, Patience::Endless, || unsafe { real::thrd_join(handle, answer) })
}

fn detaching(handle: pthread_t, site: u64, detach: impl FnOnce() -> c_int) -> c_int {
    let number = threads::number_of_handle(handle);
    let answer = detach();
    if answer == 0
        && let Some(number) = number
    {
        sync::record(Kind::ThreadDetach, 0, number as u64, site as u32, &[]);
    }
    answer
}

extern "C" fn detach(handle: pthread_t, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    detaching(handle, site, || unsafe { real::pthread_detach(handle) })
}

extern "C" fn detach_c11(handle: pthread_t, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    detaching(handle, site, || unsafe { real::thrd_detach(handle) })
}
