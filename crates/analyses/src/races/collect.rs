//! The races of one run: both detectors over each of its recordings.

use std::collections::BTreeMap;
use std::time::Instant;

use unpick_events::Site;
use unpick_recording::Recording;

use super::extension::{CorrelationSource, NamedRule, Namer, extend, seen_sites};
use super::moments::Moments;
use super::pairs::{RacingPair, RacingPairs};
use super::result::{Detector, Race, RunRaces, TornRace};
use super::{RaceAccess, is_synchronisation};
use crate::access_pairs::LivedBytes;
use crate::code_tables::{CodeTables, LockTables, Process, Table};
use crate::interleaving_patterns::{
    Access, Collector as PatternCollector, Options, RunPatterns, touch_of,
};
use crate::knowledge::{Knowledge, State};
use crate::races_happens_before::HappensBefore;
use crate::races_lockset::{self, firmness};
use crate::races_multi_variable::{TornUnit, Tracked};
use crate::ranking::{CodeBook, accesses_of};

/// Collects the races of one run.
#[derive(Debug)]
pub struct Collector {
    pub(super) code: CodeTables,
    pub(super) locks: LockTables,
    accesses: Table<Access>,
    /// By numbers of sites, the lower first.
    races: BTreeMap<[u32; 2], Race>,
    torn: BTreeMap<[u32; 3], TornRace>,
    correlations: Option<u32>,
    rules: Vec<NamedRule>,
    left_out: u64,
    processes: u32,
    is_full: bool,
    threads: u64,
    synchronisations: u64,
    events: u64,
}

impl Default for Collector {
    fn default() -> Self {
        Collector {
            code: CodeTables::new(),
            locks: LockTables::new(),
            accesses: Table::new([]),
            races: BTreeMap::new(),
            torn: BTreeMap::new(),
            correlations: None,
            rules: Vec::new(),
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
    /// Takes in one recording of the run. The detectors look at it at the same time, each with knowledge of its own. If their time is over they
    /// end (`Recording::limit`); then `rest` says until when what follows may go on, which looks at the same events.
    pub fn add(
        &mut self,
        recording: &Recording,
        knowledge: &dyn Knowledge,
        of_lockset: impl Knowledge + Send,
        rest: Option<Instant>,
    ) {
        let mut process = Process::new(recording, knowledge, self.processes);
        self.processes += 1;
        self.is_full &= recording.header().is_full();
        self.threads += recording.threads().len() as u64;
        let found = std::thread::scope(|scope| {
            let lockset = scope.spawn(move || races_lockset::races(recording, &of_lockset));
            let unordered = self.count_and_look(recording, knowledge);
            [unordered, lockset.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))]
        });
        if let Some(rest) = rest {
            recording.limit().end_in(rest.saturating_duration_since(Instant::now()));
        }
        self.left_out += found.iter().map(|pairs| pairs.left_out).sum::<u64>();
        let [unordered, unlocked] = found.map(|pairs| seen_pairs(pairs, knowledge));
        let all = unordered.iter().chain(&unlocked).flat_map(|pair| [&pair.first, &pair.second]);
        let moments = self.moments_of(&mut process, all);
        for pair in &unordered {
            self.note(&mut process, pair, &moments, Detector::HappensBefore);
        }
        let is_users = |access: &RaceAccess| knowledge.state_of(access.site) != State::OfLibrary;
        // Libraries have ways to synchronise that are no locks.
        let unlocked =
            unlocked.iter().filter(|pair| is_users(&pair.first) && is_users(&pair.second));
        let (found_twice, alone): (Vec<_>, Vec<_>) =
            unlocked.partition(|pair| self.race_at(&mut process, pair).is_some());
        for pair in &found_twice {
            self.note(&mut process, pair, &moments, Detector::Lockset);
        }
        self.add_firmness(&mut process, &alone, &moments);
    }

    /// What two sites are known to do.
    fn race_at(&mut self, process: &mut Process<'_>, pair: &RacingPair) -> Option<&mut Race> {
        let sites = self.sites_of(process, pair);
        self.races.get_mut(&sites)
    }

    fn sites_of(&mut self, process: &mut Process<'_>, pair: &RacingPair) -> [u32; 2] {
        let mut sites = [&pair.first, &pair.second].map(|one| self.code.site(process, one.site));
        sites.sort_unstable();
        sites
    }

