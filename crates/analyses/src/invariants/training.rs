//! Training: from what was checked in passing runs to the sites that hold an invariant.
//!
//! Takes   the checks of labelled runs, one run after the other, by whatever names a site (`K`).
//! Gives   for every site that was executed how it fared; which of them hold an invariant; whether the set has settled.
//! Misses  what the training's input does not execute.
//! Cost    one look-up per site of each run.
//!
//! Pure, and a sum: two trainings can be put together in any order.

use std::collections::BTreeMap;

use unpick_events::Label;

use super::result::Checks;

/// When it is enough, and what is put up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// The set has settled when so many passing runs have not changed it.
    pub settled_after: u32,
    /// A site leaves the set when so many passing runs have violated it: above 1, some of them may be labelled wrongly.
    pub leaves_after: u32,
}

impl Default for Rules {
    fn default() -> Self {
        Rules { settled_after: 10, leaves_after: 1 }
    }
}

/// How a site fared in passing runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Trained {
    /// Runs that executed it.
    pub runs: u32,
    /// Of these: runs that violated it.
    pub violated_runs: u32,
    pub checks: Checks,
}

impl Trained {
    fn of_run(checks: Checks) -> Trained {
        Trained { runs: 1, violated_runs: u32::from(checks.violated > 0), checks }
    }

    pub fn add(&mut self, other: Trained) {
        self.runs = self.runs.saturating_add(other.runs);
        self.violated_runs = self.violated_runs.saturating_add(other.violated_runs);
        self.checks.add(other.checks);
    }

    pub fn is_invariant(&self, rules: Rules) -> bool {
        self.runs > 0 && self.violated_runs < rules.leaves_after
    }

    /// No thread ever came between, so nobody knows what would happen.
    pub fn was_never_challenged(&self) -> bool {
        self.checks.challenged == 0
    }
}

/// What a run did to the set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Change {
    pub entered: usize,
    pub left: usize,
}

impl Change {
    pub fn is_none(&self) -> bool {
        *self == Change::default()
    }
}

/// What was learned so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Training<K> {
    rules: Rules,
    sites: BTreeMap<K, Trained>,
    /// Passing runs.
    runs: u32,
    /// The last so many did not change the set.
    unchanged: u32,
}

impl<K: Ord> Training<K> {
    pub fn new(rules: Rules) -> Training<K> {
        Training { rules, sites: BTreeMap::new(), runs: 0, unchanged: 0 }
    }

    /// Goes on with what was learned before, in so many runs.
    pub fn resumed(rules: Rules, sites: BTreeMap<K, Trained>, runs: u32) -> Training<K> {
        Training { rules, sites, runs, unchanged: 0 }
    }

    /// Takes in a run. One that did not pass trains nothing.
    pub fn add(
        &mut self,
        label: Label,
        run: impl IntoIterator<Item = (K, Checks)>,
    ) -> Option<Change> {
        if label != Label::Pass {
            return None;
        }
        // A name may stand for several sites of a build.
        let mut of_run: BTreeMap<K, Checks> = BTreeMap::new();
        for (site, checks) in run {
            of_run.entry(site).or_default().add(checks);
        }
        let mut change = Change::default();
        for (site, checks) in of_run {
            let known = self.sites.entry(site).or_default();
            let before = known.is_invariant(self.rules);
            let was_known = known.runs > 0;
            known.add(Trained::of_run(checks));
            let after = known.is_invariant(self.rules);
            change.entered += usize::from(!was_known && after);
            change.left += usize::from((before || !was_known) && !after);
        }
        self.runs += 1;
        self.unchanged = if change.is_none() { self.unchanged + 1 } else { 0 };
        Some(change)
    }

    pub fn has_settled(&self) -> bool {
        self.unchanged >= self.rules.settled_after
    }

    /// How many passing runs were taken in, those of an earlier training included.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// How many of the last runs did not change the set.
    pub fn unchanged(&self) -> u32 {
        self.unchanged
    }

    pub fn sites(&self) -> &BTreeMap<K, Trained> {
        &self.sites
    }

    pub fn into_sites(self) -> BTreeMap<K, Trained> {
        self.sites
    }

    /// The sites that hold an invariant.
    pub fn invariants(&self) -> impl Iterator<Item = (&K, &Trained)> {
        self.sites.iter().filter(|(_, trained)| trained.is_invariant(self.rules))
    }

    pub fn is_invariant(&self, site: &K) -> bool {
        self.sites.get(site).is_some_and(|trained| trained.is_invariant(self.rules))
    }
}
