//! Closed frequent item sets: which variables occur together in many functions.
//!
//! Takes   a set of items per function, and in how many functions a set must be.
//! Gives   every frequent set that cannot be enlarged without losing functions, with its support.
//! Misses  sets beyond the limit, and says so.      Invents  nothing.
//! Cost    linear in the number of closed sets (times the size of their functions): LCM (Uno et al. 2004), which walks a tree of
//!         closed sets by prefix-preserving closure extension and keeps none of those it has been to.

mod tree;

use std::collections::HashMap;

/// Items with how many sets of the database have them all.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ItemSet {
    /// In ascending order.
    pub items: Vec<u32>,
    pub support: usize,
}

/// What was found, and whether it is all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mined {
    pub sets: Vec<ItemSet>,
    /// False if there are more than the limit.
    pub is_complete: bool,
}

/// The closed sets with at least `min_support` occurrences, at most `limit` of them. The empty set is none.
pub fn closed_item_sets(database: &[Vec<u32>], min_support: usize, limit: usize) -> Mined {
    let min_support = min_support.max(1);
    let order = frequent_items(database, min_support);
    let rank_of: HashMap<u32, u32> =
        order.iter().enumerate().map(|(rank, &item)| (item, rank as u32)).collect();
    let transactions: Vec<Vec<u32>> = database
        .iter()
        .map(|items| {
            let mut ranks: Vec<u32> =
                items.iter().filter_map(|item| rank_of.get(item).copied()).collect();
            ranks.sort_unstable();
            ranks.dedup();
            ranks
        })
        .filter(|ranks| !ranks.is_empty())
        .collect();
    let mut mined = tree::Tree::new(&transactions, order.len(), min_support, limit).walk();
    for set in &mut mined.sets {
        set.items.iter_mut().for_each(|rank| *rank = order[*rank as usize]);
        set.items.sort_unstable();
    }
    mined
}

/// The most frequent first: extensions then have few occurrences, and are cheap.
fn frequent_items(database: &[Vec<u32>], min_support: usize) -> Vec<u32> {
    let mut counts: HashMap<u32, (usize, usize)> = HashMap::new();
    for (number, items) in database.iter().enumerate() {
        for &item in items {
            let (count, last) = counts.entry(item).or_insert((0, usize::MAX));
            if *last != number {
                *count += 1;
                *last = number;
            }
        }
    }
    let mut frequent: Vec<(usize, u32)> = counts
        .into_iter()
        .filter(|(_, (count, _))| *count >= min_support)
        .map(|(item, (count, _))| (count, item))
        .collect();
    frequent.sort_unstable_by(|one, other| other.0.cmp(&one.0).then(one.1.cmp(&other.1)));
    frequent.into_iter().map(|(_, item)| item).collect()
}

#[cfg(test)]
mod tests;
