//! The index of a module's global and static variables, and of its types by name.
//!
//! Takes   the units of a module.      Gives  variable by address, type by name.
//! Misses  thread-locals (their address depends on the thread) and variables the compiler took apart.
//! Cost    one walk over all entries of the debug info, then a binary search per question.

use std::collections::{HashMap, HashSet};

use crate::demangle::demangled;
use crate::dwarf_units::{DwarfUnits, Entry, EntryRef, UnitRef};
use crate::types::Types;

/// A variable with a fixed address.
#[derive(Debug, Clone)]
pub struct Global {
    /// In the file.
    pub address: u64,
    pub size: u64,
    /// With namespaces.
    pub name: String,
    /// For a static local of C: its function.
    pub function: Option<String>,
    pub of: EntryRef,
    pub entry: EntryRef,
}

/// What one walk over the debug info finds.
#[derive(Default)]
pub struct Globals {
    /// Sorted by address.
    variables: Vec<Global>,
    /// By the last part of the name.
    types: HashMap<String, Vec<EntryRef>>,
    /// Types of the language's own library.
    of_library: HashSet<EntryRef>,
}

/// Namespaces whose types no user wrote.
const LIBRARIES: [&str; 5] = ["core", "alloc", "std", "hashbrown", "__gnu_cxx"];

impl Globals {
    pub fn collect(units: &DwarfUnits, types: &Types) -> Globals {
        let mut globals = Globals::default();
        for unit in 0..units.count() {
            let found = &mut globals;
            Walk { units, types, unit, scope: Vec::new(), declared: HashMap::new(), found }.run();
        }
        globals.variables.sort_by_key(|variable| (variable.address, u64::MAX - variable.size));
        globals.variables.dedup_by_key(|variable| variable.address);
        globals
    }

    pub fn at(&self, address: u64) -> Option<&Global> {
        let after = self.variables.partition_point(|variable| variable.address <= address);
        let variable = self.variables.get(after.checked_sub(1)?)?;
        (address - variable.address < variable.size).then_some(variable)
    }

    /// The variable a linker name belongs to.
    pub fn named(&self, name: &str) -> Option<&Global> {
        self.variables.iter().find(|variable| variable.name == name)
    }

    /// Whether a type is one of the language's own library.
    pub fn is_library_type(&self, of: EntryRef) -> bool {
        self.of_library.contains(&of)
    }

    pub fn types_named(&self, last_part: &str) -> &[EntryRef] {
        self.types.get(last_part).map_or(&[], Vec::as_slice)
    }
}

/// The walk over one unit.
struct Walk<'a> {
    units: &'a DwarfUnits,
    types: &'a Types,
    unit: usize,
    /// Depth, tag and name of the entries around the current one.
    scope: Vec<(isize, gimli::DwTag, Option<String>)>,
    /// Full names of what namespaces and classes declare: the definition follows outside of them.
    declared: HashMap<gimli::UnitOffset, String>,
    found: &'a mut Globals,
}

impl Walk<'_> {
    fn run(mut self) {
        let units = self.units;
        let mut entries = units.unit(self.unit).unit.entries();
        // Damage in one unit costs the rest of that unit, no more.
        while let Ok(Some(entry)) = entries.next_dfs() {
            self.leave_scopes(entry.depth());
            self.visit(entry);
        }
    }

    fn leave_scopes(&mut self, depth: isize) {
        while self.scope.last().is_some_and(|&(outer, ..)| outer >= depth) {
            self.scope.pop();
        }
    }

    fn visit(&mut self, entry: &Entry) {
        match entry.tag() {
            gimli::DW_TAG_variable | gimli::DW_TAG_member if is_declaration(entry) => {
                self.declared.extend(self.full_name(entry).map(|name| (entry.offset(), name)));
            }
            gimli::DW_TAG_variable => self.found.variables.extend(self.global(entry)),
            gimli::DW_TAG_structure_type
            | gimli::DW_TAG_class_type
            | gimli::DW_TAG_union_type
            | gimli::DW_TAG_typedef => {
                self.add_type(entry);
                self.enter(entry);
            }
            gimli::DW_TAG_namespace | gimli::DW_TAG_subprogram => self.enter(entry),
            _ => {}
        }
    }

    fn enter(&mut self, entry: &Entry) {
        if entry.has_children() {
            let name = self.units.name_of(self.unit, entry);
            self.scope.push((entry.depth(), entry.tag(), name));
        }
    }

    fn add_type(&mut self, entry: &Entry) {
        if entry.has_attr(gimli::DW_AT_declaration) {
            return;
        }
        let Some(name) = self.units.name_of(self.unit, entry) else { return };
        let at = EntryRef { unit: self.unit, offset: entry.offset() };
        let outermost = self.scope.first().and_then(|(.., name)| name.as_deref());
        if outermost.is_some_and(|outermost| LIBRARIES.contains(&outermost)) {
            self.found.of_library.insert(at);
        }
        self.found.types.entry(name).or_default().push(at);
    }

    fn global(&self, entry: &Entry) -> Option<Global> {
        let unit = self.units.unit(self.unit);
        let address = fixed_address(&unit, entry).filter(|&address| address != 0)?;
        let of = self.units.type_of(self.unit, entry)?;
        Some(Global {
            address,
            size: self.types.size(self.units, of).filter(|&size| size > 0)?,
            name: self.full_name(entry)?,
            function: self.enclosing_function_of_c(entry),
            of,
            entry: EntryRef { unit: self.unit, offset: entry.offset() },
        })
    }

    fn full_name(&self, entry: &Entry) -> Option<String> {
        if let Some(name) = self.units.linkage_name_of(self.unit, entry) {
            return Some(demangled(&name));
        }
        let declared = self.units.declaration(self.unit, entry);
        if let Some(name) = declared.and_then(|declaration| self.declared.get(&declaration)) {
            return Some(name.clone());
        }
        let name = self.units.name_of(self.unit, entry)?;
        let outer = self.scope.iter().filter(|(_, tag, _)| *tag != gimli::DW_TAG_subprogram);
        let mut parts: Vec<&str> =
            outer.map(|(.., name)| name.as_deref().unwrap_or("(anonymous namespace)")).collect();
        parts.push(&name);
        Some(parts.join("::"))
    }

    /// Names of C++ and Rust carry the function already.
    fn enclosing_function_of_c(&self, entry: &Entry) -> Option<String> {
        if self.units.linkage_name_of(self.unit, entry).is_some() {
            return None;
        }
        let (.., name) = self.scope.iter().rfind(|(_, tag, _)| *tag == gimli::DW_TAG_subprogram)?;
        name.clone()
    }
}

fn is_declaration(entry: &Entry) -> bool {
    entry.has_attr(gimli::DW_AT_declaration)
}

/// The address of a variable that is always at the same place.
fn fixed_address(unit: &UnitRef<'_>, entry: &Entry) -> Option<u64> {
    let place = entry.attr(gimli::DW_AT_location)?.exprloc_value()?;
    let mut operations = place.operations(unit.encoding());
    let address = match operations.next().ok()?? {
        gimli::Operation::Address { address } => address,
        gimli::Operation::AddressIndex { index } => unit.address(index).ok()?,
        _ => return None,
    };
    // Anything behind the address computes with it: thread-locals, parts in registers.
    operations.next().ok()?.is_none().then_some(address)
}
