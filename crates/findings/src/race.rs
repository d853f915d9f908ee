//! Races in words: which two accesses nothing orders, or no lock has in common.
//!
//! Takes   the races of some runs, and names.      Gives  one finding per pair of the user's own source lines, ranked.
//!
//! Ranked: what both detectors find comes first, then what is unordered, then what has no lock in common, last of that what something
//! else orders; the user's own code comes before libraries; then what more runs show.

mod forced;
mod orders;
mod steps;
mod torn;
mod words;

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use unpick_analyses::races::{Race, RunRaces, TornRace};
use unpick_analyses::ranking::{
    CodeBook, ExampleAccess, ExampleLock, ExampleMemory, accesses_of, locks_of,
};

use crate::correlated::{FindingCorrelation, without_origin};
use crate::describe::{AccessWords, Choices};
use crate::finding::FindingAccess;
use crate::names::{Frame, Names};
use crate::places::Places;
pub use forced::{ForcedOrder, ForcedRace, RaceMark};
pub use orders::{AccessOrder, TORN_AT_FIRST, TORN_AT_SECOND};
pub use steps::{StepWords, ThreadSteps};

/// Name and version of the form.
pub const RACES_SCHEMA: &str = "unpick-races/1";

/// More code places for the lines of a race are not told apart: templates, inlined functions.
const MOST_WAYS: usize = 7;

/// Two accesses of different threads to the same bytes that race.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RaceFinding {
    /// Who finds it.
    pub detectors: Vec<RaceDetector>,
    /// What is wrong about it, in plain words.
    pub sentence: String,
    /// Why nothing orders the accesses, or what lock is missing.
    pub why: String,
    /// What the program calls the bytes.
    pub variable: Option<String>,
    /// Where the memory was allocated, if it is of the heap.
    pub allocated_at: Option<Frame>,
    /// How often it happened, in all runs, as either detector counts.
    pub unordered: u64,
    pub unlocked: u64,
    /// Of what lockset alone finds: how often nothing ordered the two but which thread came to a lock first.
    #[serde(default)]
    pub loose: u64,
    /// And what did order them otherwise.
    #[serde(default)]
    pub ordered_by: Option<StepWords>,
    /// The runs that show it.
    pub runs: u32,
    /// The run that accesses, calls, locks and steps are of.
    pub example_run: u64,
    /// The user wrote the code of one of the accesses.
    pub own_code: bool,
    /// In the order in which they were made. Role 1 is the thread of the first.
    pub accesses: Vec<FindingAccess>,
    /// What the two threads synchronised by around these accesses.
    pub steps: Vec<ThreadSteps>,
    /// When the access without calls was made is not known exactly: its locks and steps may be those of a later moment.
    #[serde(default)]
    pub undated: bool,
    /// Of a race of several variables: the access that belongs to the first one. The two accesses alone do not race.
    #[serde(default)]
    pub correlated: Option<CorrelatedAccess>,
    /// Other accesses that race on the same lines: `x += 1` reads and writes. Each is two accesses; of several variables, the other ways to
    /// tear their units, each three accesses: the one in conflict, the remote one, the one that is left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<Vec<FindingAccess>>,
    /// What forcing its orders has shown; none: nobody tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced: Option<ForcedRace>,
}

/// The access that a race of several variables leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CorrelatedAccess {
    /// Why the two belong together.
    pub correlation: String,
    /// By thread 1, before or after its other access.
    pub access: FindingAccess,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceDetector {
    HappensBefore,
    Lockset,
}

/// The races of a run, and the run's number.
pub type NumberedRaces<'r> = (u64, &'r RunRaces);

