//! Functions of Rust's std that synchronise and are delivered compiled, without our hooks.
//!
//! `unpick cargo` links a program so that a call of such a function is told here before and after: the number of the
//! function, two of its arguments, and where the program called. Which functions, and why: docs/design/0004-rust-locks.md.
//!
//! Where a panic begins, the run fails: see `failure`. While a backtrace is printed, which std does by itself, the thread's accesses are
//! not recorded: reading debug information took seconds, and is nothing that the program does.
//!
//! What gives something away is recorded on entering, what takes something on leaving. A closure given to a `Once` that
//! panics is entered and never left.

use unpick_events::kind::lock_flags::{BY_CONDITION, IS_RUST, SHARED};
use unpick_events::{Kind, MemoryOrder};

use crate::failure;
use crate::hooks::annotations::{begin_ignoring, end_ignoring};
use crate::local;
use crate::shadow::{Access, touch};
use crate::sync;

/// The numbers of the functions, as `crates/instrument/src/cargo/std_functions.rs` gives them out.
mod number {
    pub const MUTEX_LOCK_CONTENDED: u32 = 1;
    pub const RWLOCK_READ_CONTENDED: u32 = 2;
    pub const RWLOCK_WRITE_CONTENDED: u32 = 3;
    pub const CONDVAR_WAIT: u32 = 4;
    pub const CONDVAR_WAIT_TIMEOUT: u32 = 5;
    pub const ONCE_CALL: u32 = 6;
    pub const ONCE_WAIT: u32 = 7;
    pub const PARK: u32 = 8;
    pub const PARK_TIMEOUT: u32 = 9;
    pub const THREAD_PARK: u32 = 10;
    pub const THREAD_PARK_TIMEOUT: u32 = 11;
    pub const SCOPE_THREAD_ENDS: u32 = 12;
    pub const BARRIER_WAIT: u32 = 13;
    pub const PANIC: u32 = 14;
    pub const BACKTRACE: u32 = 15;
}

/// `HappensAfter` with this object comes after every unpark so far: which one it was is not told.
const ANY_UNPARK: u64 = 0;

/// Before function `number`; `second` is meaningful for condition variables only.
#[unsafe(no_mangle)]
pub extern "C" fn __unpick_std_enter(number: u32, first: u64, second: u64, return_address: u64) {
    use number::*;
    match number {
        PANIC => return failure::begins(),
        BACKTRACE => return begin_ignoring(),
        _ => sync::perturb(),
    }
    let record = |kind, flags, object, payload: &[u64]| {
        sync::record(kind, flags, object, return_address as u32, payload);
    };
    match number {
        MUTEX_LOCK_CONTENDED | RWLOCK_WRITE_CONTENDED => {
            record(Kind::LockWait, IS_RUST, first, &[]);
        }
        RWLOCK_READ_CONTENDED => record(Kind::LockWait, IS_RUST | SHARED, first, &[]),
        CONDVAR_WAIT | CONDVAR_WAIT_TIMEOUT => {
            record(Kind::Release, IS_RUST | BY_CONDITION, second, &[]);
            record(Kind::ConditionWait, 0, first, &[second]);
        }
        ONCE_CALL => record(Kind::OnceBegin, 0, first, &[]),
        ONCE_WAIT => record(Kind::OnceWait, 0, first, &[]),
        PARK | PARK_TIMEOUT | THREAD_PARK | THREAD_PARK_TIMEOUT => {
            record(Kind::ParkWait, 0, 0, &[]);
        }
        SCOPE_THREAD_ENDS => record(Kind::HappensBefore, 0, first, &[]),
        BARRIER_WAIT => record(Kind::BarrierArrive, 0, first, &[]),
        _ => {}
    }
}

/// After function `number` has returned.
#[unsafe(no_mangle)]
pub extern "C" fn __unpick_std_leave(number: u32, first: u64, second: u64, return_address: u64) {
    use number::*;
    let record = |kind, flags, object| {
        sync::record(kind, flags, object, return_address as u32, &[]);
    };
    match number {
        MUTEX_LOCK_CONTENDED | RWLOCK_WRITE_CONTENDED => record(Kind::Acquire, IS_RUST, first),
        RWLOCK_READ_CONTENDED => record(Kind::Acquire, IS_RUST | SHARED, first),
        CONDVAR_WAIT | CONDVAR_WAIT_TIMEOUT => {
            record(Kind::ConditionWake, 0, first);
            record(Kind::Acquire, IS_RUST | BY_CONDITION, second);
        }
        ONCE_CALL => {
            record(Kind::OnceDone, 0, first);
            note_publishing(first, return_address);
        }
        ONCE_WAIT => record(Kind::OnceDone, 0, first),
        PARK | PARK_TIMEOUT | THREAD_PARK | THREAD_PARK_TIMEOUT => {
            record(Kind::HappensAfter, 0, ANY_UNPARK);
        }
        BARRIER_WAIT => record(Kind::BarrierLeave, 0, first),
        BACKTRACE => end_ignoring(),
        _ => {}
    }
}

/// The word of a once has been written, by code without hooks: so that who looks at it later is seen to meet somebody.
/// Whether this thread wrote it or waited for another is not told; as an atomic access it is in nobody's way.
fn note_publishing(once: u64, return_address: u64) {
    if let Some(thread) = local::thread() {
        let (flags, site) = (MemoryOrder::AcquireRelease as u16, return_address as u32);
        touch(thread, &Access { kind: Kind::ReadWrite, flags, address: once, bytes: 4, site });
    }
}
