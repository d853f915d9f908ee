//! Signals that reach Unpick while a program runs: they are meant for the program.
//!
//! Takes   the process ids of running programs.      Gives  their signals to them.
//!
//! What the terminal sends (Ctrl-C, Ctrl-\, hang-up) goes to the whole foreground group, so the program has
//! it already: Unpick only must not die before it. What somebody sends to Unpick alone (`kill`, a job
//! scheduler) is passed on. A signal that Unpick was started to ignore stays ignored, for both.

use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};

const PASSED_ON: [i32; 6] =
    [libc::SIGINT, libc::SIGQUIT, libc::SIGTERM, libc::SIGHUP, libc::SIGUSR1, libc::SIGUSR2];
const NOBODY: i32 = 0;
const MOST_PROGRAMS: usize = 256;

/// The programs that run now.
static RUNNING: [AtomicI32; MOST_PROGRAMS] = [const { AtomicI32::new(NOBODY) }; MOST_PROGRAMS];
/// A signal that came before there was a program to pass it to.
static EARLY: AtomicI32 = AtomicI32::new(0);
/// How many `Forwarding`s there are, and what the signals did before the first.
static BEFORE: Mutex<(usize, Vec<(i32, libc::sigaction)>)> = Mutex::new((0, Vec::new()));

/// While one exists, signals do not end this process.
#[derive(Debug)]
pub struct Forwarding;

impl Forwarding {
    pub fn begin() -> Forwarding {
        let mut before = state();
        before.0 += 1;
        if before.0 == 1 {
            EARLY.store(0, SeqCst);
            before.1 = PASSED_ON.into_iter().filter_map(take_over).collect();
        }
        Forwarding
    }

    /// From now on signals go to this process, until the answer is dropped.
    pub fn pass_to(&self, process: u32) -> Receiver {
        let process = i32::try_from(process).unwrap_or(NOBODY);
        let slot = RUNNING
            .iter()
            .position(|slot| slot.compare_exchange(NOBODY, process, SeqCst, SeqCst).is_ok());
        let early = EARLY.swap(0, SeqCst);
        if early != 0 {
            send(process, early);
        }
        Receiver { slot }
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        let mut before = state();
        before.0 -= 1;
        if before.0 == 0 {
            before.1.drain(..).for_each(|(signal, action)| restore(signal, &action));
        }
    }
}

/// A process that gets our signals. Drop it before the process is reaped: its number may then be another's.
#[derive(Debug)]
pub struct Receiver {
    slot: Option<usize>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            RUNNING[slot].store(NOBODY, SeqCst);
        }
    }
}

fn state() -> MutexGuard<'static, (usize, Vec<(i32, libc::sigaction)>)> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs our handler for `signal` and gives what was there, unless it was ignored.
fn take_over(signal: i32) -> Option<(i32, libc::sigaction)> {
    // SAFETY: `sigaction` is plain data, for which all zeros is a value; both pointers are to live locals,
    // and null means "do not change". The handler only does what a signal handler may (see `on_signal`).
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        if libc::sigaction(signal, ptr::null(), &mut before) != 0
            || before.sa_sigaction == libc::SIG_IGN
        {
            return None;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = on_signal as *const () as usize;
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
        (libc::sigaction(signal, &ours, ptr::null_mut()) == 0).then_some((signal, before))
    }
}

fn restore(signal: i32, before: &libc::sigaction) {
    // SAFETY: `before` is what `sigaction` itself gave for this signal.
    unsafe { libc::sigaction(signal, before, ptr::null_mut()) };
}

/// Passes a signal on. Runs as a signal handler: only atomics and `kill`, both allowed there.
extern "C" fn on_signal(signal: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel gives a valid pointer to a handler installed with SA_SIGINFO.
    let from_kernel = unsafe { (*info).si_code } > 0;
    if from_kernel {
        return;
    }
    let mut nobody_there = true;
    for slot in &RUNNING {
        let process = slot.load(SeqCst);
        if process != NOBODY {
            nobody_there = false;
            send(process, signal);
        }
    }
    if nobody_there {
        EARLY.store(signal, SeqCst);
    }
}

/// From now on a file that would grow beyond the limit of the process is an error of who writes, and no longer Unpick's
/// silent end. By a handler: the programs it starts have the signal's usual effect, or ignore it if Unpick was started so.
pub fn survive_file_size_limit() {
    set_handler(libc::SIGXFSZ, on_file_size_limit, libc::SA_RESTART);
}

extern "C" fn on_file_size_limit(_: i32) {}

static STOP: AtomicBool = AtomicBool::new(false);

/// From now on the first Ctrl-C (or hang-up, or `kill`) only asks to stop; the next one ends Unpick as always.
/// Gives what is set then.
pub fn stop_on_signals() -> &'static AtomicBool {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        set_handler(signal, on_stop, libc::SA_RESTART | libc::SA_RESETHAND);
    }
    &STOP
}

extern "C" fn on_stop(_: i32) {
    STOP.store(true, SeqCst);
}

/// Has `handler` run for a signal, unless that is ignored. It may only do what a signal handler may.
fn set_handler(signal: i32, handler: extern "C" fn(i32), flags: i32) {
    // SAFETY: `sigaction` is plain data, for which all zeros is a value; the pointers are to live locals or null.
    // Both handlers there are do nothing but store to an atomic, which a handler may.
    unsafe {
        let mut before: libc::sigaction = std::mem::zeroed();
        let asked = libc::sigaction(signal, ptr::null(), &mut before);
        if asked != 0 || before.sa_sigaction == libc::SIG_IGN {
            return;
        }
        let mut ours: libc::sigaction = std::mem::zeroed();
        ours.sa_sigaction = handler as *const () as usize;
        ours.sa_flags = flags;
        libc::sigaction(signal, &ours, ptr::null_mut());
    }
}

fn send(process: i32, signal: i32) {
    // SAFETY: `kill` takes numbers only. `process` is a child not yet reaped, so the number is still its own.
    unsafe { libc::kill(process, signal) };
}
