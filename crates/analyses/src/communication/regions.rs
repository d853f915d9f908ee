//! What stood around an edge in one process: before its source, between source and sink, after its sink.

use serde::{Deserialize, Serialize};

use super::result::{Edge, Node};

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

/// Those of `nodes`, sorted by time, that are in a region. Of a body of more than `most_in_body` the first and the last are given.
pub fn region<'g>(
    nodes: &'g [Node],
    edge: &Edge,
    region: Region,
    around: usize,
    most_in_body: usize,
) -> (&'g [Node], &'g [Node]) {
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
