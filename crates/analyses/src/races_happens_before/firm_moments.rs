//! What threads firmly knew of each other at some moments.
//!
//! Takes   the events of a recording, and moments.      Gives  whether an access comes firmly before such a moment, and by what step.
//! Misses, Invents: as `FirmOrder`. An access without an event counts as made at the earliest (see `PAST_TURN`).
//! Cost    one walk of the firm order, up to the last moment; memory for each moment and thread.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;
use unpick_recording::{Event, Recording};

use super::clocks::VectorClock;
use super::firm::FirmOrder;
use crate::knowledge::Knowledge;
use crate::locks_held::Moment;
use crate::races::{Lives, RaceAccess, SyncStep};

/// The firm order, as it was at some moments.
#[derive(Debug, Default)]
pub struct FirmMoments {
    order: FirmOrder,
    known: FxHashMap<Moment, Known>,
}

/// What a thread knew at a moment, and by which steps it had learned it.
#[derive(Debug, Default)]
struct Known {
    knows: VectorClock,
    learned: Vec<(ThreadId, SyncStep)>,
}

impl FirmMoments {
    /// `moments` must be sorted. Accesses that are asked about later must be among them.
    pub fn of(recording: &Recording, knowledge: &dyn Knowledge, moments: &[Moment]) -> FirmMoments {
        debug_assert!(moments.is_sorted());
        let mut asked: FxHashMap<ThreadId, VecDeque<Moment>> = FxHashMap::default();
        for moment in moments {
            asked.entry(moment.thread).or_default().push_back(*moment);
        }
        let mut lives = Lives::default();
        let mut all = FirmMoments::default();
        for event in recording.events() {
            all.answer(&event, &mut asked);
            if asked.is_empty() {
                return all;
            }
            if let Some((start, length)) = lives.ended_by(&event) {
                all.order.forget(start, length);
            }
            all.order.acquire(&event, knowledge);
            all.order.release(&event, knowledge);
        }
        asked.into_values().flatten().for_each(|moment| all.keep(moment));
        all
    }

    /// Keeps what the thread of an event knew at the moments that are over now.
    fn answer(&mut self, event: &Event<'_>, asked: &mut FxHashMap<ThreadId, VecDeque<Moment>>) {
        let Some(of_thread) = asked.get_mut(&event.thread) else { return };
        while let Some(&moment) = of_thread.front().filter(|next| next.ordinal <= event.ordinal) {
            of_thread.pop_front();
            self.keep(moment);
        }
        if of_thread.is_empty() {
            asked.remove(&event.thread);
        }
    }

    fn keep(&mut self, moment: Moment) {
        let knows = self.order.clocks().known_to(moment.thread).cloned().unwrap_or_default();
        let step = |(other, _)| Some((other, self.order.learned(moment.thread, other)?));
        let learned = knows.all().filter_map(step).collect();
        self.known.insert(moment, Known { knows, learned });
    }

    /// Whether an access of another thread comes before a moment that was asked for.
    pub fn is_before(&self, access: &RaceAccess, moment: Moment) -> bool {
        let period = self.order.clocks().earliest_period(access);
        self.known.get(&moment).is_some_and(|known| known.knows.of(access.thread) >= period)
    }

    /// The step by which the thread of a moment had last learned something of another one.
    pub fn learned(&self, moment: Moment, other: ThreadId) -> Option<SyncStep> {
        let mut learned = self.known.get(&moment)?.learned.iter();
        learned.find(|(of, _)| *of == other).map(|(_, step)| *step)
    }
}
