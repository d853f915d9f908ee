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

/// It did not say whether a run was unfinished.
pub const VERSION_4: u8 = 4;

/// The tables of all: they differ in how locks of a set, accesses and possible orders are recorded.
#[derive(Deserialize)]
pub struct Tables<L, A, P> {
    options: Options,
    modules: Vec<CodeModule>,
    sites: Vec<CodeSite>,
    stacks: Vec<Vec<u32>>,
    locks: Vec<Lock>,
    lock_sets: Vec<Vec<L>>,
    blocks: Vec<Block>,
    accesses: Vec<A>,
    patterns: Vec<FoundPattern>,
    hidden_pairs: Vec<HiddenPair>,
    possible: P,
    seen_sites: Vec<u32>,
    processes: u32,
    pairs: u64,
    left_out: u64,
}

pub type Version2 = Tables<Holding2, Access2, NoneRecorded>;
pub type Version3 = Tables<Holding, Access, NoneRecorded>;
pub type Version4 = Tables<Holding, Access, Vec<FoundPattern>>;

impl<L: Into<Holding>, A: Into<Access>, P: Into<Vec<FoundPattern>>> Tables<L, A, P> {
    pub fn in_todays_terms(self) -> RunPatterns {
        let held = |locks: Vec<L>| locks.into_iter().map(L::into).collect();
        RunPatterns {
            options: self.options,
            modules: self.modules,
            sites: self.sites,
            stacks: self.stacks,
            locks: self.locks,
            lock_sets: self.lock_sets.into_iter().map(held).collect(),
            blocks: self.blocks,
            accesses: self.accesses.into_iter().map(A::into).collect(),
            patterns: self.patterns,
            hidden_pairs: self.hidden_pairs,
            possible: self.possible.into(),
            seen_sites: self.seen_sites,
            processes: self.processes,
            pairs: self.pairs,
            left_out: self.left_out,
            unfinished: false,
        }
    }
}

/// Takes no bytes: that version recorded no possible orders.
#[derive(Deserialize)]
pub struct NoneRecorded;

impl From<NoneRecorded> for Vec<FoundPattern> {
    fn from(NoneRecorded: NoneRecorded) -> Vec<FoundPattern> {
        Vec::new()
    }
}

/// The number of a lock.
#[derive(Deserialize)]
pub struct Holding2(u32);

impl From<Holding2> for Holding {
    fn from(Holding2(lock): Holding2) -> Holding {
        Holding { lock, acquisition: None }
    }
}

#[derive(Deserialize)]
pub struct Access2 {
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

impl From<Access2> for Access {
    fn from(access: Access2) -> Access {
        Access {
            process: access.process,
            thread: access.thread,
            touch: access.touch,
            atomic: access.atomic,
            library: false,
            site: access.site,
            stack: access.stack,
            lock_set: access.lock_set,
            index: access.index,
            memory: access.memory,
            length: access.length,
            whole_length: 0,
        }
    }
}
