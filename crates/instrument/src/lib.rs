//! Compiler wrappers: which flags instrument a program, and how our runtime is linked into it.
//!
//! Takes  a compiler's command line.
//! Gives  the command line that makes the same files, instrumented and linked with our runtime.
//! Must not know how the runtime works, nor who runs the program afterwards.
#![forbid(unsafe_code)]

mod cache;
pub mod cargo;
pub mod cc;
mod embed;
mod noted_flags;

pub use embed::{RuntimeFiles, runtime_files};
pub use noted_flags::{NotedFlags, noted_flags};
