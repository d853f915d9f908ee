//! A process of our own that outlives us by a moment: it ends the programs we have started if we are killed.
//!
//! Takes   the numbers of processes and groups that run.      Gives  SIGKILL to all of them when this process is gone, however it went.
//! Misses  processes that left the group of their run; a program that was started in the moment before we are killed, and not announced yet.
//! Cost    one fork for all runs, two writes to a pipe for each.
//!
//! Not by `PR_SET_PDEATHSIG`: that reaches the first process of a run only, and needs a `fork` of all our memory for each run where
//! the standard library gets by with `posix_spawn`.

use std::io::{self, PipeWriter, Write};
use std::os::fd::{AsRawFd, RawFd};
use std::sync::OnceLock;

const MAX_GUARDED: usize = 256;
const MESSAGE_BYTES: usize = 8;
const BEGINS: i32 = 1;
const ENDS: i32 = 0;

/// None: there is none, and programs may survive us.
static GUARDIAN: OnceLock<Option<PipeWriter>> = OnceLock::new();

/// Something that does not outlive us. Drop it before its first process is reaped: the number may then be another's.
#[derive(Debug)]
pub struct Guarded {
    /// As `kill` takes it: negative for a group.
    target: i32,
}

/// Starts the guardian before the first program: if we are killed while it is made, that program survives us.
pub fn prepare() {
    GUARDIAN.get_or_init(start);
}

impl Guarded {
    pub fn group(leader: u32) -> Guarded {
        Self::begin(-(leader as i32))
    }

    pub fn process(process: u32) -> Guarded {
        Self::begin(process as i32)
    }

    fn begin(target: i32) -> Guarded {
        tell(BEGINS, target);
        Guarded { target }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        tell(ENDS, self.target);
    }
}

fn tell(what: i32, target: i32) {
    let mut message = [0; MESSAGE_BYTES];
    message[..4].copy_from_slice(&what.to_ne_bytes());
    message[4..].copy_from_slice(&target.to_ne_bytes());
    if let Some(mut guardian) = GUARDIAN.get_or_init(start).as_ref() {
        // Somebody has ended the guardian: all goes on without it.
        let _ = guardian.write_all(&message);
    }
}

/// Starts the guardian. It ends when we do, because nobody else holds the other end of its pipe.
fn start() -> Option<PipeWriter> {
    let (from, to) = io::pipe().ok()?;
    // SAFETY: the child calls nothing but system calls and never returns, so it needs no lock or memory that another thread of
    // ours may have been using when it was made.
    match unsafe { libc::fork() } {
        // SAFETY: this is the process that was just forked.
        0 => unsafe { guard(from.as_raw_fd()) },
        -1 => None,
        _ => Some(to),
    }
}

/// The life of the guardian.
///
/// # Safety
/// Only for a process that was just forked: it closes all files and ends the process.
unsafe fn guard(from: RawFd) -> ! {
    let mut guarded = [0; MAX_GUARDED];
    // SAFETY: system calls on numbers, on a static string and on a live local array of the length that is given. Our signals
    // are not for it: it leaves our group. It keeps no file open but the pipe, so that nobody waits for it.
    unsafe {
        libc::setsid();
        libc::prctl(libc::PR_SET_NAME, c"unpick-guardian".as_ptr());
        libc::dup2(from, 0);
        libc::syscall(libc::SYS_close_range, 1, libc::c_uint::MAX, 0);
        let mut message = [0_u8; MESSAGE_BYTES];
        while read_message(&mut message) {
            note(&mut guarded, &message);
        }
        for target in guarded.into_iter().filter(|target| *target != 0) {
            libc::kill(target, libc::SIGKILL);
        }
        libc::_exit(0)
    }
}

/// False: nobody can write any more.
fn read_message(message: &mut [u8; MESSAGE_BYTES]) -> bool {
    loop {
        // SAFETY: the pointer is to a live array, of which the length is given. Messages are shorter than what a pipe takes at once,
        // so one is read whole or not at all.
        let count = unsafe { libc::read(0, message.as_mut_ptr().cast(), MESSAGE_BYTES) };
        // SAFETY: gives the address of this thread's own `errno`.
        let interrupted = count < 0 && unsafe { *libc::__errno_location() } == libc::EINTR;
        if !interrupted {
            return count == MESSAGE_BYTES as isize;
        }
    }
}

fn note(guarded: &mut [i32; MAX_GUARDED], message: &[u8; MESSAGE_BYTES]) {
    let [a, b, c, d, e, f, g, h] = *message;
    let (what, target) = (i32::from_ne_bytes([a, b, c, d]), i32::from_ne_bytes([e, f, g, h]));
    let (wanted, new) = if what == BEGINS { (0, target) } else { (target, 0) };
    if let Some(slot) = guarded.iter_mut().find(|slot| **slot == wanted) {
        *slot = new;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(what: i32, target: i32) -> [u8; MESSAGE_BYTES] {
        let mut message = [0; MESSAGE_BYTES];
        message[..4].copy_from_slice(&what.to_ne_bytes());
        message[4..].copy_from_slice(&target.to_ne_bytes());
        message
    }

    #[test]
    fn what_has_ended_is_guarded_no_longer() {
        let mut guarded = [0; MAX_GUARDED];
        for target in [-7, 8, -9] {
            note(&mut guarded, &message(BEGINS, target));
        }
        note(&mut guarded, &message(ENDS, 8));
        note(&mut guarded, &message(BEGINS, -10));
        assert_eq!(guarded[..4], [-7, -10, -9, 0]);
        note(&mut guarded, &message(ENDS, 99));
        assert_eq!(guarded[..4], [-7, -10, -9, 0]);
    }
}
