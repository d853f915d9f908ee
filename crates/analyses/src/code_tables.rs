//! Code and memory of a run under small numbers, in terms that hold beyond the process.
//!
//! Takes   sites, stacks and bytes of recordings.      Gives  tables of modules, sites, stacks and heap blocks, each thing once.
//! Misses  modules of sites that nobody knows the full address of: these hold for one run only.
//! Cost    one look-up per question; what a process asked before is remembered.

use std::cell::OnceCell;
use std::hash::Hash;

use rustc_hash::FxHashMap;
use unpick_events::{Address, Context, Site};
use unpick_recording::Recording;
use unpick_recording::history::HeapBlock;

use crate::access_pairs::LivedBytes;
use crate::interleaving_patterns::{
    Block, Blocks, CodeModule, CodeSite, Holding, Lock, Memory, code_module, module_at,
};
use crate::knowledge::Knowledge;
use crate::locks_held::{HeldLock, Moment};

/// Things, each once, by number.
#[derive(Debug)]
pub(crate) struct Table<T> {
    pub things: Vec<T>,
    numbers: FxHashMap<T, u32>,
}

impl<T: Clone + Eq + Hash> Table<T> {
    pub fn new(first: impl IntoIterator<Item = T>) -> Table<T> {
        let mut table = Table { things: Vec::new(), numbers: FxHashMap::default() };
        first.into_iter().for_each(|thing| {
            table.number_of(thing);
        });
        table
    }

    pub fn number_of(&mut self, thing: T) -> u32 {
        if let Some(&number) = self.numbers.get(&thing) {
            return number;
        }
        let number = self.things.len() as u32;
        self.things.push(thing.clone());
        self.numbers.insert(thing, number);
        number
    }
}

/// One recording, and what was looked up for it already.
pub(crate) struct Process<'r> {
    pub recording: &'r Recording,
    pub knowledge: &'r dyn Knowledge,
    /// Which recording of the run, from 0.
    pub number: u32,
    sites: FxHashMap<Site, u32>,
    stacks: FxHashMap<Context, u32>,
    blocks: OnceCell<Blocks>,
}

impl<'r> Process<'r> {
    pub fn new(recording: &'r Recording, knowledge: &'r dyn Knowledge, number: u32) -> Process<'r> {
        Process {
            recording,
            knowledge,
            number,
            sites: FxHashMap::default(),
            stacks: FxHashMap::default(),
            blocks: OnceCell::new(),
        }
    }

    fn blocks(&self) -> &Blocks {
        self.blocks.get_or_init(|| Blocks::of(self.recording))
    }
}

/// The tables of a run.
#[derive(Debug)]
pub(crate) struct CodeTables {
    pub modules: Table<CodeModule>,
    pub sites: Table<CodeSite>,
    /// Number 0 is the unknown one, which is empty.
    pub stacks: Table<Vec<u32>>,
    pub blocks: Table<Block>,
}

/// The locks of a run.
#[derive(Debug)]
pub(crate) struct LockTables {
    pub locks: Table<Lock>,
    /// Number 0 is none.
    pub lock_sets: Table<Vec<Holding>>,
}

impl LockTables {
    pub fn new() -> LockTables {
        LockTables { locks: Table::new([]), lock_sets: Table::new([Vec::new()]) }
    }

    /// The number of the locks held at a moment.
    pub fn lock_set(
        &mut self,
        code: &mut CodeTables,
        process: &mut Process<'_>,
        moment: Moment,
        locks: &[HeldLock],
    ) -> u32 {
        let numbers = locks.iter().map(|held| {
            let lock = Lock {
                memory: code.memory_of_lock(process, held.lock.0),
                kind: held.kind.name().to_owned(),
                shared: held.shared,
                site: code.site(process, held.site),
                stack: code.stack(process, held.context),
            };
            // Not the same for two threads: an order that no run had may join accesses of both in one role.
            let acquisition = u64::from(moment.thread.0) << 40 | held.acquisition;
            Holding { lock: self.locks.number_of(lock), acquisition: Some(acquisition) }
        });
        let numbers = numbers.collect();
        self.lock_sets.number_of(numbers)
    }
}

struct LoadedModule {
    number: u32,
    bias: u64,
}

impl CodeTables {
    pub fn new() -> CodeTables {
        CodeTables {
            modules: Table::new([]),
            sites: Table::new([]),
            stacks: Table::new([Vec::new()]),
            blocks: Table::new([]),
        }
    }

    pub fn site(&mut self, process: &mut Process<'_>, site: Site) -> u32 {
        if let Some(&number) = process.sites.get(&site) {
            return number;
        }
        let address = process.knowledge.return_address(site);
        let in_module = address.and_then(|address| {
            // A return address can be one past the end of its module.
            let module = self.module_at(process, address.checked_sub(1)?)?;
            Some(CodeSite {
                module: Some(module.number),
                offset: address.wrapping_sub(module.bias),
            })
        });
        let unknown = CodeSite { module: None, offset: address.unwrap_or(u64::from(site.0)) };
        let number = self.sites.number_of(in_module.unwrap_or(unknown));
        process.sites.insert(site, number);
        number
    }

    pub fn stack(&mut self, process: &mut Process<'_>, context: Context) -> u32 {
        if let Some(&number) = process.stacks.get(&context) {
            return number;
        }
        let recording = process.recording;
        let call_sites = recording.stacks().get(context).unwrap_or(&[]);
        let numbers = call_sites.iter().map(|&site| self.site(process, site)).collect();
        let number = self.stacks.number_of(numbers);
        process.stacks.insert(context, number);
        number
    }

    pub fn memory_of(&mut self, process: &mut Process<'_>, lived: &LivedBytes) -> Memory {
        let address = lived.bytes.start;
        match lived.block.filter(|block| is_inside(block, address)) {
            Some(block) => self.in_block(process, &block, address),
            None => self.memory_at(process, address),
        }
    }

    /// Locks have no history that would tell the life of their memory: a heap block counts only if no other was ever there.
    pub fn memory_of_lock(&mut self, process: &mut Process<'_>, address: u64) -> Memory {
        let known = self.memory_at(process, address);
        match (known, process.blocks().only_one_at(address)) {
            (Memory::Other { .. }, Some(block)) => self.in_block(process, &block, address),
            _ => known,
        }
    }

    fn module_at(&mut self, process: &Process<'_>, address: u64) -> Option<LoadedModule> {
        let module = module_at(process.recording, address)?;
        let number = self.modules.number_of(code_module(module));
        Some(LoadedModule { number, bias: module.bias })
    }

    fn in_block(&mut self, process: &mut Process<'_>, block: &HeapBlock, address: u64) -> Memory {
        let site = self.site(process, block.site);
        let stack = self.stack(process, block.context);
        let number = self.blocks.number_of(Block { site, stack, size: block.size });
        Memory::Heap { block: number, offset: address - block.address.0 }
    }

    /// A static variable, or just an address.
    fn memory_at(&mut self, process: &Process<'_>, address: u64) -> Memory {
        match self.module_at(process, address) {
            Some(LoadedModule { number, bias }) => {
                Memory::Static { module: number, offset: address.wrapping_sub(bias) }
            }
            None => Memory::Other { address },
        }
    }
}

fn is_inside(block: &HeapBlock, address: u64) -> bool {
    let Address(start) = block.address;
    address.checked_sub(start).is_some_and(|offset| offset < block.size)
}
