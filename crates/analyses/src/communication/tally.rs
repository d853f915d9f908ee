//! Counts in which runs each edge occurred.

use std::borrow::Borrow;
use std::cmp::Ordering;

use rustc_hash::FxHashMap;
use unpick_events::Label;
use unpick_problem::Problem;

use crate::ranking::{CodeBook, RunCounts, Translation};

use super::GraphOptions;
use super::context::CONTEXT_LENGTH;
use super::features::{Share, buggy_frequency};
use super::moments::Moments;
use super::reconstruct::{Contexts, EdgeKey, LabelledGraphs, NodeKey};
use super::result::{Edge, Graph, Node, RunGraphs};
use super::way_back::Scene;

/// In how many runs an edge occurred.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occurrence {
    pub failed: u32,
    pub passed: u32,
    /// The last run that was counted, from 1.
    last_run: u32,
}

/// What is counted of all runs.
#[derive(Debug)]
pub struct Tally {
    pub runs: RunCounts,
    pub code: CodeBook,
    pub edges: FxHashMap<EdgeKey, Occurrence>,
    options: Option<GraphOptions>,
    contexts: Contexts,
}

impl Tally {
    pub fn of<R, I>(runs: I, contexts: Contexts) -> Result<Tally, Problem>
    where
        R: Borrow<RunGraphs>,
        I: IntoIterator<Item = LabelledGraphs<R>>,
    {
        let mut tally = Tally {
            runs: RunCounts::default(),
            code: CodeBook::default(),
            edges: FxHashMap::default(),
            options: None,
            contexts,
        };
        for run in runs {
            tally.runs.add(run.label);
            if run.label != Label::Unusable {
                tally.check_options(run.graphs.borrow().options, run.number)?;
                tally.add(run.label, run.graphs.borrow());
            }
        }
        Ok(tally)
    }

    fn check_options(&mut self, options: GraphOptions, run: u32) -> Result<(), Problem> {
        let known = *self.options.get_or_insert(options);
        if known == options {
            return Ok(());
        }
        Err(Problem::usage(
            "the runs cannot be compared: their communication graphs were collected in different ways",
        )
        .at("run", run)
        .why(format!("it was looked at with {options:?}, the runs before it with {known:?}"))
        .next("hunt again with one version of unpick: unpick hunt -- PROGRAM"))
    }

    fn add(&mut self, label: Label, run: &RunGraphs) {
        let translation = self.code.enter_code(&run.modules, &run.sites);
        let number = self.runs.total();
        for graph in &run.graphs {
            let keys = Keys::new(graph, &translation, self.contexts);
            for edge in &graph.edges {
                for key in keys.of(edge) {
                    let occurrence = self.edges.entry(key).or_default();
                    if occurrence.last_run != number {
                        occurrence.last_run = number;
                        occurrence.failed += u32::from(label == Label::Fail);
                        occurrence.passed += u32::from(label == Label::Pass);
                    }
                }
            }
        }
    }

    pub fn buggy_frequency(&self, occurrence: &Occurrence) -> f64 {
        let failing = Share { of: self.runs.failed, occurred: occurrence.failed };
        let passing = Share { of: self.runs.passed, occurred: occurrence.passed };
        buggy_frequency(failing, passing)
    }

    /// The edges of failing runs by buggy frequency, then by how many failing runs have them, then by how little tells them,
    /// then by place.
    pub fn by_buggy_frequency(&self) -> Vec<(EdgeKey, Occurrence)> {
        let failing = self.edges.iter().filter(|(_, occurrence)| occurrence.failed > 0);
        let mut ranked: Vec<_> = failing.map(|(key, occurrence)| (*key, *occurrence)).collect();
        ranked.sort_unstable_by(|(one, ones), (other, others)| {
            (self.buggy_frequency(others).total_cmp(&self.buggy_frequency(ones)))
                .then(others.failed.cmp(&ones.failed))
                .then(length_of(one).cmp(&length_of(other)))
                .then_with(|| compare_places(one, other, &self.code))
        });
        ranked
    }

