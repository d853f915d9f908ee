//! What is kept of a run: what was checked where, and what was violated.

use serde::{Deserialize, Serialize};

use crate::interleaving_patterns::{Access, RunPatterns};

use super::serializability::Case;

/// How often the accesses at a site had one of their thread before them, and what came between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checks {
    pub checked: u64,
    /// Of these: another thread came between.
    pub challenged: u64,
    /// Of these: as no serial order allows.
    pub violated: u64,
}

impl Checks {
    pub fn add(&mut self, other: Checks) {
        self.checked = self.checked.saturating_add(other.checked);
        self.challenged = self.challenged.saturating_add(other.challenged);
        self.violated = self.violated.saturating_add(other.violated);
    }
}

/// All occurrences of a violation: the same case at the same sites.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Violation {
    pub case: Case,
    pub count: u64,
    /// Numbers of the accesses of the first occurrence: P-access, those of others, I-access.
    example: Vec<u32>,
    /// Which of them makes it unserializable.
    pub deciding: usize,
    /// Accesses of others that are not listed.
    pub further: u64,
}

/// The invariants of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunInvariants {
    /// Modules, sites, stacks, blocks, and the accesses of the examples, without patterns: so that whatever names and compares
    /// runs by these can do so here.
    pub code: RunPatterns,
    /// By number of the site of the I-access; sorted.
    pub checks: Vec<(u32, Checks)>,
    /// Sorted by sites and case.
    pub violations: Vec<Violation>,
    /// Occurrences of violations that were left out because there were too many kinds; 0: complete.
    pub left_out: u64,
    /// All recordings were full: all accesses to shared bytes were checked.
    pub is_full: bool,
}

impl Violation {
    pub(super) fn new(
        case: Case,
        count: u64,
        example: Vec<u32>,
        deciding: usize,
        further: u64,
    ) -> Violation {
        Violation { case, count, example, deciding, further }
    }

    /// Numbers of its accesses among those of the run.
    pub fn example(&self) -> &[u32] {
        &self.example
    }
}

impl RunInvariants {
    /// The accesses of a violation's example: P-access, those of others, I-access.
    pub fn example<'r>(&'r self, violation: &'r Violation) -> impl Iterator<Item = &'r Access> {
        violation.example.iter().map(|&number| &self.code.accesses[number as usize])
    }

    /// The site of the I-access: the invariant's.
    pub fn site_of(&self, violation: &Violation) -> u32 {
        self.example(violation).last().map_or(0, |access| access.site)
    }
}
