//! What is linked into the program under test. Ground rules: `RULES.md`.
#![no_std]

pub mod breakpoints;
pub mod frames;
pub mod heap;
pub mod perturb;
pub mod recorder;
pub mod shadow;
pub mod stack;
pub mod stream;
pub mod sys;
pub mod thread;

#[cfg(feature = "standalone")]
pub mod failure;
#[cfg(feature = "standalone")]
pub mod hooks;
#[cfg(feature = "standalone")]
pub mod intercept;
#[cfg(feature = "standalone")]
pub mod local;
#[cfg(feature = "standalone")]
pub mod real;
#[cfg(feature = "standalone")]
pub mod start;
#[cfg(feature = "standalone")]
pub mod sync;

#[cfg(feature = "standalone")]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    // Never a hang: a bug of ours ends the run, and the signal says where.
    // SAFETY: the instruction raises a signal and does not return.
    unsafe { core::arch::asm!("ud2", options(noreturn, nostack)) }
}
