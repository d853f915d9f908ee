//! Barriers, round by round: who leaves one comes after all who arrived for the same round.
//!
//! A round is over for new ones as soon as somebody has left it: until then all of its own have arrived.

use rustc_hash::FxHashMap;
use unpick_events::{Address, ThreadId};

use super::clocks::VectorClock;

#[derive(Debug, Default)]
pub struct Barriers {
    barriers: FxHashMap<u64, Barrier>,
}

#[derive(Debug, Default)]
struct Barrier {
    /// Rounds that somebody has still to leave, by number.
    rounds: FxHashMap<u64, Round>,
    latest: u64,
    /// Which round each thread inside is in.
    inside: FxHashMap<ThreadId, u64>,
}

#[derive(Debug, Default)]
struct Round {
    gathered: VectorClock,
    inside: u32,
    is_over: bool,
}

impl Barriers {
    pub fn arrive(&mut self, thread: ThreadId, barrier: Address, knows: &VectorClock) {
        let barrier = self.barriers.entry(barrier.0).or_default();
        if barrier.rounds.get(&barrier.latest).is_none_or(|round| round.is_over) {
            barrier.latest += 1;
        }
        let round = barrier.rounds.entry(barrier.latest).or_default();
        round.gathered.join(knows);
        round.inside += 1;
        barrier.inside.insert(thread, barrier.latest);
    }

    /// What was gathered for the thread's round.
    pub fn leave(&mut self, thread: ThreadId, barrier: Address) -> Option<VectorClock> {
        let barrier = self.barriers.get_mut(&barrier.0)?;
        let number = barrier.inside.remove(&thread)?;
        let round = barrier.rounds.get_mut(&number)?;
        round.is_over = true;
        round.inside -= 1;
        if round.inside == 0 {
            return barrier.rounds.remove(&number).map(|round| round.gathered);
        }
        Some(round.gathered.clone())
    }
}
