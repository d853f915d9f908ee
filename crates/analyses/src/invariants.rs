//! Access-interleaving invariants: which accesses no other thread may come before, and where one did.
//!
//! Takes   the recordings of one run (`Collector`); then what was checked in all passing runs (`Training`).
//! Gives   `RunInvariants`: for every site how often it was checked, challenged and violated, and each kind of violation with one
//!         example; of many runs, the sites that hold an invariant.
//! Misses  what no run executed; bugs of several variables. A recording that is not full knows all violations, but of the accesses
//!         that nobody came between only the last ones: train with full ones. Which of two threads' reads between two writes came
//!         first is not always known, so some of them may count as challenged, or not; none of that is a violation.
//! Invents violations that hurt nobody: training takes those away that passing runs have.
//! Cost    one step per access, and one per access of others between two of a thread.
//!
//! Method: AVIO (Lu, Tucek, Qin, Zhou 2006; Lu, Park, Zhou 2011). For two consecutive accesses of one thread to one location, the
//! P-access and the I-access, those of other threads between them make four of eight cases unserializable (`Case`). The invariant
//! belongs to the site of the I-access. Settled where the paper is silent:
//! - A site enters the set when it is first executed, which is a change of the set like its leaving.
//! - The write of a read-modify-write is not checked against its own read: nothing can come between.
//! - State of libraries (words of locks, counts of references) is no variable of the user's.
//!
//! A light recording suffices for violations because every access that others came before is a meeting, with the last access of
//! both sides: `tests/invariant_oracles.rs` holds that against a naive version.

mod cache;
mod collect;
mod result;
mod serializability;
mod training;
mod turns;

pub use cache::CacheShape;
pub use collect::{Collector, Variant};
pub use result::{Checks, RunInvariants, Violation};
pub use serializability::{Between, Case};
pub use training::{Change, Rules, Trained, Training};
