//! Communication graphs: which write reached which access of another thread, and what both threads had just been through.
//!
//! Takes   the recordings of one run (`Collector`); then the graphs of all labelled runs (`reconstruct`, pure).
//! Gives   `RunGraphs`: per process nodes (code site, communication context) with the time they last happened, and edges from a
//!         write to an access by another thread that met it; then `Reconstructions`: for the most suspicious edges what stood
//!         before, between and after, with confidences, scores and ranks. `baselines` has the rankings of Bugaboo and CCI beside it.
//! Misses  what a node or edge did before its last time; accesses the recording kept no trace of; communication between processes.
//! Invents neighbours that have nothing to do with an edge: confidences tell them apart.
//! Cost    one step per access and location, three look-ups per communication; memory for the accesses of one process (`collect`).
//!         One look-up per edge and run (`reconstruct`).
//!
//! Method: Recon (Lucia, Wood, Ceze 2011) over the context-aware graphs of Bugaboo (2009). Settled where the paper is silent:
//! - Node and record have the context as it was before the access itself went into it.
//! - Where nobody has written yet there is nobody to communicate with: no edge and no context, but readers are remembered as
//!   sharers, and the first write tells them. So what a recording keeps silent about is silent here as well.
//! - A thread is not told of its own write as of a remote one, though it be among the sharers.
//! - An access to several locations is one event in its own context, and one in that of every thread it concerns.

mod baselines;
mod builder;
mod collect;
mod context;
mod draft;
mod encoding;
mod entries;
mod features;
mod gathering;
mod lives;
mod moments;
mod reconstruct;
mod regions;
mod result;
mod stamps;
mod stretches;
mod tally;
mod touches;
mod way_back;

pub use baselines::{AccessRank, EdgeRank, by_accesses, by_edges};
pub use builder::{GraphBuilder, SharedAccess};
pub use collect::Collector;
pub use context::{CONTEXT_LENGTH, CommunicationContext, Happening};
pub use reconstruct::{
    Contexts, EdgeKey, LabelledGraphs, Limits, Member, NodeKey, Reconstruction, Reconstructions,
    reconstruct,
};
pub use regions::Region;
pub use result::{Edge, Graph, Node, RunGraphs, SeenAccess};
pub use way_back::WayBack;

use serde::{Deserialize, Serialize};

/// Which accesses are looked at. Each choice saves work and may lose or falsify edges. First reads are the default: which later reads a
/// recording knows depends on whether somebody writes after them, and what comes after must not change contexts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GraphOptions {
    /// Of the reads of a thread only the first after another's write.
    pub first_read_only: bool,
    /// A thread that wrote last does not say so again: its earlier write stands for all.
    pub first_write_only: bool,
    /// For so many accesses after another thread wrote, the last writer before it still takes itself for the last: what a look-up
    /// without a lock can do. 0: never.
    pub racy_lookup: u32,
}

impl GraphOptions {
    /// Every access that the recording knows.
    pub const ALL: GraphOptions =
        GraphOptions { first_read_only: false, first_write_only: false, racy_lookup: 0 };
}

impl Default for GraphOptions {
    fn default() -> Self {
        GraphOptions { first_read_only: true, ..GraphOptions::ALL }
    }
}
