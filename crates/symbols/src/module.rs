//! One module of the process, opened when first asked for.
//!
//! Takes   a `ModuleInfo`.      Gives  places by address, and the parts other questions are answered from.
//! Misses  everything if the file is gone or of another build: then only module and offset are known.

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;

use unpick_problem::Problem;

use crate::call_table::CallTable;
use crate::control_flow::ControlFlow;
use crate::debug_info::DebugInfo;
use crate::demangle::demangled;
use crate::dwarf_units::{DwarfUnits, EntryRef};
use crate::elf_file::ElfFile;
use crate::globals::Globals;
use crate::locals::{Local, locals_of};
use crate::module_info::ModuleInfo;
use crate::place::{Frame, Place};
use crate::source_text::Dialect;
use crate::symbol_table::SymbolTable;
use crate::types::Types;
use crate::users_call::UsersCall;

/// Inlining deeper than this is a damaged file.
const MOST_FRAMES: usize = 256;

/// A module and what has been read of it so far.
pub struct Module {
    pub info: ModuleInfo,
    /// `Err(None)` for modules that are no files.
    file: OnceCell<Result<ElfFile, Option<Problem>>>,
    debug_info: OnceCell<Option<DebugInfo>>,
    symbols: OnceCell<SymbolTable>,
    names: OnceCell<Option<DebugNames>>,
    /// By the address of a function; none: it cannot be followed.
    control_flow: RefCell<HashMap<u64, Option<ControlFlow>>>,
    calls: OnceCell<Option<CallTable>>,
    /// By the address of a function of a library.
    pub users_calls: RefCell<HashMap<u64, Option<UsersCall>>>,
}

/// What the debug info says beyond lines: variables and types.
pub struct DebugNames {
    pub units: DwarfUnits,
    pub types: Types,
    pub globals: Globals,
    /// By function: asked again for every access to a heap block.
    type_parameters: RefCell<HashMap<EntryRef, Vec<EntryRef>>>,
}

impl DebugNames {
    fn read(debug_info: &DebugInfo) -> DebugNames {
        let units = DwarfUnits::read(debug_info);
        let types = Types::default();
        let globals = Globals::collect(&units, &types);
        DebugNames { units, types, globals, type_parameters: RefCell::default() }
    }

    /// All types with this name; namespaces are ignored.
    pub fn types_called(&self, name: &str) -> &[EntryRef] {
        self.globals.types_named(without_namespaces(name))
    }

    /// The types a generic function or template was made for.
    pub fn type_parameters(&self, function: EntryRef) -> Vec<EntryRef> {
        if let Some(known) = self.type_parameters.borrow().get(&function) {
            return known.clone();
        }
        let found = self.find_type_parameters(function);
        self.type_parameters.borrow_mut().insert(function, found.clone());
        found
    }

    fn find_type_parameters(&self, function: EntryRef) -> Vec<EntryRef> {
        let own = self.own_type_parameters(function);
        match self
            .units
            .entry(function)
            .and_then(|entry| self.units.original(function.unit, &entry))
        {
            Some(original) if own.is_empty() => self.own_type_parameters(original),
            _ => own,
        }
    }

    fn own_type_parameters(&self, function: EntryRef) -> Vec<EntryRef> {
        let unit = self.units.unit(function.unit).unit;
        let mut found = Vec::new();
        let Ok(mut tree) = unit.entries_tree(Some(function.offset)) else { return found };
        let Ok(root) = tree.root() else { return found };
        let mut children = root.children();
        while let Ok(Some(child)) = children.next() {
            if child.entry().tag() == gimli::DW_TAG_template_type_parameter {
                found.extend(self.units.type_of(function.unit, child.entry()));
            }
        }
        found
    }

    /// File and line where an entry was declared.
    pub fn declaration(&self, at: EntryRef) -> Option<(String, u32)> {
        let entry = self.units.entry(at)?;
        let line = self.units.number_of(at.unit, &entry, gimli::DW_AT_decl_line)?;
        let file = self.units.number_of(at.unit, &entry, gimli::DW_AT_decl_file)?;
        Some((self.units.file_name(at.unit, file)?, u32::try_from(line).ok()?))
    }
}

impl Module {
    pub fn new(info: ModuleInfo) -> Module {
        Module {
            info,
            file: OnceCell::new(),
            debug_info: OnceCell::new(),
            symbols: OnceCell::new(),
            names: OnceCell::new(),
            control_flow: RefCell::default(),
            calls: OnceCell::new(),
            users_calls: RefCell::default(),
        }
    }

