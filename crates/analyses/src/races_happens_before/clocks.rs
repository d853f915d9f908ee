//! What a thread knows of others: up to which of their periods everything has happened before.

use unpick_events::ThreadId;

/// For each thread the last of its periods that came before; 0: none did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct VectorClock {
    periods: Vec<u32>,
}

impl VectorClock {
    #[inline]
    pub fn of(&self, thread: ThreadId) -> u32 {
        self.periods.get(usize::from(thread.0)).copied().unwrap_or(0)
    }

    pub fn set(&mut self, thread: ThreadId, period: u32) {
        let number = usize::from(thread.0);
        if self.periods.len() <= number {
            self.periods.resize(number + 1, 0);
        }
        self.periods[number] = period;
    }

    /// What either knows.
    pub fn join(&mut self, other: &VectorClock) {
        if self.periods.len() < other.periods.len() {
            self.periods.resize(other.periods.len(), 0);
        }
        for (mine, theirs) in self.periods.iter_mut().zip(&other.periods) {
            *mine = (*mine).max(*theirs);
        }
    }

    /// Becomes equal to another one, in the memory it has.
    pub fn become_like(&mut self, other: &VectorClock) {
        self.periods.clone_from(&other.periods);
    }

    /// All threads of which something is known, with the last of their periods.
    pub fn all(&self) -> impl Iterator<Item = (ThreadId, u32)> + '_ {
        let known = self.periods.iter().enumerate().filter(|(_, period)| **period > 0);
        known.map(|(number, period)| (ThreadId(number as u16), *period))
    }

    pub fn clear(&mut self) {
        self.periods.clear();
    }
}
