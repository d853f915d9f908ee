//! The search: from each request on to those that hold what it asks for, until one asks for what the first one holds.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use unpick_events::Site;
use unpick_recording::Recording;

use super::lives::Lock;
use super::requests::Request;
use super::{Cycle, Link, LockOrder, MOST_STEPS, MOST_THREADS};
use crate::thread_order::ThreadOrder;

/// Where each thread took the lock that the one before asks for, and where it asks itself; from the lowest on.
type Places = Vec<(Site, Site)>;

pub fn search(requests: &[Request], recording: &Recording) -> LockOrder {
    let mut search = Search {
        requests,
        holders: holders(requests),
        order: ThreadOrder::of(recording),
        found: BTreeMap::new(),
        way: Vec::new(),
        steps: 0,
    };
    for start in 0..requests.len() {
        search.way.push(start);
        search.go_on();
        search.way.pop();
    }
    search.finish()
}

/// Which requests were made while a lock was held.
fn holders(requests: &[Request]) -> FxHashMap<Lock, Vec<usize>> {
    let mut holders: FxHashMap<Lock, Vec<usize>> = FxHashMap::default();
    for (number, request) in requests.iter().enumerate() {
        for held in &request.held {
            let of_lock = holders.entry(held.lock).or_default();
            // A recursive lock is held more than once.
            if of_lock.last() != Some(&number) {
                of_lock.push(number);
            }
        }
    }
    holders
}

struct Search<'s> {
    requests: &'s [Request],
    holders: FxHashMap<Lock, Vec<usize>>,
    order: ThreadOrder,
    found: BTreeMap<Places, Found>,
    /// Requests, each of which asks for what the next one holds.
    way: Vec<usize>,
    steps: u64,
}

struct Found {
    first: Vec<usize>,
    ways: u64,
}

impl<'s> Search<'s> {
    fn request(&self, at: usize) -> &'s Request {
        &self.requests[self.way[at]]
    }

    fn go_on(&mut self) {
        let (first, last) = (self.request(0), self.request(self.way.len() - 1));
        if self.way.len() > 1 && first.in_the_way_of(&last.wanted).is_some() {
            self.note();
        }
        if self.way.len() == MOST_THREADS {
            return;
        }
        let candidates = self.holders.get(&last.wanted.lock).cloned().unwrap_or_default();
        for candidate in candidates {
            if self.steps == MOST_STEPS {
                return;
            }
            self.steps += 1;
            if self.may_follow(&self.requests[candidate]) {
                self.way.push(candidate);
                self.go_on();
                self.way.pop();
            }
        }
    }

    /// Whether a request can be open while all on the way are, and asks for something that none of them does. The first one is that of
    /// the lowest thread, so that every cycle is found once.
    fn may_follow(&self, next: &Request) -> bool {
        let (first, last) = (self.request(0), self.request(self.way.len() - 1));
        next.thread > first.thread
            && next.in_the_way_of(&last.wanted).is_some()
            && (0..self.way.len()).all(|at| self.are_compatible(self.request(at), next))
    }

    fn are_compatible(&self, one: &Request, other: &Request) -> bool {
        one.thread != other.thread
            && one.wanted.lock != other.wanted.lock
            && !one.has_common_lock_with(other)
            && !self.order.puts_before(one.moment(), other.moment())
            && !self.order.puts_before(other.moment(), one.moment())
    }

    fn note(&mut self) {
        let links = links(self.requests, &self.way);
        let places = links.iter().map(|link| (link.contended_lock().site, link.wanted.site));
        let places = lowest_rotation(places.collect());
        let first = self.way.clone();
        self.found.entry(places).or_insert(Found { first, ways: 0 }).ways += 1;
    }

    fn finish(self) -> LockOrder {
        let mut found: Vec<Found> = self.found.into_values().collect();
        found.sort_by(|one, other| {
            (one.first.len(), &one.first).cmp(&(other.first.len(), &other.first))
        });
        let cycle =
            |found: Found| Cycle { links: links(self.requests, &found.first), ways: found.ways };
        LockOrder {
            cycles: found.into_iter().map(cycle).collect(),
            is_cut: self.steps == MOST_STEPS,
        }
    }
}

fn links(requests: &[Request], way: &[usize]) -> Vec<Link> {
    let before = way.iter().cycle().skip(way.len() - 1);
    let link = |(&at, &before): (&usize, &usize)| {
        let request = &requests[at];
        let contended = request.in_the_way_of(&requests[before].wanted).unwrap_or(0);
        Link {
            thread: request.thread,
            wanted: request.wanted.told,
            held: request.held.iter().map(|held| held.told).collect(),
            contended,
        }
    };
    way.iter().zip(before).map(link).collect()
}

fn lowest_rotation(places: Places) -> Places {
    let rotated = |by: usize| {
        let mut rotated = places.clone();
        rotated.rotate_left(by);
        rotated
    };
    (0..places.len()).map(rotated).min().unwrap_or_default()
}
