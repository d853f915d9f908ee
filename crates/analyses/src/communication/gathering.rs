//! Gathers what stood around the chosen edges in failing runs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ranking::{CodeBook, CodeReading, ExampleAccess, Translation};

use super::context::CONTEXT_LENGTH;
use super::reconstruct::{Contexts, EdgeKey, Limits, Member, NodeKey, Reconstruction};
use super::regions::{Region, nearest, region};
use super::result::{Edge, Graph, Node, RunGraphs};
use super::tally::{Occurrence, edge_keys, length_of, lengths, node_key};

/// What stands somewhere in a smaller share of runs is chance, even if nothing else is there.
const LEAST: f64 = 0.25;

/// What is gathered around the chosen edges.
pub struct Gathering {
    limits: Limits,
    leading: usize,
    /// Of the contexts of each edge.
    lengths: Vec<u8>,
    places: FxHashMap<EdgeKey, usize>,
    pub around: Vec<Around>,
    /// By site.
    examples: FxHashMap<u32, ExampleAccess>,
    runs: u32,
}

/// What stood around one edge.
#[derive(Debug, Default)]
pub struct Around {
    members: FxHashMap<(Region, NodeKey), MemberTally>,
    /// Sum over the runs of how early its sink was among those that go as well with failing: 1 for the first.
    earliness: f64,
    occurrences: u32,
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
    /// The first `leading` edges go about as well with failing as the best.
    pub fn of(chosen: &[(EdgeKey, Occurrence)], leading: usize, limits: Limits) -> Gathering {
        let places = chosen.iter().map(|(key, _)| *key).zip(0..).collect();
        let around = chosen.iter().map(|_| Around::default()).collect();
        let lengths = chosen.iter().map(|(key, _)| length_of(key)).collect();
        Gathering {
            limits,
            leading,
            lengths,
            places,
            around,
            examples: FxHashMap::default(),
            runs: 0,
        }
    }

    /// Takes in a failing run.
    pub fn add(&mut self, run: &RunGraphs, code: &mut CodeBook) {
        self.runs += 1;
        let translation = code.enter_code(&run.modules, &run.sites);
        let reading =
            CodeReading { stacks: &run.stacks, blocks: &run.blocks, translation: &translation };
        let by_sites = self.limits.contexts == Contexts::AnyLength;
        for (graph, process) in run.graphs.iter().zip(0..) {
            let is_told = |node: &&Node| by_sites || node.communicates;
            let nodes: Vec<Node> = graph.nodes.iter().filter(is_told).copied().collect();
            let latest = self.latest(graph, &translation);
            self.add_earliness(&latest);
            for (place, edge) in latest {
                self.add_around(place, graph, &nodes, edge, &translation);
            }
            graph.nodes.iter().for_each(|node| self.add_example(node, process, &reading));
        }
    }

