//! What the stored runs of a hunt say about the true pattern: with all failing runs, and with few.

use std::path::Path;
use std::time::Instant;

use unpick_analyses::ranking::{Conclusion, LabelledRun, StudyFigures, conclude};
use unpick_analyses::{Collector, Formula, Options, RunPatterns};
use unpick_events::Label;
use unpick_findings::{Choices, Findings, Packages, describe};
use unpick_names::{CodeNames, KnownRecording};
use unpick_problem::Problem;
use unpick_recording::Run;
use unpick_run_store::{Store, read_patterns};

use crate::truth::Truth;

/// So many failing runs are few.
pub const FEW: usize = 5;
/// So many times few failing runs are taken, all different, if there are enough.
const SAMPLES: usize = 5;

/// How the true pattern stands among what was found.
pub struct Standing {
    pub failing: u32,
    pub passing: u32,
    pub leads: bool,
    pub findings: usize,
    /// Findings at rank 1 that the true pattern is not in.
    pub wrong_at_rank_1: usize,
    /// Of the true pattern; none if it is not among the patterns with evidence.
    pub figures: Option<StudyFigures>,
    /// In how many failing and passing runs it was.
    pub seen: Option<(u32, u32)>,
    /// The first findings, in short.
    pub first: Vec<String>,
}

pub struct Study {
    pub all: Standing,
    /// With few failing runs: the first ones, the next ones, …
    pub few: Vec<Standing>,
    /// Ranking all runs, reading their patterns included.
    pub seconds: f64,
}

/// Ranks the runs of the last hunt of a store, as they were condensed then, or `anew` from their recordings.
pub fn study(store: &Path, truth: &Truth, names: &CodeNames, anew: bool) -> Result<Study, Problem> {
    let started = Instant::now();
    let runs = runs_of(store, anew.then_some(names))?;
    let all = Ranking { truth, names }.standing(&runs)?;
    let seconds = started.elapsed().as_secs_f64();
    let (failing, others): (Vec<_>, Vec<_>) =
        runs.into_iter().partition(|run| run.label == Label::Fail);
    let few = failing.chunks_exact(FEW).take(SAMPLES).map(|few| {
        let sample: Vec<_> = few.iter().chain(&others).cloned().collect();
        Ranking { truth, names }.standing(&sample)
    });
    Ok(Study { all, few: few.collect::<Result<_, _>>()?, seconds })
}

type Labelled = LabelledRun<std::sync::Arc<RunPatterns>>;

fn runs_of(store: &Path, anew: Option<&CodeNames>) -> Result<Vec<Labelled>, Problem> {
    let runs = Store::at(store).runs_of_hunt(None)?;
    let usable = runs.iter().filter(|run| run.label() != Label::Unusable);
    let read = usable.map(|run| {
        let patterns = match anew {
            Some(names) => condense(&run.folder, names)?,
            None => read_patterns(&run.folder)?,
        };
        let patterns = patterns.into();
        Ok(LabelledRun { number: run.number as u32, label: run.label(), patterns })
    });
    read.collect()
}

fn condense(folder: &Path, names: &CodeNames) -> Result<RunPatterns, Problem> {
    let mut collector = Collector::new(Options::default());
    for recording in Run::open(folder)?.recordings() {
        let recording = recording?;
        collector.add(&recording, &KnownRecording::new(&recording, names));
    }
    Ok(collector.finish())
}

struct Ranking<'a> {
    truth: &'a Truth,
    names: &'a CodeNames,
}

impl Ranking<'_> {
    fn standing(&self, runs: &[Labelled]) -> Result<Standing, Problem> {
        let conclusion = conclude(runs.iter().cloned(), Formula::default())?;
        let findings = self.findings(&conclusion);
        let place = self.truth.place_in(&conclusion, self.names);
        let at_rank_1 = findings.findings.iter().filter(|finding| finding.rank == 1);
        let ranked = place.map(|place| &conclusion.ranked[place]);
        Ok(Standing {
            failing: conclusion.runs.failed,
            passing: conclusion.runs.passed,
            leads: findings.findings.first().is_some_and(|first| self.truth.leads(first)),
            findings: findings.findings.len(),
            wrong_at_rank_1: at_rank_1.filter(|finding| !self.truth.is_in(finding)).count(),
            figures: place.map(|place| conclusion.study(place)),
            seen: ranked.map(|ranked| (ranked.failed, ranked.passed)),
            first: in_short(&findings),
        })
    }

    fn findings(&self, conclusion: &Conclusion) -> Findings {
        describe(conclusion, self.names, &choices())
    }
}

/// As a user has them who chooses nothing, with all supporters.
pub fn choices() -> Choices {
    Choices {
        working_folder: std::env::current_dir().unwrap_or_default(),
        most_findings: 10,
        most_supporters: usize::MAX,
        correlations: Vec::new(),
        packages: Packages::default(),
    }
}

fn in_short(findings: &Findings) -> Vec<String> {
    let first = findings.findings.iter().take(3).map(|finding| {
        let accesses = finding.accesses.iter().map(|access| {
            let line = access.frame.line.unwrap_or(0);
            format!("{:?}{}:{line}", access.kind, access.role)
        });
        let accesses: Vec<_> = accesses.collect();
        let variable = finding.accesses[0].variable.as_deref().unwrap_or("?");
        let (failed, passed) = (finding.failed_runs, finding.passed_runs);
        let supporters = finding.supporters.len();
        format!(
            "rank {} {} {:.2} ({failed}/{passed}) {} on {variable}, {supporters} supporters",
            finding.rank,
            finding.pattern,
            finding.score,
            accesses.join(" ")
        )
    });
    first.collect()
}
