//! Knots: locks each of which was asked for, by way of others, while each other was held. No cycle leads out of a knot.

use rustc_hash::FxHashMap;

use super::lives::Lock;
use super::requests::Request;

/// The requests that lead from a lock of a knot to another one of the same.
pub fn knotted(mut requests: Vec<Request>) -> Vec<Request> {
    let knots = Knots::of(&requests);
    requests.retain(|request| {
        let wanted = knots.number(request.wanted.lock);
        request.held.iter().any(|held| knots.number(held.lock) == wanted)
    });
    requests
}

/// Every lock with the number of its knot.
struct Knots {
    numbers: FxHashMap<Lock, usize>,
    knots: Vec<usize>,
}

impl Knots {
    fn of(requests: &[Request]) -> Knots {
        let mut graph = Graph::default();
        for request in requests {
            let wanted = graph.node(request.wanted.lock);
            for held in &request.held {
                let held = graph.node(held.lock);
                graph.after[held].push(wanted);
            }
        }
        for after in &mut graph.after {
            after.sort_unstable();
            after.dedup();
        }
        let knots = strongly_connected(&graph.after);
        Knots { numbers: graph.numbers, knots }
    }

    fn number(&self, lock: Lock) -> usize {
        self.knots[self.numbers[&lock]]
    }
}

/// Which locks were asked for while a lock was held.
#[derive(Default)]
struct Graph {
    numbers: FxHashMap<Lock, usize>,
    after: Vec<Vec<usize>>,
}

impl Graph {
    fn node(&mut self, lock: Lock) -> usize {
        let next = self.after.len();
        let number = *self.numbers.entry(lock).or_insert(next);
        if number == next {
            self.after.push(Vec::new());
        }
        number
    }
}

const UNSEEN: usize = usize::MAX;

/// The number of the strongly connected component of every node (Tarjan 1972), without recursion: chains of locks can be long.
fn strongly_connected(after: &[Vec<usize>]) -> Vec<usize> {
    let mut search = Tarjan {
        found: vec![UNSEEN; after.len()],
        lowest: vec![UNSEEN; after.len()],
        component: vec![UNSEEN; after.len()],
        ..Tarjan::default()
    };
    for node in 0..after.len() {
        if search.found[node] == UNSEEN {
            search.from(node, after);
        }
    }
    search.component
}

#[derive(Default)]
struct Tarjan {
    found: Vec<usize>,
    lowest: Vec<usize>,
    component: Vec<usize>,
    open: Vec<usize>,
    count: usize,
    components: usize,
}

impl Tarjan {
    fn from(&mut self, start: usize, after: &[Vec<usize>]) {
        let mut way = vec![(start, 0)];
        self.enter(start);
        while let Some((node, next)) = way.last_mut() {
            let node = *node;
            if let Some(&other) = after[node].get(*next) {
                *next += 1;
                if self.found[other] == UNSEEN {
                    self.enter(other);
                    way.push((other, 0));
                } else if self.component[other] == UNSEEN {
                    self.lowest[node] = self.lowest[node].min(self.found[other]);
                }
                continue;
            }
            way.pop();
            if let Some(&(before, _)) = way.last() {
                self.lowest[before] = self.lowest[before].min(self.lowest[node]);
            }
            if self.lowest[node] == self.found[node] {
                self.close(node);
            }
        }
    }

    fn enter(&mut self, node: usize) {
        self.found[node] = self.count;
        self.lowest[node] = self.count;
        self.count += 1;
        self.open.push(node);
    }

    fn close(&mut self, first: usize) {
        while let Some(node) = self.open.pop() {
            self.component[node] = self.components;
            if node == first {
                break;
            }
        }
        self.components += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_reach_each_other_are_one_component() {
        let component = strongly_connected(&[vec![1], vec![2, 3], vec![0], vec![4], vec![]]);
        assert_eq!(component[0], component[1]);
        assert_eq!(component[1], component[2]);
        assert_ne!(component[2], component[3]);
        assert_ne!(component[3], component[4]);
    }

    #[test]
    fn a_chain_of_any_length_has_no_knot() {
        let chain: Vec<Vec<usize>> = (1..=100_000).map(|next| vec![next % 100_000]).collect();
        let mut open = chain.clone();
        open[99_999].clear();
        let count = |after: &[Vec<usize>]| {
            let mut component = strongly_connected(after);
            component.sort_unstable();
            component.dedup();
            component.len()
        };
        assert_eq!((count(&chain), count(&open)), (1, 100_000));
    }
}
