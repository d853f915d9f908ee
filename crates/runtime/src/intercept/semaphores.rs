//! Semaphores, named and unnamed. A post that fails (the count is at its maximum) is recorded like one that does not.
//!
//! A wait that finds the count at 0 is told before it begins. It is only looked at, never tried: a wait is a cancellation
//! point even where it need not wait. One that loses its turn between the look and the wait is not told.

use libc::{c_int, c_uint, sem_t, timespec};
use unpick_events::Kind;

use super::intercepts;
use super::objects::{self, destroyed, initialised};
use crate::sync;

intercepts! {
    "rcx": fn sem_init(semaphore: *mut sem_t, shared: c_int, value: c_uint) -> c_int => init;
    "rsi": fn sem_destroy(semaphore: *mut sem_t) -> c_int => destroy;
    "rsi": fn sem_post(semaphore: *mut sem_t) -> c_int => post;
    "rsi": fn sem_wait(semaphore: *mut sem_t) -> c_int => wait;
    "rsi": fn sem_trywait(semaphore: *mut sem_t) -> c_int => try_wait;
    "rdx": fn sem_timedwait(semaphore: *mut sem_t, limit: *const timespec) -> c_int => timed_wait;
    "rcx": fn sem_clockwait(semaphore: *mut sem_t, clock: c_int, limit: *const timespec) -> c_int => clock_wait;
}

const BYTES: u64 = size_of::<sem_t>() as u64;

extern "C" fn init(semaphore: *mut sem_t, shared: c_int, value: c_uint, site: u64) -> c_int {
    // SAFETY: the program's own arguments.
    let answer = unsafe { real::sem_init(semaphore, shared, value) };
    initialised(answer, semaphore as u64, BYTES, site)
}

extern "C" fn destroy(semaphore: *mut sem_t, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    destroyed(unsafe { real::sem_destroy(semaphore) }, semaphore as u64, BYTES, site)
}

/// May be called in a signal handler.
extern "C" fn post(semaphore: *mut sem_t, site: u64) -> c_int {
    objects::look_at(semaphore as u64, site);
    sync::record(Kind::SemaphorePost, 0, semaphore as u64, site as u32, &[]);
    // SAFETY: the program's own argument.
    let answer = unsafe { real::sem_post(semaphore) };
    sync::perturb();
    answer
}

/// Says that the thread is about to wait, if it seems so.
fn tell_if_blocked(semaphore: *mut sem_t, site: u64) {
    // SAFETY: the program passes a valid semaphore; glibc keeps its count in the first word.
    let count = unsafe { semaphore.cast::<c_uint>().read_volatile() };
    if count == 0 {
        sync::record(Kind::SemaphoreBlock, 0, semaphore as u64, site as u32, &[]);
    }
}

/// Waits by one of the real functions that may block.
fn blocking(semaphore: *mut sem_t, site: u64, wait: impl FnOnce() -> c_int) -> c_int {
    waiting(semaphore, site, || {
        tell_if_blocked(semaphore, site);
        wait()
    })
}

/// Waits by one of the real functions and records its success.
fn waiting(semaphore: *mut sem_t, site: u64, wait: impl FnOnce() -> c_int) -> c_int {
    objects::look_at(semaphore as u64, site);
    sync::perturb();
    let answer = wait();
    if answer == 0 {
        sync::record(Kind::SemaphoreWait, 0, semaphore as u64, site as u32, &[]);
    }
    answer
}

extern "C" fn wait(semaphore: *mut sem_t, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    blocking(semaphore, site, || unsafe { real::sem_wait(semaphore) })
}

extern "C" fn try_wait(semaphore: *mut sem_t, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    waiting(semaphore, site, || unsafe { real::sem_trywait(semaphore) })
}

extern "C" fn timed_wait(semaphore: *mut sem_t, limit: *const timespec, site: u64) -> c_int {
    // SAFETY: the program's own arguments.
    blocking(semaphore, site, || unsafe { real::sem_timedwait(semaphore, limit) })
}

extern "C" fn clock_wait(
    semaphore: *mut sem_t,
    clock: c_int,
    limit: *const timespec,
    site: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    blocking(semaphore, site, || unsafe { real::sem_clockwait(semaphore, clock, limit) })
}