    /// Looks at what lockset alone has found once more, and says what orders it. If there is no time to find that out, it is left out.
    fn add_firmness(
        &mut self,
        process: &mut Process<'_>,
        alone: &[&RacingPair],
        moments: &Moments,
    ) {
        if alone.is_empty() {
            return;
        }
        let (recording, knowledge) = (process.recording, process.knowledge);
        let firmness = firmness(recording, knowledge, alone);
        if recording.limit().has_run_out() {
            self.left_out += alone.len() as u64;
            return;
        }
        for pair in alone {
            self.note(process, pair, moments, Detector::Lockset);
        }
        for (pair, firmness) in alone.iter().zip(firmness) {
            let by = firmness.ordered_by.map(|step| self.step(process, &step));
            if let Some(race) = self.race_at(process, pair) {
                race.loose += u64::from(firmness.is_loose);
                race.ordered_by = race.ordered_by.or(by);
            }
        }
    }

    /// Takes in what the multi-variable extension finds in a recording that was added just before.
    pub fn extend(
        &mut self,
        recording: &Recording,
        knowledge: &dyn Knowledge,
        source: &CorrelationSource<'_>,
        name: Namer<'_>,
    ) {
        let mut process = Process::new(recording, knowledge, self.processes.saturating_sub(1));
        let names = named_sites(recording, knowledge, name);
        let found = extend(recording, knowledge, source, &names);
        let rules = found.rules.len() as u32;
        self.correlations = Some(self.correlations.unwrap_or(0).max(rules));
        let accesses = found.torn.iter().flat_map(|torn| [&torn.first, &torn.second, &torn.remote]);
        let moments = self.moments_of(&mut process, accesses.map(|one| &one.access));
        for torn in &found.torn {
            self.note_torn(&mut process, torn, &found.rules[torn.rule].text, &moments);
        }
        let is_new = |rule: &NamedRule| !self.rules.iter().any(|known| known.sides == rule.sides);
        let new: Vec<NamedRule> = found.rules.into_iter().filter(is_new).collect();
        self.rules.extend(new);
    }

    /// The rules that the extension has looked at.
    pub fn rules(&self) -> &[NamedRule] {
        &self.rules
    }

    /// Takes in a torn unit, unless the accesses in conflict race by themselves.
    fn note_torn(
        &mut self,
        process: &mut Process<'_>,
        torn: &TornUnit,
        rule: &str,
        moments: &Moments,
    ) {
        let [own, left_out] = torn.conflict_and_left_out();
        let parts = [own, &torn.remote, left_out];
        let sites = parts.map(|part| self.code.site(process, part.access.site));
        let mut in_conflict = [sites[0], sites[1]];
        in_conflict.sort_unstable();
        if self.races.get(&in_conflict).is_some_and(|race| race.happens_before > 0) {
            return;
        }
        let count = |is: bool| if is { torn.count } else { 0 };
        let loose = u64::from(torn.firmness.is_loose);
        let ordered_by = torn.firmness.ordered_by.map(|step| self.step(process, &step));
        if let Some(known) = self.torn.get_mut(&sites) {
            known.happens_before += count(torn.unordered);
            known.lockset += count(torn.unlocked);
            known.loose += loose;
            known.ordered_by = known.ordered_by.or(ordered_by);
            return;
        }
        // In the order that tears the unit.
        let order = if std::ptr::eq(own, &torn.first) { [0, 1, 2] } else { [2, 1, 0] };
        let accesses = [0, 1, 2].map(|part: usize| {
            let Tracked { access, address, length, block, .. } = parts[part];
            let lived = LivedBytes { bytes: *address..address + length, block: *block };
            let lock_set = moments.lock_sets[&access.moment()];
            self.access(process, access, &lived, lock_set, order[part])
        });
        let around = [own, &torn.remote].map(|part| moments.around[&part.access.moment()]);
        let (happens_before, lockset) = (count(torn.unordered), count(torn.unlocked));
        let is_undated = is_undated(process, &torn.remote.access);
        let rule = rule.to_owned();
        let torn = TornRace {
            accesses,
            rule,
            happens_before,
            lockset,
            loose,
            ordered_by,
            around,
            is_undated,
        };
        self.torn.insert(sites, torn);
    }

