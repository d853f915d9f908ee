//! What each optimisation of the paper saves and loses.

use std::collections::BTreeSet;

use unpick_analyses::communication::{Contexts, GraphOptions, RunGraphs};
use unpick_names::CodeNames;
use unpick_problem::Problem;

use super::judge::Judge;
use super::runs::{Labelled, Runs};

/// Accesses for which a look-up without a lock may be late.
const LATE: u32 = 4;

/// The runs of a subject, looked at in another way.
pub struct Variant {
    pub name: &'static str,
    pub rank: Option<u32>,
    pub missing: usize,
    pub communications: u64,
    pub edges: usize,
    /// Edges of the whole graphs, by site alone, that are not there; and edges that are not in the whole graphs.
    pub lost: usize,
    pub spurious: usize,
}

pub fn of(judge: &Judge<'_>, runs: &Runs, names: &CodeNames) -> Result<Vec<Variant>, Problem> {
    let all = GraphOptions::ALL;
    let whole = edges_of(&runs.anew(all, names)?);
    let named = [
        ("all accesses", all),
        ("first reads", GraphOptions { first_read_only: true, ..all }),
        (
            "first reads and writes",
            GraphOptions { first_read_only: true, first_write_only: true, ..all },
        ),
        (
            "all three",
            GraphOptions { first_read_only: true, first_write_only: true, racy_lookup: LATE },
        ),
    ];
    let variants = named.into_iter().map(|(name, options)| {
        let graphs = runs.anew(options, names)?;
        let standing = judge.standing(&graphs, Contexts::AnyLength)?;
        let edges = edges_of(&graphs);
        Ok(Variant {
            name,
            rank: standing.rank,
            missing: standing.missing,
            communications: graphs.iter().map(|run| run.graphs.communications).sum(),
            edges: edges.len(),
            lost: whole.difference(&edges).count(),
            spurious: edges.difference(&whole).count(),
        })
    });
    variants.collect()
}

/// The edges of all runs, by run and sites.
fn edges_of(runs: &[Labelled]) -> BTreeSet<(u32, u64, u64)> {
    let of_run = |run: &Labelled| {
        let graphs: &RunGraphs = &run.graphs;
        let mut edges = BTreeSet::new();
        for graph in &graphs.graphs {
            let offset = |node: u32| graphs.sites[graph.nodes[node as usize].site as usize].offset;
            let ends = graph.edges.iter().map(|edge| (offset(edge.source), offset(edge.sink)));
            edges.extend(ends.map(|(source, sink)| (run.number, source, sink)));
        }
        edges
    };
    runs.iter().flat_map(of_run).collect()
}
