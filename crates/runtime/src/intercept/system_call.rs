//! `syscall`: the futexes of programs that build their own locks (Rust's standard library among them), and the few
//! other calls that matter to a recording.
//!
//! Every other number jumps straight to the real function, which finds registers and stack as its caller left them.
//! So does a `clone` that makes a thread: its child would return onto another stack than it was called from.

use libc::{c_int, c_long};
use unpick_events::Kind;

use super::process::forking;
use super::real_address;
use crate::start::process;
use crate::sync;

real_address! { pub syscall }

/// The seven arguments of `syscall`: a number and six words.
type Syscall = unsafe extern "C" fn(c_long, u64, u64, u64, u64, u64, u64) -> c_long;

/// The exported `syscall`. The real one has no frame of ours above it unless the number matters to us.
///
/// # Safety
/// As for the C library's `syscall`.
#[cfg_attr(not(feature = "static-target"), unsafe(export_name = "syscall"))]
#[cfg_attr(feature = "static-target", unsafe(export_name = "__wrap_syscall"))]
#[unsafe(naked)]
pub unsafe extern "C" fn intercept() {
    core::arch::naked_asm!(
        super::weakened!(syscall),
        ".cfi_startproc",
        "cmp rdi, {futex}",
        "je 2f",
        // All but the futex are rare, so that a call to find out costs nothing that matters.
        "push rdi",
        ".cfi_def_cfa_offset 16",
        "push rsi",
        ".cfi_def_cfa_offset 24",
        "push rdx",
        ".cfi_def_cfa_offset 32",
        "push rcx",
        ".cfi_def_cfa_offset 40",
        "push r8",
        ".cfi_def_cfa_offset 48",
        "push r9",
        ".cfi_def_cfa_offset 56",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 64",
        "mov rcx, qword ptr [rsp + 56]",
        "call {sort_out}",
        "add rsp, 8",
        ".cfi_def_cfa_offset 56",
        "pop r9",
        ".cfi_def_cfa_offset 48",
        "pop r8",
        ".cfi_def_cfa_offset 40",
        "pop rcx",
        ".cfi_def_cfa_offset 32",
        "pop rdx",
        ".cfi_def_cfa_offset 24",
        "pop rsi",
        ".cfi_def_cfa_offset 16",
        "pop rdi",
        ".cfi_def_cfa_offset 8",
        "test rax, rax",
        "jz 2f",
        "jmp rax",
        // The seventh argument and the call site go to the stack of `made_by_us`.
        "2:",
        "mov rax, qword ptr [rsp]",
        "mov r10, qword ptr [rsp + 8]",
        "sub rsp, 8",
        ".cfi_def_cfa_offset 16",
        "push rax",
        ".cfi_def_cfa_offset 24",
        "push r10",
        ".cfi_def_cfa_offset 32",
        "call {made_by_us}",
        "add rsp, 24",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        futex = const libc::SYS_futex,
        sort_out = sym sort_out,
        made_by_us = sym made_by_us,
    )
}

/// Where a call shall go on: at the real function, or, if this is 0, at `made_by_us`.
extern "C" fn sort_out(number: c_long, first: u64, second: u64, site: u64) -> u64 {
    match number {
        libc::SYS_exit_group => process::leaves(first as c_int, site),
        libc::SYS_execve | libc::SYS_execveat => process::executes(site),
        _ if is_fork(number, first, second) => return 0,
        _ => {}
    }
    syscall() as u64
}

/// Whether the call makes a process with memory and a stack of its own, as `fork` does.
fn is_fork(number: c_long, first: u64, second: u64) -> bool {
    const SHARED_MEMORY: u64 = libc::CLONE_VM as u64;
    match number {
        libc::SYS_fork => true,
        libc::SYS_clone => first & SHARED_MEMORY == 0 && second == 0,
        libc::SYS_clone3 => {
            // SAFETY: the program passes a `struct clone_args`: flags come first, the stack is the sixth word.
            let (flags, stack) = unsafe { (*(first as *const u64), *(first as *const u64).add(5)) };
            flags & SHARED_MEMORY == 0 && stack == 0
        }
        _ => false,
    }
}

#[allow(clippy::too_many_arguments)]
extern "C" fn made_by_us(
    number: c_long,
    a: u64,
    b: u64,
    c: u64,
    d: u64,
    e: u64,
    f: u64,
    site: u64,
) -> c_long {
    let real = || {
        // SAFETY: the C library's function, with the program's own arguments.
        unsafe {
            let function: Syscall = core::mem::transmute(syscall());
            function(number, a, b, c, d, e, f)
        }
    };
    if number == libc::SYS_futex {
        futex(a, b as c_int, e, site, real)
    } else {
        forking(site, || real() as c_int) as c_long
    }
}

/// What a futex call does with its words.
enum Futex {
    Wait,
    Wake,
    /// Wakes here and moves the other waiters to a second word.
    Requeue,
    Other,
}

impl Futex {
    fn of(operation: c_int) -> Self {
        const MODIFIERS: c_int = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
        match operation & !MODIFIERS {
            libc::FUTEX_WAIT
            | libc::FUTEX_WAIT_BITSET
            | libc::FUTEX_LOCK_PI
            | libc::FUTEX_LOCK_PI2
            | libc::FUTEX_WAIT_REQUEUE_PI => Futex::Wait,
            libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET | libc::FUTEX_UNLOCK_PI => Futex::Wake,
            libc::FUTEX_REQUEUE
            | libc::FUTEX_CMP_REQUEUE
            | libc::FUTEX_CMP_REQUEUE_PI
            | libc::FUTEX_WAKE_OP => Futex::Requeue,
            _ => Futex::Other,
        }
    }
}

fn futex(
    word: u64,
    operation: c_int,
    second_word: u64,
    site: u64,
    real: impl FnOnce() -> c_long,
) -> c_long {
    match Futex::of(operation) {
        Futex::Wait => futex_wait(word, site, real),
        Futex::Wake => futex_wake(&[word], site, real),
        Futex::Requeue => futex_wake(&[word, second_word], site, real),
        Futex::Other => real(),
    }
}

/// `FutexWoken` is recorded only if the thread was woken, not for a value that had changed, a time-out or a signal.
fn futex_wait(word: u64, site: u64, real: impl FnOnce() -> c_long) -> c_long {
    sync::perturb();
    sync::record(Kind::FutexWait, 0, word, site as u32, &[]);
    let answer = real();
    if answer == 0 {
        sync::record(Kind::FutexWoken, 0, word, site as u32, &[]);
    }
    answer
}

fn futex_wake(words: &[u64], site: u64, real: impl FnOnce() -> c_long) -> c_long {
    for word in words {
        sync::record(Kind::FutexWake, 0, *word, site as u32, &[]);
    }
    let answer = real();
    sync::perturb();
    answer
}
