//! From stored runs to findings: what `unpick hunt` ends with and `unpick rank` does again.
//!
//! Takes   labelled runs of a store, and how to look at them.      Gives  `Findings`.
//! Misses  runs whose recordings are gone, if they were condensed in another way: that is a problem, not a guess.
//! Cost    patterns are read from disk twice, those of failing runs three times; only what had to be condensed anew is held in memory.

use std::borrow::Borrow;
use std::cell::{OnceCell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use unpick_analyses::access_log::{AccessLog, LogCollector};
use unpick_analyses::communication::{self, GraphOptions, RunGraphs};
use unpick_analyses::interleaving_patterns::Mode;
use unpick_analyses::synchronisation_sites::{ModuleSite, synchronisation_sites};
use unpick_analyses::{
    Collector, Conclusion, Formula, LabelledRun, Options, Rows, RunPatterns, Unseen, conclude_with,
};
use unpick_events::Label;
use unpick_findings::{
    Alternative, Choices, Finding, Findings, HangGroup, OpenUnit, Packages, Runs, alternatives,
    describe, describe_shown, describe_unseen,
};
use unpick_names::{CodeNames, KnownRecording, ProgramNames};
use unpick_problem::Problem;
use unpick_recording::{Cancellation, Run};
use unpick_run_store::{Builds, Store, StoredRun, read_patterns};

use crate::communication::{add_to, stored_graphs};
use crate::failures::failures_of;
use crate::hang::hangs_of;
use crate::hints;
use crate::import::names_in;

pub const MOST_FINDINGS: usize = 10;
pub const MOST_SUPPORTERS: usize = 20;
/// Orders that are named, to be tried: naming takes time, and so does trying.
const MOST_ORDERS: usize = 1000;
/// Of those that passing runs had: most are harmless.
const MAX_SHOWN: usize = 100;

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
    /// Variables that belong together, as unpick correlate --json wrote them: among orders that explain as much, one of those comes first
    /// [default: what unpick correlate or unpick races kept in the store]
    #[arg(long, value_name = "FILE")]
    correlations: Option<PathBuf>,
    /// A package whose code counts as your own: it comes first where scores are similar, and is not called a dependency. NAME as cargo
    /// has it (tokio, tokio@1.47.0), a directory of sources (vendor/zlib) or a shared library (libz.so); may be given several times
    /// [default: as in the hunt]
    #[arg(long, value_name = "NAME", value_parser = package)]
    own_package: Vec<String>,
    /// A package to ignore: orders of accesses that are all in its code are not reported, only counted; may be given several times
    /// [default: as in the hunt]
    #[arg(long, value_name = "NAME", value_parser = package)]
    ignore_package: Vec<String>,
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

fn package(text: &str) -> Result<String, String> {
    let is_name = text.chars().any(|character| !matches!(character, '/' | '.' | ' '));
    let here = std::env::current_dir().unwrap_or_default();
    // Files below the working folder are named as seen from it.
    let name = match Path::new(text).strip_prefix(here) {
        Ok(below) if below != Path::new("") => format!("{}/", below.display()),
        _ => text.to_owned(),
    };
    is_name.then_some(name).ok_or_else(|| {
        "expected a package of cargo (tokio), a directory (vendor/zlib) or a shared library (libz.so)"
            .to_owned()
    })
}

fn at_least_two(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|&number| number >= 2);
    number.ok_or_else(|| "expected a number from 2".to_owned())
}

impl View {
    /// A list that is named is kept, so that whoever ranks again knows it too.
    pub fn take_hints(&self, store: &Path) -> Result<(), Problem> {
        hints::take(store, self.correlations.as_deref())
    }

    /// Without packages on the command line, those of earlier findings of the hunt are meant.
    pub fn take_packages_of(&mut self, earlier: &Findings) {
        if self.own_package.is_empty() && self.ignore_package.is_empty() {
            self.own_package.clone_from(&earlier.packages.own);
            self.ignore_package.clone_from(&earlier.packages.ignored);
        }
    }

    pub fn packages(&self) -> Packages {
        let (own, ignored) = (self.own_package.clone(), self.ignore_package.clone());
        Packages { own, ignored, left_out: 0 }
    }

    pub fn options(&self) -> Options {
        Options {
            mode: self.mode,
            access_window: self.window,
            pair_window: self.pair_window,
            rows: if self.window_only { Rows::ByWindow } else { Rows::default() },
        }
    }
}

