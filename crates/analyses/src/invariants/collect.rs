//! Collects what was checked and violated in one run, recording by recording.
//!
//! Takes   the recordings of a run.      Gives  `RunInvariants`.

use rustc_hash::FxHashMap;
use unpick_recording::{Access as RecordedAccess, Histories, Life, Order, Recording};

use crate::access_pairs::{LivedBytes, is_of_library};
use crate::code_tables::{CodeTables, Process, Table};
use crate::interleaving_patterns::{
    Access, Collector as PatternCollector, Options, RunPatterns, slices,
};
use crate::knowledge::Knowledge;

use super::cache::{CacheShape, Caches, Suspicion};
use super::result::{Checks, RunInvariants, Violation};
use super::serializability::Case;
use super::turns::{Turn, turns};

/// Of a run. Nobody reads more of them.
const MOST_VIOLATIONS: usize = 10_000;
/// Accesses of others that an example lists.
const MOST_REMOTE: usize = 8;

/// Who watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Variant {
    /// Every byte, exactly: AVIO-S.
    #[default]
    Software,
    /// Private caches with a few bits per line, simulated: AVIO-H.
    Hardware(CacheShape),
}

/// Collects the invariants of one run.
#[derive(Debug)]
pub struct Collector {
    variant: Variant,
    code: CodeTables,
    accesses: Table<Access>,
    checks: FxHashMap<u32, Checks>,
    violations: FxHashMap<Identity, Found>,
    left_out: u64,
    processes: u32,
    is_full: bool,
}

/// What makes two violations the same: sites of the P-access, of the deciding remote one and of the I-access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Identity {
    sites: [u32; 3],
    case: Case,
}

#[derive(Debug)]
struct Found {
    /// Of the I-access of the example: process, and place in it.
    at: (u32, Order),
    violation: Violation,
}

/// One occurrence of a violation.
struct Occurrence<'l> {
    case: Case,
    previous: &'l RecordedAccess,
    between: &'l [RecordedAccess],
    deciding: usize,
    this: &'l RecordedAccess,
    lived: &'l LivedBytes,
}

impl Default for Collector {
    fn default() -> Self {
        Collector::new(Variant::Software)
    }
}

impl Collector {
    pub fn new(variant: Variant) -> Collector {
        Collector {
            variant,
            code: CodeTables::new(),
            accesses: Table::new([]),
            checks: FxHashMap::default(),
            violations: FxHashMap::default(),
            left_out: 0,
            processes: 0,
            is_full: true,
        }
    }

    /// Takes in one recording of the run.
    pub fn add(&mut self, recording: &Recording, knowledge: &dyn Knowledge) {
        let mut process = Process::new(recording, knowledge, self.processes);
        self.processes += 1;
        self.is_full &= recording.header().is_full();
        match self.variant {
            Variant::Software => self.add_histories(&mut process),
            Variant::Hardware(shape) => self.add_caches(&mut process, shape),
        }
    }

    fn add_histories(&mut self, process: &mut Process<'_>) {
        for slice in slices(process.recording) {
            let histories = Histories::within(process.recording, slice);
            for location in histories.locations() {
                for life in location.lives.iter().filter(|life| may_be_shared(life)) {
                    if !is_of_library(life, process.knowledge) {
                        let bytes = location.bytes.clone();
                        self.add_life(process, life, &LivedBytes { bytes, block: life.block });
                    }
                }
            }
        }
    }

    fn add_life(&mut self, process: &mut Process<'_>, life: &Life, lived: &LivedBytes) {
        for turn in turns(&life.accesses) {
            let case = turn.case();
            self.count(process, turn.this, turn.is_challenged(), case.is_some());
            if let Some(case) = case {
                let Turn { previous, between, this, .. } = turn;
                let deciding = turn.deciding(case);
                let occurrence = Occurrence { case, previous, between, deciding, this, lived };
                self.note(process, &occurrence);
            }
        }
    }

