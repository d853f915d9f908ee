//! Gathers what stood around the chosen edges in failing runs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ranking::{CodeBook, CodeReading, ExampleAccess, Translation};

use super::reconstruct::{EdgeKey, Limits, Member, NodeKey, Reconstruction};
use super::regions::{Region, region};
use super::result::{Edge, Graph, Node, RunGraphs};
use super::tally::{Occurrence, edge_key, node_key};

/// What is gathered around the chosen edges.
pub struct Gathering {
    limits: Limits,
    places: FxHashMap<EdgeKey, usize>,
    pub around: Vec<Around>,
    examples: FxHashMap<NodeKey, ExampleAccess>,
    runs: u32,
}

/// What stood around one edge.
#[derive(Debug, Default)]
pub struct Around {
    members: FxHashMap<(Region, NodeKey), MemberTally>,
}

#[derive(Debug, Clone, Copy, Default)]
struct MemberTally {
    runs: u32,
    /// The last run that was counted, from 1.
    last_run: u32,
    with_source: u32,
    with_sink: u32,
    /// Sum over the runs of where it stood in its region, from 0 to 1.
    places: f64,
}

impl Gathering {
    pub fn of(chosen: &[(EdgeKey, Occurrence)], limits: Limits) -> Gathering {
        let places = chosen.iter().map(|(key, _)| *key).zip(0..).collect();
        let around = chosen.iter().map(|_| Around::default()).collect();
        Gathering { limits, places, around, examples: FxHashMap::default(), runs: 0 }
    }

    /// Takes in a failing run.
    pub fn add(&mut self, run: &RunGraphs, code: &mut CodeBook) {
        self.runs += 1;
        let translation = code.enter_code(&run.modules, &run.sites);
        let reading =
            CodeReading { stacks: &run.stacks, blocks: &run.blocks, translation: &translation };
        for (graph, process) in run.graphs.iter().zip(0..) {
            for edge in &graph.edges {
                let key = edge_key(graph, edge, &translation);
                if let Some(&place) = self.places.get(&key) {
                    self.add_around(place, graph, edge, &translation);
                }
            }
            graph.nodes.iter().for_each(|node| self.add_example(node, process, &reading));
        }
    }

    fn add_around(&mut self, place: usize, graph: &Graph, edge: &Edge, translation: &Translation) {
        let threads = [edge.source, edge.sink].map(|number| graph.nodes[number as usize].thread);
        for at in Region::ALL {
            let (first, rest) = region(graph, edge, at, self.limits.around, self.limits.body);
            let all = (first.len() + rest.len()).max(1) as f64;
            for (node, number) in first.iter().chain(rest).zip(0_u32..) {
                let key = (at, node_key(node, translation));
                let member = self.around[place].members.entry(key).or_default();
                if member.last_run != self.runs {
                    member.last_run = self.runs;
                    member.runs += 1;
                    member.with_source += u32::from(node.thread == threads[0]);
                    member.with_sink += u32::from(node.thread == threads[1]);
                    member.places += f64::from(number) / all;
                }
            }
        }
    }

    /// An example with known calls is better than one without.
    fn add_example(&mut self, node: &Node, process: u32, reading: &CodeReading<'_>) {
        let key = node_key(node, reading.translation);
        let known = self.examples.get(&key).map(|example| !example.stack.is_empty());
        if known.is_none_or(|known| !known && node.stack != 0) {
            let example = ExampleAccess {
                process,
                thread: node.thread,
                touch: node.touch,
                atomic: false,
                library: false,
                site: key.site,
                stack: reading.stack(node.stack),
                locks: Vec::new(),
                index: node.time,
                memory: reading.memory(&node.memory),
                length: node.length,
                whole_length: 0,
            };
            self.examples.insert(key, example);
        }
    }

    pub fn examples_of(mut self, ranked: &[Reconstruction]) -> FxHashMap<NodeKey, ExampleAccess> {
        let mut shown: FxHashSet<NodeKey> = FxHashSet::default();
        for one in ranked {
            shown.extend([one.edge.source, one.edge.sink]);
            shown.extend(one.members.iter().flatten().map(|member| member.node));
        }
        self.examples.retain(|node, _| shown.contains(node));
        self.examples
    }
}

impl Around {
    /// The nodes of a region that are in at least half as many runs as the one that is in most.
    pub fn members(&self, region: Region, runs: u32) -> Vec<Member> {
        let here = self.members.iter().filter(|((at, _), _)| *at == region);
        let here: Vec<_> = here.map(|((_, node), tally)| (*node, *tally)).collect();
        let most = here.iter().map(|(_, tally)| tally.runs).max().unwrap_or(0);
        let mut kept: Vec<_> =
            here.into_iter().filter(|(_, tally)| tally.runs * 2 >= most).collect();
        kept.sort_unstable_by(|(one, ones), (other, others)| {
            let place = |tally: &MemberTally| tally.places / f64::from(tally.runs);
            place(ones).total_cmp(&place(others)).then(one.cmp(other))
        });
        kept.into_iter()
            .map(|(node, tally)| Member {
                node,
                confidence: f64::from(tally.runs) / f64::from(runs.max(1)),
                with_source: tally.with_source,
                with_sink: tally.with_sink,
                runs: tally.runs,
            })
            .collect()
    }
}