/// A run in short.
pub struct Condensed {
    pub patterns: RunPatterns,
    pub graphs: RunGraphs,
    /// Where its threads synchronised with each other.
    pub synchronised_at: Vec<ModuleSite>,
    /// Nothing is missing in the recordings.
    pub is_complete: bool,
}

/// Condenses the recordings in the folder of a run.
pub fn condense(folder: &Path, options: Options) -> Result<Condensed, Problem> {
    condense_cancellable(folder, options, &Cancellation::default())
}

/// The same; once it is cancelled, the thread unwinds.
pub fn condense_cancellable(
    folder: &Path,
    options: Options,
    cancellation: &Cancellation,
) -> Result<Condensed, Problem> {
    let run = Run::open(folder)?;
    let mut collector = Collector::new(options);
    let mut graphs = communication::Collector::new(GraphOptions::default());
    let mut synchronised_at = Vec::new();
    let mut is_complete = true;
    for recording in run.recordings_cancellable(cancellation) {
        let recording = recording?;
        is_complete &= recording.is_complete() && recording.damage().is_empty();
        let known = KnownRecording::new(&recording, &NAMES);
        collector.add(&recording, &known);
        graphs.add(&recording, &known);
        synchronised_at.extend(synchronisation_sites(&recording, &known));
    }
    let (patterns, graphs) = (collector.finish(), graphs.finish());
    Ok(Condensed { patterns, graphs, synchronised_at, is_complete })
}

/// The patterns of a stored run: as they are stored, or condensed anew if that was done in another way.
pub fn stored_patterns(run: &StoredRun, options: Options) -> Result<RunPatterns, Problem> {
    Found::of(run, options).map(|found| found.patterns)
}

/// The names of programs as their files here tell them.
pub fn names_of_files() -> &'static CodeNames {
    &NAMES
}

/// The patterns of a run, without its communication graphs.
pub fn patterns_in(folder: &Path, options: Options) -> Result<RunPatterns, Problem> {
    let run = Run::open(folder)?;
    let mut collector = Collector::new(options);
    for recording in run.recordings() {
        let recording = recording?;
        collector.add(&recording, &KnownRecording::new(&recording, &NAMES));
    }
    Ok(collector.finish())
}

/// The accesses of a run; none: there are too many, or nothing was recorded.
pub fn log_in(folder: &Path) -> Result<Option<AccessLog>, Problem> {
    let run = Run::open(folder)?;
    if run.event_files().is_empty() {
        return Ok(None);
    }
    let mut collector = LogCollector::default();
    for recording in run.recordings() {
        let recording = recording?;
        collector.add(&recording, &KnownRecording::new(&recording, &NAMES));
    }
    Ok(collector.finish())
}

/// The findings of these runs of a store.
pub fn findings_of(store: &Store, runs: &[StoredRun], view: &View) -> Result<Findings, Problem> {
    let conclusion = conclude_over(runs, &[], view.options(), view.formula)?;
    let imported = names_in(store.folder())?;
    let hangs = hangs_of(runs)?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    let choices = choices_in(store, view.packages());
    let described = Findings { hangs, ..describe(&conclusion, &names, &choices) };
    let described = of_hunt(described, runs);
    let described = add_to(described, runs, &stored_graphs, &names, &choices);
    Ok(described.without_what_accompanies_hangs())
}

/// Findings, and what else could lead them.
pub struct Reranked {
    /// Without hangs and reconstructions.
    pub findings: Findings,
    pub alternatives: Vec<Alternative>,
}

/// Findings that were ranked again, with how it happened in the runs of the hunt.
pub fn reconstructed(
    store: &Store,
    runs: &[StoredRun],
    findings: Findings,
) -> Result<Findings, Problem> {
    let imported = names_in(store.folder())?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    let choices = choices_in(store, findings.packages.clone());
    Ok(add_to(findings, runs, &stored_graphs, &names, &choices))
}

/// How the patterns of a hunt were collected; none: it has no run that can be used.
pub fn options_of(runs: &[StoredRun]) -> Result<Option<Options>, Problem> {
    let usable = runs.iter().find(|run| run.label() != Label::Unusable);
    usable.map(|run| read_patterns(&run.folder).map(|patterns| patterns.options)).transpose()
}

