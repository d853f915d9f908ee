//! Who calls which function of a module: its direct calls, read from the machine code.
//!
//! Takes   a module's file and its functions.      Gives  for a function all calls of it, or that there may be others.
//! Misses  calls of functions whose address is taken anywhere (vtables, function pointers, exported symbols): nothing is said about them.
//!         Only x86-64.
//! Invents callers where data between functions looks like a branch.
//! Cost    all code is decoded once, and all data read once. The 0.5 MB of code of a small Rust program: a few milliseconds.
//!
//! A tail call is a jump to another function, and a part of a function that lies elsewhere (`.cold`) is reached by jumps as well: each branch
//! that leaves its function counts as a call.

use std::collections::{HashMap, HashSet};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction, OpKind};
use object::{Architecture, Object, ObjectKind, ObjectSection, SectionKind};

use crate::elf_file::ElfFile;
use crate::symbol_table::SymbolTable;

/// A module with more code is not looked through.
const MAX_CODE: u64 = 1 << 28;
const WORD: usize = 8;

/// The calls of a module. Addresses are those of its file.
#[derive(Default)]
pub struct CallTable {
    /// Return addresses, by the function that is called; of jumps, the address after them.
    calls: HashMap<u64, Vec<u64>>,
    /// Functions that may be called in other ways.
    taken: HashSet<u64>,
}

impl CallTable {
    /// None: the code cannot be read.
    pub fn read(file: &ElfFile, functions: &SymbolTable) -> Option<CallTable> {
        let object = file.object().filter(|one| one.architecture() == Architecture::X86_64)?;
        let code = || object.sections().filter(|section| section.kind() == SectionKind::Text);
        if code().map(|section| section.size()).sum::<u64>() > MAX_CODE {
            return None;
        }
        let is_fixed = object.kind() == ObjectKind::Executable;
        let mut reader = Reader { functions, is_fixed, table: CallTable::default() };
        for section in code() {
            reader.read_code(section.address(), section.data().ok()?);
        }
        let is_data = |section: &object::Section<'_, '_>| {
            section.address() != 0 && section.kind() != SectionKind::Text
        };
        for section in object.sections().filter(is_data) {
            reader.read_data(section.data().ok()?);
        }
        Some(reader.table)
    }

    /// All calls of a function, in the order of their addresses. None: others may be.
    pub fn calls_of(&self, function: u64) -> Option<&[u64]> {
        let is_closed = !self.taken.contains(&function);
        is_closed.then(|| self.calls.get(&function).map(Vec::as_slice)).flatten()
    }
}

/// A table in the making.
struct Reader<'m> {
    functions: &'m SymbolTable,
    /// Addresses of the program are constants of its code.
    is_fixed: bool,
    table: CallTable,
}

impl Reader<'_> {
    /// Begins anew at each function: what lies between two may be no code.
    fn read_code(&mut self, address: u64, code: &[u8]) {
        let end = address.saturating_add(code.len() as u64);
        let functions = self.functions;
        let inside = functions.starts().filter(|start| address < *start && *start < end);
        let ends = inside.chain([end]);
        let mut start = address;
        for end in ends {
            let part = (start - address) as usize..(end - address) as usize;
            let decoder = Decoder::with_ip(64, &code[part], start, DecoderOptions::NONE);
            decoder.into_iter().for_each(|instruction| self.read_instruction(&instruction));
            start = end;
        }
    }

    fn read_instruction(&mut self, instruction: &Instruction) {
        match instruction.flow_control() {
            FlowControl::Call
            | FlowControl::UnconditionalBranch
            | FlowControl::ConditionalBranch
                if instruction.op0_kind() == OpKind::NearBranch64 =>
            {
                self.add_branch(instruction);
            }
            _ => self.add_taken(instruction),
        }
    }

    fn add_branch(&mut self, branch: &Instruction) {
        let function = |address| self.functions.function(address).map(|one| one.address);
        let Some(target) = function(branch.near_branch_target()) else { return };
        if function(branch.ip()) != Some(target) {
            self.table.calls.entry(target).or_default().push(branch.next_ip());
        }
    }

    fn add_taken(&mut self, instruction: &Instruction) {
        if instruction.is_ip_rel_memory_operand() {
            self.take(instruction.ip_rel_memory_address());
        }
        if self.is_fixed {
            let operands = 0..instruction.op_count();
            let constants = operands.filter_map(|operand| instruction.try_immediate(operand).ok());
            constants.for_each(|constant| self.take(constant));
        }
    }

    /// Tables of pointers, relocations and exported symbols alike hold the address of a function as a word.
    fn read_data(&mut self, data: &[u8]) {
        let (words, _) = data.as_chunks::<WORD>();
        words.iter().for_each(|&word| self.take(u64::from_le_bytes(word)));
    }

    fn take(&mut self, address: u64) {
        if self.functions.begins_at(address) {
            self.table.taken.insert(address);
        }
    }
}
