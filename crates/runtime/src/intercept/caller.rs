//! Who called an intercept: the thread, if it is recorded, and the place in the program's own code.
//!
//! The return address of `malloc` often lies in a library: in `operator new`, in Rust's allocator, in `strdup`.
//! The user's line is where the innermost instrumented function called into that library. That function called
//! the entry hook too, with the same stack pointer, since compiled code keeps it still between prologue and
//! epilogue: so the slot where the hook's return address was now holds that of the call into the library.
//!
//! Misses  functions with variable-length arrays, and calls with arguments on the stack: the slot then holds something
//!         else. If that is no code address, the return address of the intercept itself is the answer.

use core::arch::asm;
use libc::c_void;
use unpick_events::Kind;
use unpick_events::kind::access_flags;

use crate::local;
use crate::shadow::{Access, range::touch_range};
use crate::start;
use crate::thread::Thread;

/// How far apart the code of two shared objects may be to be taken for code.
const NEAR: u64 = 1 << 28;

/// The running thread, if what it does is recorded. May be asked before there is thread-local storage.
#[inline(always)]
pub fn recorded_thread() -> Option<&'static Thread> {
    if start::recorder().is_on() { local::thread() } else { None }
}

/// The running thread, also while its accesses are ignored: memory begins and ends its lives all the same, or what was freed before
/// would seem to be used again.
#[inline(always)]
pub fn allocating_thread() -> Option<&'static Thread> {
    if start::recorder().is_on() { local::thread_that_may_ignore() } else { None }
}

/// A library call that touches the program's memory on its behalf.
pub struct Call {
    thread: &'static Thread,
    site: u32,
}

impl Call {
    /// The call that returns to `return_address`, if it is to be recorded.
    #[inline(always)]
    pub fn returning_to(return_address: u64) -> Option<Self> {
        recorded_thread().map(|thread| Self { thread, site: site(thread, return_address) })
    }

    pub fn site(&self) -> u32 {
        self.site
    }

    #[inline]
    pub fn reads(&self, address: *const c_void, bytes: usize) {
        self.touches(Kind::Read, address, bytes);
    }

    #[inline]
    pub fn writes(&self, address: *const c_void, bytes: usize) {
        self.touches(Kind::Write, address, bytes);
    }

    fn touches(&self, kind: Kind, address: *const c_void, bytes: usize) {
        let (address, bytes) = (address as u64, bytes as u64);
        let access = Access { kind, flags: access_flags::LIBRARY, address, bytes, site: self.site };
        touch_range(self.thread, &access);
    }
}

/// The site of an intercepted call that returns to `return_address`.
#[inline]
pub fn site(thread: &Thread, return_address: u64) -> u32 {
    let call = innermost_call(thread).filter(|call| is_code(*call, return_address));
    call.unwrap_or(return_address) as u32
}

/// Where the innermost instrumented function is: what lies in its slot for return addresses.
fn innermost_call(thread: &Thread) -> Option<u64> {
    let (low, high) = thread.stack.get();
    let here = stack_pointer();
    if here < low {
        return None;
    }
    let slot = innermost_frame(thread, here)?;
    if slot >= high {
        return None;
    }
    // SAFETY: between the stack pointer and the end of the stack everything is mapped; slots are aligned.
    Some(unsafe { (slot as *const u64).read_volatile() })
}

/// The stack pointer of the innermost frame that has not been left by a jump.
fn innermost_frame(thread: &Thread, here: u64) -> Option<u64> {
    let mut top = thread.hot().frames_top.get();
    if top.is_null() {
        return None;
    }
    // SAFETY: the bottom frame is below `frames_top` and has the highest possible stack pointer.
    unsafe {
        loop {
            top = top.sub(1);
            if (*top).stack_pointer >= here {
                return Some((*top).stack_pointer & !7);
            }
        }
    }
}

fn stack_pointer() -> u64 {
    let here;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) here, options(nomem, nostack, preserves_flags)) };
    here
}

fn is_code(address: u64, return_address: u64) -> bool {
    let (start, end) = program_text();
    (start..end).contains(&address) || address.abs_diff(return_address) < NEAR
}

/// The code of the executable; empty if the linker does not say.
fn program_text() -> (u64, u64) {
    let (start, end);
    // SAFETY: reads two addresses that the linker puts into the global offset table, zero if it has none to put.
    unsafe {
        asm!(
            ".weak __executable_start",
            ".weak etext",
            "mov {0}, qword ptr [rip + __executable_start@GOTPCREL]",
            "mov {1}, qword ptr [rip + etext@GOTPCREL]",
            out(reg) start,
            out(reg) end,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    (start, end)
}
