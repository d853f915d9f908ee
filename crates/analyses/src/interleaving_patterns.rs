//! Interleaving patterns: the 17 orders of accesses by two threads that order and atomicity violations are made of.
//!
//! Takes   the recordings of one run, and what is known about them beyond (`Knowledge`).
//! Gives   `RunPatterns`: every pattern of the run once, with how often it occurred, the windows it needed
//!         and one example (the occurrence that was complete first), in a form that can be stored.
//! Misses  what the access window does not keep (`access_pairs`); two pairs more than the pair window apart; deadlocks (`hang`);
//!         patterns over more than two threads or two variables, or over two processes.
//! Invents patterns that hurt nobody: most of them. Ranking tells them apart.
//!         Accesses of one thread whose order the recording does not know count as if they were in the order
//!         the first of the possible patterns needs.
//! Cost    per pair at most `pair_window` short steps; memory for the pairs of one process and for the patterns.
//!
//! Method: UNICORN (all pairs, combined afterwards) or Falcon (P4 to P8, else P1 to P3, as accesses leave the
//! window), as their papers define them. Settled where they are silent:
//! - Two pairs are combined if they stand at most `pair_window` places apart in the list, up to the end of the list.
//! - Two pairs are on one variable if they share a location, else on two.
//! - Unless by the window only: a pair whose order starting and joining threads fixes is no interleaving, nor is the end of a block's
//!   life with a thread that touches nothing any more (`fixed`).
//! - Falcon's pair is the oldest access with the nearest one in the window that conflicts with it.

mod blocks;
mod catalogue;
mod collect;
mod combine;
mod earlier_encoding;
mod encoding;
mod example_access;
mod falcon;
mod fixed;
mod found;
mod modules;
mod possible;
mod result;
mod slices;
mod visits;

pub(crate) use blocks::Blocks;
pub use catalogue::{AccessKind, Arrangement, Class, PatternId, Step, Variable, of_two_pairs};
pub use collect::Collector;
pub(crate) use example_access::touch_of;
pub use modules::{code_module, module_at};
pub use result::{
    Access, Block, CodeModule, CodeSite, FoundPattern, HiddenPair, Holding, Lock, Memory,
    RunPatterns, Touch,
};
pub(crate) use slices::slices;

use serde::{Deserialize, Serialize};

/// Which accesses are put together to patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
pub enum Mode {
    /// All pairs, and all patterns two pairs make.
    #[default]
    Unicorn,
    /// P4 to P8; where an access begins none of them, P1 to P3.
    Falcon,
}

/// How a run is looked at. Results of different options cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Options {
    pub mode: Mode,
    /// Accesses per location that are looked at together.
    pub access_window: u32,
    /// Places in the list of pairs that two pairs may be apart.
    pub pair_window: u32,
    /// What counts beside the window (UNICORN mode only).
    pub rows: Rows,
}

/// Which accesses of a row count that the window may not keep.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, Default,
)]
pub enum Rows {
    /// None, and only patterns of the papers, P1 to P17.
    ByWindow,
    /// Also P4 to P8 by the accesses at the very place where a row was torn.
    Torn,
    /// Also pairs at the edge between two rows, and P18 to P32.
    #[default]
    WithEdges,
}

impl Options {
    /// As the papers define it: what the access window shows, and nothing else.
    pub fn by_window_only() -> Options {
        Options { rows: Rows::ByWindow, ..Options::default() }
    }
}

impl Default for Options {
    fn default() -> Self {
        Options { mode: Mode::Unicorn, access_window: 5, pair_window: 100, rows: Rows::default() }
    }
}
