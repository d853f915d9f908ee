//! Counts in which runs each pattern occurred.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::Label;

use crate::interleaving_patterns::{FoundPattern, PatternId, RunPatterns};

use super::code_book::{CodeBook, Translation};
use super::missing::MissingTally;

/// A pattern and its sites, numbered by the code book.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PatternKey {
    pub pattern: PatternId,
    /// Unused ones are 0.
    sites: [u32; 4],
}

impl PatternKey {
    pub fn new(pattern: PatternId, sites: impl IntoIterator<Item = u32>) -> PatternKey {
        let mut key = PatternKey { pattern, sites: [0; 4] };
        key.sites.iter_mut().zip(sites).for_each(|(place, site)| *place = site);
        key
    }

    pub fn of(run: &RunPatterns, found: &FoundPattern, translation: &Translation) -> PatternKey {
        let sites = run.sites_of(found).map(|site| translation.sites[site as usize]);
        PatternKey::new(found.pattern, sites)
    }

    /// The sites of its accesses, in order.
    pub fn sites(&self) -> &[u32] {
        &self.sites[..self.pattern.steps().len()]
    }
}

/// In how many runs a pattern occurred.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occurrence {
    pub failed: u32,
    pub passed: u32,
    /// How often, in all these runs together.
    pub count: u64,
    pub experiments: InExperiments,
}

/// In how many runs a pattern occurred in which an order was forced or prevented.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct InExperiments {
    pub failed: u32,
    pub passed: u32,
}

#[derive(Debug, Default)]
pub struct Tally {
    pub code: CodeBook,
    pub patterns: FxHashMap<PatternKey, Occurrence>,
    /// For pairs, passing runs that have them where the access window hides them.
    pub hidden: FxHashMap<PatternKey, u32>,
    /// Sites that a passing run has executed, as far as its recording shows.
    pub passed_sites: FxHashSet<u32>,
    /// Orders that failing runs lack.
    pub missing: MissingTally,
}

impl Tally {
    /// Counts the patterns of a run that failed or passed; `number` is what the caller knows it by.
    pub fn add(&mut self, number: u32, label: Label, run: &RunPatterns) {
        let translation = self.code.enter(run);
        self.missing.observe(number, label, run, &translation);
        for found in &run.patterns {
            let key = PatternKey::of(run, found, &translation);
            let occurrence = self.patterns.entry(key).or_default();
            match label {
                Label::Fail => occurrence.failed += 1,
                Label::Pass => occurrence.passed += 1,
                Label::Unusable => {}
            }
            occurrence.count += found.count;
        }
        if label == Label::Pass {
            self.add_passed_sites(run, &translation);
        }
    }

    /// Counts the patterns of an experiment. What no run of the hunt had is not counted: it is of the experiment's own making.
    pub fn add_experiment(&mut self, label: Label, run: &RunPatterns) {
        let translation = self.code.enter(run);
        for found in &run.patterns {
            let key = PatternKey::of(run, found, &translation);
            let Some(occurrence) = self.patterns.get_mut(&key) else { continue };
            match label {
                Label::Fail => occurrence.experiments.failed += 1,
                Label::Pass => occurrence.experiments.passed += 1,
                Label::Unusable => {}
            }
        }
    }

    fn add_passed_sites(&mut self, run: &RunPatterns, translation: &Translation) {
        let site = |number: u32| translation.sites[number as usize];
        self.passed_sites.extend(run.seen_sites.iter().map(|&number| site(number)));
        for pair in &run.hidden_pairs {
            *self.hidden.entry(PatternKey::new(pair.pattern, pair.sites.map(site))).or_default() +=
                1;
        }
    }
}
