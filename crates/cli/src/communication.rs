//! From stored runs to reconstructions: for `unpick reconstruct`, and beside the findings of a hunt.
//!
//! Takes   labelled runs of a store.      Gives  reconstructions; each finding with the one that shows its cause.
//! Misses  runs of earlier versions whose recordings are gone: they have no communication graphs.
//! Cost    the graphs of at most 100 failing and 100 passing runs are held in memory.

use std::sync::Arc;

use unpick_analyses::communication::{
    Collector, GraphOptions, LabelledGraphs, Limits, Reconstructions, RunGraphs, reconstruct,
};
use unpick_events::Label;
use unpick_findings::{Choices, Findings, Names, ReconstructionWords, own_first};
use unpick_names::KnownRecording;
use unpick_problem::Problem;
use unpick_recording::Run;
use unpick_run_store::{StoredRun, read_graphs};

use crate::conclude::NAMES;

/// More runs of one label would not change what is said.
const MOST_RUNS: usize = 100;

/// How the graphs of a run are come by; none: there are none.
type GraphsOf<'a> = &'a dyn Fn(&StoredRun) -> Result<Option<RunGraphs>, Problem>;

/// What the graphs of the runs say; none if no failing or no passing run has graphs.
pub fn reconstructions_of(
    runs: &[StoredRun],
    graphs_of: GraphsOf<'_>,
) -> Result<Option<Reconstructions>, Problem> {
    let mut labelled = Vec::new();
    for label in [Label::Fail, Label::Pass] {
        let before = labelled.len();
        for run in runs.iter().filter(|run| run.label() == label).take(MOST_RUNS) {
            let number = u32::try_from(run.number).unwrap_or(u32::MAX);
            let graphs = graphs_of(run)?;
            labelled.extend(graphs.map(|graphs| LabelledGraphs {
                number,
                label,
                graphs: Arc::new(graphs),
            }));
        }
        if labelled.len() == before {
            return Ok(None);
        }
    }
    reconstruct(labelled, &Limits::default()).map(Some)
}

/// The graphs of a run: as they are stored, or made of its recordings; none if these are gone.
pub fn stored_graphs(run: &StoredRun) -> Result<Option<RunGraphs>, Problem> {
    if let Some(graphs) = read_graphs(&run.folder)? {
        return Ok(Some(graphs));
    }
    let recorded = Run::open(&run.folder)?;
    if recorded.event_files().is_empty() {
        return Ok(None);
    }
    let mut collector = Collector::new(GraphOptions::default());
    for recording in recorded.recordings() {
        let recording = recording?;
        collector.add(&recording, &KnownRecording::new(&recording, &NAMES));
    }
    Ok(Some(collector.finish()))
}

/// Gives each finding the reconstruction of its cause; where patterns do not say enough, the best of all. Findings do without if
/// graphs cannot be read: `unpick reconstruct` says why.
pub fn add_to(
    findings: Findings,
    runs: &[StoredRun],
    graphs_of: GraphsOf<'_>,
    names: &dyn Names,
    choices: &Choices,
) -> Findings {
    let Ok(Some(all)) = reconstructions_of(runs, graphs_of) else { return findings };
    let all = own_first(all, names, choices);
    findings.with_reconstructions(&ReconstructionWords::new(&all, names, choices))
}
