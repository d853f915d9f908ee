//! Orders that passing runs have and failing runs lack: a value was read before it was written, and the run ended without that write.
//!
//! Takes   all labelled runs, one after the other.      Gives  reads that came too early (P1), with how many failing runs they explain.
//! Misses  what came too early in a run that finished: there the write met the read, and the order was seen.
//! Invents reads that a failing run never came to, because it ended before: those of all code after its end. Only forcing tells.
//! Cost    one look-up per pair and run.
//!
//! A recording has an access only if two threads met. When a thread reads the initial value, crashes of it, and the other thread's
//! write never happens, nobody meets: the recording is empty. So the initial value counts as written by a thread of its own: in an
//! unfinished failing run that has neither W1 R2 nor R2 W1, though passing runs always have W1 R2, thread 2 read the initial
//! value, or never came to the read. What never happened can only matter through somebody who read what it should have
//! written: so other pairs are no candidates.
//!
//! The score is that of a pattern that occurs in the failing runs that show R2 W1 or lack both, and in the passing runs that show R2 W1
//! or lack W1 R2. Absence is weaker evidence than presence: where an order of other accesses was seen and has at least half of the best
//! possible score, no missing one comes near to it.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::Label;

use crate::interleaving_patterns::{PatternId, RunPatterns, Touch};

use super::code_book::Translation;
use super::conclusion::{Ranked, RunCounts};
use super::formula::{Counts, Formula};
use super::tally::PatternKey;

/// More cannot be tried.
const MAX_CANDIDATES: usize = 50;
/// From this score on an order that was seen explains the failing runs better than one that was not.
const EXPLAINS: f64 = 0.5;
/// How far a missing order stays behind such a one.
const MARGIN: f64 = 0.1;

/// How a read before a write is known that failing runs did not live to show.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Missing {
    /// Failing runs that ended with neither order.
    pub runs: u32,
    /// The passing run with an example, as the caller numbers runs.
    pub example_run: u32,
    /// When the read was made there: process, and place in the order.
    pub read_at: (u32, u32),
    /// No higher, because of what was seen.
    pub highest_score: f64,
}

/// The sites of a write and of a read by another thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Sites {
    write: u32,
    read: u32,
}

impl Sites {
    /// Of P1 and P2; whether the read comes first.
    fn of(key: &PatternKey) -> Option<(Sites, bool)> {
        let &[first, second] = key.sites() else { return None };
        match key.pattern {
            PatternId::P1 => Some((Sites { write: second, read: first }, true)),
            PatternId::P2 => Some((Sites { write: first, read: second }, false)),
            _ => None,
        }
    }

    fn read_first(self) -> PatternKey {
        PatternKey::new(PatternId::P1, [self.read, self.write])
    }
}

/// In which order each read and write of a run met.
#[derive(Debug, Default)]
pub(super) struct Meetings {
    write_first: FxHashSet<Sites>,
    read_first: FxHashSet<Sites>,
}

impl Meetings {
    /// Of all pairs of a run, whether the access window shows them or not.
    pub fn of(run: &RunPatterns, translation: &Translation) -> Meetings {
        let site = |number: u32| translation.sites[number as usize];
        let shown = run.patterns.iter().map(|found| PatternKey::of(run, found, translation));
        let hidden = run.hidden_pairs.iter();
        let hidden = hidden.map(|pair| PatternKey::new(pair.pattern, pair.sites.map(site)));
        let mut meetings = Meetings::default();
        for (sites, is_read_first) in shown.chain(hidden).filter_map(|key| Sites::of(&key)) {
            let met =
                if is_read_first { &mut meetings.read_first } else { &mut meetings.write_first };
            met.insert(sites);
        }
        meetings
    }

    /// Whether the read and the write of this P1 met at all.
    pub fn have(&self, key: &PatternKey) -> bool {
        Sites::of(key).is_some_and(|(sites, _)| {
            self.read_first.contains(&sites) || self.write_first.contains(&sites)
        })
    }

    /// Pairs of which only the write came first.
    fn kept(&self) -> impl Iterator<Item = Sites> {
        self.write_first.difference(&self.read_first).copied()
    }
}

