//! Names for the code and memory of findings, from the program's files as they are now.
//!
//! Takes   the code book of a conclusion.      Gives  functions, lines, variables.
//! Misses  locals, and names of locks on the heap.
//!
//! A finding knows places as module and address in the module's file. `Symbols` wants addresses in a process, so the modules
//! are laid out one behind the other as if they were loaded.

use std::sync::Arc;

use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock, ExampleMemory};
use unpick_findings::{Frame, Names, Place};
use unpick_symbols::{ModuleInfo, Symbols};

const FIRST_MODULE: u64 = 1 << 36;
const PAGE: u64 = 4096;

pub struct RunNames {
    symbols: Symbols,
    /// What is added to the addresses of each module's file.
    biases: Vec<u64>,
}

impl RunNames {
    pub fn of(code: &CodeBook) -> RunNames {
        let mut next = FIRST_MODULE;
        let mut modules = Vec::new();
        for module in &code.modules {
            let bias = next.wrapping_sub(module.lowest);
            modules.push(ModuleInfo {
                path: module.path.clone().into(),
                build_id: module.build_id.clone(),
                bias,
                start: next,
                length: module.length,
            });
            next = (next + module.length).next_multiple_of(PAGE) + PAGE;
        }
        let biases = modules.iter().map(|module| module.bias).collect();
        RunNames { symbols: Symbols::load(&modules), biases }
    }

    fn address(&self, site: CodeSite) -> u64 {
        match site.module {
            Some(module) => self.in_module(module, site.offset),
            None => site.offset,
        }
    }

    fn in_module(&self, module: u32, offset: u64) -> u64 {
        self.biases[module as usize].wrapping_add(offset)
    }

    fn symbols_place(&self, site: u32, code: &CodeBook) -> Arc<unpick_symbols::Place> {
        self.symbols.place(self.address(code.sites[site as usize]))
    }

    fn memory(&self, memory: &ExampleMemory, length: u64, code: &CodeBook) -> Option<String> {
        match memory {
            ExampleMemory::Static { module, offset } => {
                let address = self.in_module(*module, *offset);
                self.symbols.variable(address, length, None).map(|variable| variable.to_string())
            }
            ExampleMemory::Heap { block, offset } => {
                let callers = block.stack.iter().rev().copied();
                let stack: Vec<_> = std::iter::once(block.site)
                    .chain(callers)
                    .map(|site| self.symbols_place(site, code))
                    .collect();
                let name = self.symbols.heap_name_of_access(&stack, *offset, length, block.size);
                Some(name.to_string())
            }
            ExampleMemory::Other { .. } => None,
        }
    }
}

impl Names for RunNames {
    fn place(&self, site: CodeSite, _: &CodeBook) -> Place {
        let place = self.symbols.place(self.address(site));
        let mut frames = place.frames.iter().map(|frame| Frame {
            function: frame.function.clone(),
            file: frame.file.clone(),
            line: frame.line,
            column: frame.column,
        });
        let frame = frames.next().unwrap_or_default();
        Place { frame, inlined_into: frames.collect() }
    }

    fn variable(&self, access: &ExampleAccess, code: &CodeBook) -> Option<String> {
        self.memory(&access.memory, access.length, code)
    }

    fn lock(&self, lock: &ExampleLock, code: &CodeBook) -> Option<String> {
        // Any part of it will do: a lock is a variable or a member of one.
        self.memory(&lock.memory, 1, code)
    }
}
