//! The communication graph of one process while it is built.
//!
//! Takes   accesses and communications as the builder finds them.
//! Gives   nodes and edges by number, each with what is known of the last time.
//! Cost    a communication touches one cache line of each of its nodes, and two of its edge (`draft::{nodes, edges}`).

mod edges;
mod nodes;

use unpick_events::Context;
use unpick_events::access::PastKind;

use super::context::CommunicationContext;
use edges::Edges;
use nodes::Nodes;

pub use edges::DraftEdge;
pub use nodes::{DraftNode, NodeNumber};

/// An access to a location that has happened.
#[derive(Debug, Clone, Copy)]
pub struct PastAccess {
    pub thread: u16,
    pub kind: PastKind,
    pub time: u32,
    pub stack: Context,
    pub node: NodeNumber,
}

impl PastAccess {
    pub fn is_write(&self) -> bool {
        self.kind != PastKind::Read
    }
}

/// Nodes and edges.
#[derive(Debug, Default)]
pub struct DraftGraph {
    pub nodes: Nodes,
    edges: Edges,
    /// How often a write reached another thread's access.
    pub communications: u64,
    /// Those whose edge was left out.
    pub left_out: u64,
}

impl DraftGraph {
    /// The number of a node, which need not be told yet.
    pub fn node(&mut self, site: u32, context: CommunicationContext) -> NodeNumber {
        self.nodes.number_of(site, context)
    }

    pub fn edges(&self) -> &[DraftEdge] {
        self.edges.all()
    }

    /// The node of an access is told, and has happened again.
    pub fn note(&mut self, access: PastAccess, location: u32, communicates: bool) {
        let node = self.nodes.get_mut(access.node);
        // Neighbours do not change when a node of an edge last happened.
        let is_news = match (node.communicates, communicates) {
            (true, false) => false,
            (false, true) => true,
            _ => node.time < access.time,
        };
        if is_news {
            let PastAccess { thread, time, kind, stack, .. } = access;
            *node = DraftNode { time, thread, kind, stack, location, communicates };
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
        let Some(number) = self.edges.number_of(write.node, access.node) else {
            self.left_out += 1;
            return None;
        };
        if let Some(past) = before {
            self.note(past, location, false);
        }
        let edge = self.edges.get_mut(number);
        edge.count = edge.count.saturating_add(1);
        if (edge.sink_time, edge.source_time) > (access.time, write.time) {
            return None;
        }
        (edge.source_time, edge.sink_time) = (write.time, access.time);
        (edge.source_thread, edge.sink_thread) = (write.thread, access.thread);
        (edge.before, edge.after) = (before.map(|past| past.node), None);
        Some(number)
    }

    /// What the source's thread did after the sink of an edge.
    pub fn come_back(&mut self, edge: u32, to: NodeNumber) {
        self.edges.get_mut(edge).after = Some(to);
    }
}
