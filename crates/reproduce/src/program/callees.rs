//! What is at which address of a file: functions by name, and the slots through which other modules are called.
//!
//! Takes   an ELF file, trusted in nothing.      Gives  functions, their bytes, names of what lies at an address or in a slot.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use iced_x86::{Code as Opcode, Decoder, DecoderOptions};
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationFlags,
    RelocationTarget, SectionKind, SymbolKind, elf,
};
use unpick_symbols::demangled;

const LARGEST_FILE: u64 = 1 << 33;
const LARGEST_FUNCTION: u64 = 1 << 26;
/// Marks that compilers put behind the name of a part or copy of a function.
const COPY_MARKS: [&str; 6] = [".cold", ".part.", ".isra.", ".constprop.", ".llvm.", ".lto_priv."];

/// A function of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Function {
    pub address: u64,
    pub size: u64,
    /// As the programmer wrote it.
    pub name: String,
}

/// The code of a file.
pub struct Code {
    pub build_id: String,
    /// By address.
    pub functions: Vec<Function>,
    /// Names of other modules' functions, by the address of the slot that holds where they are.
    slots: HashMap<u64, Slot>,
    sections: Vec<Section>,
    bytes: Vec<u8>,
}

enum Slot {
    Named(String),
    /// Of the file itself.
    At(u64),
}

struct Section {
    address: u64,
    size: u64,
    /// In the file.
    start: usize,
}

impl Code {
    /// Reads a file; the error is a half sentence that says why it cannot be used.
    pub fn read(path: &Path) -> Result<Code, String> {
        let about = fs::metadata(path).map_err(|error| error.to_string())?;
        if !about.is_file() || about.len() > LARGEST_FILE {
            return Err("it is not a file, or a very large one".to_owned());
        }
        let bytes = fs::read(path).map_err(|error| error.to_string())?;
        let object = object::File::parse(&*bytes)
            .map_err(|_| "it is not an ELF file, or a damaged one".to_owned())?;
        if object.architecture() != Architecture::X86_64 {
            return Err("it is not for x86-64".to_owned());
        }
        let build_id = object.build_id().ok().flatten().unwrap_or_default();
        let build_id = build_id.iter().map(|byte| format!("{byte:02x}")).collect();
        let (functions, slots, sections) = (functions(&object), slots(&object), sections(&object));
        drop(object);
        Ok(Code { build_id, functions, slots, sections, bytes })
    }

    pub fn function_at(&self, address: u64) -> Option<&Function> {
        let after = self.functions.partition_point(|function| function.address <= address);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (address - function.address < function.size).then_some(function)
    }

    /// The instructions of a function, or what of them is in the file.
    pub fn bytes_of(&self, function: &Function) -> &[u8] {
        self.bytes_at(function.address, function.size.min(LARGEST_FUNCTION)).unwrap_or_default()
    }

    fn bytes_at(&self, address: u64, size: u64) -> Option<&[u8]> {
        let inside = |section: &&Section| {
            address.checked_sub(section.address).is_some_and(|offset| offset < section.size)
        };
        let section = self.sections.iter().find(inside)?;
        let offset = address - section.address;
        let size = usize::try_from(size.min(section.size - offset)).ok()?;
        let start = section.start.checked_add(usize::try_from(offset).ok()?)?;
        self.bytes.get(start..start.checked_add(size)?)
    }

    /// The name of the function that a call of `address` gets to.
    pub fn name_at(&self, address: u64) -> Option<String> {
        let function = self.function_at(address).filter(|function| function.address == address);
        match function {
            Some(function) => Some(function.name.clone()),
            None => self.name_behind_stub(address),
        }
    }

    /// The name of the function whose address a slot holds.
    pub fn name_in_slot(&self, slot: u64) -> Option<String> {
        match self.slots.get(&slot) {
            Some(Slot::Named(name)) => Some(name.clone()),
            Some(Slot::At(address)) => self.own_function(*address),
            // Without relocation the slot holds the address itself.
            None => {
                let bytes = self.bytes_at(slot, 8)?;
                self.own_function(u64::from_le_bytes(bytes.try_into().ok()?))
            }
        }
    }

    fn own_function(&self, address: u64) -> Option<String> {
        let function = self.function_at(address)?;
        (function.address == address).then(|| function.name.clone())
    }

    /// A stub of the linker jumps on through a slot.
    fn name_behind_stub(&self, address: u64) -> Option<String> {
        const LONGEST_STUB: u64 = 16;
        let bytes = self.bytes_at(address, LONGEST_STUB)?;
        let mut decoder = Decoder::with_ip(64, bytes, address, DecoderOptions::NONE);
        let jump = decoder.iter().find(|instruction| instruction.code() != Opcode::Endbr64)?;
        let is_jump = jump.code() == Opcode::Jmp_rm64 && jump.is_ip_rel_memory_operand();
        is_jump.then(|| self.name_in_slot(jump.ip_rel_memory_address())).flatten()
    }
}

fn functions(object: &object::File<'_>) -> Vec<Function> {
    let symbols = object.symbols().chain(object.dynamic_symbols());
    let mut functions: Vec<Function> = symbols
        .filter(|symbol| symbol.kind() == SymbolKind::Text && !symbol.is_undefined())
        .filter(|symbol| symbol.size() > 0)
        .filter_map(|symbol| {
            let name = written(symbol.name().ok()?);
            Some(Function { address: symbol.address(), size: symbol.size(), name })
        })
        .collect();
    // Of several names for one address the longest code, then the one without underscores, as `symbols` does.
    functions.sort_by(|a, b| {
        let rank = |function: &Function| {
            let name = &function.name;
            (function.address, u64::MAX - function.size, name.starts_with('_'), name.len())
        };
        rank(a).cmp(&rank(b)).then_with(|| a.name.cmp(&b.name))
    });
    functions.dedup_by_key(|function| function.address);
    functions
}

/// As the programmer wrote it, whatever part or copy of it this is.
fn written(name: &str) -> String {
    let versioned = name.find('@').map_or(name, |at| &name[..at]);
    // Slow paths of Rust's locks are wrapped: docs/design/0004-rust-locks.md.
    let versioned = versioned.strip_prefix("__wrap_").unwrap_or(versioned);
    let marks = COPY_MARKS.iter().filter_map(|mark| versioned.find(mark));
    let end = marks.min().unwrap_or(versioned.len());
    demangled(&versioned[..end])
}

fn slots(object: &object::File<'_>) -> HashMap<u64, Slot> {
    let Some(relocations) = object.dynamic_relocations() else { return HashMap::new() };
    let table = object.dynamic_symbol_table();
    let slot = |relocation: &object::Relocation| {
        let RelocationFlags::Elf { r_type } = relocation.flags() else { return None };
        if r_type == elf::R_X86_64_RELATIVE {
            return Some(Slot::At(relocation.addend().cast_unsigned()));
        }
        let RelocationTarget::Symbol(index) = relocation.target() else { return None };
        let symbol = table.as_ref()?.symbol_by_index(index).ok()?;
        Some(Slot::Named(written(symbol.name().ok()?)))
    };
    relocations.filter_map(|(at, relocation)| Some((at, slot(&relocation)?))).collect()
}

fn sections(object: &object::File<'_>) -> Vec<Section> {
    let in_memory = object.sections().filter(|section| {
        section.address() != 0 && section.kind() != SectionKind::UninitializedData
    });
    in_memory
        .filter_map(|section| {
            let (start, size) = section.file_range()?;
            Some(Section { address: section.address(), size, start: usize::try_from(start).ok()? })
        })
        .collect()
}
