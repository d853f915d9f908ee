//! Access pairs: which accesses of different threads met at a location, close to each other.
//!
//! Takes   the location histories of one recording.
//! Gives   a `PairList`: pairs of accesses to one location by different threads, at least one of them a
//!         write, in the order of their first accesses. Each pair knows both accesses and their places in
//!         the order of everything.
//! Misses  pairs with `window` or more changes of thread between them, and what the access window does not
//!         keep: of accesses that one thread makes in a row, only the last write (the last read where there
//!         is no write) stands for all; but for those at the edge between two rows (`row_edges`), where rows are asked for.
//! Cost    one step per access, `window` steps per access kept; about 120 bytes per pair.
//!
//! Method: the access windows of Falcon (Park, Vuduc, Harrold 2010) and UNICORN (2012). What they call a pair on
//! each of several locations is one pair here if it is the same two accesses: a copy of a structure meets
//! another copy once, not once per field.

mod hidden;
mod pair_list;
mod row_edges;
mod torn_rows;
mod untorn_rows;
mod walk;
pub mod window;

pub use hidden::{HiddenPairs, SiteAccess};
pub use pair_list::{Pair, PairCollector, PairList};
pub use torn_rows::{Torn, TornRows};
pub use untorn_rows::{Untorn, UntornRows};
pub(crate) use walk::is_of_library;
#[cfg(test)]
pub(crate) use walk::place_of;
pub use walk::{AccessId, AccessTable, LivedBytes, LocationId, WindowWalk};
