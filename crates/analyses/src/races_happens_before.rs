//! Happens-before race detector: finds conflicting accesses that no synchronisation orders.
//!
//! Takes   the events of one recording, which should be full.      Gives  one `RacingPair` per pair of sites, with an example.
//! Misses  races of accesses that this run happened to order, by whatever lock came between them: another run may show them. Of accesses
//!         before bytes were shared only the last of each thread is known, and when it was made only to within 65536 events of its thread:
//!         it counts as made at the earliest. A pair of which one access was made before another access of
//!         its own thread, or one known to come after it, that races with the same (the later one is reported).
//! Invents races where threads are ordered by what the runtime does not see: code that was not instrumented, memory shared
//!         with other processes, assembly.
//! Cost    per access a look-up and a comparison with the last write; per synchronisation a step for each thread.
//!
//! Method: vector clocks with epochs (Flanagan and Freund's FastTrack 2009, after Djit+): an access is kept as its thread and that
//! thread's period, and a thread's clock says up to which period of each other thread it comes after. Deviations: accesses that are
//! not ordered are kept beside each other also if they are writes, so that all pairs are found and not only the first of a
//! location; atomic accesses conflict with plain ones only. `tests/race_oracles.rs` holds it against a naive version.

mod barriers;
mod clocks;
mod firm;
mod firm_moments;
mod location;
mod order;
mod sections;
mod takers;

use unpick_recording::{Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::races::{ByteMap, Lives, RaceAccess, RacingPairs, stretches};
pub(crate) use clocks::VectorClock;
pub use firm::FirmOrder;
pub(crate) use firm_moments::FirmMoments;
use location::{Accesses, Dated};
pub use order::ThreadClocks;

/// The races of a recording.
pub fn races(recording: &Recording, knowledge: &dyn Knowledge) -> RacingPairs {
    let mut detector = HappensBefore::default();
    recording.events().for_each(|event| detector.take_in(&event, knowledge));
    detector.finish()
}

/// The detector, fed event by event.
#[derive(Debug, Default)]
pub struct HappensBefore {
    clocks: ThreadClocks,
    bytes: ByteMap<Accesses>,
    lives: Lives,
    races: RacingPairs,
}

impl HappensBefore {
    /// Takes in the next event in the order of the recording.
    pub fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        if let Some((start, length)) = self.lives.ended_by(event) {
            self.bytes.forget(start, length);
        }
        self.clocks.acquire(event, knowledge);
        if let Action::Access { .. } = event.action {
            self.access(event);
        }
        self.clocks.release(event);
        if let Some((start, length)) = Lives::objects_ended_by(event) {
            self.clocks.forget(start, length);
        }
    }

    fn access(&mut self, event: &Event<'_>) {
        let Action::Access { kind, flags, pasts, .. } = event.action else { return };
        let HappensBefore { clocks, bytes, lives, races } = self;
        let access = RaceAccess::of_event(event, kind, flags);
        let dated = Dated { access, period: clocks.period(event.thread) };
        let knows = clocks.knows(event.thread);
        for (start, length) in stretches(event) {
            bytes.visit(start, length, |at, length, accesses| {
                for past in pasts.iter() {
                    if let Some(period) = clocks.period_of_past(&past) {
                        accesses.take_in_past(Dated { access: RaceAccess::of_past(&past), period });
                    }
                }
                accesses.take_in(dated, knows, |earlier| {
                    races.add(earlier, &access, at, length, |at| lives.block_at(at));
                });
            });
        }
    }

    pub fn finish(self) -> RacingPairs {
        self.races
    }
}
