//! The accesses of a run in their order, to count the runs in which a unit of two variables was torn.
//!
//! Takes   the recordings of a run; then orders of four accesses by two threads.      Returns  whether the run had such an order, with both accesses of a thread next to each other.
//! Misses  accesses that a recording does not have: of those that met no other thread, all but the last ones.
//! Cost    some 32 bytes per access, of at most `MAX_ACCESSES` of a run; per question one walk over the accesses.
//!
//! Patterns of two variables (`interleaving_patterns`) are made of any two pairs in a window. Their windows hide a pair that other accesses came between,
//! and two pairs of different operations make a pattern as well: `link, count` by one thread, then `clear` by another, then `link, count`
//! again has the accesses `link, clear, count` in this order, and is serial. Here the accesses of each thread have to be neighbours: it came to
//! neither of the two places in between.

use rustc_hash::FxHashMap;
use unpick_events::ThreadId;
use unpick_recording::{Histories, Order, Recording};

use crate::access_pairs::AccessTable;
use crate::code_tables::{CodeTables, Process};
use crate::interleaving_patterns::{CodeModule, CodeSite, slices};
use crate::knowledge::Knowledge;

/// A run with more is not looked at.
const MAX_ACCESSES: usize = 20_000;

/// The steps of an order of two variables.
pub const STEPS: usize = 4;

/// The accesses of a run.
#[derive(Debug)]
pub struct AccessLog {
    modules: Vec<CodeModule>,
    sites: Vec<CodeSite>,
    /// By process, each in its order.
    processes: Vec<Vec<LoggedAccess>>,
}

#[derive(Debug, Clone, Copy)]
struct LoggedAccess {
    thread: ThreadId,
    site: u32,
    order: Order,
    start: u64,
    end: u64,
}

impl LoggedAccess {
    fn overlaps(&self, other: &LoggedAccess) -> bool {
        self.start < other.end && other.start < self.end
    }
}

/// One of the steps: whose, from 1, and to which variable, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LogStep {
    pub role: u8,
    pub variable: u8,
}

/// Two neighbouring accesses of a thread, as places in the log.
type Unit = [usize; 2];

/// Makes the log of a run.
#[derive(Debug)]
pub struct LogCollector {
    code: CodeTables,
    processes: Vec<Vec<LoggedAccess>>,
    is_too_long: bool,
}

impl Default for LogCollector {
    fn default() -> LogCollector {
        LogCollector { code: CodeTables::new(), processes: Vec::new(), is_too_long: false }
    }
}

impl LogCollector {
    /// Adds one recording of the run.
    pub fn add(&mut self, recording: &Recording, knowledge: &dyn Knowledge) {
        if self.is_too_long || recording.event_count() > MAX_ACCESSES as u64 {
            self.is_too_long = true;
            return;
        }
        let mut table = AccessTable::default();
        for slice in slices(recording) {
            for location in Histories::within(recording, slice).locations() {
                for access in location.lives.iter().flat_map(|life| &life.accesses) {
                    table.id_of(access);
                }
            }
        }
        let mut process = Process::new(recording, knowledge, self.processes.len() as u32);
        let accesses = table.all().iter().map(|access| LoggedAccess {
            thread: access.thread,
            site: self.code.site(&mut process, access.site),
            order: access.order,
            start: access.address.0,
            end: access.address.0.saturating_add(access.length),
        });
        let mut accesses: Vec<LoggedAccess> = accesses.collect();
        accesses.sort_by_key(|access| access.order);
        self.is_too_long |= accesses.len() > MAX_ACCESSES;
        self.processes.push(accesses);
    }

    /// None: the run is too long.
    pub fn finish(self) -> Option<AccessLog> {
        let LogCollector { code, processes, is_too_long } = self;
        let (modules, sites) = (code.modules.things, code.sites.things);
        (!is_too_long).then_some(AccessLog { modules, sites, processes })
    }
}

impl AccessLog {
    /// Whether threads made the steps in this order, both steps of a thread next to each other. `is_at` says whether code is that of a step.
    pub fn has(
        &self,
        steps: &[LogStep; STEPS],
        is_at: impl Fn(usize, CodeSite, Option<&CodeModule>) -> bool,
    ) -> bool {
        let is_at: [Vec<bool>; STEPS] = std::array::from_fn(|step| {
            let of_step = |site: &CodeSite| {
                let module = site.module.and_then(|module| self.modules.get(module as usize));
                is_at(step, *site, module)
            };
            self.sites.iter().map(of_step).collect()
        });
        self.processes.iter().any(|accesses| {
            let order = OrderInLog { accesses, steps, is_at: &is_at };
            order.is_there()
        })
    }
}

/// A question to the log of one process.
struct OrderInLog<'l> {
    accesses: &'l [LoggedAccess],
    steps: &'l [LogStep; STEPS],
    /// By step and site.
    is_at: &'l [Vec<bool>; STEPS],
}

impl OrderInLog<'_> {
    fn is_there(&self) -> bool {
        let first = self.units_of(1);
        let second = self.units_of(2);
        first.iter().any(|own| {
            // All such orders begin with the first thread, and go on with the second.
            let from = second.partition_point(|other| other[0] <= own[0]);
            let between = second[from..].iter().take_while(|other| other[0] < own[1]);
            between.into_iter().any(|other| self.is_order_of(own, other))
        })
    }

    /// The units of a role's two steps, by any thread, sorted by their first accesses.
    fn units_of(&self, role: u8) -> Vec<Unit> {
        let mut steps = (0..STEPS).filter(|&step| self.steps[step].role == role);
        let (Some(first), Some(second)) = (steps.next(), steps.next()) else { return Vec::new() };
        let mut last: FxHashMap<ThreadId, Option<usize>> = FxHashMap::default();
        let mut units = Vec::new();
        for (at, access) in self.accesses.iter().enumerate() {
            let is_step = |step: usize| self.is_at[step][access.site as usize];
            if is_step(second)
                && let Some(begun) = last.insert(access.thread, None).flatten()
            {
                units.push([begun, at]);
            }
            if is_step(first) {
                last.insert(access.thread, Some(at));
            }
        }
        units.sort_unstable();
        units
    }

    fn is_order_of(&self, own: &Unit, other: &Unit) -> bool {
        let mut next = [own.iter(), other.iter()];
        let made = self.steps.map(|step| next[usize::from(step.role == 2)].next().copied());
        let made = made.map(|at| at.unwrap_or(usize::MAX));
        let access = |step: usize| &self.accesses[made[step]];
        let is_same_variable = |one: usize, other: usize| {
            self.steps[one].variable != self.steps[other].variable
                || access(one).overlaps(access(other))
        };
        made.is_sorted()
            && access(0).thread != access(1).thread
            && (0..STEPS).all(|one| (one + 1..STEPS).all(|other| is_same_variable(one, other)))
    }
}
