//! The folder that holds runs: `.unpick/runs/NNNN`.
//!
//! Takes   the path of a store, finished runs, their condensed results (`RunPatterns`, `RunGraphs`).
//! Gives   a folder for a new run; earlier runs by number, by hunt, with label and patterns; a hunt as one file, and back;
//!         what has to go when there is too much.
//! Misses  an index: runs are listed by reading every `run.json`.
//! Must not know  how a program is run, or what a pattern means.
#![forbid(unsafe_code)]

mod archive;
mod builds;
mod graphs;
mod hunts;
mod in_use;
mod kept;
mod marked;
mod patterns;
mod retention;
mod store;
mod stored_run;

pub use archive::{Manifest, Packer, Piece, PrivatePaths, Unpacked, unpack};
pub use builds::Builds;
pub use graphs::{GRAPHS_FILE, read_graphs, write_graphs};
pub use hunts::StoredHunt;
pub use in_use::Alone;
pub use kept::{Keep, drop_recordings};
pub use patterns::{PATTERNS_FILE, read_patterns, write_patterns};
pub use retention::{Batch, Limits, Removal, Share, plan};
pub use store::{Store, run_number};
pub use stored_run::{HANG_FILE, StoredRun};