    /// For each chosen edge that a graph has, its latest occurrence: with shorter contexts, several edges can be the same.
    fn latest<'g>(
        &self,
        graph: &'g Graph,
        translation: &Translation,
    ) -> FxHashMap<usize, &'g Edge> {
        let mut latest: FxHashMap<usize, &Edge> = FxHashMap::default();
        for edge in &graph.edges {
            for key in edge_keys(graph, edge, translation, lengths(self.limits.contexts)) {
                if let Some(&place) = self.places.get(&key) {
                    let known = latest.entry(place).or_insert(edge);
                    if known.sink_time < edge.sink_time {
                        *known = edge;
                    }
                }
            }
        }
        latest
    }

    /// Those that go about as well with failing are rivals, but for those that need longer contexts to do so.
    fn add_earliness(&mut self, latest: &FxHashMap<usize, &Edge>) {
        let rivals = latest.iter().filter(|(place, _)| **place < self.leading);
        let rivals: Vec<(u8, u32)> =
            rivals.map(|(&place, edge)| (self.lengths[place], edge.sink_time)).collect();
        for (&place, edge) in latest {
            let length = self.lengths[place];
            let is_before = |&&(other, sink): &&(u8, u32)| other <= length && sink < edge.sink_time;
            let earlier = rivals.iter().filter(is_before).count();
            self.around[place].earliness += 1.0 / (1 + earlier) as f64;
            self.around[place].occurrences += 1;
        }
    }

    fn add_around(
        &mut self,
        place: usize,
        graph: &Graph,
        nodes: &[Node],
        edge: &Edge,
        translation: &Translation,
    ) {
        // What tells members apart.
        let length = match self.limits.contexts {
            Contexts::Whole => CONTEXT_LENGTH,
            Contexts::AnyLength => 0,
        };
        for at in Region::ALL {
            let here = self.told_in(at, graph, nodes, edge);
            let all = here.len().max(1) as f64;
            for (node, number) in here.into_iter().zip(0_u32..) {
                let key = (at, node_key(node, translation, length));
                let member = self.around[place].members.entry(key).or_default();
                if member.last_run != self.runs {
                    member.last_run = self.runs;
                    member.runs += 1;
                    member.with_source += u32::from(node.thread == edge.source_thread);
                    member.with_sink += u32::from(node.thread == edge.sink_thread);
                    member.places += f64::from(number) / all;
                }
            }
        }
    }

    /// The nodes that are told in a region, by time.
    fn told_in<'g>(
        &self,
        at: Region,
        graph: &'g Graph,
        nodes: &'g [Node],
        edge: &Edge,
    ) -> Vec<&'g Node> {
        if self.limits.contexts == Contexts::Whole {
            let (first, rest) = region(nodes, edge, at, self.limits.around, self.limits.body);
            return first.iter().chain(rest).collect();
        }
        let mut near = nearest(nodes, edge, at);
        near.extend(own_access(graph, edge, at));
        near.sort_unstable_by_key(|node| node.time);
        near.dedup_by_key(|node| node.time);
        near
    }

    /// An example with known calls is better than one without.
    fn add_example(&mut self, node: &Node, process: u32, reading: &CodeReading<'_>) {
        let site = reading.site(node.site);
        let known = self.examples.get(&site).map(|example| !example.stack.is_empty());
        if known.is_none_or(|known| !known && node.stack != 0) {
            let example = example_of(node, process, reading);
            self.examples.insert(site, example);
        }
    }

    pub fn examples_of(mut self, ranked: &[Reconstruction]) -> FxHashMap<u32, ExampleAccess> {
        let mut shown: FxHashSet<u32> = FxHashSet::default();
        for one in ranked {
            shown.extend([one.edge.source.site, one.edge.sink.site]);
            shown.extend(one.members.iter().flatten().map(|member| member.node.site));
        }
        self.examples.retain(|site, _| shown.contains(site));
        self.examples
    }
}

impl Around {
    pub fn earliness(&self) -> f64 {
        self.earliness / f64::from(self.occurrences.max(1))
    }

    /// The nodes of a region that are in at least half as many runs as the one that is in most, and in not too few.
    pub fn members(&self, region: Region, runs: u32, contexts: Contexts) -> Vec<Member> {
        let least = match contexts {
            Contexts::Whole => 0.0,
            Contexts::AnyLength => LEAST,
        };
        let here = self.members.iter().filter(|((at, _), _)| *at == region);
        let here: Vec<_> = here.map(|((_, node), tally)| (*node, *tally)).collect();
        let most = here.iter().map(|(_, tally)| tally.runs).max().unwrap_or(0);
        let mut kept: Vec<_> = here
            .into_iter()
            .filter(|(_, tally)| {
                tally.runs * 2 >= most && f64::from(tally.runs) >= least * f64::from(runs)
            })
            .collect();
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

/// What the sink's thread did to the location before the source, and the source's after the sink: not in the paper.
fn own_access<'g>(graph: &'g Graph, edge: &Edge, region: Region) -> Option<&'g Node> {
    let number = match region {
        Region::Prefix => edge.before,
        Region::Body => None,
        Region::Suffix => edge.after,
    };
    number.map(|number| &graph.nodes[number as usize])
}

impl RunGraphs {
    /// All nodes of a run as accesses, with the numbers of a code book, which the run is entered into.
    pub fn accesses(&self, code: &mut CodeBook) -> Vec<ExampleAccess> {
        let translation = code.enter_code(&self.modules, &self.sites);
        let reading =
            CodeReading { stacks: &self.stacks, blocks: &self.blocks, translation: &translation };
        let nodes = self
            .graphs
            .iter()
            .zip(0..)
            .flat_map(|(graph, process)| graph.nodes.iter().map(move |node| (node, process)));
        nodes.map(|(node, process)| example_of(node, process, &reading)).collect()
    }
}

fn example_of(node: &Node, process: u32, reading: &CodeReading<'_>) -> ExampleAccess {
    ExampleAccess {
        process,
        thread: node.thread,
        touch: node.touch,
        atomic: false,
        library: false,
        site: reading.site(node.site),
        stack: reading.stack(node.stack),
        locks: Vec::new(),
        index: node.time,
        memory: reading.memory(&node.memory),
        length: node.length,
        whole_length: 0,
    }
}
