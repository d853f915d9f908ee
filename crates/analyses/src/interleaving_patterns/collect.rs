//! Collects the patterns of one run, recording by recording.
//!
//! Takes   the recordings of a run.      Gives  `RunPatterns`.
//!
//! Patterns never join two processes; what two processes have both is counted together.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};
use unpick_recording::{Access as RecordedAccess, Histories, Recording, Thread};

use crate::access_pairs::{
    AccessId, AccessTable, LivedBytes, LocationId, PairCollector, PairList, WindowWalk,
};
use crate::code_tables::{CodeTables, LockTables, Process, Table};
use crate::hang::waits_at_end;
use crate::iterations::Iterations;
use crate::knowledge::Knowledge;
use crate::locks_held::{HeldLock, Moment, locks_held};
use crate::thread_order::ThreadOrder;

use super::catalogue::{AccessKind, MOST_STEPS, PatternId};
use super::combine::combine;
use super::falcon::{FalconCollector, torn_rows};
use super::fixed::Fixed;
use super::found::{Found, FoundMap, Identity, add};
use super::possible::{is_kept_out, supposed_gaps, turned_pairs, untorn_rows};
use super::result::{Access, FoundPattern, HiddenPair, RunPatterns};
use super::slices::slices;
use super::visits::Visits;
use super::{Mode, Options, Rows};

/// Nobody can try more of them.
const MOST_POSSIBLE: usize = 10_000;

/// Collects the patterns of one run.
#[derive(Debug)]
pub struct Collector {
    options: Options,
    code: CodeTables,
    locks: LockTables,
    accesses: Table<Access>,
    patterns: FxHashMap<Identity, FoundPattern>,
    hidden_pairs: FxHashSet<HiddenPair>,
    possible: FxHashMap<Identity, FoundPattern>,
    seen_sites: FxHashSet<u32>,
    processes: u32,
    pairs: u64,
    left_out: u64,
    unfinished: bool,
}

impl Collector {
    pub fn new(options: Options) -> Collector {
        Collector {
            options,
            code: CodeTables::new(),
            locks: LockTables::new(),
            accesses: Table::new([]),
            patterns: FxHashMap::default(),
            hidden_pairs: FxHashSet::default(),
            possible: FxHashMap::default(),
            seen_sites: FxHashSet::default(),
            processes: 0,
            pairs: 0,
            left_out: 0,
            unfinished: false,
        }
    }

    /// Takes in one recording of the run.
    pub fn add(&mut self, recording: &Recording, knowledge: &dyn Knowledge) {
        let mut process = Process::new(recording, knowledge, self.processes);
        self.processes += 1;
        self.unfinished |= is_unfinished(recording, knowledge);
        match self.options.mode {
            Mode::Unicorn => self.add_pairs(&mut process),
            Mode::Falcon => self.add_windows(&mut process),
        }
    }

    fn add_pairs(&mut self, process: &mut Process<'_>) {
        let walk = WindowWalk::new(self.options.access_window as usize);
        let walk = match self.options.rows {
            Rows::ByWindow => walk,
            _ => walk.with_torn_rows().with_iterations(Iterations::of(process.recording)),
        };
        let walk = if self.options.rows == Rows::WithEdges { walk.with_edges() } else { walk };
        let walk = walk.with_untorn_rows(ThreadOrder::of(process.recording));
        let mut collector = PairCollector::new(walk);
        for slice in slices(process.recording) {
            collector.take_in(&Histories::within(process.recording, slice), process.knowledge);
        }
        let ranks = collector.walk.accesses.ranks();
        let list = collector.pairs(&ranks);
        self.pairs += list.pairs.len() as u64;
        let sites = self.sites_of_accesses(process, &collector.walk);
        let site_of = |id: AccessId| sites[id.index()];
        let visits = Visits::of(&list, &collector.walk.accesses);
        let fixed = Fixed::of(&collector.walk, process.knowledge, &visits);
        let combined = combine(&list, &collector.walk, fixed, self.options.pair_window, site_of);
        let torn = torn_rows(&collector.walk, &fixed, &ranks);
        self.hide_fixed(&list, &collector.walk, &fixed, &sites);
        let place_of = |site: u32| self.code.sites.things[site as usize];
        let mut by_pairs = turned_pairs(&list, &collector.walk, &sites);
        by_pairs.extend(supposed_gaps(&list, &collector.walk, &sites, place_of));
        drop(list);
        self.left_out += combined.left_out;
        let found = combined.found.into_iter().chain(torn);
        let found = found.map(|found| (identity(&found, &sites), found)).collect();
        self.merge(process, found, &collector.walk, &ranks);
        self.merge_possible(process, by_pairs, &collector.walk, &ranks);
        self.merge_untorn(process, &collector.walk);
    }

