//! Gathers what stood around the chosen edges in failing runs.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ranking::{CodeBook, CodeReading, ExampleAccess, Translation};

use super::context::CONTEXT_LENGTH;
use super::reconstruct::{Contexts, EdgeKey, Limits, Member, NodeKey, Reconstruction};
use super::regions::{Region, region};
use super::result::{Edge, Graph, Node, RunGraphs};
use super::tally::{Keys, Occurrence, length_of, node_key};
use super::way_back::Scene;

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
    /// In how many of them both threads were at work.
    overlap: u32,
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
        for (graph, process) in run.graphs.iter().zip(0..) {
            let keys = Keys::new(graph, &translation, self.limits.contexts);
            let latest = self.latest(graph, &keys);
            self.add_earliness(&latest);
            match &keys.moments {
                Some(moments) => {
                    for (place, edge) in latest {
                        let scene = Scene::of(graph, moments, edge);
                        self.around[place].overlap += u32::from(scene.were_both_at_work);
                        let told = scene.told();
                        let here = |region: Region| {
                            told[region as usize]
                                .iter()
                                .map(|moment| (&graph.nodes[moment.node as usize], moment.thread))
                                .collect()
                        };
                        self.add_around(place, edge, here, &translation);
                    }
                }
                None => self.add_as_in_paper(graph, latest, &translation),
            }
            graph.nodes.iter().for_each(|node| self.add_example(node, process, &reading));
        }
    }

    fn add_as_in_paper(
        &mut self,
        graph: &Graph,
        latest: FxHashMap<usize, &Edge>,
        translation: &Translation,
    ) {
        let Limits { around, body, .. } = self.limits;
        let nodes: Vec<Node> =
            graph.nodes.iter().filter(|node| node.communicates).copied().collect();
        for (place, edge) in latest {
            let here = |at: Region| {
                let (first, rest) = region(&nodes, edge, at, around, body);
                first.iter().chain(rest).map(|node| (node, node.thread)).collect()
            };
            self.add_around(place, edge, here, translation);
        }
    }

    /// For each chosen edge that a graph has, its latest occurrence: with shorter contexts, several edges can be the same.
    fn latest<'g>(&self, graph: &'g Graph, keys: &Keys<'_>) -> FxHashMap<usize, &'g Edge> {
        let mut latest: FxHashMap<usize, &Edge> = FxHashMap::default();
        for edge in &graph.edges {
            for key in keys.of(edge) {
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

    /// Those that go about as well with failing are rivals, but for those that take more to tell.
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

    /// Counts the nodes that are told in each region, with the threads they were of.
    fn add_around<'n>(
        &mut self,
        place: usize,
        edge: &Edge,
        here: impl Fn(Region) -> Vec<(&'n Node, u16)>,
        translation: &Translation,
    ) {
        // What tells members apart.
        let length = match self.limits.contexts {
            Contexts::Whole => CONTEXT_LENGTH,
            Contexts::AnyLength => 0,
        };
        for at in Region::ALL {
            let here = here(at);
            let all = here.len().max(1) as f64;
            for ((node, thread), number) in here.into_iter().zip(0_u32..) {
                let key = (at, node_key(node, translation, length));
                let member = self.around[place].members.entry(key).or_default();
                if member.last_run != self.runs {
                    member.last_run = self.runs;
                    member.runs += 1;
                    member.with_source += u32::from(thread == edge.source_thread);
                    member.with_sink += u32::from(thread == edge.sink_thread);
                    member.places += f64::from(number) / all;
                }
            }
        }
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

    pub fn overlap(&self) -> f64 {
        f64::from(self.overlap) / f64::from(self.occurrences.max(1))
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