    /// The module's file, if it is there and of the recorded build.
    pub fn file(&self) -> Option<&ElfFile> {
        self.file.get_or_init(|| open_as_recorded(&self.info)).as_ref().ok()
    }

    pub fn debug_info(&self) -> Option<&DebugInfo> {
        self.debug_info.get_or_init(|| DebugInfo::find(self.file()?)).as_ref()
    }

    pub fn symbols(&self) -> &SymbolTable {
        self.symbols.get_or_init(|| {
            let separate = self.debug_info().and_then(|info| info.separate.as_ref());
            SymbolTable::read(self.file().into_iter().chain(separate))
        })
    }

    /// Variables and types; reads all of the debug info when first asked for.
    pub fn names(&self) -> Option<&DebugNames> {
        self.names.get_or_init(|| self.debug_info().map(DebugNames::read)).as_ref()
    }

    /// Sources of a module with hooks that were compiled without, as far as their compiler tells.
    pub fn without_hooks(&self) -> Vec<String> {
        let is_looked_at = self.is_own() && self.symbols().instrumented;
        let debug_info = is_looked_at.then(|| self.debug_info()).flatten();
        debug_info.map_or_else(Vec::new, |info| DwarfUnits::read(info).without_hooks())
    }

    /// What went wrong when the file was opened; nothing if nobody asked yet.
    pub fn problem(&self) -> Option<&Problem> {
        self.file.get()?.as_ref().err()?.as_ref()
    }

    /// What a reader should know about names in this module; nothing if nobody asked yet.
    pub fn note(&self) -> Option<String> {
        let opened = self.file.get()?.is_ok();
        let without = opened && self.is_own() && self.debug_info.get()?.is_none();
        without.then(|| {
            format!(
                "{} has no debug info: places in it are shown as function or module and offset; compile it with -g",
                self.info.path.display()
            )
        })
    }

    /// Nobody compiles the system's own libraries again.
    fn is_own(&self) -> bool {
        !["/lib", "/usr/lib"].iter().any(|folder| self.info.path.starts_with(folder))
    }

    pub fn in_file(&self, address: u64) -> u64 {
        address.wrapping_sub(self.info.bias)
    }

    /// Whether code is mapped at this address; where the file is unknown, whether the module is.
    pub fn has_code_at(&self, address: u64) -> bool {
        match self.file() {
            Some(file) => {
                let address = self.in_file(address);
                file.executable.iter().any(|range| range.contains(&address))
            }
            None => self.info.addresses().contains(&address),
        }
    }

    /// The place of the call that returns to `return_address`.
    pub fn place(&self, return_address: u64) -> Place {
        let call = self.in_file(return_address).wrapping_sub(1);
        let mut frames = self.frames(call).unwrap_or_default();
        self.name_the_outermost(&mut frames, call);
        Place {
            address: return_address,
            module: Some(self.info.name()),
            offset: self.in_file(return_address),
            frames,
        }
    }

    /// The entry of a function around the call before a return address; frame 0 is the innermost, inlined or not.
    pub fn function_entry(&self, return_address: u64, frame: usize) -> Option<EntryRef> {
        let debug_info = self.debug_info()?;
        let call = self.in_file(return_address).wrapping_sub(1);
        let unit = debug_info.finish(debug_info.lines.find_dwarf_and_unit(call))?;
        let unit = self.names()?.units.same_unit(unit.unit)?;
        let mut frames = debug_info.finish(debug_info.lines.find_frames(call)).ok()?;
        for _ in 0..frame {
            frames.next().ok()??;
        }
        let offset = frames.next().ok()??.dw_die_offset?;
        Some(EntryRef { unit, offset })
    }

    /// What a function around a call declares; frame 0 is the innermost.
    pub fn locals(&self, return_address: u64, frame: usize) -> Vec<Local> {
        let call = self.in_file(return_address).wrapping_sub(1);
        match (self.names(), self.function_entry(return_address, frame)) {
            (Some(names), Some(function)) => locals_of(&names.units, function, call),
            _ => Vec::new(),
        }
    }

