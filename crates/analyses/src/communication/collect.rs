//! Collects the communication graphs of one run, recording by recording.

use rustc_hash::FxHashSet;
use unpick_recording::Recording;

use crate::code_tables::{CodeTables, Process};
use crate::interleaving_patterns::touch_of;
use crate::knowledge::Knowledge;

use super::GraphOptions;
use super::builder::{GraphBuilder, SharedAccess};
use super::context::CommunicationContext;
use super::draft::{DraftGraph, DraftNode, NodeNumber};
use super::result::{Edge, Graph, Node, RunGraphs, SeenAccess};
use super::touches::Touches;

/// Collects the graphs of one run.
#[derive(Debug)]
pub struct Collector {
    options: GraphOptions,
    code: CodeTables,
    graphs: Vec<Graph>,
    seen: FxHashSet<SeenAccess>,
    processes: u32,
    communications: u64,
    left_out: u64,
}

impl Collector {
    pub fn new(options: GraphOptions) -> Collector {
        Collector {
            options,
            code: CodeTables::new(),
            graphs: Vec::new(),
            seen: FxHashSet::default(),
            processes: 0,
            communications: 0,
            left_out: 0,
        }
    }

    /// Takes in one recording of the run.
    pub fn add(&mut self, recording: &Recording, knowledge: &dyn Knowledge) {
        let mut process = Process::new(recording, knowledge, self.processes);
        self.processes += 1;
        let touches = Touches::of(&process);
        let builder = self.build(&mut process, &touches);
        self.seen.extend(builder.seen());
        let draft = builder.graph;
        self.communications += draft.communications;
        self.left_out += draft.left_out;
        if !draft.edges().is_empty() {
            let graph = self.graph(&mut process, &draft, &touches);
            self.graphs.push(graph);
        }
    }

    fn build(&mut self, process: &mut Process<'_>, touches: &Touches) -> GraphBuilder {
        let mut builder = GraphBuilder::new(self.options);
        let mut locations = Vec::new();
        touches.for_each_access(|parts| {
            let first = &parts[0];
            locations.clear();
            locations.extend(parts.iter().map(|part| part.location));
            builder.take_in(&SharedAccess {
                thread: first.order.thread.0,
                site: self.code.site(process, first.site),
                stack: first.stack,
                kind: first.kind,
                locations: &locations,
            });
        });
        builder
    }

    fn graph(&mut self, process: &mut Process<'_>, draft: &DraftGraph, touches: &Touches) -> Graph {
        let mut by_time: Vec<_> = draft.nodes.told().collect();
        by_time.sort_unstable_by_key(|(_, _, _, node)| node.time);
        let mut new_numbers = vec![0; draft.nodes.bound()];
        let mut nodes = Vec::with_capacity(by_time.len());
        for (number, site, context, node) in by_time {
            new_numbers[number.get() as usize] = nodes.len() as u32;
            nodes.push(self.node(process, site, context, node, touches));
        }
        Graph { nodes, edges: edges_of(draft, &new_numbers) }
    }

    fn node(
        &mut self,
        process: &mut Process<'_>,
        site: u32,
        context: CommunicationContext,
        draft: &DraftNode,
        touches: &Touches,
    ) -> Node {
        let lived = touches.location(draft.location);
        Node {
            site,
            context,
            time: draft.time,
            thread: draft.thread,
            touch: touch_of(draft.kind),
            stack: self.code.stack(process, draft.stack),
            memory: self.code.memory_of(process, &lived),
            length: lived.bytes.end - lived.bytes.start,
            communicates: draft.communicates,
        }
    }

    /// The graphs of the run.
    pub fn finish(self) -> RunGraphs {
        let mut seen: Vec<SeenAccess> = self.seen.into_iter().collect();
        seen.sort_unstable();
        RunGraphs {
            options: self.options,
            modules: self.code.modules.things,
            sites: self.code.sites.things,
            stacks: self.code.stacks.things,
            blocks: self.code.blocks.things,
            graphs: self.graphs,
            seen,
            communications: self.communications,
            left_out: self.left_out,
        }
    }
}

/// The edges under the numbers that nodes have by time.
fn edges_of(draft: &DraftGraph, new_numbers: &[u32]) -> Vec<Edge> {
    let new = |number: NodeNumber| new_numbers[number.get() as usize];
    let edges = draft.edges().iter().map(|edge| Edge {
        source: new(edge.source),
        sink: new(edge.sink),
        source_time: edge.source_time,
        sink_time: edge.sink_time,
        source_thread: edge.source_thread,
        sink_thread: edge.sink_thread,
        count: edge.count.into(),
        before: edge.before.map(new),
        after: edge.after.map(new),
    });
    let mut edges: Vec<Edge> = edges.collect();
    edges.sort_unstable();
    edges
}
