//! Barriers: nobody leaves before all have arrived.

use libc::{c_int, c_uint, c_void};
use unpick_events::Kind;

use super::intercepts;
use super::objects::{self, destroyed, initialised};
use crate::sync;

intercepts! {
    "rcx": fn pthread_barrier_init(barrier: *mut c_void, attributes: *const c_void, count: c_uint) -> c_int => init;
    "rsi": fn pthread_barrier_destroy(barrier: *mut c_void) -> c_int => destroy;
    "rsi": fn pthread_barrier_wait(barrier: *mut c_void) -> c_int => wait;
}

const BYTES: u64 = size_of::<libc::pthread_barrier_t>() as u64;

extern "C" fn init(
    barrier: *mut c_void,
    attributes: *const c_void,
    count: c_uint,
    site: u64,
) -> c_int {
    // SAFETY: the program's own arguments.
    let answer = unsafe { real::pthread_barrier_init(barrier, attributes, count) };
    initialised(answer, barrier as u64, BYTES, site)
}

extern "C" fn destroy(barrier: *mut c_void, site: u64) -> c_int {
    // SAFETY: the program's own argument.
    destroyed(unsafe { real::pthread_barrier_destroy(barrier) }, barrier as u64, BYTES, site)
}

/// The answer is 0, or `PTHREAD_BARRIER_SERIAL_THREAD` for one of those who leave.
extern "C" fn wait(barrier: *mut c_void, site: u64) -> c_int {
    objects::look_at(barrier as u64, site);
    sync::perturb();
    sync::record(Kind::BarrierArrive, 0, barrier as u64, site as u32, &[]);
    // SAFETY: the program's own argument.
    let answer = unsafe { real::pthread_barrier_wait(barrier) };
    sync::record(Kind::BarrierLeave, 0, barrier as u64, site as u32, &[]);
    sync::perturb();
    answer
}
