//! The process forks, runs another program, or leaves without the C library's `exit`.
//!
//! `vfork` and `posix_spawn` need nothing: their child shares our memory until it runs another program, and
//! `start::process` knows that it is not the recorded process.

use libc::{c_int, pid_t};

use super::{intercepts, notices};
use crate::local::{self, Cloned};
use crate::start::process;

intercepts! {
    "rdi": fn fork() -> pid_t => fork;
    "rdi": fn _Fork() -> pid_t => fork_without_handlers;
}

notices! {
    fn _exit => leaving;
    fn _Exit => leaving;
    fn quick_exit => leaving;
    fn execve => executing;
    fn execv => executing;
    fn execvp => executing;
    fn execvpe => executing;
    fn execl => executing;
    fn execlp => executing;
    fn execle => executing;
    fn fexecve => executing;
    fn execveat => executing;
    fn clone => cloning;
}

extern "C" fn fork(site: u64) -> pid_t {
    // SAFETY: no arguments.
    forking(site, || unsafe { real::fork() })
}

extern "C" fn fork_without_handlers(site: u64) -> pid_t {
    // SAFETY: no arguments.
    forking(site, || unsafe { real::_Fork() })
}

/// Forks by `fork`. The child may know already that it is one, from the C library.
pub fn forking(site: u64, fork: impl FnOnce() -> pid_t) -> pid_t {
    let answer = fork();
    match answer {
        0 => process::is_perhaps_forked_child(),
        child if child > 0 => process::has_forked(child as u64, site),
        _ => {}
    }
    answer
}

/// `clone(function, stack, flags, argument, …)` without shared memory is a fork whose child goes on in `function`.
/// One with shared memory makes a thread that we get to know when it first does something.
fn cloning(_site: u64, arguments: &mut [u64; 6]) {
    let [function, _, flags, argument, ..] = *arguments;
    if flags & libc::CLONE_VM as u64 == 0 {
        local::cold().clone.set(Cloned { function, argument });
        arguments[0] = begin_clone as *const () as u64;
    }
}

/// What the child of a `clone` without shared memory runs; it has a copy of its parent's thread-local storage.
#[unsafe(naked)]
unsafe extern "C" fn begin_clone() {
    core::arch::naked_asm!(
        "push rax",
        "call {make_known}",
        "pop rcx",
        "mov rdi, rdx",
        "jmp rax",
        make_known = sym make_known,
    )
}

extern "C" fn make_known() -> Cloned {
    process::is_perhaps_forked_child();
    local::cold().clone.get()
}

fn leaving(site: u64, arguments: &mut [u64; 6]) {
    process::leaves(arguments[0] as c_int, site);
}

fn executing(site: u64, _arguments: &mut [u64; 6]) {
    process::executes(site);
}
