//! Scores and ranks of all patterns over all runs.

use std::borrow::Borrow;
use std::cmp::Ordering;

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::Label;
use unpick_problem::Problem;

use crate::interleaving_patterns::{Options, RunPatterns};

use super::code_book::CodeBook;
use super::evidence::{Evidence, Gathering};
use super::formula::{Counts, Formula};
use super::tally::{InExperiments, Occurrence, PatternKey, Tally};

/// Evidence is gathered for so many patterns.
const MOST_EVIDENCE: usize = 2000;

/// A run and its patterns: itself, or something that holds them.
#[derive(Debug, Clone)]
pub struct LabelledRun<R> {
    /// Whatever number the caller knows it by.
    pub number: u32,
    pub label: Label,
    pub patterns: R,
}

/// How many runs there were.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RunCounts {
    pub passed: u32,
    pub failed: u32,
    /// Never counted otherwise.
    pub unusable: u32,
}

impl RunCounts {
    pub fn total(&self) -> u32 {
        self.passed + self.failed + self.unusable
    }

    pub(crate) fn add(&mut self, label: Label) {
        match label {
            Label::Pass => self.passed += 1,
            Label::Fail => self.failed += 1,
            Label::Unusable => self.unusable += 1,
        }
    }
}

/// A pattern with its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ranked {
    pub key: PatternKey,
    /// In how many failing and passing runs it occurred.
    pub failed: u32,
    pub passed: u32,
    /// How often in all these runs.
    pub count: u64,
    /// In how many experiments it occurred; they count for the score.
    pub experiments: InExperiments,
    pub score: f64,
    /// One more than the number of patterns with a higher score.
    pub rank: u32,
}

/// What all runs together say.
#[derive(Debug)]
pub struct Conclusion {
    pub runs: RunCounts,
    /// Runs in which an order was forced or prevented: they count for scores only.
    pub experiments: RunCounts,
    pub formula: Formula,
    /// How the runs were looked at; `None` without runs.
    pub options: Option<Options>,
    pub code: CodeBook,
    /// All patterns, the most suspicious first.
    pub ranked: Vec<Ranked>,
    /// For the first patterns of `ranked`, those that occur in failing runs.
    pub evidence: Vec<Evidence>,
    places: FxHashMap<PatternKey, u32>,
    hidden: FxHashMap<PatternKey, u32>,
    passed_sites: FxHashSet<u32>,
}

/// Ranks the patterns of all runs. Goes through `runs` twice; what it yields may be read from disk each time.
pub fn conclude<R, I>(runs: I, formula: Formula) -> Result<Conclusion, Problem>
where
    R: Borrow<RunPatterns>,
    I: IntoIterator<Item = LabelledRun<R>> + Clone,
{
    conclude_with(runs, &[], formula)
}

/// The same, with experiments: runs in which an order was forced or prevented. They bring about what a hunt seldom sees, a suspicious
/// order in a run that passes, or a failure without it; so they count for scores, and for nothing else.
pub fn conclude_with<R, I>(
    runs: I,
    experiments: &[(Label, RunPatterns)],
    formula: Formula,
) -> Result<Conclusion, Problem>
where
    R: Borrow<RunPatterns>,
    I: IntoIterator<Item = LabelledRun<R>> + Clone,
{
    let mut counted = RunCounts::default();
    let mut options = None;
    let mut tally = Tally::default();
    for run in runs.clone() {
        counted.add(run.label);
        if run.label != Label::Unusable {
            let patterns = run.patterns.borrow();
            check_options(&mut options, patterns.options, run.number)?;
            tally.add(run.label, patterns);
        }
    }
    let mut tried = RunCounts::default();
    for (label, patterns) in experiments {
        tried.add(*label);
        tally.add_experiment(*label, patterns);
    }
    let Tally { mut code, patterns, hidden, passed_sites } = tally;
    let ranked = rank(patterns, [&counted, &tried], formula, &code);
    let failing = ranked.iter().take(MOST_EVIDENCE).take_while(|pattern| pattern.failed > 0);
    let mut gathering = Gathering::of(failing.map(|pattern| pattern.key));
    for run in runs.into_iter().filter(|run| run.label == Label::Fail) {
        gathering.add(run.number, run.patterns.borrow(), &mut code);
    }
    let places = ranked.iter().map(|pattern| pattern.key).zip(0..).collect();
    let evidence = gathering.finish();
    Ok(Conclusion {
        runs: counted,
        experiments: tried,
        formula,
        options,
        code,
        ranked,
        evidence,
        places,
        hidden,
        passed_sites,
    })
}