    /// Which compiler, and so whose way of giving columns, made the code before a return address.
    pub fn dialect(&self, return_address: u64) -> Option<Dialect> {
        let debug_info = self.debug_info()?;
        let call = self.in_file(return_address).wrapping_sub(1);
        let unit = debug_info.finish(debug_info.lines.find_dwarf_and_unit(call))?;
        let root = unit.entry(unit.header.root_offset()).ok()?;
        let producer = unit.attr_string(root.attr_value(gimli::DW_AT_producer)?).ok()?;
        let producer = gimli::Reader::to_string_lossy(&producer).ok()?;
        let is_cpp = producer.contains("C++");
        match () {
            () if producer.contains("rustc") => Some(Dialect::Rustc),
            () if producer.contains("clang") => Some(Dialect::Clang),
            () if producer.starts_with("GNU") && is_cpp => Some(Dialect::GccCpp),
            () if producer.starts_with("GNU C") => Some(Dialect::GccC),
            () => None,
        }
    }

    fn frames(&self, in_file: u64) -> Option<Vec<Frame>> {
        let debug_info = self.debug_info()?;
        let mut found = debug_info.finish(debug_info.lines.find_frames(in_file)).ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            frames.push(frame_from(&frame));
            if frames.len() == MOST_FRAMES {
                break;
            }
        }
        Some(frames)
    }

    /// The same as `Symbols::follows`, for addresses in the file.
    pub fn follows(&self, first: u64, second: u64) -> Option<bool> {
        let function = self.symbols().function(first.wrapping_sub(1))?;
        let end = function.address.checked_add(function.size)?;
        if !(function.address + 1..=end).contains(&second) {
            return None;
        }
        let mut known = self.control_flow.borrow_mut();
        let flow = known.entry(function.address).or_insert_with(|| {
            let code = self.file()?.code_at(function.address, function.size)?;
            ControlFlow::of(code, function.address)
        });
        flow.as_ref()?.follows(first, second)
    }

    /// All calls of a function, as return addresses; both in terms of the file. None: there may be others.
    pub fn calls_of(&self, function: u64) -> Option<&[u64]> {
        let read = || CallTable::read(self.file()?, self.symbols());
        self.calls.get_or_init(read).as_ref()?.calls_of(function)
    }

    /// Debug info of lines alone (`-gline-tables-only`, assembly) leaves the function to the symbol table.
    fn name_the_outermost(&self, frames: &mut Vec<Frame>, in_file: u64) {
        if frames.last().is_some_and(|frame| frame.function.is_some()) {
            return;
        }
        let Some(symbol) = self.symbols().function(in_file) else { return };
        let function = Some(demangled(&symbol.name));
        match frames.last_mut() {
            Some(frame) => frame.function = function,
            None => frames.push(Frame { function, ..Frame::default() }),
        }
    }
}

/// `Account` of `bank::Account`, `Pair<a::B>` of `c::Pair<a::B>`.
fn without_namespaces(name: &str) -> &str {
    let until = name.find('<').unwrap_or(name.len());
    match name[..until].rfind("::") {
        Some(at) => &name[at + 2..],
        None => name,
    }
}

fn frame_from<R: gimli::Reader>(frame: &addr2line::Frame<'_, R>) -> Frame {
    let function = frame.function.as_ref().and_then(|name| Some(demangled(&name.raw_name().ok()?)));
    let location = frame.location.as_ref();
    Frame {
        function,
        file: location.and_then(|at| at.file).map(str::to_owned),
        line: location.and_then(|at| at.line).filter(|&line| line != 0),
        column: location.and_then(|at| at.column).filter(|&column| column != 0),
    }
}

fn open_as_recorded(info: &ModuleInfo) -> Result<ElfFile, Option<Problem>> {
    if !info.is_a_file() {
        return Err(None);
    }
    let file = ElfFile::read(&info.path).map_err(|why| Some(unreadable(info, &why)))?;
    let recorded = info.build_id.to_ascii_lowercase();
    if recorded.is_empty() || recorded == file.build_id {
        return Ok(file);
    }
    Err(Some(changed(info, &file.build_id)))
}

fn unreadable(info: &ModuleInfo, why: &str) -> Problem {
    Problem::usage(format!(
        "no names can be shown for code in {}: its file cannot be read",
        info.name()
    ))
    .at("file", info.path.display())
    .why(why)
    .next("put the file back that was recorded, or record again")
}

fn changed(info: &ModuleInfo, found: &str) -> Problem {
    let found = if found.is_empty() { "none" } else { found };
    Problem::usage(format!(
        "no names can be shown for code in {}: its file changed since the recording",
        info.name()
    ))
    .at("file", info.path.display())
    .why(format!("the recorded build id is {}, the file's is {found}", info.build_id))
    .next("rebuild exactly what was recorded, or record again")
}