/// How findings of a hunt were come by, so that they can be ranked again in the same way.
#[derive(Debug, Clone)]
pub struct AsBefore {
    formula: String,
    packages: Packages,
}

impl AsBefore {
    pub fn of(findings: &Findings) -> AsBefore {
        AsBefore { formula: findings.formula.clone(), packages: findings.packages.clone() }
    }
}

/// The findings of these runs, scored over the experiments as well, otherwise as they were before. `units` may be torn.
pub fn reranked(
    store: &Store,
    runs: &[StoredRun],
    experiments: &[(Label, &RunPatterns)],
    options: Options,
    before: &AsBefore,
    units: &[OpenUnit],
) -> Result<Reranked, Problem> {
    let formula = Formula::from_name(&before.formula).unwrap_or_default();
    let conclusion = conclude_over(runs, experiments, options, formula)?;
    let imported = names_in(store.folder())?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    let choices = choices_in(store, before.packages.clone());
    Ok(Reranked {
        findings: describe(&conclusion, &names, &choices),
        alternatives: alternatives(&conclusion, &names, &choices, units),
    })
}

/// Findings that can take the place of the listed ones: the same cause, led by another pattern.
pub fn alternatives_of(
    store: &Store,
    runs: &[StoredRun],
    listed: &Findings,
) -> Result<Vec<Alternative>, Problem> {
    let Some(options) = options_of(runs)? else { return Ok(Vec::new()) };
    Ok(reranked(store, runs, &[], options, &AsBefore::of(listed), &[])?.alternatives)
}

pub fn choices() -> Choices {
    Choices {
        working_folder: std::env::current_dir().unwrap_or_default(),
        most_findings: MOST_FINDINGS,
        most_supporters: MOST_SUPPORTERS,
        correlations: Vec::new(),
        packages: Packages::default(),
    }
}

/// The same with the packages that the user names, and with what the store knows of variables that belong together.
fn choices_in(store: &Store, packages: Packages) -> Choices {
    Choices { correlations: hints::rules(store.folder()), packages, ..choices() }
}

/// Orders to try, the most promising first.
pub struct OrdersToTry {
    /// Those that no run had.
    pub unseen: Vec<Finding>,
    /// Further ones, which have no names.
    pub further: usize,
    /// Those that passing runs had.
    pub shown: Vec<Finding>,
    /// Those of both kinds that are all in ignored packages.
    pub left_out: usize,
}

pub fn orders_to_try(
    store: &Store,
    runs: &[StoredRun],
    view: &View,
) -> Result<OrdersToTry, Problem> {
    let mut unseen = Unseen::default();
    for run in runs.iter().filter(|run| run.label() != Label::Unusable) {
        let number = u32::try_from(run.number).unwrap_or(u32::MAX);
        unseen.add(number, run.label(), &stored_patterns(run, view.options())?);
    }
    let orders = unseen.finish();
    let imported = names_in(store.folder())?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    let choices = Choices { packages: view.packages(), ..choices() };
    let unseen = describe_unseen(&orders, &names, &choices, MOST_ORDERS);
    let shown = describe_shown(&orders, &names, &choices, MAX_SHOWN);
    Ok(OrdersToTry {
        further: orders.orders.len() - unseen.left_out - unseen.orders.len(),
        left_out: unseen.left_out + shown.left_out,
        unseen: unseen.orders,
        shown: shown.orders,
    })
}

/// Nothing was found yet.
pub fn no_findings(runs: &[StoredRun], view: &View) -> Findings {
    of_hunt(of_hangs(runs, view, Vec::new()), runs)
}

fn of_hangs(runs: &[StoredRun], view: &View, hangs: Vec<HangGroup>) -> Findings {
    let findings = Findings::of_hangs(counts_of(runs), view.formula.name(), hangs);
    Findings { packages: view.packages(), ..findings }
}

/// Findings with the hunt they are of, and how its runs failed.
fn of_hunt(findings: Findings, runs: &[StoredRun]) -> Findings {
    let hunt = runs.first().and_then(|run| run.info.hunt);
    Findings { hunt, failures: failures_of(runs), ..findings }
}

pub fn counts_of(runs: &[StoredRun]) -> Runs {
    let count = |label| runs.iter().filter(|run| run.label() == label).count() as u32;
    Runs {
        total: runs.len() as u32,
        passed: count(Label::Pass),
        failed: count(Label::Fail),
        unusable: count(Label::Unusable),
    }
}

