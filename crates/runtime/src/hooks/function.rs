//! Function entry and exit: the call stack of each thread.

use crate::frames;
use crate::local;
use crate::stack;
use unpick_events::live::BOTTOM;

extern "C" fn enter(call_site: u64, stack_pointer: u64) {
    frames::enter(local::hot(), call_site, stack_pointer);
}

extern "C" fn leave(stack_pointer: u64) {
    let live = frames::leave(local::hot(), stack_pointer);
    if let Some(thread) = local::thread()
        && thread.lowest_shared() < live
    {
        let left = frames::left(local::hot(), stack_pointer);
        if live == BOTTOM {
            // Code that is not instrumented called it, and may have given away what is above.
            stack::outermost_gone(thread, left);
        } else {
            stack::frames_gone(thread, live, left);
        }
    }
}

/// A function was entered; its argument is the call site.
///
/// # Safety
/// Only for compiled code, as the compiler places it.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __tsan_func_entry() {
    core::arch::naked_asm!("mov rsi, rsp", "jmp {target}", target = sym enter)
}

/// A function is about to be left.
///
/// # Safety
/// Only for compiled code, as the compiler places it.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn __tsan_func_exit() {
    core::arch::naked_asm!("mov rdi, rsp", "jmp {target}", target = sym leave)
}
