use std::collections::BTreeSet;

use dci::{DataSet, ItemSet as DciItemSet, Support};
use proptest::prelude::*;

use super::{ItemSet, closed_item_sets};

const NO_LIMIT: usize = usize::MAX;

fn mined(database: &[Vec<u32>], min_support: usize) -> BTreeSet<(Vec<u32>, usize)> {
    let mined = closed_item_sets(database, min_support, NO_LIMIT);
    assert!(mined.is_complete);
    let count = mined.sets.len();
    let sets: BTreeSet<_> =
        mined.sets.into_iter().map(|ItemSet { items, support }| (items, support)).collect();
    assert_eq!(sets.len(), count, "a set was found twice");
    sets
}

/// {w,y,z}, {v,w,y,z}, {w,x,y} of MUVI's paper, by the letters' numbers.
fn golden() -> Vec<Vec<u32>> {
    let of = |letters: &str| letters.bytes().map(u32::from).collect();
    vec![of("wyz"), of("vwyz"), of("wxy")]
}

fn letters(items: &str) -> Vec<u32> {
    items.bytes().map(u32::from).collect()
}

#[test]
fn golden_example_with_support_three_has_one_closed_set() {
    assert_eq!(mined(&golden(), 3), BTreeSet::from([(letters("wy"), 3)]));
}

#[test]
fn golden_example_with_support_two_has_a_second_one() {
    let expected = BTreeSet::from([(letters("wy"), 3), (letters("wyz"), 2)]);
    assert_eq!(mined(&golden(), 2), expected);
}

#[test]
fn limit_is_kept_and_told() {
    let mined = closed_item_sets(&golden(), 1, 2);
    assert_eq!(mined.sets.len(), 2);
    assert!(!mined.is_complete);
}

#[test]
fn nothing_comes_of_nothing() {
    assert!(closed_item_sets(&[], 1, NO_LIMIT).sets.is_empty());
    assert!(closed_item_sets(&[vec![], vec![]], 1, NO_LIMIT).sets.is_empty());
}

/// Every subset of the items is tried.
fn by_brute_force(database: &[Vec<u32>], min_support: usize) -> BTreeSet<(Vec<u32>, usize)> {
    let items: Vec<u32> =
        database.iter().flatten().copied().collect::<BTreeSet<_>>().into_iter().collect();
    let support =
        |set: &[u32]| database.iter().filter(|t| set.iter().all(|item| t.contains(item))).count();
    (1u32..1 << items.len())
        .filter_map(|bits| {
            let set: Vec<u32> =
                (0..items.len()).filter(|at| bits >> at & 1 == 1).map(|at| items[at]).collect();
            let count = support(&set);
            let larger = |item: &u32| {
                !set.contains(item) && support(&[set.as_slice(), &[*item]].concat()) == count
            };
            (count >= min_support && !items.iter().any(larger)).then_some((set, count))
        })
        .collect()
}

/// The crate `dci`'s view of a database whose items are 0, 1, 2, …
struct Rows {
    rows: Vec<Vec<u32>>,
    items: usize,
}

#[derive(Clone)]
struct Items(BTreeSet<usize>);

impl DciItemSet for Items {
    fn empty() -> Self {
        Self(BTreeSet::new())
    }

    fn add(&mut self, item: usize) {
        self.0.insert(item);
    }
}

impl<'a> IntoIterator for &'a Items {
    type Item = usize;
    type IntoIter = std::iter::Copied<std::collections::btree_set::Iter<'a, usize>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().copied()
    }
}

impl DataSet for Rows {
    type ItemSet = Items;
    type Cover = Vec<usize>;

    fn transactions_count(&self) -> usize {
        self.rows.len()
    }

    fn items_count(&self) -> usize {
        self.items
    }

    fn item_support(&self, item: usize) -> Support {
        self.rows.iter().filter(|row| row.contains(&(item as u32))).count()
    }

    fn support(&self, itemset: &Items) -> Support {
        self.cover(itemset).len()
    }

    fn cover(&self, itemset: &Items) -> Vec<usize> {
        let has_all = |row: &Vec<u32>| itemset.0.iter().all(|&item| row.contains(&(item as u32)));
        (0..self.rows.len()).filter(|&at| has_all(&self.rows[at])).collect()
    }

    fn supports(&self, item: usize, cover: &Vec<usize>) -> bool {
        cover.iter().all(|&at| self.rows[at].contains(&(item as u32)))
    }
}

fn by_dci(rows: &[Vec<u32>], items: usize, min_support: usize) -> BTreeSet<(Vec<u32>, usize)> {
    let data = Rows { rows: rows.to_vec(), items };
    dci::sequential::closed(&data, min_support)
        .iter()
        .map(|(set, support)| (set.0.iter().map(|&item| item as u32).collect(), *support))
        // It gives what all rows have without asking for support, even if that is nothing.
        .filter(|(items, support): &(Vec<u32>, _)| !items.is_empty() && *support >= min_support)
        .collect()
}

fn databases() -> impl Strategy<Value = Vec<Vec<u32>>> {
    let row = proptest::collection::btree_set(0u32..9, 0..8);
    proptest::collection::vec(row.prop_map(|row| row.into_iter().collect()), 0..14)
}

proptest! {
    #[test]
    fn sets_are_those_of_brute_force(database in databases(), min_support in 1usize..5) {
        prop_assert_eq!(mined(&database, min_support), by_brute_force(&database, min_support));
    }

    #[test]
    fn sets_are_those_of_dci(database in databases(), min_support in 1usize..5) {
        prop_assert_eq!(mined(&database, min_support), by_dci(&database, 9, min_support));
    }
}
