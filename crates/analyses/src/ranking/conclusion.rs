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
use super::missing::{Missing, MissingTally};
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
    /// Some of the failing runs did not live to show it.
    pub missing: Option<Missing>,
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
    experiments: &[(Label, &RunPatterns)],
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
            tally.add(run.number, run.label, patterns);
        }
    }
    let mut tried = RunCounts::default();
    for (label, patterns) in experiments {
        tried.add(*label);
        tally.add_experiment(*label, patterns);
    }
    let Tally { mut code, patterns, hidden, passed_sites, missing } = tally;
    let ranked = rank(patterns, &missing, [&counted, &tried], formula, &code);
    let failing = ranked.iter().take(MOST_EVIDENCE).take_while(|pattern| pattern.failed > 0);
    let mut gathering = Gathering::of(failing);
    for run in runs {
        if gathering.needs(run.number, run.label) {
            gathering.add(run.number, run.label, run.patterns.borrow(), &mut code);
        }
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
    missing: &MissingTally,
    [runs, experiments]: [&RunCounts; 2],
    formula: Formula,
    code: &CodeBook,
) -> Vec<Ranked> {
    let seen = patterns.into_iter().map(|(key, occurrence)| {
        let Occurrence { failed, passed, count, experiments: tried } = occurrence;
        let score = formula.score(&Counts {
            failed: failed + tried.failed,
            passed: passed + tried.passed,
            all_failed: runs.failed + experiments.failed,
            all_passed: runs.passed + experiments.passed,
        });
        Ranked { key, failed, passed, count, experiments: tried, score, rank: 0, missing: None }
    });
    let mut ranked: Vec<Ranked> = seen.collect();
    let candidates = missing.candidates(&ranked, runs, formula);
    add_missing(&mut ranked, candidates, formula);
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

/// Adds orders that failing runs lack, or puts them in the place of what was seen of them, where that has a lower score.
fn add_missing(
    ranked: &mut Vec<Ranked>,
    candidates: Vec<(PatternKey, Counts, Missing)>,
    formula: Formula,
) {
    for (key, counts, missing) in candidates {
        let Counts { failed, passed, .. } = counts;
        let score = formula.score(&counts).min(missing.highest_score);
        let known = ranked.iter_mut().find(|known| known.key == key);
        let count = known.as_ref().map_or(0, |known| known.count);
        let missing = Some(missing);
        let experiments = known.as_ref().map_or_else(InExperiments::default, |it| it.experiments);
        let with_missing =
            Ranked { key, failed, passed, count, experiments, score, rank: 0, missing };
        match known {
            Some(known) if known.score < score => *known = with_missing,
            Some(_) => {}
            None => ranked.push(with_missing),
        }
    }
}

/// The most suspicious first; then what was seen before what is missing, and of that what came first in a run; then what can be said
/// in fewer words; then by place, so that the order is always the same.
fn compare(one: &Ranked, other: &Ranked, code: &CodeBook) -> Ordering {
    (other.score.total_cmp(&one.score))
        .then(other.failed.cmp(&one.failed))
        .then_with(|| read_at(one).cmp(&read_at(other)))
        .then(one.key.pattern.cmp(&other.key.pattern))
        .then_with(|| places(one, code).cmp(places(other, code)))
}

/// Of a missing order, when the read was made that should have come later.
fn read_at(ranked: &Ranked) -> Option<(u32, u32)> {
    ranked.missing.map(|missing| missing.read_at)
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
        let counts = Counts {
            failed: ranked.failed + tried.failed,
            passed: passed + tried.passed,
            all_failed: self.runs.failed + self.experiments.failed,
            all_passed: self.runs.passed + self.experiments.passed,
        };
        let highest = ranked.missing.map_or(1.0, |missing| missing.highest_score);
        self.formula.score(&counts).min(highest)
    }

    /// How many patterns share rank 1; none, if no pattern occurs in a failing run.
    pub fn at_rank_1(&self) -> usize {
        let best = self.ranked.iter().take_while(|pattern| pattern.rank == 1);
        best.filter(|pattern| pattern.failed > 0).count()
    }
}
