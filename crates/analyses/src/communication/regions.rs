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

/// Nodes of each of an edge's two threads that are told in a region.
const NEAREST: usize = 3;
/// Nodes among which these are looked for.
const MOST_LOOKED_AT: usize = 200;

/// Those of `nodes`, sorted by time, that an edge's two threads passed right before or after it in a region: in the body the source's
/// thread right after the source, and the sink's right before the sink.
pub fn nearest<'g>(nodes: &'g [Node], edge: &Edge, region: Region) -> Vec<&'g Node> {
    let &Edge { source_thread, sink_thread, .. } = edge;
    let before = |time: u32| nodes.partition_point(|node| node.time < time);
    let until = |time: u32| nodes.partition_point(|node| node.time <= time);
    let last_of = |nodes: &'g [Node], thread: u16| first_of(nodes.iter().rev(), thread);
    let next_of = |nodes: &'g [Node], thread: u16| first_of(nodes.iter(), thread);
    let (mut near, others) = match region {
        Region::Prefix => {
            let prefix = &nodes[..before(edge.source_time)];
            (last_of(prefix, source_thread), last_of(prefix, sink_thread))
        }
        Region::Body => {
            let body = &nodes[until(edge.source_time)..before(edge.sink_time)];
            (next_of(body, source_thread), last_of(body, sink_thread))
        }
        Region::Suffix => {
            let suffix = &nodes[until(edge.sink_time)..];
            (next_of(suffix, source_thread), next_of(suffix, sink_thread))
        }
    };
    near.extend(others);
    near.sort_unstable_by_key(|node| node.time);
    near
}

fn first_of<'g>(nodes: impl Iterator<Item = &'g Node>, thread: u16) -> Vec<&'g Node> {
    nodes.take(MOST_LOOKED_AT).filter(|node| node.thread == thread).take(NEAREST).collect()
}
