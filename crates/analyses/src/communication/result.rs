//! What is kept of a run's communication: its graphs, and the tables they refer to.
//!
//! Code and memory are told as in `RunPatterns`: in terms that hold beyond the process, so that the recordings may be dropped.

use serde::{Deserialize, Serialize};

use crate::interleaving_patterns::{Block, CodeModule, CodeSite, Memory, Touch};

use super::GraphOptions;
use super::context::CommunicationContext;

/// The communication graphs of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunGraphs {
    pub options: GraphOptions,
    pub modules: Vec<CodeModule>,
    pub sites: Vec<CodeSite>,
    /// Call stacks: numbers of sites, outermost first. Number 0 is the unknown one, which is empty.
    pub stacks: Vec<Vec<u32>>,
    pub blocks: Vec<Block>,
    /// One per recording in which threads communicated: times of two processes cannot be compared.
    pub graphs: Vec<Graph>,
    /// Sorted.
    pub seen: Vec<SeenAccess>,
    /// How many communications there were.
    pub communications: u64,
    /// Communications that were left out because a process had too many edges; 0: complete.
    pub left_out: u64,
}

/// Who communicated with whom in one process.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Graph {
    /// By time.
    pub nodes: Vec<Node>,
    /// Sorted.
    pub edges: Vec<Edge>,
}

/// Code in a communication context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    pub site: u32,
    pub context: CommunicationContext,
    /// When it last happened: the number of the access among those to shared bytes.
    pub time: u32,
    /// Of that time, like all that follows.
    pub thread: u16,
    pub touch: Touch,
    pub stack: u32,
    pub memory: Memory,
    pub length: u64,
    /// It is an end of an edge; else it only stood beside one.
    pub communicates: bool,
}

/// A write that an access of another thread met: numbers of both nodes, and when that last happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edge {
    pub source: u32,
    pub sink: u32,
    pub source_time: u32,
    pub sink_time: u32,
    pub source_thread: u16,
    pub sink_thread: u16,
    /// How often.
    pub count: u64,
    /// The last access of the sink's thread to the same location before the source.
    pub before: Option<u32>,
    /// The next access of the source's thread to the same location after the sink.
    pub after: Option<u32>,
}

/// An access by its site alone: what CCI looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct SeenAccess {
    pub site: u32,
    /// The access before it to the same bytes was another thread's.
    pub remote: bool,
}
