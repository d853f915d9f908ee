//! Condition variables. A wait is four events: the mutex is released, the wait begins, it ends, the mutex is
//! acquired again.
//!
//! A wait is a cancellation point: a thread cancelled there gets its mutex back and then unwinds. The frame around the
//! real wait has a personality routine that sees it go by and records the last two events.

use libc::{c_int, c_void, timespec};
use unpick_events::Kind;
use unpick_events::kind::lock_flags::BY_CONDITION;

use super::intercepts;
use super::locks::{MutexFields, may_unlock, mutex_flags};
use super::objects::{self, destroyed, initialised};
use crate::local::{self, ConditionWait};
use crate::sync;

intercepts! {
    "rdx": fn pthread_cond_init(condition: Condition, attributes: *const c_void) -> c_int => init, "GLIBC_2.3.2";
    "rsi": fn pthread_cond_destroy(condition: Condition) -> c_int => destroy, "GLIBC_2.3.2";
    "rdx": fn pthread_cond_wait(condition: Condition, mutex: Mutex) -> c_int => wait, "GLIBC_2.3.2";
    "rcx": fn pthread_cond_timedwait(condition: Condition, mutex: Mutex, limit: *const timespec) -> c_int => timed_wait, "GLIBC_2.3.2";
    "r8": fn pthread_cond_clockwait(condition: Condition, mutex: Mutex, clock: c_int, limit: *const timespec) -> c_int => clock_wait;
    "rsi": fn pthread_cond_signal(condition: Condition) -> c_int => signal, "GLIBC_2.3.2";
    "rsi": fn pthread_cond_broadcast(condition: Condition) -> c_int => broadcast, "GLIBC_2.3.2";

    "rsi": fn cnd_init(condition: Condition) -> c_int => c11_init;
    "rsi": fn cnd_destroy(condition: Condition) => c11_destroy;
    "rdx": fn cnd_wait(condition: Condition, mutex: Mutex) -> c_int => c11_wait;
    "rcx": fn cnd_timedwait(condition: Condition, mutex: Mutex, limit: *const timespec) -> c_int => c11_timed_wait;
    "rsi": fn cnd_signal(condition: Condition) -> c_int => c11_signal;
    "rsi": fn cnd_broadcast(condition: Condition) -> c_int => c11_broadcast;
}

type Condition = *mut c_void;
type Mutex = *mut MutexFields;

const BYTES: u64 = size_of::<libc::pthread_cond_t>() as u64;

/// Waits by `real_wait`, a function of the C library with these arguments (`rest` is not always used).
fn waiting(
    condition: Condition,
    mutex: Mutex,
    rest: [u64; 2],
    site: u64,
    real_wait: *const c_void,
) -> c_int {
    objects::look_at(condition as u64, site);
    if !may_unlock(mutex) {
        // The real function says so, and neither releases nor acquires anything.
        // SAFETY: `real_wait` takes the program's own arguments.
        return unsafe { call_seen_by_unwinder(condition, mutex, rest[0], rest[1], real_wait) };
    }
    sync::perturb();
    let flags = mutex_flags(mutex) | BY_CONDITION;
    sync::record(Kind::Release, flags, mutex as u64, site as u32, &[]);
    sync::record(Kind::ConditionWait, 0, condition as u64, site as u32, &[mutex as u64]);
    local::cold().wait.set(ConditionWait {
        condition: condition as u64,
        mutex: mutex as u64,
        site,
    });
    // SAFETY: as above.
    let answer = unsafe { call_seen_by_unwinder(condition, mutex, rest[0], rest[1], real_wait) };
    wait_is_over();
    answer
}

fn wait_is_over() {
    let wait = local::cold().wait.replace(ConditionWait { condition: 0, mutex: 0, site: 0 });
    if wait.condition != 0 {
        let flags = mutex_flags(wait.mutex as Mutex) | BY_CONDITION;
        sync::record(Kind::ConditionWake, 0, wait.condition, wait.site as u32, &[]);
        sync::record(Kind::Acquire, flags, wait.mutex, wait.site as u32, &[]);
    }
}

