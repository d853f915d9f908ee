//! Signals that come to a new thread before it is known.
//!
//! A handler that ran then would make the thread known by what it does, as one that nobody created, and once more under
//! the number its creation has. So signals are held back from the creator while it creates, which the new thread
//! inherits, and let through as soon as the call is over, and as soon as the new thread is known. They stay pending meanwhile.
//! Each lets through what was held back for this, and nothing else: in the end both have the masks they would have had.
//!
//! Misses  signals of `NEVER_HELD_BACK` that somebody sends to a thread this early, and threads whose attributes carry a
//!         mask of their own: what that lets through may still come too early. Who jumps out of a creation, from the handler of
//!         a fault, without putting the mask back that it had before, keeps signals held back.

use libc::c_int;

use crate::sys::{self, SignalSet};

/// What the creator of a thread holds back while it creates.
const HELD_BACK: SignalSet = !set_of(&NEVER_HELD_BACK);

/// Those that an instruction causes: held back, they would end the process although the program handles them. Those that
/// the kernel never holds back. That by which the C library changes the user: who does so waits until all threads have got
/// it, and holds a lock meanwhile that creation needs. And one that no program uses, so that no mask which a program chose
/// looks like ours.
const NEVER_HELD_BACK: [c_int; 10] = [
    libc::SIGSEGV,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGTRAP,
    libc::SIGSYS,
    libc::SIGKILL,
    libc::SIGSTOP,
    SET_USER,
    libc::SIGSTKFLT,
];

/// The C library's own signals: for cancellation, and for `setuid`.
const CANCEL: c_int = 32;
const SET_USER: c_int = 33;

const fn set_of(signals: &[c_int]) -> SignalSet {
    let mut set = 0;
    let mut rest = signals;
    while let [first, others @ ..] = rest {
        set |= 1 << (*first - 1);
        rest = others;
    }
    set
}

/// As the mask of a creator: nothing is held back that was not before.
const ALL: SignalSet = !0;

/// Holds signals back from the running thread, which is about to create another. Gives its mask for `let_through` and for
/// the new thread.
pub fn hold_back() -> SignalSet {
    sys::hold_back_signals(HELD_BACK).unwrap_or(ALL)
}

/// The running thread has created another, or failed to.
pub fn let_through(creator_mask: SignalSet) {
    let added = HELD_BACK & !creator_mask;
    if added != 0 {
        let _ = sys::let_signals_through(added);
    }
}

/// The running thread is new, and known from now on. If its mask is not the one it inherits, its attributes have chosen it.
pub fn let_through_to_new(creator_mask: SignalSet) {
    if sys::signals_held_back().is_ok_and(|mask| is_inherited(mask, creator_mask)) {
        let_through(creator_mask);
    }
}

/// The C library may have taken its own signals out.
fn is_inherited(mask: SignalSet, creator_mask: SignalSet) -> bool {
    let of_the_program = !set_of(&[CANCEL, SET_USER]);
    (mask ^ (creator_mask | HELD_BACK)) & of_the_program == 0
}
