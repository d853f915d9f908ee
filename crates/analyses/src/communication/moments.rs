//! When the accesses of a graph happened, as far as it knows.
//!
//! Takes   a graph.      Gives  its nodes at their times, and the ends of its edges at theirs, by time and by thread.
//! Misses  what a node did before its last time, unless an edge remembers it.
//! Cost    one step per node and end; then one search per question.
//!
//! A node has one time, the last. Where several threads do the same work, that is the time of whoever came last, and the others
//! seem to have done nothing. Each edge knows when it last occurred, and who its two threads were: with these, more is known.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::interleaving_patterns::{Memory, Touch};

use super::regions::Region;
use super::result::{Edge, Graph};

/// The thread that a process begins with.
const FIRST_THREAD: u16 = 1;
/// Moments of each of an edge's two threads that are told in a region.
const NEAREST: usize = 5;
/// What is further away than so many moments is not near.
const FURTHEST: usize = 200;

/// An access at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub time: u32,
    pub thread: u16,
    /// Number of its node.
    pub node: u32,
    pub is_write: bool,
    pub memory: Memory,
}

impl Moment {
    /// A node the last time it happened.
    pub fn of_node(graph: &Graph, number: u32) -> Moment {
        let node = &graph.nodes[number as usize];
        Moment {
            time: node.time,
            thread: node.thread,
            node: number,
            is_write: node.touch != Touch::Read,
            memory: node.memory,
        }
    }

    /// Two threads at the same bytes, one of them writing.
    pub fn conflicts_with(&self, other: &Moment) -> bool {
        self.thread != other.thread
            && self.memory == other.memory
            && (self.is_write || other.is_write)
    }
}

/// The bytes that an edge is about; none if neither of its nodes has them any more.
pub fn location_of(graph: &Graph, edge: &Edge) -> Option<Memory> {
    let [source, sink] = [edge.source, edge.sink].map(|number| &graph.nodes[number as usize]);
    if sink.time == edge.sink_time || source.memory == sink.memory {
        return Some(sink.memory);
    }
    (source.time == edge.source_time).then_some(source.memory)
}

/// The ends of an edge when it last occurred, at these bytes.
pub fn ends_of(graph: &Graph, edge: &Edge, memory: Memory) -> [Moment; 2] {
    let end = |node: u32, time: u32, thread: u16| {
        let last = Moment::of_node(graph, node);
        Moment { time, thread, memory, ..last }
    };
    [
        end(edge.source, edge.source_time, edge.source_thread),
        end(edge.sink, edge.sink_time, edge.sink_thread),
    ]
}

/// All moments of a graph.
#[derive(Debug)]
pub struct Moments {
    /// By time.
    all: Vec<Moment>,
    /// For each thread the places of its moments.
    of_threads: FxHashMap<u16, Vec<u32>>,
}

impl Moments {
    pub fn of(graph: &Graph) -> Moments {
        let mut all: Vec<Moment> =
            (0..graph.nodes.len() as u32).map(|node| Moment::of_node(graph, node)).collect();
        let mut known: FxHashSet<u32> = all.iter().map(|moment| moment.time).collect();
        for edge in &graph.edges {
            if let Some(memory) = location_of(graph, edge) {
                let ends = ends_of(graph, edge, memory);
                all.extend(ends.into_iter().filter(|end| known.insert(end.time)));
            }
        }
        all.sort_unstable_by_key(|moment| moment.time);
        let mut of_threads: FxHashMap<u16, Vec<u32>> = FxHashMap::default();
        for (moment, place) in all.iter().zip(0..) {
            of_threads.entry(moment.thread).or_default().push(place);
        }
        Moments { all, of_threads }
    }

    /// Whether two threads were at work at the same time. A first thread that did nothing while the other was at work has
    /// started it and waited for it.
    pub fn were_both_at_work(&self, one: u16, other: u16) -> bool {
        let is_first = one == FIRST_THREAD || other == FIRST_THREAD;
        !is_first || self.works_during(one, other) && self.works_during(other, one)
    }

    /// Whether a thread did something between the first and the last that another did.
    fn works_during(&self, thread: u16, another: u16) -> bool {
        let (Some(own), Some(others)) =
            (self.of_threads.get(&thread), self.of_threads.get(&another))
        else {
            return false;
        };
        let first_during = own.partition_point(|&place| place < others[0]);
        own.get(first_during).is_some_and(|place| *place < others[others.len() - 1])
    }

    /// What an edge's two threads did right before or after it in a region, by time: in the body the source's thread right after the
    /// source, and the sink's right before the sink.
    pub fn nearest(&self, edge: &Edge, region: Region) -> Vec<Moment> {
        let before = |time: u32| self.all.partition_point(|moment| moment.time < time);
        let until = |time: u32| self.all.partition_point(|moment| moment.time <= time);
        let &Edge { source_thread, sink_thread, .. } = edge;
        let (from, to) = match region {
            Region::Prefix => (0, before(edge.source_time)),
            Region::Body => (until(edge.source_time), before(edge.sink_time)),
            Region::Suffix => (until(edge.sink_time), self.all.len()),
        };
        let first = |thread: u16| self.of_thread(thread, from, to.min(from + FURTHEST), false);
        let last =
            |thread: u16| self.of_thread(thread, from.max(to.saturating_sub(FURTHEST)), to, true);
        let mut near = match region {
            Region::Prefix => [last(source_thread), last(sink_thread)],
            Region::Body => [first(source_thread), last(sink_thread)],
            Region::Suffix => [first(source_thread), first(sink_thread)],
        }
        .concat();
        near.sort_unstable_by_key(|moment| moment.time);
        near
    }

    /// What other threads did from one time to another, if they were at work with both of an edge's threads.
    pub fn of_others(&self, edge: &Edge, from: u32, to: u32) -> Vec<Moment> {
        let place = |time: u32| self.all.partition_point(|moment| moment.time < time);
        let during = &self.all[place(from)..place(to.max(from))];
        let ends = [edge.source_thread, edge.sink_thread];
        let is_with_both = |moment: &&Moment| {
            !ends.contains(&moment.thread)
                && ends.iter().all(|&end| self.were_both_at_work(moment.thread, end))
        };
        during.iter().take(FURTHEST).filter(is_with_both).copied().collect()
    }

    /// The first or last moments of a thread between two places.
    fn of_thread(&self, thread: u16, from: usize, to: usize, from_the_end: bool) -> Vec<Moment> {
        let Some(own) = self.of_threads.get(&thread) else { return Vec::new() };
        let place = |at: usize| own.partition_point(|&place| (place as usize) < at);
        let here = &own[place(from)..place(to.max(from))];
        let chosen = match from_the_end {
            true => &here[here.len().saturating_sub(NEAREST)..],
            false => &here[..here.len().min(NEAREST)],
        };
        chosen.iter().map(|&place| self.all[place as usize]).collect()
    }
}
