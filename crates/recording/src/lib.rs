//! Recordings on disk: what the runtime wrote, given back as typed events.
//!
//! Takes   an event file (`FORMAT.md` says byte by byte what is in it), or a run folder of such files.
//! Gives   the events of each thread, all events in the order they happened, the history of every
//!         location, and the facts, modules, stacks and threads of the process.
//! Misses  what the runtime did not write: `Recording::incompleteness` says so in plain sentences.
//! Cost    memory for the bytes that hold events; opening walks them once, merging needs memory per thread.
//!
//! Nothing in a file is trusted: a damaged one gives what is readable and says what is not, a foreign
//! one is a `Problem`; neither makes the reader panic, hang or grow beyond the size of the file.
#![forbid(unsafe_code)]

mod action;
mod cancellation;
mod catalogue;
mod chunk;
mod damage;
mod decode;
mod event;
mod expand;
mod file_header;
mod frame_ends;
pub mod history;
mod incompleteness;
mod merge;
mod placement;
mod recording;
mod run;
mod source;
mod stream;
mod walk_limit;
pub mod writer;

pub use action::{AccessFlags, AccessKind, Action, CallSites, LockFlags, LockKind, Pasts, Text};
pub use cancellation::{Cancellation, Cancelled};
pub use catalogue::{KernelThread, Module, Stacks, Thread};
pub use event::{Event, Order};
pub use file_header::FileHeader;
pub use frame_ends::FrameEnds;
pub use history::{Access, Histories, Life, Location};
pub use merge::Merged;
pub use placement::ThreadStamps;
pub use recording::Recording;
pub use run::{JudgedBy, Outcome, RUN_FILE, Run, RunInfo, RunOptions, event_files, is_event_file};
pub use stream::Stream;
pub use unpick_events as events;
pub use walk_limit::WalkLimit;
