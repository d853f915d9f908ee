//! Names for what analyses and findings know as numbers: joins them with `unpick-symbols`.
//!
//! Takes   modules, sites, stacks and heap blocks as examples of findings keep them; a recording, while it is there.
//! Gives   `findings::Names` (places, variables, locks in words) and `analyses::Knowledge` (full addresses of sites,
//!         steps of Rust's locks).
//!         For other machines a `NameTable`: all names of some runs as data, and answers from it (`StoredNames`).
//! Misses  what `unpick-symbols` misses; locks on stacks have no name.
//! Cost    a program's files are read once, however many runs of it there are; one question at a time.
//!
//! No recording is needed for names: they are asked for when all runs are over, and recordings may be gone by then.
#![forbid(unsafe_code)]

mod code_names;
mod known_recording;
mod lock_names;
mod lock_steps;
mod name_table;
mod program_names;
mod stored_names;
mod table_builder;

pub use code_names::CodeNames;
pub use known_recording::KnownRecording;
pub use lock_names::{bytes_of_lock, without_inner_members};
pub use lock_steps::is_step;
pub use name_table::{KeptLines, NameTable, NotNames};
pub use program_names::ProgramNames;
pub use stored_names::StoredNames;
pub use table_builder::TableBuilder;
pub use unpick_symbols::{Belonging, NamedMember};