/// What can be said about runs of which none passed: how they hung or failed.
pub fn only_failures(runs: &[StoredRun], view: &View) -> Result<Findings, Problem> {
    let hangs = hangs_of(runs)?;
    Ok(of_hunt(of_hangs(runs, view, hangs), runs))
}

fn conclude_over(
    runs: &[StoredRun],
    experiments: &[(Label, &RunPatterns)],
    options: Options,
    formula: Formula,
) -> Result<Conclusion, Problem> {
    let nothing = Collector::new(options).finish();
    let mut builds = Builds::default();
    let mut sources = Vec::new();
    for run in runs {
        let found = match run.label() {
            Label::Unusable => Found { patterns: nothing.clone(), is_stored: false },
            Label::Pass | Label::Fail => Found::of(run, options)?,
        };
        builds.add(run.number, &found.patterns)?;
        sources.push(found.source());
    }
    let failed = RefCell::new(None);
    let labelled = runs.iter().zip(&sources).map(|(run, source)| LabelledRun {
        number: u32::try_from(run.number).unwrap_or(u32::MAX),
        label: run.label(),
        patterns: Reading {
            run,
            source,
            nothing: &nothing,
            failed: &failed,
            read: OnceCell::new(),
        },
    });
    let conclusion = conclude_with(labelled, experiments, formula)?;
    // A file that could be read a moment ago: somebody has removed it.
    failed.take().map_or(Ok(conclusion), Err)
}

/// Where the patterns of a run are.
enum Source {
    /// In the store.
    Stored,
    Held(Box<RunPatterns>),
}

/// The patterns of a run, just read or just made.
struct Found {
    patterns: RunPatterns,
    is_stored: bool,
}

impl Found {
    fn of(run: &StoredRun, options: Options) -> Result<Found, Problem> {
        let stored = read_patterns(&run.folder);
        match stored {
            Ok(patterns) if patterns.options == options => Ok(Found { patterns, is_stored: true }),
            stored => Found::anew(run, options, stored),
        }
    }

    fn anew(
        run: &StoredRun,
        options: Options,
        stored: Result<RunPatterns, Problem>,
    ) -> Result<Found, Problem> {
        let recorded = Run::open(&run.folder)?;
        match (recorded.event_files().is_empty(), stored) {
            (false, _) => {
                let Condensed { patterns, .. } = condense(&run.folder, options)?;
                Ok(Found { patterns, is_stored: false })
            }
            (true, Ok(patterns)) => Err(recordings_are_gone(run, patterns.options)),
            (true, Err(problem)) => Err(problem),
        }
    }

    /// What can be read again is not held.
    fn source(self) -> Source {
        if self.is_stored { Source::Stored } else { Source::Held(Box::new(self.patterns)) }
    }
}

/// The patterns of a run, read when they are asked for: the second pass asks failing runs only.
struct Reading<'r> {
    run: &'r StoredRun,
    source: &'r Source,
    /// Stands for what cannot be read.
    nothing: &'r RunPatterns,
    failed: &'r RefCell<Option<Problem>>,
    read: OnceCell<RunPatterns>,
}

impl Borrow<RunPatterns> for Reading<'_> {
    fn borrow(&self) -> &RunPatterns {
        match self.source {
            Source::Held(patterns) => patterns,
            Source::Stored => self.read.get_or_init(|| {
                read_patterns(&self.run.folder).unwrap_or_else(|problem| {
                    self.failed.replace(Some(problem));
                    self.nothing.clone()
                })
            }),
        }
    }
}

fn recordings_are_gone(run: &StoredRun, options: Options) -> Problem {
    let Options { mode, access_window, pair_window, rows } = options;
    let mode = match mode {
        Mode::Unicorn => "unicorn",
        Mode::Falcon => "falcon",
    };
    let only = if rows == Rows::ByWindow { " --window-only" } else { "" };
    Problem::usage(format!("run {} cannot be looked at in another way", run.number))
        .at("folder", run.folder.display())
        .why("its recordings were not kept, only its patterns")
        .next(format!(
            "rank as it was hunted: unpick rank --mode {mode} --window {access_window} --pair-window {pair_window}{only}; \
             or hunt again with --keep all"
        ))
}
