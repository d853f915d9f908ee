//! The guards around local statics of C++: `__cxa_guard_acquire` and its kin.
//!
//! Ours stand in place of the C++ library's, for there may be none behind them: with `-static-libstdc++` a function that we have is not linked
//! a second time. The word is used as libstdc++ uses it, so code that was bound to the library's own agrees with ours. The program
//! looks at the lowest byte by itself before it calls anybody, by an atomic load that its hooks tell of.

use core::sync::atomic::{AtomicU32, Ordering::*};

use libc::c_int;
use unpick_events::Kind;

use super::intercepts;
use crate::{sync, sys};

intercepts! {
    "rsi": fn __cxa_guard_acquire(guard: *const AtomicU32) -> c_int => acquire;
    "rsi": fn __cxa_guard_release(guard: *const AtomicU32) => release;
    "rsi": fn __cxa_guard_abort(guard: *const AtomicU32) => abort;
}

const FREE: u32 = 0;
const DONE: u32 = 1;
/// Somebody initialises; with the other bit, somebody waits for that.
const BUSY: u32 = 1 << 8;
const AWAITED: u32 = BUSY | 1 << 16;

/// Who was bound to the library's own function wakes others in another way: nobody waits for long without a look.
const LOOK_AGAIN: u64 = 10_000_000;

/// 1: the caller is to initialise.
extern "C" fn acquire(guard: *const AtomicU32, site: u64) -> c_int {
    sync::perturb();
    // SAFETY: the compiler passes a guard of its own, which is at least a word and lives as long as the program.
    let word = unsafe { &*guard };
    let mut is_told = false;
    loop {
        match word.compare_exchange(FREE, BUSY, Acquire, Acquire) {
            Ok(_) => {
                sync::record(Kind::OnceBegin, 0, guard as u64, site as u32, &[]);
                return 1;
            }
            Err(state) if state & DONE != 0 => {
                sync::record(Kind::OnceDone, 0, guard as u64, site as u32, &[]);
                return 0;
            }
            Err(BUSY) if word.compare_exchange(BUSY, AWAITED, Relaxed, Relaxed).is_err() => {}
            Err(_) => {
                if !is_told {
                    sync::record(Kind::OnceWait, 0, guard as u64, site as u32, &[]);
                    is_told = true;
                }
                sys::wait_for_change(word, AWAITED, LOOK_AGAIN);
            }
        }
    }
}

/// The static is initialised.
extern "C" fn release(guard: *const AtomicU32, site: u64) {
    sync::record(Kind::OnceDone, 0, guard as u64, site as u32, &[]);
    leave(guard, DONE);
}

/// Its constructor has thrown: another one has to try.
extern "C" fn abort(guard: *const AtomicU32, _site: u64) {
    leave(guard, FREE);
}

fn leave(guard: *const AtomicU32, state: u32) {
    // SAFETY: as in `acquire`.
    let word = unsafe { &*guard };
    if word.swap(state, AcqRel) == AWAITED {
        sys::wake_all(word);
    }
}
