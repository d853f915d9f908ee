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
use super::reconstruct::{Contexts, EdgeKey, LabelledGraphs, NodeKey};
use super::result::{Edge, Graph, Node, RunGraphs};

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
    lengths: &'static [usize],
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
            lengths: lengths(contexts),
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
            for edge in &graph.edges {
                for key in edge_keys(graph, edge, &translation, self.lengths) {
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

    /// The edges of failing runs by buggy frequency, then by how many failing runs have them, then the shortest contexts, then by
    /// place.
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
    let place = |node: &NodeKey| {
        let site = code.sites[node.site as usize];
        (site.module, site.offset, node.context)
    };
    let places = |edge: &EdgeKey| (place(&edge.source), place(&edge.sink));
    places(one).cmp(&places(other))
}

/// How many communications its contexts hold.
pub fn length_of(edge: &EdgeKey) -> u8 {
    edge.source.length + edge.sink.length
}

fn is_whole(node: &NodeKey) -> bool {
    usize::from(node.length) == CONTEXT_LENGTH
}

/// The lengths at which contexts are looked at.
pub fn lengths(contexts: Contexts) -> &'static [usize] {
    match contexts {
        Contexts::Whole => &[CONTEXT_LENGTH],
        Contexts::AnyLength => &[0, 1, 2, 3, CONTEXT_LENGTH],
    }
}

pub fn node_key(node: &Node, translation: &Translation, length: usize) -> NodeKey {
    NodeKey::new(translation.sites[node.site as usize], node.context, length)
}

/// An edge with contexts of all these lengths.
pub fn edge_keys(
    graph: &Graph,
    edge: &Edge,
    translation: &Translation,
    lengths: &'static [usize],
) -> impl Iterator<Item = EdgeKey> {
    let ends = [edge.source, edge.sink].map(|number| graph.nodes[number as usize]);
    let node = |end: &Node, length: usize| node_key(end, translation, length);
    let sources = lengths.iter().map(|&length| node(&ends[0], length)).collect::<Vec<_>>();
    let sinks = lengths.iter().map(|&length| node(&ends[1], length)).collect::<Vec<_>>();
    sources
        .into_iter()
        .flat_map(move |source| sinks.clone().into_iter().map(move |sink| EdgeKey { source, sink }))
}
