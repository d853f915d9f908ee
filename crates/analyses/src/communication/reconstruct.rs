//! Reconstructions: what stood around the edges that go with failing, over all labelled runs.
//!
//! Takes   the graphs of all runs, twice.
//! Gives   for the best edges by buggy frequency: prefix, body and suffix over all failing runs that have the edge, with the
//!         share of these runs in which each node stood there; the features, score and rank.
//! Cost    one look-up per edge and run, then `around` to `body` steps per chosen edge and failing run.

use std::borrow::Borrow;

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::Label;
use unpick_problem::Problem;

use crate::ranking::{CodeBook, ExampleAccess, RunCounts};

use super::context::CommunicationContext;
use super::features::{consistency, context_variation, score};
use super::gathering::{Around, Gathering};
use super::regions::Region;
use super::result::RunGraphs;
use super::tally::{Occurrence, Tally, compare_places};
use super::way_back::WayBack;

/// How much is reconstructed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The best edges by buggy frequency.
    pub edges: usize,
    /// Nodes before the source, and after the sink.
    pub around: usize,
    /// Nodes between them that are looked at in a run: the first and the last.
    pub body: usize,
    pub contexts: Contexts,
}

/// How contexts tell edges apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Contexts {
    /// As the paper has it: edges whose nodes have different contexts are different, and so are nodes of regions.
    Whole,
    /// The beginnings of contexts count as well, and ways back: two sites are told once, by what goes best with failing. Nodes of
    /// regions are told apart by their sites only.
    #[default]
    AnyLength,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            edges: 2000,
            around: super::CONTEXT_LENGTH,
            body: 100,
            contexts: Contexts::AnyLength,
        }
    }
}

/// Edges with at least this share of the best buggy frequency go about as well with failing.
const NEARLY: f64 = 0.6;
/// Who comes first is asked of so many.
const MOST_RIVALS: usize = 200;

/// A run and its graphs: itself, or something that holds them.
#[derive(Debug, Clone)]
pub struct LabelledGraphs<R> {
    /// Whatever number the caller knows it by.
    pub number: u32,
    pub label: Label,
    pub graphs: R,
}

/// Code in a communication context; the site is numbered by the code book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeKey {
    pub site: u32,
    /// How many of the newest communications count.
    pub length: u8,
    pub context: CommunicationContext,
}

