//! A set of runs: one bit each.

/// Runs, by number from 0.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct RunSet {
    /// Without zero words at the end, so that equal sets are equal.
    words: Vec<u64>,
}

impl RunSet {
    pub fn insert(&mut self, run: u32) {
        let word = run as usize / 64;
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << (run % 64);
    }

    pub fn contains(&self, run: u32) -> bool {
        self.words.get(run as usize / 64).is_some_and(|word| word >> (run % 64) & 1 == 1)
    }

    pub fn len(&self) -> usize {
        self.words.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// How many runs are in both.
    pub fn common_with(&self, other: &RunSet) -> usize {
        let both = self.words.iter().zip(&other.words).map(|(ours, theirs)| ours & theirs);
        both.map(|word| word.count_ones() as usize).sum()
    }

    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.words.len() as u32 * 64).filter(|&run| self.contains(run))
    }
}

impl FromIterator<u32> for RunSet {
    fn from_iter<T: IntoIterator<Item = u32>>(runs: T) -> Self {
        let mut set = RunSet::default();
        runs.into_iter().for_each(|run| set.insert(run));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_put_in() {
        let small: RunSet = [3, 64].into_iter().collect();
        let large: RunSet = [3, 64, 200].into_iter().collect();
        assert_eq!(large.iter().collect::<Vec<_>>(), [3, 64, 200]);
        assert_eq!((small.len(), large.len(), small.common_with(&large)), (2, 3, 2));
        assert!(!small.contains(200) && large.contains(200));
    }
}
