//! From stored runs to findings: what `unpick hunt` ends with and `unpick rank` does again.
//!
//! Takes   labelled runs of a store, and how to look at them.      Gives  `Findings`.
//! Misses  runs whose recordings are gone, if they were condensed in another way: that is a problem, not a guess.
//! Cost    patterns are read from disk for each pass; only what had to be condensed anew is held in memory.

use std::borrow::Cow;
use std::cell::RefCell;
use std::path::Path;
use std::sync::LazyLock;

use unpick_analyses::interleaving_patterns::Mode;
use unpick_analyses::{
    Collector, Conclusion, Formula, LabelledRun, Options, RunPatterns, conclude,
};
use unpick_events::Label;
use unpick_findings::{Choices, Findings, Runs, describe};
use unpick_names::{CodeNames, KnownRecording, ProgramNames};
use unpick_problem::Problem;
use unpick_recording::Run;
use unpick_run_store::{Builds, Store, StoredRun, read_patterns};

use crate::hang::hangs_of;
use crate::import::names_in;

pub const MOST_FINDINGS: usize = 10;
pub const MOST_SUPPORTERS: usize = 20;

/// One for all runs: a program's files are read once.
pub static NAMES: LazyLock<CodeNames> = LazyLock::new(CodeNames::new);

/// How runs are looked at.
#[derive(Debug, clap::Args)]
pub struct View {
    /// How suspicious a pattern is: jaccard, tarantula or ochiai
    #[arg(long, value_name = "NAME", default_value = "jaccard", value_parser = formula)]
    formula: Formula,
    /// Which accesses make a pattern: unicorn (all 17 patterns) or falcon (one variable only)
    #[arg(long, value_name = "NAME", default_value = "unicorn", value_parser = mode)]
    mode: Mode,
    /// Accesses to one location that are looked at together
    #[arg(long, value_name = "N", default_value_t = Options::default().access_window, value_parser = at_least_two)]
    window: u32,
    /// How far apart in the list of pairs two pairs of a pattern may be
    #[arg(long, value_name = "N", default_value_t = Options::default().pair_window, value_parser = at_least_two)]
    pair_window: u32,
    /// Look at nothing but the access window, as the papers do: no atomicity violations by the accesses next to the break
    #[arg(long)]
    window_only: bool,
}

fn formula(text: &str) -> Result<Formula, String> {
    Formula::from_name(text).ok_or_else(|| "the formulas are jaccard, tarantula, ochiai".to_owned())
}

fn mode(text: &str) -> Result<Mode, String> {
    match text {
        "unicorn" => Ok(Mode::Unicorn),
        "falcon" => Ok(Mode::Falcon),
        _ => Err("the modes are unicorn, falcon".to_owned()),
    }
}

fn at_least_two(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number| number >= 2);
    number.ok_or_else(|| "expected a number from 2".to_owned())
}

impl View {
    pub fn options(&self) -> Options {
        Options {
            mode: self.mode,
            access_window: self.window,
            pair_window: self.pair_window,
            torn_rows: !self.window_only,
        }
    }
}

/// A run in short.
pub struct Condensed {
    pub patterns: RunPatterns,
    /// Nothing is missing in the recordings.
    pub is_complete: bool,
}

/// Condenses the recordings in the folder of a run.
pub fn condense(folder: &Path, options: Options) -> Result<Condensed, Problem> {
    let run = Run::open(folder)?;
    let mut collector = Collector::new(options);
    let mut is_complete = true;
    for recording in run.recordings() {
        let recording = recording?;
        is_complete &= recording.is_complete() && recording.damage().is_empty();
        collector.add(&recording, &KnownRecording::new(&recording, &NAMES));
    }
    Ok(Condensed { patterns: collector.finish(), is_complete })
}

/// The patterns of a stored run: as they are stored, or condensed anew if that was done in another way.
pub fn stored_patterns(run: &StoredRun, options: Options) -> Result<RunPatterns, Problem> {
    Source::of(run, options)?.take(run)
}

/// The names of programs as their files here tell them.
pub fn names_of_files() -> &'static CodeNames {
    &NAMES
}