/// Calls `function` with the first four arguments, from a frame that tells `unwinding` when it is unwound.
#[unsafe(naked)]
unsafe extern "C" fn call_seen_by_unwinder(
    condition: Condition,
    mutex: Mutex,
    third: u64,
    fourth: u64,
    function: *const c_void,
) -> c_int {
    // 0x1b: the personality routine's address is given as a distance, in four bytes.
    core::arch::naked_asm!(
        ".cfi_startproc",
        ".cfi_personality 0x1b, {unwinding}",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        "call r8",
        "pop rbp",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        unwinding = sym unwinding,
    )
}

/// Personality routine of `call_seen_by_unwinder`, as the Itanium C++ ABI has it: it never stops the unwinding.
extern "C" fn unwinding(
    _version: c_int,
    actions: c_int,
    _class: u64,
    _exception: *mut c_void,
    _frame: *mut c_void,
) -> c_int {
    const CLEANUP_PHASE: c_int = 2;
    const CONTINUE: c_int = 8;
    if actions & CLEANUP_PHASE != 0 {
        wait_is_over();
    }
    CONTINUE
}

extern "C" fn wait(condition: Condition, mutex: Mutex, site: u64) -> c_int {
    waiting(condition, mutex, [0; 2], site, address::pthread_cond_wait())
}

extern "C" fn timed_wait(
    condition: Condition,
    mutex: Mutex,
    limit: *const timespec,
    site: u64,
) -> c_int {
    waiting(condition, mutex, [limit as u64, 0], site, address::pthread_cond_timedwait())
}

extern "C" fn clock_wait(
    condition: Condition,
    mutex: Mutex,
    clock: c_int,
    limit: *const timespec,
    site: u64,
) -> c_int {
    waiting(condition, mutex, [clock as u64, limit as u64], site, address::pthread_cond_clockwait())
}

extern "C" fn c11_wait(condition: Condition, mutex: Mutex, site: u64) -> c_int {
    waiting(condition, mutex, [0; 2], site, address::cnd_wait())
}

extern "C" fn c11_timed_wait(
    condition: Condition,
    mutex: Mutex,
    limit: *const timespec,
    site: u64,
) -> c_int {
    waiting(condition, mutex, [limit as u64, 0], site, address::cnd_timedwait())
}

/// Records a signal or broadcast, then lets it happen.
fn waking(kind: Kind, condition: Condition, site: u64, wake: impl FnOnce() -> c_int) -> c_int {
    objects::look_at(condition as u64, site);
    sync::record(kind, 0, condition as u64, site as u32, &[]);
    let answer = wake();
    sync::perturb();
    answer
}

extern "C" fn signal(condition: Condition, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    waking(Kind::ConditionSignal, condition, site, || unsafe {
        real::pthread_cond_signal(condition)
    })
}

extern "C" fn broadcast(condition: Condition, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    waking(Kind::ConditionBroadcast, condition, site, || unsafe {
        real::pthread_cond_broadcast(condition)
    })
}

extern "C" fn c11_signal(condition: Condition, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    waking(Kind::ConditionSignal, condition, site, || unsafe { real::cnd_signal(condition) })
}

extern "C" fn c11_broadcast(condition: Condition, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    waking(Kind::ConditionBroadcast, condition, site, || unsafe { real::cnd_broadcast(condition) })
}

extern "C" fn init(condition: Condition, attributes: *const c_void, site: u64) -> c_int {
    // SAFETY: the program's own arguments.
    let answer = unsafe { real::pthread_cond_init(condition, attributes) };
    initialised(answer, condition as u64, BYTES, site)
}

extern "C" fn c11_init(condition: Condition, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    initialised(unsafe { real::cnd_init(condition) }, condition as u64, BYTES, site)
}

extern "C" fn destroy(condition: Condition, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    destroyed(unsafe { real::pthread_cond_destroy(condition) }, condition as u64, BYTES, site)
}

extern "C" fn c11_destroy(condition: Condition, site: u64) {
    // SAFETY: the program's own argument.
    unsafe { real::cnd_destroy(condition) };
    objects::end(condition as u64, BYTES, site);
}
