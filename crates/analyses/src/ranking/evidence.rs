//! What is kept of the best patterns beyond counts: the failing runs that have them, and examples.

use rustc_hash::FxHashMap;
use unpick_events::Label;

use crate::interleaving_patterns::{Access, FoundPattern, Holding, RunPatterns, Touch};

use super::callers::Callers;
use super::code_book::{CodeBook, Translation};
use super::conclusion::Ranked;
use super::missing::{Meetings, Missing};
use super::reading::CodeReading;
use super::run_set::RunSet;
use super::tally::PatternKey;

/// Times and windows are kept of so many failing runs: more would not change what is said about a pattern.
const MOST_TIMES: usize = 200;

/// What is known of a pattern from the failing runs.
#[derive(Debug, Clone, Default)]
pub struct Evidence {
    /// The failing runs that have it, numbered in the order in which they were given, from 0.
    pub failing: RunSet,
    /// For the first of these runs: its number, and when the harm was done (process, place in the order).
    pub harmful_at: Vec<(u32, (u32, u32))>,
    /// For the same runs: the smallest distance of its two pairs, and the smallest access window that shows it.
    pub pair_distances: Vec<u32>,
    pub access_windows: Vec<u32>,
    pub example: Option<Example>,
}

/// One occurrence of a pattern in a failing run. Sites and modules are numbered by the code book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Example {
    /// As the caller numbers runs.
    pub run: u32,
    pub accesses: Vec<ExampleAccess>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleAccess {
    pub process: u32,
    pub thread: u16,
    pub touch: Touch,
    pub atomic: bool,
    /// Made by a library function; false also where that is not known.
    pub library: bool,
    pub site: u32,
    /// Call sites, outermost first; empty: unknown.
    pub stack: Vec<u32>,
    pub locks: Vec<ExampleLock>,
    /// Place among the accesses of its process that were part of a pair.
    pub index: u32,
    pub memory: ExampleMemory,
    pub length: u64,
    /// How many bytes it touched in all; 0: not known.
    pub whole_length: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleLock {
    pub memory: ExampleMemory,
    pub kind: String,
    pub shared: bool,
    pub site: u32,
    pub stack: Vec<u32>,
    /// What two accesses of one thread have in common if it was not given back in between. None: not known.
    pub acquisition: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExampleMemory {
    /// A variable of a module, at this address of its file.
    Static {
        module: u32,
        offset: u64,
    },
    Heap {
        block: ExampleBlock,
        offset: u64,
    },
    Other {
        address: u64,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExampleBlock {
    pub site: u32,
    pub stack: Vec<u32>,
    pub size: u64,
}

/// Gathers evidence for some patterns.
pub struct Gathering {
    places: FxHashMap<PatternKey, usize>,
    /// Those of the patterns that failing runs can lack.
    missing: Vec<(PatternKey, Missing)>,
    /// For those, accesses of passing runs.
    passing_examples: FxHashMap<PatternKey, Example>,
    evidence: Vec<Evidence>,
    failing_runs: u32,
    callers: Callers,
}

impl Gathering {
    pub fn of<'r>(patterns: impl Iterator<Item = &'r Ranked> + Clone) -> Gathering {
        let missing = patterns.clone().filter_map(|ranked| Some((ranked.key, ranked.missing?)));
        let missing = missing.collect();
        let places: FxHashMap<_, _> =
            patterns.enumerate().map(|(place, ranked)| (ranked.key, place)).collect();
        let evidence = vec![Evidence::default(); places.len()];
        let passing_examples = FxHashMap::default();
        let callers = Callers::default();
        Gathering { places, missing, passing_examples, evidence, failing_runs: 0, callers }
    }

    /// Whether it has to see a run: failing ones, and those with examples of what failing runs lack.
    pub fn needs(&self, number: u32, label: Label) -> bool {
        let has_example = |(_, missing): &(_, Missing)| missing.example_run == number;
        label == Label::Fail || label == Label::Pass && self.missing.iter().any(has_example)
    }

    /// Observes a run.
    pub fn add(&mut self, number: u32, label: Label, run: &RunPatterns, code: &mut CodeBook) {
        let translation = code.enter(run);
        self.callers.add(run, &translation);
        match label {
            Label::Fail => self.add_failing(number, run, &translation),
            Label::Pass => self.add_examples(number, run, &translation),
            Label::Unusable => {}
        }
    }

    fn add_failing(&mut self, number: u32, run: &RunPatterns, translation: &Translation) {
        let failing = self.failing_runs;
        self.failing_runs += 1;
        for found in &run.patterns {
            let key = PatternKey::of(run, found, translation);
            if let Some(&place) = self.places.get(&key) {
                let told = Told { run, found, translation };
                self.evidence[place].add(failing, number, &told);
            }
        }
        if run.unfinished && !self.missing.is_empty() {
            let meetings = Meetings::of(run, translation);
            for (key, _) in self.missing.iter().filter(|(key, _)| !meetings.have(key)) {
                self.evidence[self.places[key]].add_missing(failing);
            }
        }
    }

    /// Of orders that failing runs lack, the accesses of a passing run.
    fn add_examples(&mut self, number: u32, run: &RunPatterns, translation: &Translation) {
        for found in &run.possible {
            let key = PatternKey::of(run, found, translation);
            let is_wanted = |(wanted, missing): &(PatternKey, Missing)| {
                *wanted == key && missing.example_run == number
            };
            if self.missing.iter().any(is_wanted) {
                let example = example_of(run, found, translation, number);
                self.passing_examples.insert(key, example);
            }
        }
    }

    /// An example of a failing run is better than one of a passing run. Where it does not say by which calls a place was reached, other accesses do.
    pub fn finish(mut self) -> Vec<Evidence> {
        for (key, example) in self.passing_examples {
            self.evidence[self.places[&key]].example.get_or_insert(example);
        }
        let examples = self.evidence.iter_mut().filter_map(|evidence| evidence.example.as_mut());
        for access in examples.flat_map(|example| &mut example.accesses) {
            if access.stack.is_empty() {
                access.stack = self.callers.of(access.site);
            }
        }
        self.evidence
    }
}

/// A pattern of a run.
struct Told<'r> {
    run: &'r RunPatterns,
    found: &'r FoundPattern,
    translation: &'r Translation,
}

impl Evidence {
    fn add(&mut self, failing: u32, number: u32, told: &Told<'_>) {
        self.failing.insert(failing);
        if self.harmful_at.len() < MOST_TIMES {
            self.harmful_at.push((failing, told.run.harmful_at(told.found)));
            self.pair_distances.push(told.found.pair_distance);
            self.access_windows.push(told.found.access_window);
        }
        let known = self.example.as_ref().map(Example::stacks_known);
        if known.is_none_or(|known| known < told.stacks_known()) {
            self.example = Some(told.example(number));
        }
    }
}

/// A run that ended before a write did its harm at its end: after everything that was seen.
const AT_THE_END: (u32, u32) = (u32::MAX, u32::MAX);

impl Evidence {
    /// Adds a failing run that ended before it could show the order.
    fn add_missing(&mut self, failing: u32) {
        self.failing.insert(failing);
        if self.harmful_at.len() < MOST_TIMES {
            self.harmful_at.push((failing, AT_THE_END));
        }
    }
}

impl Example {
    /// How many accesses tell how they were reached: the more, the better an example.
    pub(crate) fn stacks_known(&self) -> usize {
        self.accesses.iter().filter(|access| !access.stack.is_empty()).count()
    }
}

impl Told<'_> {
    fn stacks_known(&self) -> usize {
        self.run.example(self.found).filter(|access| access.stack != 0).count()
    }

    fn example(&self, number: u32) -> Example {
        example_of(self.run, self.found, self.translation, number)
    }
}

/// The example of a pattern in run `number`, with the numbers of a code book.
pub fn example_of(
    run: &RunPatterns,
    found: &FoundPattern,
    translation: &Translation,
    number: u32,
) -> Example {
    let reading = Reading::of(run, translation);
    let accesses = run.example(found).map(|access| reading.access(access));
    Example { run: number, accesses: accesses.collect() }
}

/// All accesses of a run's examples, with the numbers of a code book, which the run is entered into.
pub fn accesses_of(run: &RunPatterns, code: &mut CodeBook) -> Vec<ExampleAccess> {
    let translation = code.enter(run);
    let reading = Reading::of(run, &translation);
    run.accesses.iter().map(|access| reading.access(access)).collect()
}

/// All locks of a run, with the numbers of a code book, which the run is entered into.
pub fn locks_of(run: &RunPatterns, code: &mut CodeBook) -> Vec<ExampleLock> {
    let translation = code.enter(run);
    let reading = Reading::of(run, &translation);
    let numbers = 0..run.locks.len() as u32;
    numbers.map(|lock| reading.lock(&Holding { lock, acquisition: None })).collect()
}

/// A run with the numbers of a code book.
struct Reading<'r> {
    run: &'r RunPatterns,
    code: CodeReading<'r>,
}