    /// Counts events on the way through the happens-before detector.
    fn count_and_look(&mut self, recording: &Recording, knowledge: &dyn Knowledge) -> RacingPairs {
        let mut happens_before = HappensBefore::default();
        for event in recording.events() {
            self.events += 1;
            self.synchronisations += u64::from(is_synchronisation(&event.action));
            happens_before.take_in(&event, knowledge);
        }
        happens_before.finish()
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
        let sites = self.sites_of(process, pair);
        if let Some(race) = self.races.get_mut(&sites) {
            return race.add(by, pair.count);
        }
        let bytes = pair.address..pair.address + u64::from(pair.length);
        let lived = LivedBytes { bytes, block: pair.block };
        let accesses = [0, 1].map(|index| {
            let access = both[index];
            let lock_set = moments.lock_sets[&access.moment()];
            self.access(process, access, &lived, lock_set, index as u32)
        });
        let around = both.map(|access| moments.around[&access.moment()]);
        let is_undated = is_undated(process, &pair.first);
        let (happens_before, lockset, loose, ordered_by) = (0, 0, 0, None);
        let mut race =
            Race { accesses, happens_before, lockset, loose, ordered_by, around, is_undated };
        race.add(by, pair.count);
        self.races.insert(sites, race);
    }

    fn access(
        &mut self,
        process: &mut Process<'_>,
        access: &RaceAccess,
        lived: &LivedBytes,
        lock_set: u32,
        index: u32,
    ) -> u32 {
        let access = Access {
            process: process.number,
            thread: access.thread.0,
            touch: touch_of(access.kind()),
            atomic: access.is_atomic(),
            library: access.is_library(),
            site: self.code.site(process, access.site),
            stack: self.code.stack(process, access.context),
            lock_set,
            index,
            memory: self.code.memory_of(process, lived),
            length: lived.bytes.end - lived.bytes.start,
            whole_length: 0,
        };
        self.accesses.number_of(access)
    }

    /// The races of the run.
    pub fn finish(self) -> RunRaces {
        let processes = self.processes;
        let code = code_of(self.code, self.locks, self.accesses, processes);
        RunRaces {
            code,
            races: self.races.into_values().collect(),
            torn: self.torn.into_values().collect(),
            correlations: self.correlations,
            left_out: self.left_out,
            is_full: self.is_full,
            threads: self.threads,
            synchronisations: self.synchronisations,
            events: self.events,
        }
    }
}

/// The pairs of which both accesses are by code whose synchronisation is recorded.
fn seen_pairs(pairs: RacingPairs, knowledge: &dyn Knowledge) -> Vec<RacingPair> {
    let mut pairs = pairs.into_pairs();
    let is_seen = |access: &RaceAccess| !knowledge.is_unseen_code(access.site);
    pairs.retain(|pair| is_seen(&pair.first) && is_seen(&pair.second));
    pairs
}

/// Whether an access can have been made earlier than is told.
fn is_undated(process: &Process<'_>, access: &RaceAccess) -> bool {
    let first = process.recording.stream(access.thread).next();
    access.moments(first.map_or(0, |event| event.ordinal)).nth(1).is_some()
}

/// Tables as a run's patterns have them, without patterns.
pub(crate) fn code_of(
    code: CodeTables,
    locks: LockTables,
    accesses: Table<Access>,
    processes: u32,
) -> RunPatterns {
    RunPatterns {
        modules: code.modules.things,
        sites: code.sites.things,
        stacks: code.stacks.things,
        locks: locks.locks.things,
        lock_sets: locks.lock_sets.things,
        blocks: code.blocks.things,
        accesses: accesses.things,
        processes,
        ..PatternCollector::new(Options::default()).finish()
    }
}

/// What the sites of a recording access, by name; without those that have none.
fn named_sites(
    recording: &Recording,
    knowledge: &dyn Knowledge,
    name: Namer<'_>,
) -> Vec<(Site, String)> {
    let mut namer = Collector::default();
    let mut process = Process::new(recording, knowledge, 0);
    let seen = seen_sites(recording);
    let numbers: Vec<u32> = seen
        .iter()
        .map(|one| {
            let bytes = one.address..one.address + one.length;
            let lived = LivedBytes { bytes, block: one.block };
            namer.access(&mut process, &one.access, &lived, 0, 0)
        })
        .collect();
    let run = code_of(namer.code, namer.locks, namer.accesses, 1);
    let mut code = CodeBook::default();
    let examples = accesses_of(&run, &mut code);
    let named = seen.iter().zip(numbers).filter_map(|(one, number)| {
        Some((one.access.site, name(&examples[number as usize], &code)?))
    });
    named.collect()
}
