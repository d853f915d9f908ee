//! The edges of a graph while it is built, by the nodes at their ends.
//!
//! Takes   two nodes.      Gives  the number of the edge between them.
//! Misses  edges beyond the first million.
//! Cost    a look-up touches one cache line of the index, and that of the edge it finds. A table of keys would be six times as large,
//!         and look-ups wait for memory.

use super::nodes::NodeNumber;

/// More edges than anybody can rank; further ones are counted and left out.
const MOST_EDGES: usize = 1_000_000;

/// What is known of an edge of when it last occurred, and how often it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftEdge {
    pub source: NodeNumber,
    pub sink: NodeNumber,
    pub source_time: u32,
    pub sink_time: u32,
    pub source_thread: u16,
    pub sink_thread: u16,
    pub count: u32,
    /// The node of the sink's thread before the source at the same location.
    pub before: Option<NodeNumber>,
    /// The node of the source's thread after the sink at the same location.
    pub after: Option<NodeNumber>,
}

// Two in a cache line.
const _: () = assert!(size_of::<DraftEdge>() == 32);

impl DraftEdge {
    fn new(source: NodeNumber, sink: NodeNumber) -> DraftEdge {
        let (source_thread, sink_thread, source_time, sink_time, count) = Default::default();
        let (before, after) = (None, None);
        DraftEdge {
            source,
            sink,
            source_time,
            sink_time,
            source_thread,
            sink_thread,
            count,
            before,
            after,
        }
    }
}

/// An entry of the index: in the low bits one above the number of an edge, above them some of the bits of its hash, by which most
/// others are told apart without a look at the edge. 0: empty.
type Entry = u32;

const NUMBER_BITS: u32 = 20;
const NUMBER: u32 = (1 << NUMBER_BITS) - 1;
const TAG_BITS: u32 = Entry::BITS - NUMBER_BITS;
const _: () = assert!(MOST_EDGES <= NUMBER as usize);

/// Entries of the first index; always a power of two.
const FIRST_ENTRIES: usize = 1 << 10;

/// All edges, and where to find them.
#[derive(Debug)]
pub struct Edges {
    edges: Vec<DraftEdge>,
    /// At most half full. What does not find its place is put into the next that is free.
    index: Vec<Entry>,
}

impl Default for Edges {
    fn default() -> Self {
        Edges { edges: Vec::new(), index: vec![0; FIRST_ENTRIES] }
    }
}

impl Edges {
    pub fn all(&self) -> &[DraftEdge] {
        &self.edges
    }

    pub fn get_mut(&mut self, number: u32) -> &mut DraftEdge {
        &mut self.edges[number as usize]
    }

    /// The number of an edge, which is made if there is none; none if there are too many.
    pub fn number_of(&mut self, source: NodeNumber, sink: NodeNumber) -> Option<u32> {
        let is_it = |edge: &DraftEdge| (edge.source, edge.sink) == (source, sink);
        let hash = hash_of(source, sink);
        let (mut place, tag) = self.place_and_tag(hash);
        while self.index[place] != 0 {
            let (its_tag, number) =
                (self.index[place] >> NUMBER_BITS, (self.index[place] & NUMBER) - 1);
            if its_tag == tag && is_it(&self.edges[number as usize]) {
                return Some(number);
            }
            place = self.after(place);
        }
        if self.edges.len() >= MOST_EDGES {
            return None;
        }
        let number = self.edges.len() as u32;
        self.edges.push(DraftEdge::new(source, sink));
        self.index[place] = tag << NUMBER_BITS | (number + 1);
        if self.edges.len() * 2 > self.index.len() {
            self.grow();
        }
        Some(number)
    }

    fn grow(&mut self) {
        self.index = vec![0; self.index.len() * 2];
        for (edge, number) in self.edges.iter().zip(1..) {
            let (mut place, tag) = self.place_and_tag(hash_of(edge.source, edge.sink));
            while self.index[place] != 0 {
                place = self.after(place);
            }
            self.index[place] = tag << NUMBER_BITS | number;
        }
    }

    /// The upper bits of the hash say where, the next ones tell apart what is there.
    fn place_and_tag(&self, hash: u64) -> (usize, u32) {
        let bits = self.index.len().trailing_zeros();
        let place = (hash >> (u64::BITS - bits)) as usize;
        let tag = (hash << bits >> (u64::BITS - TAG_BITS)) as u32;
        (place, tag)
    }

    fn after(&self, place: usize) -> usize {
        (place + 1) & (self.index.len() - 1)
    }
}

/// The upper bits of a product depend on all bits of both numbers.
fn hash_of(source: NodeNumber, sink: NodeNumber) -> u64 {
    let both = u64::from(source.get()) << 32 | u64::from(sink.get());
    (both ^ both >> 29).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u32) -> NodeNumber {
        NodeNumber::new(number).unwrap()
    }

    #[test]
    fn every_edge_keeps_its_number_while_the_index_grows() {
        let mut edges = Edges::default();
        let pairs: Vec<_> = (1..=100)
            .flat_map(|one| (1..=100).map(move |other| (node(one), node(other * 64))))
            .collect();
        let numbers: Vec<_> =
            pairs.iter().map(|&(source, sink)| edges.number_of(source, sink)).collect();
        assert_eq!(numbers, (0..10_000).map(Some).collect::<Vec<_>>());
        for (&(source, sink), number) in pairs.iter().zip(0..) {
            assert_eq!(edges.number_of(source, sink), Some(number));
            assert_eq!(
                (edges.all()[number as usize].source, edges.all()[number as usize].sink),
                (source, sink)
            );
        }
        assert_eq!(edges.all().len(), pairs.len());
    }

    #[test]
    fn beyond_the_bound_only_those_that_are_there_are_found() {
        let mut edges = Edges::default();
        for number in 1..=MOST_EDGES as u32 {
            assert!(edges.number_of(node(number), node(1)).is_some());
        }
        assert_eq!(edges.number_of(node(1), node(2)), None);
        assert_eq!(edges.number_of(node(MOST_EDGES as u32), node(1)), Some(MOST_EDGES as u32 - 1));
        assert_eq!(edges.all().len(), MOST_EDGES);
    }
}
