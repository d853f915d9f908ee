//! Threads that wait for each other in a circle.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The circles in who waits for whom, each once, beginning with its lowest number: a shortest one through each thread.
/// A thread that waits for several needs all of them, so one circle is enough to keep it waiting for ever.
pub fn circles(waited_for: &BTreeMap<u16, Vec<u16>>) -> Vec<Vec<u16>> {
    let mut known = BTreeSet::new();
    let found = waited_for.keys().filter_map(|&thread| shortest_from(thread, waited_for));
    found.map(lowest_first).filter(|circle| known.insert(circle.clone())).collect()
}

fn shortest_from(start: u16, waited_for: &BTreeMap<u16, Vec<u16>>) -> Option<Vec<u16>> {
    let mut came_from = BTreeMap::new();
    let mut to_do = VecDeque::from([start]);
    while let Some(thread) = to_do.pop_front() {
        for &next in waited_for.get(&thread).into_iter().flatten() {
            if next == start {
                return Some(way_to(thread, start, &came_from));
            }
            came_from.entry(next).or_insert_with(|| {
                to_do.push_back(next);
                thread
            });
        }
    }
    None
}

fn way_to(end: u16, start: u16, came_from: &BTreeMap<u16, u16>) -> Vec<u16> {
    let before = |&thread: &u16| came_from.get(&thread).copied().filter(|_| thread != start);
    let mut way: Vec<u16> = std::iter::successors(Some(end), before).collect();
    way.reverse();
    way
}

fn lowest_first(mut circle: Vec<u16>) -> Vec<u16> {
    let lowest = (0..circle.len()).min_by_key(|&at| circle[at]).unwrap_or(0);
    circle.rotate_left(lowest);
    circle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(waits: &[(u16, &[u16])]) -> Vec<Vec<u16>> {
        circles(&waits.iter().map(|&(thread, others)| (thread, others.to_vec())).collect())
    }

    #[test]
    fn a_circle_is_found_once_and_those_outside_are_not_in_it() {
        assert_eq!(found(&[(1, &[2]), (2, &[3]), (3, &[2])]), [[2, 3]]);
        assert_eq!(found(&[(3, &[4]), (4, &[7]), (7, &[3])]), [[3, 4, 7]]);
    }

    #[test]
    fn a_chain_is_no_circle() {
        assert!(found(&[(1, &[2]), (2, &[3]), (3, &[])]).is_empty());
        assert!(found(&[]).is_empty());
    }

    #[test]
    fn a_thread_can_wait_for_itself() {
        assert_eq!(found(&[(1, &[2]), (2, &[2])]), [[2]]);
    }

    #[test]
    fn one_of_several_that_are_waited_for_is_enough() {
        assert_eq!(found(&[(1, &[2, 3]), (2, &[]), (3, &[1])]), [[1, 3]]);
    }
}
