//! The locks each thread holds, as sets, event by event.

use unpick_events::{Address, ThreadId};
use unpick_recording::Event;

use super::lock_sets::{LockSet, LockSets};
use crate::knowledge::Knowledge;
use crate::locks_held::LockChange;

/// Stands for the order that atomic accesses to one location have among each other. No lock has this address.
const ATOMIC: u64 = u64::MAX;

#[derive(Debug, Default)]
pub struct Holdings {
    /// By number.
    threads: Vec<Holding>,
}

#[derive(Debug, Clone)]
struct Holding {
    /// In the order they were taken, and whether together with readers; a recursive lock once for each time.
    locks: Vec<(Address, bool)>,
    /// By whether the access writes, and whether it is atomic.
    sets: [[LockSet; 2]; 2],
}

impl Holding {
    fn none(sets: &mut LockSets) -> Holding {
        let mut holding = Holding { locks: Vec::new(), sets: [[LockSet::EMPTY; 2]; 2] };
        holding.renew(sets);
        holding
    }

    fn renew(&mut self, sets: &mut LockSets) {
        for writes in [false, true] {
            // What readers hold together protects no write.
            let protecting = self.locks.iter().filter(|(_, shared)| !(writes && *shared));
            let locks: Vec<u64> = protecting.map(|(lock, _)| lock.0).collect();
            let with_atomic = sets.of(locks.iter().copied().chain([ATOMIC]));
            self.sets[usize::from(writes)] = [sets.of(locks), with_atomic];
        }
    }
}

impl Holdings {
    pub fn take_in(&mut self, event: &Event<'_>, knowledge: &dyn Knowledge, sets: &mut LockSets) {
        let Some(change) = knowledge.lock_change(event) else { return };
        let holding = self.holding(event.thread, sets);
        match change {
            LockChange::Taken { lock, shared, .. } => holding.locks.push((lock, shared)),
            LockChange::Released { lock } => {
                if let Some(at) = holding.locks.iter().rposition(|(held, _)| *held == lock) {
                    holding.locks.remove(at);
                }
            }
            LockChange::Downgraded { lock } | LockChange::Upgraded { lock } => {
                let held = holding.locks.iter_mut().rfind(|(held, _)| *held == lock);
                if let Some((_, shared)) = held {
                    *shared = matches!(change, LockChange::Downgraded { .. });
                }
            }
        }
        holding.renew(sets);
    }

    /// The locks that protect an access of a thread now.
    pub fn protecting(
        &mut self,
        thread: ThreadId,
        writes: bool,
        atomic: bool,
        sets: &mut LockSets,
    ) -> LockSet {
        self.holding(thread, sets).sets[usize::from(writes)][usize::from(atomic)]
    }

    fn holding(&mut self, thread: ThreadId, sets: &mut LockSets) -> &mut Holding {
        let number = usize::from(thread.0);
        if self.threads.len() <= number {
            self.threads.resize(number + 1, Holding::none(sets));
        }
        &mut self.threads[number]
    }
}