impl<'r> Reading<'r> {
    fn of(run: &'r RunPatterns, translation: &'r Translation) -> Reading<'r> {
        let code = CodeReading { stacks: &run.stacks, blocks: &run.blocks, translation };
        Reading { run, code }
    }

    fn access(&self, access: &Access) -> ExampleAccess {
        ExampleAccess {
            process: access.process,
            thread: access.thread,
            touch: access.touch,
            atomic: access.atomic,
            library: access.library,
            site: self.code.site(access.site),
            stack: self.code.stack(access.stack),
            locks: self.locks(access.lock_set),
            index: access.index,
            memory: self.code.memory(&access.memory),
            length: access.length,
            whole_length: access.whole_length,
        }
    }

    fn locks(&self, lock_set: u32) -> Vec<ExampleLock> {
        let locks = self.run.lock_sets[lock_set as usize].iter();
        locks.map(|held| self.lock(held)).collect()
    }

    fn lock(&self, held: &Holding) -> ExampleLock {
        let lock = &self.run.locks[held.lock as usize];
        ExampleLock {
            memory: self.code.memory(&lock.memory),
            kind: lock.kind.clone(),
            shared: lock.shared,
            site: self.code.site(lock.site),
            stack: self.code.stack(lock.stack),
            acquisition: held.acquisition,
        }
    }
}
