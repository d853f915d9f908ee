//! What is kept of a run's races: in terms that hold beyond the process, so that recordings may be dropped.

use serde::{Deserialize, Serialize};

use super::around::Deed;
use crate::interleaving_patterns::RunPatterns;

/// The races of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunRaces {
    /// Modules, sites, stacks, blocks, locks, and the accesses of the races, without patterns: so that whatever names and compares
    /// runs by these can do so here.
    pub code: RunPatterns,
    /// One per pair of sites, by their numbers.
    pub races: Vec<Race>,
    /// Units of correlated accesses that others can come between, one for each three sites.
    pub torn: Vec<TornRace>,
    /// How many correlations were looked at; none: it was not asked for.
    pub correlations: Option<u32>,
    /// Occurrences that were left out because there were too many pairs; 0: complete.
    pub left_out: u64,
    /// All recordings were full: all accesses to shared bytes were looked at.
    pub is_full: bool,
    /// Threads that had events, of all processes.
    pub threads: u64,
    /// Events of synchronisation other than the beginning and end of threads; 0 with several threads: nothing is known that orders them.
    pub synchronisations: u64,
    pub events: u64,
}

/// Two places in the code whose accesses race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Race {
    /// Numbers of the accesses of the example, in the order in which they were made.
    pub accesses: [u32; 2],
    /// How often the detectors found it; 0: it is not found by this one.
    pub happens_before: u64,
    pub lockset: u64,
    /// Of what lockset alone finds: how often nothing firm ordered the accesses, and else a step that did.
    pub loose: u64,
    pub ordered_by: Option<RaceStep>,
    /// What the threads synchronised by around these accesses.
    pub around: [StepsAround; 2],
    /// When the first was made is not known exactly: its locks and steps may be those of a later moment.
    pub is_undated: bool,
}

/// Two correlated accesses of a thread, and one of another that can come between.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TornRace {
    /// Numbers of the accesses: the one in conflict with the remote one, the remote one, the correlated one that is left out.
    pub accesses: [u32; 3],
    /// The correlation.
    pub rule: String,
    /// How often the extensions found it; 0: it is not found by this one.
    pub happens_before: u64,
    pub lockset: u64,
    /// Of what lockset alone finds: how often nothing firm put the remote one before both others or after both, and else a step that did.
    pub loose: u64,
    pub ordered_by: Option<RaceStep>,
    /// What the threads of the first two synchronised by around them.
    pub around: [StepsAround; 2],
    /// When the remote one was made is not known exactly.
    pub is_undated: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct StepsAround {
    /// The last by which the thread came after others.
    pub before: Option<RaceStep>,
    /// The next by which others could come after it.
    pub after: Option<RaceStep>,
}

/// A step of synchronisation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceStep {
    pub deed: Deed,
    /// Number of the lock (or other object) among those of the run, with the place of the step.
    pub object: u32,
    /// Whether it has an object; else only the place says something.
    pub has_object: bool,
    /// The other thread, of a creation, join or switch.
    pub other: Option<u16>,
}

/// Who finds races.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detector {
    HappensBefore,
    Lockset,
}

impl Race {
    pub(super) fn add(&mut self, by: Detector, count: u64) {
        match by {
            Detector::HappensBefore => self.happens_before += count,
            Detector::Lockset => self.lockset += count,
        }
    }
}
