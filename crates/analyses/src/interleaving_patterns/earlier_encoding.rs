//! `RunPatterns` as earlier builds wrote them: archives last longer than builds.
//!
//! Takes   the tables of an earlier version.      Gives  today's; what the earlier one did not tell is marked as not known.

use serde::Deserialize;

use super::Options;
use super::result::{
    Access, Block, CodeModule, CodeSite, FoundPattern, HiddenPair, Holding, Lock, Memory,
    RunPatterns, Touch,
};

/// It told neither acquisitions nor the whole length of an access, nor which accesses library functions made.
pub const VERSION_2: u8 = 2;

/// It did not tell which orders were possible.
pub const VERSION_3: u8 = 3;

/// The tables of version 3.
#[derive(Deserialize)]
pub struct Version3 {
    options: Options,
    modules: Vec<CodeModule>,
    sites: Vec<CodeSite>,
    stacks: Vec<Vec<u32>>,
    locks: Vec<Lock>,
    lock_sets: Vec<Vec<Holding>>,
    blocks: Vec<Block>,
    accesses: Vec<Access>,
    patterns: Vec<FoundPattern>,
    hidden_pairs: Vec<HiddenPair>,
    seen_sites: Vec<u32>,
    processes: u32,
    pairs: u64,
    left_out: u64,
}

impl Version3 {
    pub fn in_todays_terms(self) -> RunPatterns {
        RunPatterns {
            options: self.options,
            modules: self.modules,
            sites: self.sites,
            stacks: self.stacks,
            locks: self.locks,
            lock_sets: self.lock_sets,
            blocks: self.blocks,
            accesses: self.accesses,
            patterns: self.patterns,
            hidden_pairs: self.hidden_pairs,
            possible: Vec::new(),
            seen_sites: self.seen_sites,
            processes: self.processes,
            pairs: self.pairs,
            left_out: self.left_out,
        }
    }
}

/// The tables of version 2.
#[derive(Deserialize)]
pub struct Version2 {
    options: Options,
    modules: Vec<CodeModule>,
    sites: Vec<CodeSite>,
    stacks: Vec<Vec<u32>>,
    locks: Vec<Lock>,
    lock_sets: Vec<Vec<u32>>,
    blocks: Vec<Block>,
    accesses: Vec<Access2>,
    patterns: Vec<FoundPattern>,
    hidden_pairs: Vec<HiddenPair>,
    seen_sites: Vec<u32>,
    processes: u32,
    pairs: u64,
    left_out: u64,
}

#[derive(Deserialize)]
struct Access2 {
    process: u32,
    thread: u16,
    touch: Touch,
    atomic: bool,
    site: u32,
    stack: u32,
    lock_set: u32,
    index: u32,
    memory: Memory,
    length: u64,
}

impl Version2 {
    pub fn in_todays_terms(self) -> RunPatterns {
        RunPatterns {
            options: self.options,
            modules: self.modules,
            sites: self.sites,
            stacks: self.stacks,
            locks: self.locks,
            lock_sets: self.lock_sets.into_iter().map(in_acquisitions).collect(),
            blocks: self.blocks,
            accesses: self.accesses.into_iter().map(Access2::in_todays_terms).collect(),
            patterns: self.patterns,
            hidden_pairs: self.hidden_pairs,
            possible: Vec::new(),
            seen_sites: self.seen_sites,
            processes: self.processes,
            pairs: self.pairs,
            left_out: self.left_out,
        }
    }
}

fn in_acquisitions(locks: Vec<u32>) -> Vec<Holding> {
    locks.into_iter().map(|lock| Holding { lock, acquisition: None }).collect()
}

impl Access2 {
    fn in_todays_terms(self) -> Access {
        Access {
            process: self.process,
            thread: self.thread,
            touch: self.touch,
            atomic: self.atomic,
            library: false,
            site: self.site,
            stack: self.stack,
            lock_set: self.lock_set,
            index: self.index,
            memory: self.memory,
            length: self.length,
            whole_length: 0,
        }
    }
}