    /// For every two sites, in how many contexts they communicated in failing and in passing runs.
    pub fn contexts(&self) -> FxHashMap<(u32, u32), (usize, usize)> {
        let mut contexts: FxHashMap<(u32, u32), (usize, usize)> = FxHashMap::default();
        let whole =
            self.edges.iter().filter(|(key, _)| is_whole(&key.source) && is_whole(&key.sink));
        for (key, occurrence) in whole {
            let (failing, passing) = contexts.entry((key.source.site, key.sink.site)).or_default();
            *failing += usize::from(occurrence.failed > 0);
            *passing += usize::from(occurrence.passed > 0);
        }
        contexts
    }
}

/// By place, so that the order is always the same.
pub fn compare_places(one: &EdgeKey, other: &EdgeKey, code: &CodeBook) -> Ordering {
    let site = |number: u32| {
        let site = code.sites[number as usize];
        (site.module, site.offset)
    };
    let place = |node: &NodeKey| (site(node.site), node.context);
    let ends = |edge: &EdgeKey| (place(&edge.source), place(&edge.sink));
    let back = |edge: &EdgeKey| edge.way_back.map(|way| way.sites().map(site).collect::<Vec<_>>());
    (ends(one).cmp(&ends(other)))
        .then_with(|| back(one).cmp(&back(other)))
        .then_with(|| one.way_back.cmp(&other.way_back))
}

/// How much it takes to tell it. A way back says what happened; a context only of what kind it was, and counts twice.
pub fn length_of(edge: &EdgeKey) -> u8 {
    2 * (edge.source.length + edge.sink.length) + u8::from(edge.way_back.is_some())
}

fn is_whole(node: &NodeKey) -> bool {
    usize::from(node.length) == CONTEXT_LENGTH
}

/// The lengths at which contexts are looked at.
fn lengths(contexts: Contexts) -> &'static [usize] {
    match contexts {
        Contexts::Whole => &[CONTEXT_LENGTH],
        Contexts::AnyLength => &[0, 1, 2, 3, CONTEXT_LENGTH],
    }
}

pub fn node_key(node: &Node, translation: &Translation, length: usize) -> NodeKey {
    NodeKey::new(translation.sites[node.site as usize], node.context, length)
}

/// What the edges of a graph are told apart by.
pub struct Keys<'g> {
    graph: &'g Graph,
    translation: &'g Translation,
    lengths: &'static [usize],
    /// None where ways back do not count.
    pub moments: Option<Moments>,
}

impl<'g> Keys<'g> {
    pub fn new(graph: &'g Graph, translation: &'g Translation, contexts: Contexts) -> Keys<'g> {
        let moments = (contexts == Contexts::AnyLength).then(|| Moments::of(graph));
        Keys { graph, translation, lengths: lengths(contexts), moments }
    }

    /// An edge with contexts of all lengths, and without contexts by its ways back.
    pub fn of(&self, edge: &Edge) -> Vec<EdgeKey> {
        let ends = [edge.source, edge.sink].map(|number| &self.graph.nodes[number as usize]);
        let [sources, sinks] = ends.map(|end| {
            let key = |&length: &usize| node_key(end, self.translation, length);
            self.lengths.iter().map(key).collect::<Vec<_>>()
        });
        let mut keys: Vec<EdgeKey> = Vec::with_capacity(sources.len() * sinks.len());
        for &source in &sources {
            keys.extend(sinks.iter().map(|&sink| EdgeKey { source, sink, way_back: None }));
        }
        if let Some(moments) = &self.moments {
            let [source, sink] = ends.map(|end| node_key(end, self.translation, 0));
            let ways = Scene::of(self.graph, moments, edge).ways_back().into_iter();
            let ways = ways.map(|way| Some(way.translated(&self.translation.sites)));
            keys.extend(ways.map(|way_back| EdgeKey { source, sink, way_back }));
        }
        keys
    }
}
