//! Static analysis of sources: which variables belong together (MUVI), and who forgets one of them.
//!
//! Takes   C, C++ and Rust sources, in folders; compile flags where they can be found.
//! Gives   correlations `A1(x) => A2(y)` between globals and `Type::field`s, ranked, as plain data ([`CorrelationList`]); functions
//!         that break one; correlations that hold under a condition only. Those that hardly anything relates are marked as weak.
//! Misses  variables reached by pointers alone, what happens more than one call away, code that a compiler does not see.
//! Invents correlations of variables that are only often used together: of those that are not weak about one in ten
//!         (bench/correlations).
//! Cost    linear in the sources, read once: what has not changed since is not read again.
//!
//! Why so: `docs/design/0016-correlations.md`.
#![forbid(unsafe_code)]

pub mod access_sets;
mod closeness;
mod conclude;
mod conditional;
mod correlation;
mod database;
mod inconsistent;
pub mod item_sets;
mod observed;
mod rules;
mod sources;

pub use conclude::{Choices, conclude};
pub use correlation::{
    AccessType, Break, Closeness, Correlation, CorrelationList, LIST_VERSION, OtherRule, Pattern,
    Place, Side, Summary,
};
pub use observed::{ObservedAccess, ObservedBytes, ObservedFrame, join_observed, sets_of_observed};
pub use rules::Thresholds;
pub use sources::{Request, SeenFlags, Sources, WorkerCommand, read_sources, serve};