fn check_options(known: &mut Option<Options>, options: Options, run: u32) -> Result<(), Problem> {
    let known = *known.get_or_insert(options);
    if known == options {
        return Ok(());
    }
    Err(Problem::usage(
        "the runs cannot be compared: their patterns were collected in different ways",
    )
    .at("run", run)
    .why(format!("it was looked at with {options:?}, the runs before it with {known:?}"))
    .next("collect all of them again with the same windows"))
}

fn rank(
    patterns: FxHashMap<PatternKey, Occurrence>,
    [runs, experiments]: [&RunCounts; 2],
    formula: Formula,
    code: &CodeBook,
) -> Vec<Ranked> {
    let mut ranked: Vec<Ranked> = patterns
        .into_iter()
        .map(|(key, occurrence)| {
            let Occurrence { failed, passed, count, experiments: tried } = occurrence;
            let score = formula.score(&Counts {
                failed: failed + tried.failed,
                passed: passed + tried.passed,
                all_failed: runs.failed + experiments.failed,
                all_passed: runs.passed + experiments.passed,
            });
            Ranked { key, failed, passed, count, experiments: tried, score, rank: 0 }
        })
        .collect();
    ranked.sort_unstable_by(|one, other| compare(one, other, code));
    let mut rank = 0;
    for at in 0..ranked.len() {
        if at == 0 || ranked[at - 1].score != ranked[at].score {
            rank = at as u32 + 1;
        }
        ranked[at].rank = rank;
    }
    ranked
}

/// The most suspicious first; then what can be said in fewer words; then by place, so that the order is always the same.
fn compare(one: &Ranked, other: &Ranked, code: &CodeBook) -> Ordering {
    (other.score.total_cmp(&one.score))
        .then(other.failed.cmp(&one.failed))
        .then(one.key.pattern.cmp(&other.key.pattern))
        .then_with(|| places(one, code).cmp(places(other, code)))
}

fn places(ranked: &Ranked, code: &CodeBook) -> impl Iterator<Item = (Option<u32>, u64)> {
    let sites = ranked.key.sites().iter().map(|&site| code.sites[site as usize]);
    sites.map(|site| (site.module, site.offset))
}

impl Conclusion {
    /// The pattern with this key.
    pub fn find(&self, key: &PatternKey) -> Option<&Ranked> {
        self.places.get(key).map(|&place| &self.ranked[place as usize])
    }

    /// In how many passing runs the accesses of a pair met in this order where the access window hides it.
    pub fn hidden_in_passing(&self, key: &PatternKey) -> u32 {
        self.hidden.get(key).copied().unwrap_or(0)
    }

    /// Whether a passing run accessed shared memory at this site, as far as its recording shows.
    pub fn has_passed(&self, site: u32) -> bool {
        self.passed_sites.contains(&site)
    }

    /// The score a pattern would have with this many passing runs.
    pub fn score_with(&self, ranked: &Ranked, passed: u32) -> f64 {
        let tried = ranked.experiments;
        self.formula.score(&Counts {
            failed: ranked.failed + tried.failed,
            passed: passed + tried.passed,
            all_failed: self.runs.failed + self.experiments.failed,
            all_passed: self.runs.passed + self.experiments.passed,
        })
    }

    /// How many patterns share rank 1; none, if no pattern occurs in a failing run.
    pub fn at_rank_1(&self) -> usize {
        let best = self.ranked.iter().take_while(|pattern| pattern.rank == 1);
        best.filter(|pattern| pattern.failed > 0).count()
    }
}
