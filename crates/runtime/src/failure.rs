//! The program begins to fail: a panic, an abort, a failed assertion, a fatal signal, an exit with another status than 0.
//!
//! From then on nothing is delayed: what follows belongs to failing. Before the process dies, its other threads get a moment
//! (`GRACE`) to do what they were about to do, so that the last access of what went wrong is in the recording: the write that came too late,
//! the other side of a race. The outcome stays what it is: until the thread that dies has died, no other ends the process in another way
//! (`wait_for_death`). What the others print meanwhile they could have printed before.

use core::sync::atomic::{AtomicU32, Ordering::*};

use crate::local;
use crate::perturb;
use crate::sys;
use crate::thread;

/// How long the others go on.
const GRACE: u64 = 5_000_000;
/// The longest that a thread waits for the end of its process, in nanoseconds and steps.
const STEP: u64 = 10_000_000;
const MAX_STEPS: u32 = 100;

/// The kernel's number of the thread that is about to end the process by dying; 0: none is.
static DYING: AtomicU32 = AtomicU32::new(0);

/// There are no delays from now on. A panic may be caught: then the program goes on, and is recorded as before.
pub fn begins() {
    perturb::end();
}

/// The running thread is about to die, and its process with it, or to leave by `exit`. Safe in a signal handler.
pub fn last_moment() {
    begins();
    let this = sys::thread_number();
    match DYING.compare_exchange(0, this, AcqRel, Acquire) {
        Ok(_) if is_one_of_many() => sys::sleep(GRACE),
        Ok(_) => {}
        Err(_) => wait_for_death(),
    }
}

/// Another thread is dying: its death is how the process ends. Who would end it in another way waits; not for ever, whatever happens.
pub fn wait_for_death() {
    let this = sys::thread_number();
    for _ in 0..MAX_STEPS {
        let dying = DYING.load(Acquire);
        if dying == 0 || dying == this {
            return;
        }
        sys::sleep(STEP);
    }
}

/// In the child after a fork: who was dying is not here.
pub fn forget() {
    DYING.store(0, Release);
}

fn is_one_of_many() -> bool {
    let own = local::thread_that_may_ignore().map(|thread| thread.number());
    let numbers = 1..=thread::threads_so_far().min(thread::MAX_THREADS as u32) as u16;
    numbers
        .filter(|&number| Some(number) != own)
        .any(|number| thread::thread_with_number(number).is_some())
}
