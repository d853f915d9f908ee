//! The graphs of the first failing and passing runs of a store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use unpick_analyses::communication::{Collector, GraphOptions, LabelledGraphs, RunGraphs};
use unpick_events::Label;
use unpick_names::{CodeNames, KnownRecording};
use unpick_problem::Problem;
use unpick_recording::Run;
use unpick_run_store::Store;

pub type Labelled = LabelledGraphs<Arc<RunGraphs>>;

pub struct Runs {
    pub graphs: Vec<Labelled>,
    pub failing: usize,
    folders: Vec<PathBuf>,
    pub seconds_per_graph: f64,
}

/// So many failing runs, and as many that passed.
pub fn runs_of(store: &Path, of_each: usize, names: &CodeNames) -> Result<Runs, Problem> {
    let runs = Store::at(store).runs_of_hunt(None)?;
    let first = |label| runs.iter().filter(move |run| run.label() == label).take(of_each);
    let chosen: Vec<_> = first(Label::Fail).chain(first(Label::Pass)).collect();
    let started = Instant::now();
    let graphs = chosen.iter().map(|run| {
        let graphs = graphs_of(&run.folder, GraphOptions::default(), names)?.into();
        Ok(LabelledGraphs { number: run.number as u32, label: run.label(), graphs })
    });
    let graphs = graphs.collect::<Result<Vec<_>, Problem>>()?;
    Ok(Runs {
        failing: first(Label::Fail).count(),
        seconds_per_graph: started.elapsed().as_secs_f64() / graphs.len().max(1) as f64,
        folders: chosen.iter().map(|run| run.folder.clone()).collect(),
        graphs,
    })
}

fn graphs_of(
    folder: &Path,
    options: GraphOptions,
    names: &CodeNames,
) -> Result<RunGraphs, Problem> {
    let mut collector = Collector::new(options);
    for recording in Run::open(folder)?.recordings() {
        let recording = recording?;
        collector.add(&recording, &KnownRecording::new(&recording, names));
    }
    Ok(collector.finish())
}

impl Runs {
    /// The first so many failing runs, and all that passed.
    pub fn with_failing(&self, count: usize) -> Vec<Labelled> {
        let failing = self.graphs.iter().filter(|run| run.label == Label::Fail).take(count);
        let passing = self.graphs.iter().filter(|run| run.label == Label::Pass);
        failing.chain(passing).cloned().collect()
    }

    /// The same runs looked at in another way.
    pub fn anew(&self, options: GraphOptions, names: &CodeNames) -> Result<Vec<Labelled>, Problem> {
        let runs = self.graphs.iter().zip(&self.folders).map(|(run, folder)| {
            Ok(LabelledGraphs { graphs: graphs_of(folder, options, names)?.into(), ..*run })
        });
        runs.collect()
    }

    /// Of all graphs, as they are stored.
    pub fn bytes(&self) -> usize {
        self.graphs.iter().map(|run| run.graphs.to_bytes().len()).sum()
    }
}
