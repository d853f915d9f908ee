//! Sets of locks under numbers, so that a set costs one word and an intersection mostly one look-up.

use rustc_hash::FxHashMap;

/// The number of a set of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LockSet(u32);

impl LockSet {
    pub const EMPTY: LockSet = LockSet(0);
}

/// All sets that were asked for.
#[derive(Debug)]
pub struct LockSets {
    /// Sorted, each lock once.
    sets: Vec<Vec<u64>>,
    numbers: FxHashMap<Vec<u64>, LockSet>,
    common: FxHashMap<[LockSet; 2], LockSet>,
}

impl Default for LockSets {
    fn default() -> Self {
        let numbers = FxHashMap::from_iter([(Vec::new(), LockSet::EMPTY)]);
        LockSets { sets: vec![Vec::new()], numbers, common: FxHashMap::default() }
    }
}

impl LockSets {
    pub fn of(&mut self, locks: impl IntoIterator<Item = u64>) -> LockSet {
        let mut locks: Vec<u64> = locks.into_iter().collect();
        locks.sort_unstable();
        locks.dedup();
        if let Some(&known) = self.numbers.get(&locks) {
            return known;
        }
        let number = LockSet(self.sets.len() as u32);
        self.sets.push(locks.clone());
        self.numbers.insert(locks, number);
        number
    }

    pub fn common(&mut self, one: LockSet, other: LockSet) -> LockSet {
        if one == other {
            return one;
        }
        if one == LockSet::EMPTY || other == LockSet::EMPTY {
            return LockSet::EMPTY;
        }
        let key = if one < other { [one, other] } else { [other, one] };
        if let Some(&known) = self.common.get(&key) {
            return known;
        }
        let [one, other] = key.map(|set| &self.sets[set.0 as usize]);
        let both: Vec<u64> = one.iter().copied().filter(|lock| other.contains(lock)).collect();
        let common = self.of(both);
        self.common.insert(key, common);
        common
    }
}
