//! Races in words: which two accesses nothing orders, or no lock has in common.
//!
//! Takes   the races of some runs, and names.      Gives  one finding per pair of the user's own source lines, ranked.
//!
//! Ranked: what both detectors find comes first, then what is unordered, then what has no lock in common, last of that what something
//! else orders; the user's own code comes before libraries; then what more runs show.

mod examples;
mod forced;
mod marks;
mod orders;
mod steps;
#[cfg(test)]
mod test_support;
mod torn;
mod units;
mod ways;
mod words;

use std::cmp::Reverse;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use unpick_analyses::races::RunRaces;
use unpick_analyses::ranking::CodeBook;

use crate::correlated::{FindingCorrelation, without_origin};
use crate::describe::{AccessWords, Choices};
use crate::finding::FindingAccess;
use crate::names::{Frame, Names};
use crate::packages::is_fetched;
use crate::places::Places;
use examples::{Examples, described, described_torn};
pub use forced::{ForcedOrder, ForcedRace, RaceMark};
pub use orders::{AccessOrder, TORN_AT_FIRST, TORN_AT_SECOND};
pub use steps::{StepWords, ThreadSteps};
pub use units::OpenUnit;
pub(crate) use units::SourceLine;

/// Name and version of the form.
pub const RACES_SCHEMA: &str = "unpick-races/1";

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
    /// Of what lockset alone finds: how often nothing ordered the two, or kept the second out of the unit, but which thread came to a lock first.
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
    let examples: Vec<Examples> =
        runs.iter().map(|(_, run)| Examples::of(run, &mut code)).collect();
    let words = AccessWords { places: Places::chosen(&code, names, choices) };
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
    let is_of_somebody = race.own_code || race.accesses.iter().any(|one| is_fetched(&one.frame));
    !is_of_somebody && (all_library || one_is)
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

impl RaceFinding {
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

    /// Whether it is of several variables, and all its accesses are atomic: nothing says that they are meant to be one step.
    pub fn is_of_atomics(&self) -> bool {
        let Some(correlated) = &self.correlated else { return false };
        self.accesses.iter().chain([&correlated.access]).all(|access| access.atomic)
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
