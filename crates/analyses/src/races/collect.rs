//! The races of one run: both detectors over each of its recordings.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use unpick_recording::{Event, Recording};

use super::around::{Around, SyncStep, around};
use super::pairs::{RacingPair, RacingPairs};
use super::result::{Detector, Race, RaceStep, RunRaces, StepsAround};
use super::{RaceAccess, is_synchronisation};
use crate::access_pairs::LivedBytes;
use crate::code_tables::{CodeTables, LockTables, Process, Table};
use crate::interleaving_patterns::{
    Access, Collector as PatternCollector, Lock, Memory, Options, RunPatterns, touch_of,
};
use crate::knowledge::Knowledge;
use crate::locks_held::{Moment, locks_held};
use crate::races_happens_before::HappensBefore;
use crate::races_lockset::Lockset;

/// Collects the races of one run.
#[derive(Debug)]
pub struct Collector {
    code: CodeTables,
    locks: LockTables,
    accesses: Table<Access>,
    /// By numbers of sites, the lower first.
    races: BTreeMap<[u32; 2], Race>,
    left_out: u64,
    processes: u32,
    is_full: bool,
    threads: u64,
    synchronisations: u64,
    events: u64,
}

/// What is known of the moments of a process's racing accesses.
struct Moments {
    lock_sets: FxHashMap<Moment, u32>,
    around: FxHashMap<Moment, StepsAround>,
}

impl Default for Collector {
    fn default() -> Self {
        Collector {
            code: CodeTables::new(),
            locks: LockTables::new(),
            accesses: Table::new([]),
            races: BTreeMap::new(),
            left_out: 0,
            processes: 0,
            is_full: true,
            threads: 0,
            synchronisations: 0,
            events: 0,
        }
    }
}

impl Collector {
    /// Takes in one recording of the run.
    pub fn add(&mut self, recording: &Recording, knowledge: &dyn Knowledge) {
        let mut process = Process::new(recording, knowledge, self.processes);
        self.processes += 1;
        self.is_full &= recording.header().is_full();
        self.threads += recording.threads().len() as u64;
        let (mut happens_before, mut lockset) = (HappensBefore::default(), Lockset::default());
        for event in recording.events() {
            self.count(&event);
            happens_before.take_in(&event, knowledge);
            lockset.take_in(&event, knowledge);
        }
        let found = [happens_before.finish(), lockset.finish()];
        self.left_out += found.iter().map(|pairs| pairs.left_out).sum::<u64>();
        let [unordered, unlocked] = found.map(RacingPairs::into_pairs);
        let all: Vec<&RacingPair> = unordered.iter().chain(&unlocked).collect();
        let moments = self.moments_of(&mut process, &all);
        for pair in &unordered {
            self.note(&mut process, pair, &moments, Detector::HappensBefore);
        }
        for pair in &unlocked {
            self.note(&mut process, pair, &moments, Detector::Lockset);
        }
    }

    fn count(&mut self, event: &Event<'_>) {
        self.events += 1;
        self.synchronisations += u64::from(is_synchronisation(&event.action));
    }

    /// Takes in what a detector found. Of two, the first gives the example.
    fn note(
        &mut self,
        process: &mut Process<'_>,
        pair: &RacingPair,
        moments: &Moments,
        by: Detector,
    ) {
        let both = [&pair.first, &pair.second];
        let mut sites = both.map(|access| self.code.site(process, access.site));
        sites.sort_unstable();
        if let Some(race) = self.races.get_mut(&sites) {
            return race.add(by, pair.count);
        }
        let accesses = [0, 1].map(|index| self.access(process, pair, index, moments));
        let around = both.map(|access| moments.around[&access.moment()]);
        let mut race = Race { accesses, happens_before: 0, lockset: 0, around };
        race.add(by, pair.count);
        self.races.insert(sites, race);
    }

    fn access(
        &mut self,
        process: &mut Process<'_>,
        pair: &RacingPair,
        index: u32,
        moments: &Moments,
    ) -> u32 {
        let access: &RaceAccess = if index == 0 { &pair.first } else { &pair.second };
        let length = u64::from(pair.length);
        let lived = LivedBytes { bytes: pair.address..pair.address + length, block: pair.block };
        let access = Access {
            process: process.number,
            thread: access.thread.0,
            touch: touch_of(access.kind()),
            atomic: access.is_atomic(),
            library: access.is_library(),
            site: self.code.site(process, access.site),
            stack: self.code.stack(process, access.context),
            lock_set: moments.lock_sets[&access.moment()],
            index,
            memory: self.code.memory_of(process, &lived),
            length,
            whole_length: 0,
        };
        self.accesses.number_of(access)
    }

    fn moments_of(&mut self, process: &mut Process<'_>, pairs: &[&RacingPair]) -> Moments {
        let both = pairs.iter().flat_map(|pair| [&pair.first, &pair.second]);
        let mut moments: Vec<Moment> = both.map(RaceAccess::moment).collect();
        moments.sort_unstable();
        moments.dedup();
        let held = locks_held(process.recording, process.knowledge, &moments);
        let steps = around(process.recording, process.knowledge, &moments);
        let mut known = Moments { lock_sets: FxHashMap::default(), around: FxHashMap::default() };
        for ((moment, held), steps) in moments.into_iter().zip(held).zip(steps) {
            let lock_set = self.locks.lock_set(&mut self.code, process, moment, &held);
            known.lock_sets.insert(moment, lock_set);
            known.around.insert(moment, self.steps(process, &steps));
        }
        known
    }

    fn steps(&mut self, process: &mut Process<'_>, around: &Around) -> StepsAround {
        StepsAround {
            before: around.before.map(|step| self.step(process, &step)),
            after: around.after.map(|step| self.step(process, &step)),
        }
    }

    fn step(&mut self, process: &mut Process<'_>, step: &SyncStep) -> RaceStep {
        let memory = match step.object {
            Some(object) => self.code.memory_of_lock(process, object.0),
            None => Memory::Other { address: 0 },
        };
        let object = Lock {
            memory,
            kind: String::new(),
            shared: false,
            site: self.code.site(process, step.site),
            stack: self.code.stack(process, step.context),
        };
        RaceStep {
            deed: step.deed,
            object: self.locks.locks.number_of(object),
            has_object: step.object.is_some(),
            other: step.other.map(|thread| thread.0),
        }
    }

    /// The races of the run.
    pub fn finish(self) -> RunRaces {
        let nothing = PatternCollector::new(Options::default()).finish();
        let code = RunPatterns {
            modules: self.code.modules.things,
            sites: self.code.sites.things,
            stacks: self.code.stacks.things,
            locks: self.locks.locks.things,
            lock_sets: self.locks.lock_sets.things,
            blocks: self.code.blocks.things,
            accesses: self.accesses.things,
            processes: self.processes,
            ..nothing
        };
        RunRaces {
            code,
            races: self.races.into_values().collect(),
            left_out: self.left_out,
            is_full: self.is_full,
            threads: self.threads,
            synchronisations: self.synchronisations,
            events: self.events,
        }
    }
}