/// The races of all runs, the worst first.
pub fn describe_races(
    runs: &[NumberedRaces<'_>],
    names: &dyn Names,
    choices: &Choices,
) -> Vec<RaceFinding> {
    let mut code = CodeBook::default();
    let examples: Vec<Examples> = runs
        .iter()
        .map(|(_, run)| Examples {
            accesses: accesses_of(&run.code, &mut code),
            objects: locks_of(&run.code, &mut code),
        })
        .collect();
    let words = AccessWords { places: Places::new(&code, names, &choices.working_folder) };
    let mut known: HashMap<Vec<Line>, usize> = HashMap::new();
    let mut found: Vec<RaceFinding> = Vec::new();
    for ((number, run), examples) in runs.iter().zip(&examples) {
        let mut seen_in_run = Vec::new();
        let plain = run.races.iter().map(|race| described(race, *number, examples, &words));
        let torn = run.torn.iter().map(|torn| described_torn(torn, *number, examples, &words));
        for one in plain.chain(torn).filter(|one| !is_inside_library(one)) {
            let place = *known.entry(lines_of(&one)).or_insert(found.len());
            match found.get_mut(place) {
                Some(before) => before.add(&one, !seen_in_run.contains(&place)),
                None => found.push(one),
            }
            seen_in_run.push(place);
        }
    }
    let mut found = torn::one_per_cause(found);
    found.iter_mut().for_each(RaceFinding::conclude);
    found.sort_by_key(RaceFinding::rank);
    found
}

/// Whether code without hooks copies or clears memory of its own, by functions that are seen, under locks that are not. Of an access from
/// before bytes were shared it is not known whether it was such a one: then it is enough if nobody with hooks called the other.
fn is_inside_library(race: &RaceFinding) -> bool {
    let is_untold = |access: &FindingAccess| access.calls.is_empty();
    let may_be = |access: &FindingAccess| access.library || is_untold(access);
    let is_without_hooks = |access: &FindingAccess| access.library && is_untold(access);
    let all_library = race.accesses.iter().all(|access| access.library);
    let one_is = race.accesses.iter().any(is_without_hooks) && race.accesses.iter().all(may_be);
    !race.own_code && (all_library || one_is)
}

/// Accesses and objects of a run, with the numbers of the code book.
struct Examples {
    accesses: Vec<ExampleAccess>,
    objects: Vec<ExampleLock>,
}

/// A line of source, or where it is not known, a place in the machine code.
type Line = (Option<String>, Option<u32>, Option<String>);

fn lines_of(race: &RaceFinding) -> Vec<Line> {
    let line = |access: &FindingAccess| match (&access.frame.file, access.frame.line) {
        (Some(file), Some(line)) => (Some(file.clone()), Some(line), None),
        _ => (access.code.module.clone(), None, Some(access.code.offset.clone())),
    };
    let mut lines: Vec<Line> = race.accesses.iter().map(line).collect();
    match &race.correlated {
        Some(correlated) => lines.push(line(&correlated.access)),
        None => lines.sort_unstable(),
    }
    lines
}

fn described(race: &Race, run: u64, examples: &Examples, words: &AccessWords<'_>) -> RaceFinding {
    let both = race.accesses.map(|number| &examples.accesses[number as usize]);
    let accesses = vec![words.access(1, both[0]), words.access(2, both[1])];
    let variable = accesses.iter().find_map(|access| access.variable.clone());
    let steps = race.around.iter().map(|around| ThreadSteps::of(around, &examples.objects, words));
    RaceFinding {
        detectors: Vec::new(),
        sentence: String::new(),
        why: String::new(),
        variable,
        allocated_at: allocated_at(both[0], words),
        unordered: race.happens_before,
        unlocked: race.lockset,
        loose: race.loose,
        ordered_by: race.ordered_by.map(|step| StepWords::of(&step, &examples.objects, words)),
        runs: 1,
        example_run: run,
        own_code: both.iter().any(|access| words.is_own_access(access)),
        accesses,
        steps: steps.collect(),
        undated: race.is_undated,
        correlated: None,
        ways: Vec::new(),
        forced: None,
    }
}

/// A unit of correlated accesses that another thread can come between.
fn described_torn(
    torn: &TornRace,
    run: u64,
    examples: &Examples,
    words: &AccessWords<'_>,
) -> RaceFinding {
    let [own, remote, left_out] = torn.accesses;
    let race = Race {
        accesses: [own, remote],
        happens_before: torn.happens_before,
        lockset: torn.lockset,
        loose: 0,
        ordered_by: None,
        around: torn.around,
        is_undated: torn.is_undated,
    };
    let left_out = &examples.accesses[left_out as usize];
    let access = words.access(1, left_out);
    let correlated = Some(CorrelatedAccess { correlation: torn.rule.clone(), access });
    RaceFinding { correlated, ..described(&race, run, examples, words) }
}

fn allocated_at(access: &ExampleAccess, words: &AccessWords<'_>) -> Option<Frame> {
    let ExampleMemory::Heap { block, .. } = &access.memory else { return None };
    let (site, _) = words.places.own_site(block.site, &block.stack);
    Some(words.places.place(site).frame)
}

impl RaceFinding {
    /// The same lines once more.
    fn add(&mut self, other: &RaceFinding, is_new_run: bool) {
        let runs = self.runs + u32::from(is_new_run);
        let (unordered, unlocked) =
            (self.unordered + other.unordered, self.unlocked + other.unlocked);
        let loose = self.loose + other.loose;
        if self.correlated.is_none() {
            let mut ways = std::mem::take(&mut self.ways);
            ways.extend([self.all_accesses(), other.all_accesses()]);
            self.ways = ways;
        }
        if other.worth() > self.worth() {
            let ways = std::mem::take(&mut self.ways);
            *self = RaceFinding { ways, ..other.clone() };
        }
        self.tell_ways_apart();
        (self.unordered, self.unlocked, self.loose) = (unordered, unlocked, loose);
        self.runs = runs;
    }

    /// Of several variables: why they belong together.
    pub fn together(&self) -> Option<FindingCorrelation> {
        let correlated = self.correlated.as_ref()?;
        let names = [&self.variable, &correlated.access.variable].map(|name| {
            let name = name.as_deref().unwrap_or("memory without a name");
            format!("`{}`", without_origin(name))
        });
        Some(FindingCorrelation {
            sentence: format!(
                "{} belong together: {}.",
                names.join(" and "),
                correlated.correlation
            ),
            rule: correlated.correlation.clone(),
        })
    }

    /// Those that race, and of several variables the one that belongs to the first.
    fn all_accesses(&self) -> Vec<FindingAccess> {
        let left_out = self.correlated.iter().map(|correlated| &correlated.access);
        self.accesses.iter().chain(left_out).cloned().collect()
    }

    /// Leaves the ways that differ from each other, and from the example, in code or kind.
    fn tell_ways_apart(&mut self) {
        let mut different = vec![self.all_accesses()];
        for way in std::mem::take(&mut self.ways) {
            if different.len() <= MOST_WAYS && !different.iter().any(|one| is_same_way(one, &way)) {
                different.push(way);
            }
        }
        self.ways = different.split_off(1);
    }

    /// How good an example it is: found by happens-before, or at least not ordered firmly, and with calls that are known.
    fn worth(&self) -> (bool, bool, usize) {
        let known = self.accesses.iter().filter(|access| !access.stack.is_empty()).count();
        (self.unordered > 0, self.loose > 0, known)
    }

    /// Whether only a lock is missing: in all runs something else ordered the two, which does not hang on who came to a lock first.
    pub fn is_ordered(&self) -> bool {
        self.unordered == 0 && self.loose == 0 && self.ordered_by.is_some()
    }

    /// Says who finds it and why, once all runs are in.
    fn conclude(&mut self) {
        let by = |count: u64, detector| (count > 0).then_some(detector);
        let unordered = by(self.unordered, RaceDetector::HappensBefore);
        self.detectors =
            unordered.into_iter().chain(by(self.unlocked, RaceDetector::Lockset)).collect();
        self.sentence = words::sentence(self);
        self.why = words::why(self);
    }

    fn rank(&self) -> (u8, bool, bool, Reverse<u32>, Reverse<u64>) {
        let class = match (self.unordered > 0, self.unlocked > 0) {
            (true, true) => 0,
            (true, false) => 1,
            _ if self.is_ordered() => 3,
            _ => 2,
        };
        let often = self.unordered.max(self.unlocked);
        let is_torn = self.correlated.is_some();
        (class, is_torn, !self.own_code, Reverse(self.runs), Reverse(often))
    }
}

/// Whether accesses are the same ones; who came first is no matter.
fn is_same_way(one: &[FindingAccess], other: &[FindingAccess]) -> bool {
    let is = |one: &FindingAccess, other: &FindingAccess| {
        one.code == other.code && one.kind == other.kind
    };
    match (one, other) {
        ([a, b], [c, d]) => is(a, c) && is(b, d) || is(a, d) && is(b, c),
        _ => one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is(one, other)),
    }
}
