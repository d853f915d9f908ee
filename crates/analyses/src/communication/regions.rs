//! What stood around an edge in one process: before its source, between source and sink, after its sink.

use serde::{Deserialize, Serialize};

use super::result::{Edge, Graph, Node};

/// Where something stands in a reconstruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Region {
    /// Before the source.
    Prefix,
    /// Between source and sink.
    Body,
    /// After the sink.
    Suffix,
}

impl Region {
    pub const ALL: [Region; 3] = [Region::Prefix, Region::Body, Region::Suffix];
}

/// The nodes of a region, in order. Of a body of more than `most_in_body` the first and the last are given.
pub fn region<'g>(
    graph: &'g Graph,
    edge: &Edge,
    region: Region,
    around: usize,
    most_in_body: usize,
) -> (&'g [Node], &'g [Node]) {
    let nodes = &graph.nodes;
    let before = |time: u32| nodes.partition_point(|node| node.time < time);
    let until = |time: u32| nodes.partition_point(|node| node.time <= time);
    match region {
        Region::Prefix => {
            let end = before(edge.source_time);
            (&nodes[end.saturating_sub(around)..end], &[])
        }
        Region::Body => {
            let body = &nodes[until(edge.source_time)..before(edge.sink_time)];
            if body.len() <= most_in_body {
                return (body, &[]);
            }
            let half = most_in_body / 2;
            (&body[..half], &body[body.len() - half..])
        }
        Region::Suffix => {
            let begin = until(edge.sink_time);
            (&nodes[begin..nodes.len().min(begin + around)], &[])
        }
    }
}
