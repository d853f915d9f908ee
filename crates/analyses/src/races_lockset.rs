//! Lockset race detector: finds shared bytes that no single lock protects every time.
//!
//! Takes   the events of one recording, which should be full.      Gives  one `RacingPair` per pair of sites, with an example.
//! Misses  races while bytes still have one owner, or are read only after that; anything the run did not execute. Accesses from before
//!         bytes were shared are taken for those of their owner.
//! Invents races in code ordered by barriers, conditions, semaphores or hand-made signals: it keeps no happens-before but for the
//!         creation and joining of threads.
//! Cost    one set intersection per access to shared bytes, mostly a look-up.
//!
//! Method: Eraser (Savage et al. 1997), with its states: virgin, exclusive, shared, shared-modified; a lock held together with readers
//! protects reads only. Deviations: all atomic accesses have one lock in common, which plain ones do not have; freeing memory is no
//! access, it is the end of a life; a thread that was created, or has joined others, after all that others did to some bytes has
//! them exclusively (thread segments, Harrow 2000): else what is collected after a join would always be reported. Eraser names a
//! variable, we name two accesses: the one that left no lock, and the latest of another thread in conflict with it, preferably one
//! without a lock in common. `tests/lockset_oracles.rs` has a naive version.

mod firmness;
mod holdings;
mod location;
mod lock_sets;

use unpick_events::access::PastKind;
use unpick_recording::{Action, Event, Recording};

use crate::knowledge::Knowledge;
use crate::races::{ByteMap, Lives, RaceAccess, RacingPairs, stretches};
use crate::races_happens_before::ThreadClocks;
pub use firmness::{Firmness, firmness};
use holdings::Holdings;
use location::{Guarded, Protection};
use lock_sets::{LockSet, LockSets};

/// The races of a recording.
pub fn races(recording: &Recording, knowledge: &dyn Knowledge) -> RacingPairs {
    let mut detector = Lockset::default();
    recording.events().for_each(|event| detector.take_in(&event, knowledge));
    detector.finish()
}

/// The detector, fed event by event.
#[derive(Debug, Default)]
pub struct Lockset {
    sets: LockSets,
    holdings: Holdings,
    /// The order that creations and joins make.
    clocks: ThreadClocks,
    bytes: ByteMap<Protection>,
    lives: Lives,
    races: RacingPairs,
}

impl Lockset {
    /// Takes in the next event in the order of the recording.
    pub fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge) {
        if let Some((start, length)) = self.lives.ended_by(event) {
            self.bytes.forget(start, length);
        }
        match event.action {
            Action::ThreadCreate { .. } | Action::ThreadJoin { .. } => {
                self.clocks.acquire(event, knowledge);
                self.clocks.release(event);
            }
            _ => self.clocks.meet(event),
        }
        // The access by which a lock is taken or given up is to the lock, whether it counts as held then or not.
        self.holdings.take_in(event, knowledge, &mut self.sets);
        if let Action::Access { .. } = event.action {
            self.access(event);
        }
    }

    fn access(&mut self, event: &Event<'_>) {
        let Action::Access { kind, flags, pasts, .. } = event.action else { return };
        if flags.is_free() {
            return;
        }
        let Lockset { sets, holdings, clocks, bytes, lives, races } = self;
        let access = RaceAccess::of_event(event, kind, flags);
        let locks = holdings.protecting(event.thread, access.writes(), access.is_atomic(), sets);
        let guarded = Guarded { access, locks, period: clocks.period(event.thread) };
        let knows = clocks.knows(event.thread);
        for (start, length) in stretches(event) {
            bytes.visit(start, length, |at, length, protection| {
                for past in pasts.iter().filter(|past| past.kind != PastKind::Free) {
                    let access = RaceAccess::of_past(&past);
                    if let Some(period) = clocks.period_of_past(&past) {
                        let locks = LockSet::EMPTY;
                        protection.take_in_past(Guarded { access, locks, period });
                    }
                }
                if let Some(other) = protection.take_in(guarded, knows, sets) {
                    races.add(&other.access, &access, at, length, |at| lives.block_at(at));
                }
            });
        }
    }

    pub fn finish(self) -> RacingPairs {
        self.races
    }
}
