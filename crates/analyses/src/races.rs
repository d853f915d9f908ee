//! Races: what both detectors share, and what a run's races are kept as.
//!
//! Takes   the recordings of one run, which should be full.      Gives  `RunRaces`: one race per pair of sites, with what either detector says.
//! Misses, Invents, Cost: see `races_happens_before` and `races_lockset`.

mod access;
mod byte_map;
mod lives;
mod pairs;

pub use access::{RaceAccess, stretches};
pub use byte_map::ByteMap;
pub use lives::Lives;
pub use pairs::{RacingPair, RacingPairs};