impl NodeKey {
    pub(super) fn new(site: u32, context: CommunicationContext, length: usize) -> NodeKey {
        NodeKey { site, length: length as u8, context: context.newest(length) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EdgeKey {
    pub source: NodeKey,
    pub sink: NodeKey,
    /// What goes the other way nearby; none: it does not matter.
    pub way_back: Option<WayBack>,
}

/// A node that stood in a region.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Member {
    pub node: NodeKey,
    /// Share of the failing runs with the edge in which it stood there.
    pub confidence: f64,
    /// In how many of these runs its thread was that of the source, and that of the sink.
    pub with_source: u32,
    pub with_sink: u32,
    pub runs: u32,
}

/// What stood around an edge in failing runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Reconstruction {
    pub edge: EdgeKey,
    /// In how many failing and passing runs the edge occurred.
    pub failed: u32,
    pub passed: u32,
    pub buggy_frequency: f64,
    /// Counts with whole contexts only.
    pub context_variation: f64,
    pub consistency: f64,
    /// Whether its sink comes before those of other edges that go as well with failing: 1 if always. A cause comes before its effects.
    /// Not in the paper: always 1 with whole contexts.
    pub earliness: f64,
    /// Share of its failing runs in which both threads were at work at the same time. Not in the paper: always 1 with whole contexts.
    pub overlap: f64,
    pub score: f64,
    /// One more than the number of those with a higher score.
    pub rank: u32,
    /// By region; inside of one about in the order in which they stood there. Nodes below half of the region's highest
    /// confidence are left out.
    pub members: [Vec<Member>; 3],
}

impl Reconstruction {
    pub fn members(&self, region: Region) -> &[Member] {
        &self.members[region as usize]
    }
}

/// What all runs together say.
#[derive(Debug)]
pub struct Reconstructions {
    pub runs: RunCounts,
    pub code: CodeBook,
    /// The most suspicious first.
    pub ranked: Vec<Reconstruction>,
    /// By site: how it looked in a failing run.
    pub examples: FxHashMap<u32, ExampleAccess>,
    /// All edges of all runs.
    pub edges: usize,
}

/// Reconstructs what stood around the edges that go with failing. Goes through `runs` twice; what it yields may be read from
/// disk each time.
pub fn reconstruct<R, I>(runs: I, limits: &Limits) -> Result<Reconstructions, Problem>
where
    R: Borrow<RunGraphs>,
    I: IntoIterator<Item = LabelledGraphs<R>> + Clone,
{
    let mut tally = Tally::of(runs.clone(), limits.contexts)?;
    let mut chosen = match limits.contexts {
        Contexts::Whole => tally.by_buggy_frequency(),
        Contexts::AnyLength => one_per_sites(tally.by_buggy_frequency()),
    };
    chosen.truncate(limits.edges);
    let best = chosen.first().map_or(0.0, |(_, occurrence)| tally.buggy_frequency(occurrence));
    let leading = chosen
        .partition_point(|(_, occurrence)| tally.buggy_frequency(occurrence) >= NEARLY * best)
        .min(MOST_RIVALS);
    let mut gathering = Gathering::of(&chosen, leading, *limits);
    for run in runs.into_iter().filter(|run| run.label == Label::Fail) {
        gathering.add(run.graphs.borrow(), &mut tally.code);
    }
    let contexts = tally.contexts();
    let reconstructed = chosen.iter().zip(&gathering.around).map(|((edge, occurrence), around)| {
        let sites = (edge.source.site, edge.sink.site);
        let (failing, passing) = contexts.get(&sites).copied().unwrap_or_default();
        let variation = context_variation(failing, passing);
        let features = (tally.buggy_frequency(occurrence), variation);
        reconstruction(*edge, occurrence, features, around, limits.contexts)
    });
    let mut ranked: Vec<Reconstruction> = reconstructed.collect();
    rank(&mut ranked, &tally.code);
    let examples = gathering.examples_of(&ranked);
    let Tally { runs, code, edges, .. } = tally;
    Ok(Reconstructions { runs, code, ranked, examples, edges: edges.len() })
}

/// The first of the edges between each two sites.
fn one_per_sites(mut edges: Vec<(EdgeKey, Occurrence)>) -> Vec<(EdgeKey, Occurrence)> {
    let mut told: FxHashSet<(u32, u32)> = FxHashSet::default();
    edges.retain(|(edge, _)| told.insert((edge.source.site, edge.sink.site)));
    edges
}

fn reconstruction(
    edge: EdgeKey,
    occurrence: &Occurrence,
    (buggy_frequency, context_variation): (f64, f64),
    around: &Around,
    contexts: Contexts,
) -> Reconstruction {
    let members = Region::ALL.map(|region| around.members(region, occurrence.failed, contexts));
    let confidences = members.iter().flatten().map(|member| member.confidence);
    let (consistency, earliness, overlap) = match contexts {
        Contexts::Whole => (consistency(confidences), 1.0, 1.0),
        // The two ends are what is surest of a reconstruction: few members are no reason for doubt.
        Contexts::AnyLength => {
            (consistency(confidences.chain([1.0, 1.0])), around.earliness(), around.overlap())
        }
    };
    let score = match contexts {
        Contexts::Whole => score([buggy_frequency, context_variation, consistency]),
        Contexts::AnyLength => {
            score([buggy_frequency, consistency, earliness * (1.0 + overlap) / 2.0])
        }
    };
    Reconstruction {
        edge,
        failed: occurrence.failed,
        passed: occurrence.passed,
        buggy_frequency,
        context_variation,
        consistency,
        earliness,
        overlap,
        score,
        rank: 0,
        members,
    }
}

fn rank(ranked: &mut [Reconstruction], code: &CodeBook) {
    ranked.sort_by(|one, other| {
        (other.score.total_cmp(&one.score))
            .then(other.failed.cmp(&one.failed))
            .then_with(|| compare_places(&one.edge, &other.edge, code))
    });
    let mut rank = 0;
    for at in 0..ranked.len() {
        if at == 0 || ranked[at - 1].score != ranked[at].score {
            rank = at as u32 + 1;
        }
        ranked[at].rank = rank;
    }
}
