//! The moments of racing accesses: locks held then, and what was synchronised by around them.

use rustc_hash::FxHashMap;

use super::RaceAccess;
use super::around::{Around, SyncStep, around};
use super::collect::Collector;
use super::result::{RaceStep, StepsAround};
use crate::code_tables::Process;
use crate::interleaving_patterns::{Lock, Memory};
use crate::locks_held::{Moment, locks_held};

/// What is known of the moments of a process's racing accesses.
pub(super) struct Moments {
    pub lock_sets: FxHashMap<Moment, u32>,
    pub around: FxHashMap<Moment, StepsAround>,
}

impl Collector {
    pub(super) fn moments_of<'a>(
        &mut self,
        process: &mut Process<'_>,
        accesses: impl Iterator<Item = &'a RaceAccess>,
    ) -> Moments {
        let mut moments: Vec<Moment> = accesses.map(RaceAccess::moment).collect();
        moments.sort_unstable();
        moments.dedup();
        let held = locks_held(process.recording, process.knowledge, &moments);
        let steps = around(process.recording, process.knowledge, &moments);
        let mut known = Moments { lock_sets: FxHashMap::default(), around: FxHashMap::default() };
        for ((moment, held), steps) in moments.into_iter().zip(held).zip(steps) {
            let lock_set = self.locks.lock_set(&mut self.code, process, moment, &held);
            known.lock_sets.insert(moment, lock_set);
            known.around.insert(moment, self.steps(process, &steps));
        }
        known
    }

    fn steps(&mut self, process: &mut Process<'_>, around: &Around) -> StepsAround {
        StepsAround {
            before: around.before.map(|step| self.step(process, &step)),
            after: around.after.map(|step| self.step(process, &step)),
        }
    }

    pub(super) fn step(&mut self, process: &mut Process<'_>, step: &SyncStep) -> RaceStep {
        let memory = match step.object {
            Some(object) => self.code.memory_of_lock(process, object.0),
            None => Memory::Other { address: 0 },
        };
        let object = Lock {
            memory,
            kind: String::new(),
            shared: false,
            site: self.code.site(process, step.site),
            stack: self.code.stack(process, step.context),
        };
        RaceStep {
            deed: step.deed,
            object: self.locks.locks.number_of(object),
            has_object: step.object.is_some(),
            other: step.other.map(|thread| thread.0),
        }
    }
}
