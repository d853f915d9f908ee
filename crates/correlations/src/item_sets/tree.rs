//! The walk over the tree of closed sets.

use super::{ItemSet, Mined};

pub struct Tree<'a> {
    transactions: &'a [Vec<u32>],
    min_support: usize,
    limit: usize,
    /// Per item, the occurrences of the set at hand that have it; empty between two steps.
    buckets: Vec<Vec<u32>>,
    /// Per item, in how many occurrences it is; zero between two steps.
    counts: Vec<u32>,
    mined: Mined,
}

impl<'a> Tree<'a> {
    pub fn new(
        transactions: &'a [Vec<u32>],
        items: usize,
        min_support: usize,
        limit: usize,
    ) -> Self {
        Self {
            transactions,
            min_support,
            limit,
            buckets: vec![Vec::new(); items],
            counts: vec![0; items],
            mined: Mined { sets: Vec::new(), is_complete: true },
        }
    }

    pub fn walk(mut self) -> Mined {
        let all: Vec<u32> = (0..self.transactions.len() as u32).collect();
        if all.len() >= self.min_support {
            let root = self.closure(&all);
            if !root.is_empty() {
                self.found(&root, all.len());
            }
            self.extend(&root, None, &all);
        }
        self.mined
    }

    /// Goes on with every item behind `core` that keeps the set's beginning as it is: so each closed
    /// set is met once, as the child of one other.
    fn extend(&mut self, set: &[u32], core: Option<u32>, occurrences: &[u32]) {
        for (item, with_item) in self.deliver(set, core, occurrences) {
            if !self.mined.is_complete {
                return;
            }
            let closure = self.closure(&with_item);
            if !is_same_before(item, set, &closure) {
                continue;
            }
            self.found(&closure, with_item.len());
            self.extend(&closure, Some(item), &with_item);
        }
    }

    fn found(&mut self, items: &[u32], support: usize) {
        if self.mined.sets.len() == self.limit {
            self.mined.is_complete = false;
        } else {
            self.mined.sets.push(ItemSet { items: items.to_vec(), support });
        }
    }

    /// The frequent items behind `core` that are not in the set, with the occurrences that have them.
    fn deliver(
        &mut self,
        set: &[u32],
        core: Option<u32>,
        occurrences: &[u32],
    ) -> Vec<(u32, Vec<u32>)> {
        let first = core.map_or(0, |core| core + 1);
        let mut touched = Vec::new();
        for &occurrence in occurrences {
            let transaction = &self.transactions[occurrence as usize];
            let from = transaction.partition_point(|&item| item < first);
            for &item in &transaction[from..] {
                let bucket = &mut self.buckets[item as usize];
                if bucket.is_empty() {
                    touched.push(item);
                }
                bucket.push(occurrence);
            }
        }
        touched.sort_unstable();
        let mut delivered = Vec::new();
        for item in touched {
            let bucket = std::mem::take(&mut self.buckets[item as usize]);
            if bucket.len() >= self.min_support && set.binary_search(&item).is_err() {
                delivered.push((item, bucket));
            }
        }
        delivered
    }

    /// The items that all these transactions have.
    fn closure(&mut self, occurrences: &[u32]) -> Vec<u32> {
        let Some(shortest) =
            occurrences.iter().map(|&at| &self.transactions[at as usize]).min_by_key(|t| t.len())
        else {
            return Vec::new();
        };
        for &occurrence in occurrences {
            for &item in &self.transactions[occurrence as usize] {
                self.counts[item as usize] += 1;
            }
        }
        let closure = shortest
            .iter()
            .copied()
            .filter(|&item| self.counts[item as usize] as usize == occurrences.len())
            .collect();
        for &occurrence in occurrences {
            for &item in &self.transactions[occurrence as usize] {
                self.counts[item as usize] = 0;
            }
        }
        closure
    }
}

fn is_same_before(item: u32, set: &[u32], closure: &[u32]) -> bool {
    let beginning = |items: &[u32]| items.partition_point(|&other| other < item);
    set[..beginning(set)] == closure[..beginning(closure)]
}
