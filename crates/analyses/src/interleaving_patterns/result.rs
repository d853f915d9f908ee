//! What is kept of a run: its patterns, each with one example, and the tables the examples refer to.
//!
//! Everything is given in terms that hold beyond the process: code and static variables as module and address in
//! the module's file, heap memory as the place of its allocation. So the recording may be dropped.

use serde::{Deserialize, Serialize};

use super::Options;
use super::catalogue::{MOST_STEPS, PatternId};

/// The patterns of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPatterns {
    pub options: Options,
    pub modules: Vec<CodeModule>,
    pub sites: Vec<CodeSite>,
    /// Call stacks: numbers of sites, outermost first. Number 0 is the unknown one, which is empty.
    pub stacks: Vec<Vec<u32>>,
    pub locks: Vec<Lock>,
    /// Locks held together, in the order they were taken. Number 0 is none.
    pub lock_sets: Vec<Vec<Holding>>,
    /// Heap blocks, by where they were allocated.
    pub blocks: Vec<Block>,
    /// The accesses of the examples.
    pub accesses: Vec<Access>,
    pub patterns: Vec<FoundPattern>,
    /// Pairs that the access window hides (`access_pairs::HiddenPairs`) and that are not among the patterns; sorted.
    pub hidden_pairs: Vec<HiddenPair>,
    /// Orders that the run did not show, but might have: pairs the other way round, and accesses of another thread in gaps that
    /// nobody came into. The example has accesses of the run in an order they were not in.
    pub possible: Vec<FoundPattern>,
    /// Where shared memory was accessed at all: numbers of sites, sorted.
    pub seen_sites: Vec<u32>,
    /// How many recordings there were.
    pub processes: u32,
    /// How many pairs of accesses there were. In Falcon mode: occurrences of patterns.
    pub pairs: u64,
    /// Occurrences of patterns that were left out because a process had too many kinds of them; 0: complete.
    pub left_out: u64,
    /// A process ended while a thread of it was still running: it was killed, crashed, or `exit` was called. What that thread would
    /// have done next is not in the run.
    pub unfinished: bool,
}

/// An executable or shared library.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CodeModule {
    /// In hex; empty if it has none.
    pub build_id: String,
    pub path: String,
    /// Its lowest address in the file's own terms, and its length.
    pub lowest: u64,
    pub length: u64,
}

/// A place in the code that is the same in every run of one build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct CodeSite {
    /// Number of the module. Without one, `offset` is all that is known: it holds for this run only.
    pub module: Option<u32>,
    /// A return address, in the terms of the module's file.
    pub offset: u64,
}

/// Where bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Memory {
    /// A variable of a module, at this address of its file.
    Static { module: u32, offset: u64 },
    /// Inside a heap block.
    Heap { block: u32, offset: u64 },
    /// A stack, a mapping, or unknown; the address holds for this run only.
    Other { address: u64 },
}

/// A heap block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Block {
    /// Where it was allocated.
    pub site: u32,
    pub stack: u32,
    pub size: u64,
}

/// A lock that was held.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Lock {
    pub memory: Memory,
    /// `mutex`, `rwlock`, …
    pub kind: String,
    /// Held together with other readers.
    pub shared: bool,
    /// Where it was taken.
    pub site: u32,
    pub stack: u32,
}

/// A lock from one acquisition to its release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Holding {
    /// Number of the lock.
    pub lock: u32,
    /// Two accesses of one thread that have this in common were made without giving the lock back in between. None: not known.
    pub acquisition: Option<u64>,
}

/// What an access did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Touch {
    Read,
    Write,
    /// The bytes were freed.
    Free,
}

/// An access of an example.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Access {
    /// Which recording of the run, from 0.
    pub process: u32,
    pub thread: u16,
    pub touch: Touch,
    pub atomic: bool,
    /// Made by a library function (`memcpy`, `read`); false also where that is not known.
    pub library: bool,
    pub site: u32,
    pub stack: u32,
    pub lock_set: u32,
    /// Its place among the accesses of its process that were part of a pair.
    pub index: u32,
    /// The bytes the accesses of the pair have in common.
    pub memory: Memory,
    pub length: u64,
    /// How many bytes it touched in all; 0: not known.
    pub whole_length: u64,
}

/// A pattern that was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FoundPattern {
    pub pattern: PatternId,
    /// Numbers of its accesses in the occurrence that was complete first; what the pattern does not need is 0.
    example: [u32; MOST_STEPS],
    /// How often it occurred.
    pub count: u64,
    /// The smallest access window that shows it.
    pub access_window: u32,
    /// The smallest distance of its two pairs in the list of pairs, both included; 0 with one pair.
    pub pair_distance: u32,
}

/// A pair that is known by its sites only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HiddenPair {
    /// P1, P2 or P3.
    pub pattern: PatternId,
    pub sites: [u32; 2],
}

impl FoundPattern {
    pub(super) fn new(
        pattern: PatternId,
        example: [u32; MOST_STEPS],
        count: u64,
        access_window: u32,
        pair_distance: u32,
    ) -> Self {
        FoundPattern { pattern, example, count, access_window, pair_distance }
    }

    /// The numbers of the accesses of its example, in order.
    pub fn example(&self) -> &[u32] {
        &self.example[..self.pattern.steps().len()]
    }
}

impl RunPatterns {
    /// The accesses of a pattern's example, in order.
    pub fn example<'r>(&'r self, found: &'r FoundPattern) -> impl Iterator<Item = &'r Access> {
        found.example().iter().map(|&number| &self.accesses[number as usize])
    }

    /// The sites of a pattern, in the order of its accesses: its identity, together with its number.
    pub fn sites_of<'r>(&'r self, found: &'r FoundPattern) -> impl Iterator<Item = u32> + 'r {
        self.example(found).map(|access| access.site)
    }

    /// When the harm was done in the example: process, and place among its accesses.
    pub fn harmful_at(&self, found: &FoundPattern) -> (u32, u32) {
        let step = found.pattern.harmful_step();
        let access = &self.accesses[found.example()[step] as usize];
        (access.process, access.index)
    }
}