    /// Pairs whose order is fixed are no patterns, but that they met is known.
    fn hide_fixed(&mut self, list: &PairList, walk: &WindowWalk, fixed: &Fixed<'_>, sites: &[u32]) {
        for pair in list.pairs.iter().filter(|pair| fixed.is_fixed_pair(pair)) {
            let ends = [pair.first, pair.second];
            let kinds = ends.map(|id| AccessKind::of_write(walk.accesses.get(id).is_write()));
            if let Some(pattern) = PatternId::of_pair(kinds[0], kinds[1]) {
                let sites = ends.map(|id| sites[id.index()]);
                self.hidden_pairs.insert(HiddenPair { pattern, sites });
            }
        }
    }

    /// Takes over what might have come of the pairs.
    fn merge_possible(
        &mut self,
        process: &mut Process<'_>,
        possible: Vec<(Identity, Found)>,
        walk: &WindowWalk,
        ranks: &[u32],
    ) {
        let held = self.held_at(process, &possible, &walk.accesses);
        let lock_sets = self.lock_sets_of(process, &held);
        let mut walked = Walked::of(&walk.accesses, &walk.locations, ranks, lock_sets);
        for (identity, found) in possible {
            self.add_possible(process, identity, &found, &mut walked);
        }
    }

    /// Takes over the gaps that nobody came into, but for those that a lock keeps closed.
    fn merge_untorn(&mut self, process: &mut Process<'_>, walk: &WindowWalk) {
        let Some(rows) = &walk.untorn else { return };
        let ranks = rows.accesses.ranks();
        let sites: Vec<u32> =
            rows.accesses.all().iter().map(|access| self.code.site(process, access.site)).collect();
        let found = untorn_rows(rows).into_iter();
        let mut found: Vec<_> = found.map(|found| (identity(&found, &sites), found)).collect();
        found.sort_unstable_by_key(|(identity, _)| *identity);
        let held = self.held_at(process, &found, &rows.accesses);
        found.retain(|(_, found)| {
            let held_at = |id: AccessId| held[&moment_of(rows.accesses.get(id))].as_slice();
            !is_kept_out(found, held_at)
        });
        let lock_sets = self.lock_sets_of(process, &held);
        let mut walked = Walked::of(&rows.accesses, &rows.locations, &ranks, lock_sets);
        for (identity, found) in found {
            self.add_possible(process, identity, &found, &mut walked);
        }
    }

    fn add_possible(
        &mut self,
        process: &mut Process<'_>,
        identity: Identity,
        found: &Found,
        walked: &mut Walked<'_>,
    ) {
        if let Some(known) = self.possible.get_mut(&identity) {
            known.count += found.count;
        } else if self.possible.len() < MOST_POSSIBLE {
            let found = self.with_example(process, found, walked);
            self.possible.insert(identity, found);
        }
    }

    fn add_windows(&mut self, process: &mut Process<'_>) {
        let mut collector = FalconCollector::new(self.options.access_window as usize);
        for slice in slices(process.recording) {
            collector.take_in(&Histories::within(process.recording, slice), process.knowledge);
        }
        let ranks = collector.walk.accesses.ranks();
        let sites = self.sites_of_accesses(process, &collector.walk);
        let mut map = FoundMap::default();
        for found in collector.occurrences(&ranks) {
            self.pairs += 1;
            add(&mut map, identity(&found, &sites), found);
        }
        self.merge(process, map.into_iter().collect(), &collector.walk, &ranks);
    }

    /// The numbers of the sites of all accesses.
    fn sites_of_accesses(&mut self, process: &mut Process<'_>, walk: &WindowWalk) -> Vec<u32> {
        walk.accesses.all().iter().map(|access| self.code.site(process, access.site)).collect()
    }

