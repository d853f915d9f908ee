//! What another process may read of a living one: the call stack of each of its threads.
//!
//! `KernelThread` events tell where in the memory of the process a pointer lies. It points just after the innermost of
//! the thread's frames, which lie one after the other, the outermost first, below them one with the stack pointer `BOTTOM`.
//!
//! ```text
//! byte 0         8           12       16
//!      +---------+-----------+--------+
//!      |  stack  | call site |  own   |      call site: low 32 bits of the return address
//!      | pointer |           |        |
//!      +---------+-----------+--------+
//! ```
//!
//! The stack pointer is that at the function's entry hook. Compiled code keeps it still, so the word there is the return
//! address of the call that the function makes now or made last.

/// Bytes of one frame.
pub const FRAME_BYTES: usize = 16;
pub const STACK_POINTER_AT: usize = 0;
pub const CALL_SITE_AT: usize = 8;
/// Stack pointer of what lies below the outermost frame.
pub const BOTTOM: u64 = u64::MAX;
/// A thread has no more frames than this.
pub const MOST_FRAMES: usize = 1 << 15;
/// A context spells out at most this many innermost calls.
pub const MAX_SPELLED: usize = 64;
