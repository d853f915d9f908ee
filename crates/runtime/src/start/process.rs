//! The life of the process: it forks, runs another program, ends.

use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::*};
use unpick_events::Kind;
use unpick_events::file::file_field;

use super::{modules, open_file, options_in_force, path, recorder, tell_facts, threads, words};
use crate::breakpoints;
use crate::failure;
use crate::local;
use crate::sync;
use crate::sys;
use crate::thread::{self, Thread};

unsafe extern "C" {
    fn on_exit(function: unsafe extern "C" fn(i32, *mut c_void), argument: *mut c_void) -> i32;
    fn __register_atfork(
        prepare: Option<extern "C" fn()>,
        parent: Option<extern "C" fn()>,
        child: Option<extern "C" fn()>,
        module: *mut c_void,
    ) -> i32;
}

/// The process whose recording this is: the child of a `vfork` shares our memory, but is not it.
static PROCESS: AtomicU32 = AtomicU32::new(0);

pub fn begin() {
    PROCESS.store(sys::process_number(), Release);
}

/// Has the C library tell us when the process leaves through `exit` and when it has forked. Called early, so that of
/// all handlers ours is the last at exit, and the first in the child.
pub fn watch() {
    // SAFETY: both functions live as long as the process.
    unsafe {
        on_exit(leaves_through_exit, core::ptr::null_mut());
        __register_atfork(None, None, Some(is_perhaps_forked_child), core::ptr::null_mut());
    }
}

/// A thread is about to be made. The C library tells us from now on when the process begins to leave through `exit`: before the handlers of what was there
/// already, such as destructors of global objects, which threads may still need.
pub fn watch_early() {
    static IS_WATCHED: AtomicBool = AtomicBool::new(false);
    let is_asked_for = breakpoints::are_on() || recorder().is_on();
    if is_asked_for && !IS_WATCHED.swap(true, Relaxed) {
        // SAFETY: the function lives as long as the process.
        unsafe { on_exit(begins_to_leave, core::ptr::null_mut()) };
    }
}

unsafe extern "C" fn begins_to_leave(status: i32, _: *mut c_void) {
    wait_for_order(status);
    give_moment(status);
}

/// A process that ends with another status than 0 fails: its other threads get a moment. A step that was the last thing the thread did is over: who waits for it goes on.
fn give_moment(status: i32) {
    if status & 0xff == 0 || !is_recorded() {
        return;
    }
    if let Some(thread) = local::thread() {
        breakpoints::next_event(thread);
    }
    failure::last_moment();
}

/// An order that is being forced gets the time to come about. Not if the process ends by a failure: nobody else shall end
/// it in another way.
fn wait_for_order(status: i32) {
    if status & 0xff == 0
        && is_own_process()
        && let Some(thread) = local::thread()
    {
        breakpoints::before_exit(thread);
    }
}

unsafe extern "C" fn leaves_through_exit(status: i32, _: *mut c_void) {
    leaves(status, 0);
}

/// Whether the running code belongs to the recorded process, and not to the child of a `vfork`.
fn is_recorded() -> bool {
    recorder().is_on() && is_own_process()
}

fn is_own_process() -> bool {
    PROCESS.load(Acquire) == sys::process_number()
}

/// The process is about to end with this status. Where the last thread has ended before (`main` left by `pthread_exit`)
/// there is nobody left to record an event, and where the recording could not grow there is no room for one; the header
/// of the file still says that the end was orderly.
pub fn leaves(status: i32, site: u64) {
    if !is_own_process() {
        return;
    }
    wait_for_order(status);
    // Who has begun to leave has had its moment.
    give_moment(status);
    failure::wait_for_death();
    if let Some(thread) = local::thread_that_may_ignore().filter(|_| is_recorded()) {
        modules::look_if_expected(thread);
        sync::record_for(thread, Kind::Exit, 0, (status & 0xff) as u64, site as u32, &[]);
    }
    recorder().set(file_field::STAMPS, recorder().last_stamp() as u64);
    recorder().set(file_field::ORDERLY_EXIT, 1);
}

/// The process is about to become another program.
pub fn executes(site: u64) {
    if is_recorded() {
        failure::wait_for_death();
        sync::record(Kind::Exec, 0, 0, site as u32, &[]);
        recorder().set(file_field::STAMPS, recorder().last_stamp() as u64);
    }
}

/// In the parent, after a fork.
pub fn has_forked(child: u64, site: u64) {
    sync::record(Kind::Fork, 0, child, site as u32, &[]);
}

/// In the child, after a fork: only this thread has survived, and it records into a file of its own. Does nothing in
/// a process that is recorded already.
///
/// What the thread knows goes on as it was (its number, its count of events, its call stack, the shadow); what the
/// others were doing is cut off.
pub extern "C" fn is_perhaps_forked_child() {
    let (parent, this) = (PROCESS.load(Relaxed), sys::process_number());
    if parent == 0 || parent == this {
        return;
    }
    PROCESS.store(this, Release);
    local::cold().forget_kernel_id();
    breakpoints::end_of_process_image();
    failure::forget();
    path::TEXT.free_after_fork();
    words::WORDS.free_after_fork();
    let (was_on, parent_stamp) = (recorder().is_on(), recorder().last_stamp());
    recorder().detach();
    let Some(thread) = local::thread_that_may_ignore().filter(|_| was_on) else { return };
    thread::forget_others(thread);
    thread.stream.reset();
    let Some(options) = options_in_force() else { return };
    match open_file(&options) {
        Ok(()) => begin_again(thread, parent, parent_stamp),
        Err(errno) => {
            super::leave_failure(b"the recording of the child of a fork cannot be created", errno)
        }
    }
}

fn begin_again(thread: &'static Thread, parent: u32, parent_stamp: u32) {
    recorder().set(file_field::THREADS, thread::threads_so_far() as u64);
    sync::record_for(thread, Kind::Forked, 0, parent as u64, 0, &[parent_stamp as u64]);
    threads::tell_kernel_thread(thread);
    tell_facts(thread);
    modules::tell_again(thread);
}