    /// Takes over what is known of sites beyond patterns.
    fn merge_sites(&mut self, process: &mut Process<'_>, walk: &WindowWalk) {
        for &site in &walk.sites {
            let number = self.code.site(process, site);
            self.seen_sites.insert(number);
        }
        for [first, second] in &walk.hidden.met {
            let sites = [first.site, second.site].map(|site| self.code.site(process, site));
            let kinds = [first.is_write, second.is_write].map(AccessKind::of_write);
            if let Some(pattern) = PatternId::of_pair(kinds[0], kinds[1]) {
                self.hidden_pairs.insert(HiddenPair { pattern, sites });
            }
        }
    }

    /// Pairs that are hidden and not to be seen elsewhere in the run.
    fn only_hidden(&self) -> Vec<HiddenPair> {
        let is_seen = |pair: &HiddenPair| {
            let [first, second] = pair.sites;
            let identity = Identity { pattern: pair.pattern, sites: [first, second, 0, 0] };
            self.patterns.contains_key(&identity)
        };
        sorted(self.hidden_pairs.iter().copied().filter(|pair| !is_seen(pair)))
    }

    /// Takes over what one process had, each pattern once.
    fn merge(
        &mut self,
        process: &mut Process<'_>,
        mut found: Vec<(Identity, Found)>,
        walk: &WindowWalk,
        ranks: &[u32],
    ) {
        self.merge_sites(process, walk);
        found.sort_unstable_by_key(|(identity, _)| *identity);
        found.dedup_by(|(identity, further), (known_as, known)| {
            let is_known = identity == known_as;
            if is_known {
                known.merge(further);
            }
            is_known
        });
        found.retain(|(identity, found)| !self.add_to_known(identity, found));
        let held = self.held_at(process, &found, &walk.accesses);
        let lock_sets = self.lock_sets_of(process, &held);
        let mut walked = Walked::of(&walk.accesses, &walk.locations, ranks, lock_sets);
        for (identity, found) in found {
            let found = self.with_example(process, &found, &mut walked);
            self.patterns.insert(identity, found);
        }
    }

    fn with_example(
        &mut self,
        process: &mut Process<'_>,
        found: &Found,
        walked: &mut Walked<'_>,
    ) -> FoundPattern {
        let mut example = [0; MOST_STEPS];
        let steps = found.pattern.steps();
        for (at, id) in found.accesses.into_iter().flatten().enumerate() {
            let location = found.locations[steps[at].variable as usize];
            example[at] = self.access(process, walked, id, location);
        }
        let &Found { pattern, count, access_window, pair_distance, .. } = found;
        FoundPattern::new(pattern, example, count, access_window, pair_distance)
    }

    /// The number of an access at a location.
    fn access(
        &mut self,
        process: &mut Process<'_>,
        walked: &mut Walked<'_>,
        id: AccessId,
        location: LocationId,
    ) -> u32 {
        if let Some(&number) = walked.numbers.get(&(id, location)) {
            return number;
        }
        let recorded = walked.accesses.get(id);
        let lived = &walked.locations[location.index()];
        let access = Access {
            lock_set: walked.lock_sets[&moment_of(recorded)],
            index: walked.ranks[id.index()],
            ..Access::of_recorded(recorded, lived, process, &mut self.code)
        };
        let number = self.accesses.number_of(access);
        walked.numbers.insert((id, location), number);
        number
    }

    /// Counts a pattern that an earlier process of the run had already; says whether it had.
    fn add_to_known(&mut self, identity: &Identity, found: &Found) -> bool {
        let Some(known) = self.patterns.get_mut(identity) else { return false };
        known.count += found.count;
        known.access_window = known.access_window.min(found.access_window);
        known.pair_distance = known.pair_distance.min(found.pair_distance);
        true
    }

    /// The locks held at each access of the examples.
    fn held_at(
        &self,
        process: &Process<'_>,
        found: &[(Identity, Found)],
        accesses: &AccessTable,
    ) -> BTreeMap<Moment, Vec<HeldLock>> {
        let ids = found.iter().flat_map(|(_, found)| found.accesses).flatten();
        let mut moments: Vec<Moment> = ids.map(|id| moment_of(accesses.get(id))).collect();
        moments.sort_unstable();
        moments.dedup();
        let held = locks_held(process.recording, process.knowledge, &moments);
        moments.into_iter().zip(held).collect()
    }

