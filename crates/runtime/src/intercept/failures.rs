//! The program fails: `abort`, a failed assertion, a signal that kills.
//!
//! Signals that kill by default have a handler of ours while the program has none of its own: it gives the other threads a moment
//! (`failure`) and then lets the signal do what it would have done: same signal, same place, same information about it where the
//! kernel allows that, also in a core dump. The program does not see the handler: where it asks, the action is the default one, and
//! where it sets the default one again, ours stays. Whatever else it sets takes our place.
//!
//! Misses  a program that asks the kernel directly, and `signal` and its kin, after which ours is gone. A process whose stack has no
//!         room for the handler dies at once, as it would have.

use core::sync::atomic::{AtomicBool, Ordering::*};
use libc::{c_int, c_void, sighandler_t};

use super::{intercepts, notices};
use crate::failure;
use crate::sys;

notices! {
    fn abort => failing;
    fn __assert_fail => failing;
    fn __assert_perror_fail => failing;
}

fn failing(_site: u64, _arguments: &mut [u64; 6]) {
    failure::begins();
}

intercepts! {
    "rcx": fn sigaction(signal: c_int, new: *const libc::sigaction, old: *mut libc::sigaction) -> c_int => change_action;
    "rdx": fn signal(signal: c_int, handler: sighandler_t) -> sighandler_t => signal_bsd;
    "rdx": fn bsd_signal(signal: c_int, handler: sighandler_t) -> sighandler_t => signal_old_bsd;
    "rdx": fn ssignal(signal: c_int, handler: sighandler_t) -> sighandler_t => signal_other;
    "rdx": fn sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t => signal_sysv;
    "rdx": fn __sysv_signal(signal: c_int, handler: sighandler_t) -> sighandler_t => signal_own_sysv;
    "rdx": fn sigset(signal: c_int, handler: sighandler_t) -> sighandler_t => signal_set;
}

/// Signals that an instruction of the failing thread causes, and that of `abort`.
const FATAL: [c_int; 5] = [libc::SIGSEGV, libc::SIGBUS, libc::SIGFPE, libc::SIGILL, libc::SIGABRT];

/// Whether there are handlers of ours.
static ON: AtomicBool = AtomicBool::new(false);

/// Puts our handlers where the action is the default one.
pub fn begin() {
    for signal in FATAL {
        if sys::signal_action(signal).is_ok_and(|action| action.handler == libc::SIG_DFL) {
            let _ = sys::set_signal_action(signal, &own_action());
        }
    }
    ON.store(true, Release);
}

fn own_action() -> sys::SignalAction {
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
    sys::SignalAction::new(dies as *const () as usize, flags as u64, !0)
}

/// The process dies by this signal as soon as the handler has returned: it is pending again, and its action the default one.
extern "C" fn dies(signal: c_int, information: *const c_void, _context: *const c_void) {
    failure::last_moment();
    let _ = sys::set_signal_action(signal, &sys::SignalAction::new(libc::SIG_DFL, 0, 0));
    sys::send_to_this_thread(signal, information);
}

fn is_watched(signal: c_int) -> bool {
    ON.load(Relaxed) && FATAL.contains(&signal)
}

extern "C" fn change_action(
    signal: c_int,
    new: *const libc::sigaction,
    old: *mut libc::sigaction,
    _site: u64,
) -> c_int {
    // SAFETY: the program passes null or an action, which the real function reads too.
    let asks_for_default =
        unsafe { new.as_ref() }.is_some_and(|new| new.sa_sigaction == libc::SIG_DFL);
    // SAFETY: the real function gets the program's own arguments.
    let answer = unsafe { real::sigaction(signal, new, old) };
    if answer != 0 || !is_watched(signal) {
        return answer;
    }
    if asks_for_default {
        let _ = sys::set_signal_action(signal, &own_action());
    }
    // SAFETY: null or an action that was just written.
    if let Some(old) = unsafe { old.as_mut() }.filter(|old| is_own(old.sa_sigaction)) {
        old.sa_sigaction = libc::SIG_DFL;
        old.sa_flags = 0;
        // SAFETY: a set of signals is an array of words; the kernel's part is the first of them.
        unsafe { (&raw mut old.sa_mask).cast::<u64>().write(0) };
    }
    answer
}

fn is_own(handler: sighandler_t) -> bool {
    handler == dies as *const () as usize
}

/// What the program gets to know of the action before.
fn seen(before: sighandler_t) -> sighandler_t {
    if is_own(before) { libc::SIG_DFL } else { before }
}

/// Functions that set a handler and return the one before.
macro_rules! setting {
    ($($target:ident = $name:ident;)*) => {$(
        extern "C" fn $target(signal: c_int, handler: sighandler_t, _site: u64) -> sighandler_t {
            // SAFETY: the real function gets the program's own arguments.
            seen(unsafe { real::$name(signal, handler) })
        }
    )*};
}

setting! {
    signal_bsd = signal;
    signal_old_bsd = bsd_signal;
    signal_other = ssignal;
    signal_sysv = sysv_signal;
    signal_own_sysv = __sysv_signal;
    signal_set = sigset;
}
