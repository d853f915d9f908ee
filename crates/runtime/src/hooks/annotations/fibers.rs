//! Fibers: a thread that switches between several stacks of calls. Each fiber is recorded as a thread of its own.

use unpick_events::Kind;

use super::super::hooks;
use crate::local;
use crate::start::{recorder, threads};
use crate::sync;
use crate::sys;
use crate::thread::{self, Thread};

hooks! { "rsi":
    __tsan_create_fiber => create,
}

hooks! { "rdx":
    __tsan_switch_to_fiber => switch_to,
}

/// What stands for every fiber while nothing is recorded.
static NO_FIBER: u8 = 0;

fn no_fiber() -> *const Thread {
    (&raw const NO_FIBER).cast()
}

/// The fiber behind a pointer that the program got from us.
fn known(fiber: *const Thread) -> Option<&'static Thread> {
    // SAFETY: we gave it out: it is `NO_FIBER` or a thread, which is never unmapped.
    if fiber == no_fiber() { None } else { unsafe { fiber.as_ref() } }
}

#[unsafe(no_mangle)]
pub extern "C" fn __tsan_get_current_fiber() -> *const Thread {
    match local::thread_that_may_ignore().or_else(threads::attach_unknown) {
        Some(thread) => thread,
        None => no_fiber(),
    }
}

extern "C" fn create(_flags: u32, site: u64) -> *const Thread {
    let is_known = recorder().is_on()
        && local::thread_that_may_ignore().or_else(threads::attach_unknown).is_some();
    let number = if is_known { thread::new_number(recorder()) } else { None };
    let Some(fiber) = number.and_then(|number| thread::begin(recorder(), number)) else {
        return no_fiber();
    };
    fiber.stack.set((0, 0));
    sync::record(Kind::ThreadCreate, 0, fiber.number() as u64, site as u32, &[]);
    fiber
}

/// The fiber does not run and never will again.
#[unsafe(no_mangle)]
pub extern "C" fn __tsan_destroy_fiber(fiber: *const Thread) {
    let Some(fiber) = known(fiber) else { return };
    if has_run(fiber) {
        sync::record_for(fiber, Kind::ThreadEnd, 0, 0, 0, &[sys::clock(libc::CLOCK_MONOTONIC)]);
    }
    thread::end(fiber);
}

fn has_run(fiber: &Thread) -> bool {
    fiber.hot().time.get() != 0
}

/// The flag says that the switch orders nothing; it is passed on.
extern "C" fn switch_to(fiber: *const Thread, flags: u32, site: u64) {
    let (Some(from), Some(to)) = (local::thread_that_may_ignore(), known(fiber)) else { return };
    if core::ptr::eq(from, to) {
        return;
    }
    local::heed_accesses();
    sync::record_for(
        from,
        Kind::FiberSwitch,
        flags as u16 & 1,
        to.number() as u64,
        site as u32,
        &[],
    );
    from.rest();
    to.run_on(local::hot());
    if !has_run(to) {
        let time = sys::clock(libc::CLOCK_MONOTONIC);
        sync::record_for(to, Kind::ThreadStart, 0, from.number() as u64, 0, &[time]);
    }
    if local::cold().ignoring.get() != 0 {
        local::ignore_accesses();
    }
}
