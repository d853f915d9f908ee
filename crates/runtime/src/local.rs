//! What belongs to the running thread, in thread-local storage that needs no call to find.

use core::arch::{asm, global_asm};
use core::cell::Cell;

use crate::thread::{Hot, PASS_OFFSETS, Pass, Thread};

global_asm!(
    ".section .tbss.unpick_hot,\"awT\",@nobits",
    ".p2align 6",
    ".globl unpick_hot",
    ".hidden unpick_hot",
    ".type unpick_hot,@object",
    ".size unpick_hot,64",
    "unpick_hot:",
    ".zero 64",
    ".section .tbss.unpick_cold,\"awT\",@nobits",
    ".p2align 6",
    ".globl unpick_cold",
    ".hidden unpick_cold",
    ".type unpick_cold,@object",
    ".size unpick_cold,128",
    "unpick_cold:",
    ".zero 128",
    ".text",
);

/// How far the running thread has come, as the recorder sees it. A thread that has ended is never begun again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Nobody told us of this thread.
    Unknown,
    /// It is known, or just being made known.
    Known,
    Ended,
}

/// What intercepts need of the running thread. All zero at first, and so is every field's meaning of zero: nothing.
#[repr(C, align(64))]
pub struct Cold {
    stage: Cell<u32>,
    /// How often the thread's key destructor has run.
    pub destructor_rounds: Cell<u32>,
    kernel_id: Cell<u32>,
    /// How many requests to ignore the thread's accesses are open.
    pub ignoring: Cell<u32>,
    /// The thread while its accesses are ignored, and its `Hot::key`.
    ignored: Cell<*const Thread>,
    ignored_key: Cell<u32>,
    /// The initialiser that a once may be about to run.
    pub once: Cell<Once>,
    /// The condition wait that is under way; `condition` is 0 if none.
    pub wait: Cell<ConditionWait>,
    /// Where the child of a `clone` goes on.
    pub clone: Cell<Cloned>,
}

const _: () = assert!(size_of::<Cold>() == 128);

/// The call of `pthread_once` or the like that is under way.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Once {
    pub routine: u64,
    pub control: u64,
    pub site: u64,
}

#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct ConditionWait {
    pub condition: u64,
    pub mutex: u64,
    pub site: u64,
}

/// A function and its argument, for the child of a `clone`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Cloned {
    pub function: u64,
    pub argument: u64,
}

impl Cold {
    pub fn stage(&self) -> Stage {
        match self.stage.get() {
            0 => Stage::Unknown,
            1 => Stage::Known,
            _ => Stage::Ended,
        }
    }

    pub fn set_stage(&self, stage: Stage) {
        self.stage.set(stage as u32);
    }

    /// The kernel's number of the thread.
    pub fn kernel_id(&self) -> u32 {
        if self.kernel_id.get() == 0 {
            self.kernel_id.set(crate::sys::thread_number());
        }
        self.kernel_id.get()
    }

    /// In the child after a fork the thread has another number.
    pub fn forget_kernel_id(&self) {
        self.kernel_id.set(0);
    }
}

/// The running thread's hot fields.
#[inline(always)]
pub fn hot() -> &'static Hot {
    let hot: *const Hot;
    // SAFETY: `unpick_hot` is 64 zeroed bytes of static thread-local storage, which is a valid `Hot` (see
    // `Hot::new`), and lives as long as the thread that asks. The reference never leaves that thread.
    unsafe {
        asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + unpick_hot@GOTTPOFF]",
            out(reg) hot,
            options(pure, readonly, nostack),
        );
        &*hot
    }
}

/// The running thread's other fields.
#[inline]
pub fn cold() -> &'static Cold {
    let cold: *const Cold;
    // SAFETY: as in `hot`: 128 zeroed bytes, which are a valid `Cold`.
    unsafe {
        asm!(
            "mov {0}, qword ptr fs:[0]",
            "add {0}, qword ptr [rip + unpick_cold@GOTTPOFF]",
            out(reg) cold,
            options(pure, readonly, nostack),
        );
        &*cold
    }
}

/// The running thread, if it is known and its accesses are wanted.
#[inline(always)]
pub fn thread() -> Option<&'static Thread> {
    // SAFETY: set by `Thread::run_on` to a struct that is never unmapped.
    unsafe { hot().thread.get().as_ref() }
}

/// The running thread, also while its accesses are ignored.
#[inline]
pub fn thread_that_may_ignore() -> Option<&'static Thread> {
    thread().or_else(ignoring_thread)
}

fn ignoring_thread() -> Option<&'static Thread> {
    // SAFETY: set by `ignore_accesses` to a struct that is never unmapped.
    unsafe { cold().ignored.get().as_ref() }
}

/// Until `heed_accesses`, hooks find no thread to work for; synchronisation is still recorded.
pub fn ignore_accesses() {
    let (hot, cold) = (hot(), cold());
    if let Some(thread) = thread() {
        cold.ignored.set(thread);
        cold.ignored_key.set(hot.key.get());
        hot.key.set(0);
        hot.thread.set(core::ptr::null());
    }
}

pub fn heed_accesses() {
    let cold = cold();
    if let Some(thread) = ignoring_thread() {
        cold.ignored.set(core::ptr::null());
        let hot = hot();
        hot.key.set(cold.ignored_key.get());
        hot.thread.set(thread);
    }
}

/// What lets the running thread's accesses pass in silence: two loads, which need not wait for a pointer.
#[inline(always)]
pub fn pass() -> Pass {
    let (key_and_kept, time): (u64, u32);
    // SAFETY: reads three fields of the `Hot` in this thread's storage, at the offsets the type has.
    unsafe {
        asm!(
            "mov {offset}, qword ptr [rip + unpick_hot@GOTTPOFF]",
            "mov {both}, qword ptr fs:[{offset} + {key}]",
            "mov {time:e}, dword ptr fs:[{offset} + {when}]",
            offset = out(reg) _,
            both = out(reg) key_and_kept,
            time = out(reg) time,
            key = const PASS_OFFSETS.0,
            when = const PASS_OFFSETS.1,
            options(pure, readonly, nostack),
        );
    }
    Pass { key: key_and_kept as u32, kept: (key_and_kept >> 32) as u32, time }
}
