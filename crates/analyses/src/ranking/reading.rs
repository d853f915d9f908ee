//! Code and memory of one run, read with the numbers of a code book.

use crate::interleaving_patterns::{Block, Memory};

use super::code_book::Translation;
use super::evidence::{ExampleBlock, ExampleMemory};

/// The tables of a run, and how their numbers translate.
pub(crate) struct CodeReading<'r> {
    pub stacks: &'r [Vec<u32>],
    pub blocks: &'r [Block],
    pub translation: &'r Translation,
}

impl CodeReading<'_> {
    pub fn site(&self, site: u32) -> u32 {
        self.translation.sites[site as usize]
    }

    pub fn stack(&self, stack: u32) -> Vec<u32> {
        self.stacks[stack as usize].iter().map(|&site| self.site(site)).collect()
    }

    pub fn memory(&self, memory: &Memory) -> ExampleMemory {
        match *memory {
            Memory::Static { module, offset } => {
                ExampleMemory::Static { module: self.translation.modules[module as usize], offset }
            }
            Memory::Heap { block, offset } => {
                let block = &self.blocks[block as usize];
                let (site, stack) = (self.site(block.site), self.stack(block.stack));
                ExampleMemory::Heap {
                    block: ExampleBlock { site, stack, size: block.size },
                    offset,
                }
            }
            Memory::Other { address } => ExampleMemory::Other { address },
        }
    }
}
