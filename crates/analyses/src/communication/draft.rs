//! The communication graph of one process while it is built.
//!
//! Takes   accesses and communications as the builder finds them.
//! Gives   nodes and edges by number, each with what is known of the last time.
//! Cost    one look-up per access, one per communication.

use rustc_hash::FxHashMap;
use unpick_events::Context;
use unpick_events::access::PastKind;

use super::context::CommunicationContext;

/// More edges than anybody can rank; further ones are counted and left out.
const MOST_EDGES: usize = 1_000_000;

/// A node while the graph is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DraftNode {
    pub site: u32,
    pub context: CommunicationContext,
    /// When it last happened, as part of an edge: number of the access among all. 0: it is not told.
    pub time: u32,
    /// Of that time.
    pub thread: u16,
    pub kind: PastKind,
    pub stack: Context,
    pub location: u32,
    /// It is part of an edge; else only a neighbour of one.
    pub communicates: bool,
}

/// What is known of an edge of when it last occurred, and how often it did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DraftEdge {
    /// Numbers of its nodes.
    pub source: u32,
    pub sink: u32,
    pub source_time: u32,
    pub sink_time: u32,
    pub source_thread: u16,
    pub sink_thread: u16,
    pub count: u64,
    /// The node of the sink's thread before the source at the same location.
    pub before: Option<u32>,
    /// The node of the source's thread after the sink at the same location.
    pub after: Option<u32>,
}

/// An access to a location that has happened.
#[derive(Debug, Clone, Copy)]
pub struct PastAccess {
    pub thread: u16,
    pub kind: PastKind,
    pub time: u32,
    pub stack: Context,
    /// Number of its node.
    pub node: u32,
}

impl PastAccess {
    pub fn is_write(&self) -> bool {
        self.kind != PastKind::Read
    }
}

/// The number of every node by site and context. Look-ups are most of the work of building a graph: each is one place in memory, near
/// those of the same site, which a hash would scatter.
#[derive(Debug, Default)]
struct NodeNumbers {
    /// By site: for each part of its contexts one above the number of their page; 0 if there is none yet.
    sites: Vec<[u32; PAGES]>,
    /// One above the number of each node; 0 if there is none yet.
    pages: Vec<[u32; PAGE]>,
}

/// Contexts of a page.
const PAGE: usize = 64;
const PAGES: usize = CommunicationContext::COUNT.div_ceil(PAGE);

impl NodeNumbers {
    fn get_or_insert(&mut self, site: u32, context: CommunicationContext, next: u32) -> u32 {
        let (site, context) = (site as usize, context.number());
        if site >= self.sites.len() {
            self.sites.resize(site + 1, [0; PAGES]);
        }
        let page = &mut self.sites[site][context / PAGE];
        if *page == 0 {
            self.pages.push([0; PAGE]);
            *page = self.pages.len() as u32;
        }
        let number = &mut self.pages[*page as usize - 1][context % PAGE];
        if *number == 0 {
            *number = next + 1;
        }
        *number - 1
    }
}

/// Nodes and edges.
#[derive(Debug, Default)]
pub struct DraftGraph {
    node_numbers: NodeNumbers,
    pub nodes: Vec<DraftNode>,
    edge_numbers: FxHashMap<(u32, u32), u32>,
    pub edges: Vec<DraftEdge>,
    /// How often a write reached another thread's access.
    pub communications: u64,
    /// Those whose edge was left out.
    pub left_out: u64,
}

impl DraftGraph {
    /// The number of a node, which is not told yet.
    pub fn node(&mut self, site: u32, context: CommunicationContext) -> u32 {
        let next = self.nodes.len() as u32;
        let number = self.node_numbers.get_or_insert(site, context, next);
        if number == next {
            self.nodes.push(DraftNode {
                site,
                context,
                time: 0,
                thread: 0,
                kind: PastKind::Read,
                stack: Context(0),
                location: 0,
                communicates: false,
            });
        }
        number
    }

    /// The node of an access is told, and has happened again.
    pub fn note(&mut self, access: PastAccess, location: u32, communicates: bool) {
        let node = &mut self.nodes[access.node as usize];
        // Neighbours do not change when a node of an edge last happened.
        let is_news = match (node.communicates, communicates) {
            (true, false) => false,
            (false, true) => true,
            _ => node.time < access.time,
        };
        if is_news {
            let PastAccess { thread, time, kind, stack, .. } = access;
            *node = DraftNode { time, thread, kind, stack, location, communicates, ..*node };
        }
    }

    /// A write has reached an access; `before` is what the access's thread had done there before the write. Gives the number of the edge
    /// if this is the last time it occurred.
    pub fn communicate(
        &mut self,
        write: PastAccess,
        access: PastAccess,
        before: Option<PastAccess>,
        location: u32,
    ) -> Option<u32> {
        self.communications += 1;
        self.note(write, location, true);
        self.note(access, location, true);
        let Some(number) = self.edge(write.node, access.node) else {
            self.left_out += 1;
            return None;
        };
        if let Some(past) = before {
            self.note(past, location, false);
        }
        let edge = &mut self.edges[number as usize];
        edge.count += 1;
        if (edge.sink_time, edge.source_time) > (access.time, write.time) {
            return None;
        }
        (edge.source_time, edge.sink_time) = (write.time, access.time);
        (edge.source_thread, edge.sink_thread) = (write.thread, access.thread);
        (edge.before, edge.after) = (before.map(|past| past.node), None);
        Some(number)
    }

    /// The number of an edge; none if there are too many.
    fn edge(&mut self, source: u32, sink: u32) -> Option<u32> {
        let ends = (source, sink);
        let next = self.edges.len();
        if next >= MOST_EDGES {
            return self.edge_numbers.get(&ends).copied();
        }
        let number = *self.edge_numbers.entry(ends).or_insert(next as u32);
        if number as usize == next {
            self.edges.push(DraftEdge { source, sink, ..DraftEdge::default() });
        }
        Some(number)
    }
}