    fn lock_sets_of(
        &mut self,
        process: &mut Process<'_>,
        held: &BTreeMap<Moment, Vec<HeldLock>>,
    ) -> FxHashMap<Moment, u32> {
        held.iter()
            .map(|(moment, locks)| {
                let set = self.locks.lock_set(&mut self.code, process, *moment, locks);
                (*moment, set)
            })
            .collect()
    }

    /// Orders that neither the patterns nor the hidden pairs of the run show.
    fn only_possible(&self) -> FxHashMap<Identity, FoundPattern> {
        let is_hidden = |identity: &Identity| {
            let [first, second, ..] = identity.sites;
            let pair = HiddenPair { pattern: identity.pattern, sites: [first, second] };
            self.hidden_pairs.contains(&pair)
        };
        let possible = self.possible.iter().map(|(identity, found)| (*identity, *found));
        let is_seen =
            |identity: &Identity| self.patterns.contains_key(identity) || is_hidden(identity);
        possible.filter(|(identity, _)| !is_seen(identity)).collect()
    }

    /// The patterns of the run.
    pub fn finish(self) -> RunPatterns {
        let hidden_pairs = self.only_hidden();
        let possible = in_order(self.only_possible());
        RunPatterns {
            options: self.options,
            modules: self.code.modules.things,
            sites: self.code.sites.things,
            stacks: self.code.stacks.things,
            locks: self.locks.locks.things,
            lock_sets: self.locks.lock_sets.things,
            blocks: self.code.blocks.things,
            accesses: self.accesses.things,
            patterns: in_order(self.patterns),
            hidden_pairs,
            possible,
            seen_sites: sorted(self.seen_sites),
            processes: self.processes,
            pairs: self.pairs,
            left_out: self.left_out,
            unfinished: self.unfinished,
        }
    }
}

/// Whether the process ended while one of its threads was running. The main thread of a process that left by `exit` has no end of its own. Threads
/// that all wait for each other would have done nothing more: what they did not come to is a consequence of the hang.
fn is_unfinished(recording: &Recording, knowledge: &dyn Knowledge) -> bool {
    let left_by_exit = recording.header().orderly_exit;
    let is_main = |thread: &Thread| thread.creator.is_none();
    recording.threads().iter().any(|thread| {
        thread.started.is_some()
            && thread.ended.is_none()
            && !(left_by_exit && is_main(thread))
            && !waits_at_end(recording, knowledge, thread.id)
    })
}

/// What was found out about the accesses of one recording.
struct Walked<'w> {
    accesses: &'w AccessTable,
    locations: &'w [LivedBytes],
    ranks: &'w [u32],
    lock_sets: FxHashMap<Moment, u32>,
    /// Accesses that have a number in the result already.
    numbers: FxHashMap<(AccessId, LocationId), u32>,
}

impl<'w> Walked<'w> {
    fn of(
        accesses: &'w AccessTable,
        locations: &'w [LivedBytes],
        ranks: &'w [u32],
        lock_sets: FxHashMap<Moment, u32>,
    ) -> Walked<'w> {
        Walked { accesses, locations, ranks, lock_sets, numbers: FxHashMap::default() }
    }
}

fn sorted<T: Ord>(things: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut things: Vec<T> = things.into_iter().collect();
    things.sort_unstable();
    things
}

/// Sorted by what they are.
fn in_order(patterns: FxHashMap<Identity, FoundPattern>) -> Vec<FoundPattern> {
    let mut patterns: Vec<_> = patterns.into_iter().collect();
    patterns.sort_unstable_by_key(|(identity, _)| *identity);
    patterns.into_iter().map(|(_, found)| found).collect()
}

fn identity(found: &Found, sites: &[u32]) -> Identity {
    let sites = found.accesses.map(|id| id.map_or(0, |id| sites[id.index()]));
    Identity { pattern: found.pattern, sites }
}

fn moment_of(access: &RecordedAccess) -> Moment {
    Moment { thread: access.thread, ordinal: access.order.ordinal() }
}
