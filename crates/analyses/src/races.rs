//! Races: what both detectors share, and what a run's races are kept as.
//!
//! Takes   the recordings of one run, which should be full.      Gives  `RunRaces`: one race per pair of sites, with what either detector says.
//! Misses, Invents, Cost: see `races_happens_before` and `races_lockset`.

mod access;
mod around;
mod byte_map;
mod collect;
mod extension;
mod lives;
mod moments;
mod pairs;
mod result;

pub use access::{PAST_TURN, RaceAccess, stretches};
pub(crate) use around::step_of;
pub use around::{Deed, SyncStep};
pub use byte_map::ByteMap;
pub use collect::Collector;
pub(crate) use collect::code_of;
pub use extension::{CorrelationSource, NamedAccess, NamedRule, Namer};
pub use lives::Lives;
pub use pairs::{RacingPair, RacingPairs};
pub use result::{Race, RaceStep, RunRaces, StepsAround, TornRace};

use unpick_recording::Action;

/// Whether an event can order threads, beyond their beginning and end.
fn is_synchronisation(action: &Action<'_>) -> bool {
    match action {
        Action::Access { flags, .. } => flags.is_atomic(),
        Action::ThreadCreate { .. }
        | Action::ThreadJoin { .. }
        | Action::FiberSwitch { .. }
        | Action::Acquire { .. }
        | Action::BarrierLeave { .. }
        | Action::SemaphoreWait { .. }
        | Action::OnceDone { .. }
        | Action::HappensAfter { .. }
        | Action::Fence { .. } => true,
        _ => false,
    }
}