/// The findings of these runs of a store.
pub fn findings_of(store: &Store, runs: &[StoredRun], view: &View) -> Result<Findings, Problem> {
    let conclusion = conclude_over(runs, view)?;
    let imported = names_in(store.folder())?;
    let choices = Choices {
        working_folder: std::env::current_dir().unwrap_or_default(),
        most_findings: MOST_FINDINGS,
        most_supporters: MOST_SUPPORTERS,
    };
    let hangs = hangs_of(runs)?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    Ok(Findings { hangs, ..describe(&conclusion, &names, &choices) })
}

/// What can be told of runs of which none passed: how they hung, if they did.
pub fn only_hangs(runs: &[StoredRun], view: &View) -> Result<Option<Findings>, Problem> {
    let count = |label| runs.iter().filter(|run| run.label() == label).count() as u32;
    let counts = Runs {
        total: runs.len() as u32,
        passed: count(Label::Pass),
        failed: count(Label::Fail),
        unusable: count(Label::Unusable),
    };
    let hangs = hangs_of(runs)?;
    let findings = || Findings::of_hangs(counts, view.formula.name(), hangs.clone());
    Ok((!hangs.is_empty()).then(findings))
}

fn conclude_over(runs: &[StoredRun], view: &View) -> Result<Conclusion, Problem> {
    let options = view.options();
    let mut builds = Builds::default();
    let mut sources = Vec::new();
    for run in runs {
        let source = match run.label() {
            Label::Unusable => Source::Held(Box::new(Collector::new(options).finish())),
            Label::Pass | Label::Fail => Source::of(run, options)?,
        };
        builds.add(run.number, &*source.patterns(run)?)?;
        sources.push(source);
    }
    let failed = RefCell::new(None);
    let nothing = Collector::new(options).finish();
    let labelled = runs.iter().zip(&sources).map(|(run, source)| {
        let number = u32::try_from(run.number).unwrap_or(u32::MAX);
        match source.patterns(run) {
            Ok(patterns) => LabelledRun { number, label: run.label(), patterns },
            Err(problem) => {
                failed.replace(Some(problem));
                let patterns = Cow::Borrowed(&nothing);
                LabelledRun { number, label: Label::Unusable, patterns }
            }
        }
    });
    let conclusion = conclude(labelled, view.formula)?;
    // A file that could be read a moment ago: somebody has removed it.
    failed.take().map_or(Ok(conclusion), Err)
}

/// Where the patterns of a run are.
enum Source {
    /// In the store.
    Stored,
    Held(Box<RunPatterns>),
}

impl Source {
    fn of(run: &StoredRun, options: Options) -> Result<Source, Problem> {
        let stored = read_patterns(&run.folder);
        if stored.as_ref().is_ok_and(|patterns| patterns.options == options) {
            return Ok(Source::Stored);
        }
        let recorded = Run::open(&run.folder)?;
        match (recorded.event_files().is_empty(), stored) {
            (false, _) => Ok(Source::Held(Box::new(condense(&run.folder, options)?.patterns))),
            (true, Ok(patterns)) => Err(recordings_are_gone(run, patterns.options)),
            (true, Err(problem)) => Err(problem),
        }
    }

    fn patterns(&self, run: &StoredRun) -> Result<Cow<'_, RunPatterns>, Problem> {
        match self {
            Source::Stored => read_patterns(&run.folder).map(Cow::Owned),
            Source::Held(patterns) => Ok(Cow::Borrowed(patterns)),
        }
    }

    fn take(self, run: &StoredRun) -> Result<RunPatterns, Problem> {
        match self {
            Source::Stored => read_patterns(&run.folder),
            Source::Held(patterns) => Ok(*patterns),
        }
    }
}

fn recordings_are_gone(run: &StoredRun, options: Options) -> Problem {
    let Options { mode, access_window, pair_window, torn_rows } = options;
    let mode = match mode {
        Mode::Unicorn => "unicorn",
        Mode::Falcon => "falcon",
    };
    let only = if torn_rows { "" } else { " --window-only" };
    Problem::usage(format!("run {} cannot be looked at in another way", run.number))
        .at("folder", run.folder.display())
        .why("its recordings were not kept, only its patterns")
        .next(format!(
            "rank as it was hunted: unpick rank --mode {mode} --window {access_window} --pair-window {pair_window}{only}; \
             or hunt again with --keep all"
        ))
}