    fn add_caches(&mut self, process: &mut Process<'_>, shape: CacheShape) {
        let mut caches = Caches::new(shape);
        let mut seen = Vec::new();
        for event in process.recording.events() {
            caches.take_in(&event, &mut seen);
            for Suspicion { this, challenged, case } in seen.drain(..) {
                self.count(process, &this, challenged, case.is_some());
                let Some((case, previous, remote)) = case else { continue };
                let start = this.address.0;
                let lived = LivedBytes { bytes: start..start + this.length, block: None };
                self.note(
                    process,
                    &Occurrence {
                        case,
                        previous: &previous,
                        between: &[remote],
                        deciding: 0,
                        this: &this,
                        lived: &lived,
                    },
                );
            }
        }
    }

    fn count(
        &mut self,
        process: &mut Process<'_>,
        this: &RecordedAccess,
        challenged: bool,
        violated: bool,
    ) {
        let site = self.code.site(process, this.site);
        self.checks.entry(site).or_default().add(Checks {
            checked: 1,
            challenged: challenged.into(),
            violated: violated.into(),
        });
    }

    fn note(&mut self, process: &mut Process<'_>, occurrence: &Occurrence<'_>) {
        let Occurrence { case, previous, between, deciding, this, .. } = *occurrence;
        let remote = &between[deciding];
        let sites = [previous, remote, this].map(|access| self.code.site(process, access.site));
        let identity = Identity { sites, case };
        let at = (process.number, this.order);
        match self.violations.get(&identity) {
            None if self.violations.len() >= MOST_VIOLATIONS => self.left_out += 1,
            Some(known) if known.at <= at => {
                if let Some(known) = self.violations.get_mut(&identity) {
                    known.violation.count += 1;
                }
            }
            known => {
                let count = known.map_or(0, |known| known.violation.count) + 1;
                let violation = self.violation(process, occurrence, count);
                self.violations.insert(identity, Found { at, violation });
            }
        }
    }

    fn violation(
        &mut self,
        process: &mut Process<'_>,
        occurrence: &Occurrence<'_>,
        count: u64,
    ) -> Violation {
        let Occurrence { case, previous, between, deciding, this, lived } = *occurrence;
        // The deciding one is shown in any case.
        let first = if deciding < MOST_REMOTE { 0 } else { deciding };
        let shown = &between[first..between.len().min(first + MOST_REMOTE)];
        let accesses = [previous].into_iter().chain(shown).chain([this]).enumerate();
        let example =
            accesses.map(|(at, access)| self.access(process, access, lived, at)).collect();
        let further = (between.len() - shown.len()) as u64;
        Violation::new(case, count, example, 1 + deciding - first, further)
    }

    /// The number of an access; `index` is its place in its example.
    fn access(
        &mut self,
        process: &mut Process<'_>,
        recorded: &RecordedAccess,
        lived: &LivedBytes,
        index: usize,
    ) -> u32 {
        let access = Access::of_recorded(recorded, lived, process, &mut self.code);
        self.accesses.number_of(Access { index: index as u32, ..access })
    }

    /// The invariants of the run.
    pub fn finish(self) -> RunInvariants {
        let mut checks: Vec<_> = self.checks.into_iter().collect();
        checks.sort_unstable_by_key(|(site, _)| *site);
        let mut violations: Vec<_> = self.violations.into_iter().collect();
        violations.sort_unstable_by_key(|(identity, _)| *identity);
        let nothing = PatternCollector::new(Options::default()).finish();
        let code = RunPatterns {
            modules: self.code.modules.things,
            sites: self.code.sites.things,
            stacks: self.code.stacks.things,
            blocks: self.code.blocks.things,
            accesses: self.accesses.things,
            processes: self.processes,
            ..nothing
        };
        RunInvariants {
            code,
            checks,
            violations: violations.into_iter().map(|(_, found)| found.violation).collect(),
            left_out: self.left_out,
            is_full: self.is_full,
        }
    }
}

/// What one thread alone had to do with holds nothing that could be violated.
fn may_be_shared(life: &Life) -> bool {
    let first = life.accesses.first().map(|access| access.thread);
    life.accesses.iter().any(|access| Some(access.thread) != first)
}
