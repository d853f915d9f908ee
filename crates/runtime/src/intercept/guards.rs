//! Static variables of functions in C++: compiled code looks at a guard, and the first to come initialises.
//!
//! The guard is a once, whose first byte compiled code reads with an acquire. It is changed by the C++ library, which has no hooks.
//! In a program that has this library inside, without the functions here being able to find its own, the guard works as that of
//! GNU's library does.

use core::sync::atomic::{AtomicU32, Ordering::*};
use libc::{c_int, c_void};
use unpick_events::Kind;

use super::intercepts;
use crate::sync;
use crate::sys;

intercepts! {
    "rsi": fn __cxa_guard_acquire(guard: *mut c_void) -> c_int => acquire;
    "rsi": fn __cxa_guard_release(guard: *mut c_void) => release;
}

/// States of a guard of GNU's library, as far as they are needed.
const DONE: u32 = 1;
const RUNNING: u32 = 0x100;

/// Answers 1 to who has to run the initialiser.
extern "C" fn acquire(guard: *mut c_void, site: u64) -> c_int {
    sync::perturb();
    let answer = if address::__cxa_guard_acquire().is_null() {
        acquire_alone(guard)
    } else {
        // SAFETY: the program's own argument.
        unsafe { real::__cxa_guard_acquire(guard) }
    };
    let kind = if answer == 0 { Kind::OnceDone } else { Kind::OnceBegin };
    sync::record(kind, 0, guard as u64, site as u32, &[]);
    answer
}

extern "C" fn release(guard: *mut c_void, site: u64) {
    sync::record(Kind::OnceDone, 0, guard as u64, site as u32, &[]);
    if address::__cxa_guard_release().is_null() {
        word_of(guard).store(DONE, Release);
    } else {
        // SAFETY: the program's own argument.
        unsafe { real::__cxa_guard_release(guard) };
    }
}

fn word_of(guard: *mut c_void) -> &'static AtomicU32 {
    // SAFETY: a guard has eight bytes, is aligned to them, and lives as long as the program.
    unsafe { &*guard.cast::<AtomicU32>() }
}

fn acquire_alone(guard: *mut c_void) -> c_int {
    let word = word_of(guard);
    loop {
        match word.compare_exchange(0, RUNNING, Acquire, Acquire) {
            Ok(_) => return 1,
            Err(state) if state & DONE != 0 => return 0,
            Err(_) => sys::yield_now(),
        }
    }
}
