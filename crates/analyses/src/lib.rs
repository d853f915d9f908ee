//! What recordings say about why runs fail. One folder per analysis.
//!
//! Takes   the recordings of a run, one after the other (`collect`, once per run, in parallel if you like), then
//!         the condensed results of all labelled runs (`conclude`, pure).
//! Gives   patterns of accesses with scores and ranks; what threads told each other around a failure; of a run that hung, who
//!         waits for what; `unpick-findings` makes findings of them.
//! Misses  what the headers of the folders say.
//!
//! The two halves meet in [`RunPatterns`], which is small and can be stored: recordings may be dropped
//! once it is made. Nothing here reads or writes files.
#![forbid(unsafe_code)]

pub mod access_log;
pub mod access_pairs;
mod activations;
mod code_tables;
pub mod communication;
pub mod hang;
pub mod interleaving_patterns;
pub mod invariants;
pub mod iterations;
pub mod knowledge;
pub mod lock_order;
pub mod locks_held;
pub mod observed;
pub mod races;
pub mod races_happens_before;
pub mod races_lockset;
pub mod races_multi_variable;
pub mod ranking;
mod stored_tables;
pub mod synchronisation_sites;
pub mod thread_order;
pub mod unseen_orders;

pub use interleaving_patterns::{Class, Collector, Mode, Options, PatternId, Rows, RunPatterns};
pub use knowledge::{Knowledge, State};
pub use ranking::{Conclusion, Formula, LabelledRun, conclude, conclude_with};
pub use unseen_orders::{Unseen, UnseenOrder, UnseenOrders};
