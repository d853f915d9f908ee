//! Correlations out of a recording, where there is no source: variables that are accessed under one lock at a time, together.
//!
//! Takes   the events of a recording, and which variable is accessed where.
//! Gives   pairs of variables that most critical sections with the one have in common with the other.
//! Misses  variables whose code never holds a lock over both.
//! Cost    one walk over the events; for each critical section all pairs of the variables in it.

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_events::{Site, ThreadId};
use unpick_recording::{Action, Recording};

use crate::knowledge::Knowledge;
use crate::locks_held::LockChange;

/// What makes a correlation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mining {
    /// Critical sections with both, at least.
    pub support: u32,
    /// Share of those with the rarer one that have both.
    pub confidence: f64,
}

impl Default for Mining {
    fn default() -> Self {
        Mining { support: 2, confidence: 0.5 }
    }
}

/// Two variables that belong together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MinedPair {
    pub variables: [u32; 2],
    pub support: u32,
    pub confidence: f64,
}

/// A section with more variables than this says nothing about any two of them.
const MOST_IN_SECTION: usize = 32;

/// The pairs of variables that belong together.
pub fn mine(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    variable_at: &FxHashMap<Site, u32>,
    mining: Mining,
) -> Vec<MinedPair> {
    let mut sections = Sections::default();
    for event in recording.events() {
        match knowledge.lock_change(&event) {
            Some(LockChange::Taken { .. }) => sections.begin(event.thread),
            Some(LockChange::Released { .. }) => sections.end(event.thread),
            _ => {}
        }
        if let Action::Access { .. } = event.action
            && let Some(&variable) = variable_at.get(&event.site)
        {
            sections.add(event.thread, variable);
        }
    }
    sections.pairs(mining)
}

/// What each thread has accessed since it holds a lock, and how often variables were in one section.
#[derive(Default)]
struct Sections {
    open: FxHashMap<ThreadId, (u32, FxHashSet<u32>)>,
    single: FxHashMap<u32, u32>,
    both: FxHashMap<[u32; 2], u32>,
}

impl Sections {
    fn begin(&mut self, thread: ThreadId) {
        self.open.entry(thread).or_default().0 += 1;
    }

    fn add(&mut self, thread: ThreadId, variable: u32) {
        if let Some((_, variables)) = self.open.get_mut(&thread).filter(|(depth, _)| *depth > 0) {
            variables.insert(variable);
        }
    }

    fn end(&mut self, thread: ThreadId) {
        let Some((depth, variables)) = self.open.get_mut(&thread) else { return };
        *depth = depth.saturating_sub(1);
        if *depth > 0 {
            return;
        }
        let mut variables: Vec<u32> = variables.drain().collect();
        variables.sort_unstable();
        for (at, &one) in variables.iter().enumerate() {
            *self.single.entry(one).or_default() += 1;
            if variables.len() <= MOST_IN_SECTION {
                for &other in &variables[at + 1..] {
                    *self.both.entry([one, other]).or_default() += 1;
                }
            }
        }
    }

    fn pairs(&self, mining: Mining) -> Vec<MinedPair> {
        let pair = |(&variables, &support): (&[u32; 2], &u32)| {
            let rarer = variables.map(|variable| self.single[&variable]).into_iter().min();
            let confidence = f64::from(support) / f64::from(rarer.unwrap_or(1).max(1));
            MinedPair { variables, support, confidence }
        };
        let enough = |pair: &MinedPair| {
            pair.support >= mining.support && pair.confidence >= mining.confidence
        };
        let mut pairs: Vec<MinedPair> = self.both.iter().map(pair).filter(enough).collect();
        pairs.sort_unstable_by_key(|pair| (std::cmp::Reverse(pair.support), pair.variables));
        pairs
    }
}
