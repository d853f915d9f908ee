//! The vocabulary: ids, event kinds and how each is packed into 64-bit words; labels of runs.
//!
//! Takes   nothing: no I/O, no allocation, no_std, because the runtime inside the program under test uses it.
//! Gives   the one description of the bytes that `runtime` writes and `recording` reads. The prose version,
//!         byte by byte, is `crates/recording/FORMAT.md`.
#![no_std]
#![forbid(unsafe_code)]

pub mod access;
pub mod file;
pub mod header;
pub mod kind;
pub mod label;
pub mod live;
pub mod schedule;
pub mod short;

pub use access::{Address, Context, MemoryOrder, Past, Site, ThreadId};
pub use header::Header;
pub use kind::Kind;
pub use label::Label;
pub use short::{Short, Tiny};