/// Counts what runs have and lack.
#[derive(Debug, Default)]
pub(super) struct MissingTally {
    /// Passing runs in which the write always came first.
    kept: FxHashMap<Sites, u32>,
    /// Unfinished failing runs in which read and write met, in any order.
    met: FxHashMap<Sites, u32>,
    unfinished: u32,
    /// What starting and joining threads does not forbid: where an example is.
    possible: FxHashMap<Sites, (u32, (u32, u32))>,
}

impl MissingTally {
    /// Observes a run by the number the caller knows it by.
    pub fn observe(
        &mut self,
        number: u32,
        label: Label,
        run: &RunPatterns,
        translation: &Translation,
    ) {
        match label {
            Label::Pass => self.observe_passing(number, run, translation),
            Label::Fail if run.unfinished => {
                let Meetings { write_first, read_first } = Meetings::of(run, translation);
                self.unfinished += 1;
                write_first.union(&read_first).for_each(|sites| add_one(&mut self.met, *sites));
            }
            Label::Fail | Label::Unusable => {}
        }
    }

    fn observe_passing(&mut self, number: u32, run: &RunPatterns, translation: &Translation) {
        for sites in Meetings::of(run, translation).kept() {
            add_one(&mut self.kept, sites);
        }
        for found in run.possible.iter().filter(|found| found.pattern == PatternId::P1) {
            let accesses: Vec<_> = run.example(found).collect();
            let key = PatternKey::of(run, found, translation);
            if let (&[read, write], Some((sites, _))) = (accesses.as_slice(), Sites::of(&key))
                && write.touch == Touch::Write
            {
                self.possible.entry(sites).or_insert((number, (read.process, read.index)));
            }
        }
    }

    /// The candidates, the most suspicious and earliest first; each with its counts. `seen` has the scores of what was seen.
    pub fn candidates(
        &self,
        seen: &[Ranked],
        runs: &RunCounts,
        formula: Formula,
    ) -> Vec<(PatternKey, Counts, Missing)> {
        let (all_failed, all_passed) = (runs.failed, runs.passed);
        let pairs = seen.iter().filter(|one| one.key.pattern == PatternId::P1);
        let shown: FxHashMap<PatternKey, u32> = pairs.map(|one| (one.key, one.failed)).collect();
        let mut candidates: Vec<_> = self
            .possible
            .iter()
            .filter_map(|(&sites, &(example_run, read_at))| {
                let runs = self.unfinished - self.met.get(&sites).copied().unwrap_or(0);
                let kept = self.kept.get(&sites).copied().unwrap_or(0);
                let key = sites.read_first();
                let shown = shown.get(&key).copied().unwrap_or(0);
                let (failed, passed) = (shown + runs, all_passed - kept);
                let counts = Counts { failed, passed, all_failed, all_passed };
                let missing = Missing { runs, example_run, read_at, highest_score: 1.0 };
                (runs > 0).then_some((key, counts, missing))
            })
            .collect();
        candidates.sort_unstable_by(|(key, counts, missing), (other_key, other_counts, other)| {
            let score = |counts: &Counts| formula.score(counts);
            score(other_counts)
                .total_cmp(&score(counts))
                .then(missing.read_at.cmp(&other.read_at))
                .then(key.cmp(other_key))
        });
        candidates.truncate(MAX_CANDIDATES);
        for (key, _, missing) in &mut candidates {
            missing.highest_score = highest_score(key, seen);
        }
        candidates
    }
}

fn add_one(counts: &mut FxHashMap<Sites, u32>, sites: Sites) {
    *counts.entry(sites).or_default() += 1;
}

/// The highest score that a missing order may have beside what was seen of other accesses.
fn highest_score(key: &PatternKey, seen: &[Ranked]) -> f64 {
    let contains = |one: &&Ranked| key.sites().iter().all(|site| one.key.sites().contains(site));
    let others = seen.iter().filter(|one| !contains(one));
    let best = others.map(|one| one.score).fold(0.0, f64::max);
    if best >= EXPLAINS { best - MARGIN } else { 1.0 }
}
