//! The compilation and type units of a module, and how their entries refer to each other.
//!
//! Takes   the DWARF of a module.      Gives  entries by reference, across units and into split files.
//! Cost    the root entry of every unit is read once; references are resolved by binary search.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::AttributeValue;

use crate::debug_info::DebugInfo;
use crate::elf_file::{Bytes, Dwarf};

/// By which gcc puts hooks in.
const HOOKS_OPTION: &str = "-fsanitize=thread";

/// An entry of the debug info.
pub type Entry = gimli::DebuggingInformationEntry<Bytes>;
/// An attribute's value.
pub type Value = AttributeValue<Bytes>;
/// A unit with the sections it reads from.
pub type UnitRef<'a> = gimli::UnitRef<'a, Bytes>;

/// Where an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntryRef {
    pub unit: usize,
    pub offset: gimli::UnitOffset,
}

struct LoadedUnit {
    dwarf: Arc<Dwarf>,
    unit: gimli::Unit<Bytes>,
}

/// All units of a module.
pub struct DwarfUnits {
    units: Vec<LoadedUnit>,
    /// Start of each unit in `.debug_info` of the module itself, sorted, with its index.
    starts: Vec<(usize, usize)>,
    /// Type units by signature: the index, and the type in it.
    signatures: HashMap<u64, EntryRef>,
}

impl DwarfUnits {
    pub fn read(debug_info: &DebugInfo) -> DwarfUnits {
        let mut units =
            DwarfUnits { units: Vec::new(), starts: Vec::new(), signatures: HashMap::new() };
        units.add_main_units(debug_info);
        units.add_type_units(&debug_info.dwarf);
        units.starts.sort_unstable();
        units
    }

    fn add_main_units(&mut self, debug_info: &DebugInfo) {
        let dwarf = &debug_info.dwarf;
        let mut headers = dwarf.units();
        while let Ok(Some(header)) = headers.next() {
            let Ok(unit) = dwarf.unit(header) else { continue };
            match debug_info.split_of(&unit) {
                Some(split) => self.add_split_units(split, &unit),
                None => self.add(dwarf.clone(), unit),
            }
        }
    }

    /// The skeleton in the module is left out: everything of interest is in the split file.
    fn add_split_units(&mut self, split: Dwarf, skeleton: &gimli::Unit<Bytes>) {
        let split = Arc::new(split);
        let mut headers = split.units();
        while let Ok(Some(header)) = headers.next() {
            let Ok(mut unit) = split.unit(header) else { continue };
            unit.copy_relocated_attributes(skeleton);
            self.add(split.clone(), unit);
        }
    }

    fn add_type_units(&mut self, dwarf: &Arc<Dwarf>) {
        let mut headers = dwarf.type_units();
        while let Ok(Some(header)) = headers.next() {
            if let Ok(unit) = dwarf.unit(header) {
                self.add(dwarf.clone(), unit);
            }
        }
    }

    fn add(&mut self, dwarf: Arc<Dwarf>, unit: gimli::Unit<Bytes>) {
        let index = self.units.len();
        let is_main = dwarf.file_type == gimli::DwarfFileType::Main;
        if let Some(start) = unit.header.debug_info_offset().filter(|_| is_main) {
            self.starts.push((start.0, index));
        }
        if let gimli::UnitType::Type { type_signature, type_offset }
        | gimli::UnitType::SplitType { type_signature, type_offset } = unit.header.type_()
        {
            let entry = EntryRef { unit: index, offset: type_offset };
            self.signatures.insert(type_signature.0, entry);
        }
        self.units.push(LoadedUnit { dwarf, unit });
    }

    /// Sources with code that gcc compiled without ThreadSanitizer's hooks, as its list of options says. Other compilers keep none.
    pub fn without_hooks(&self) -> Vec<String> {
        (0..self.count()).filter_map(|unit| self.source_without_hooks(unit)).collect()
    }

    fn source_without_hooks(&self, unit: usize) -> Option<String> {
        let mut entries = self.unit(unit).unit.entries();
        let root = entries.next_dfs().ok()??;
        let has_code = [gimli::DW_AT_low_pc, gimli::DW_AT_ranges];
        let has_code = has_code.into_iter().any(|name| root.attr_value(name).is_some());
        let producer = self.text(unit, root.attr_value(gimli::DW_AT_producer)?)?;
        let is_plain = is_of_gcc_with_options(&producer) && !producer.contains(HOOKS_OPTION);
        (has_code && is_plain).then(|| self.name_of(unit, root)).flatten()
    }

    pub fn count(&self) -> usize {
        self.units.len()
    }

    pub fn unit(&self, index: usize) -> UnitRef<'_> {
        let loaded = &self.units[index];
        loaded.unit.unit_ref(&loaded.dwarf)
    }

    /// The index of a unit that somebody else read from the same files.
    pub fn same_unit(&self, other: &gimli::Unit<Bytes>) -> Option<usize> {
        if other.dwo_id.is_some() {
            return self.units.iter().position(|loaded| loaded.unit.dwo_id == other.dwo_id);
        }
        let start = other.header.debug_info_offset()?.0;
        let at = self.starts.binary_search_by_key(&start, |&(start, _)| start).ok()?;
        Some(self.starts[at].1)
    }

    pub fn entry(&self, at: EntryRef) -> Option<Entry> {
        self.unit(at.unit).unit.entry(at.offset).ok()
    }

    /// The entry an attribute of an entry in `unit` points to.
    pub fn target(&self, unit: usize, value: Value) -> Option<EntryRef> {
        match value {
            AttributeValue::UnitRef(offset) => Some(EntryRef { unit, offset }),
            AttributeValue::DebugInfoRef(offset) => self.at_section_offset(offset.0),
            AttributeValue::DebugTypesRef(signature) => self.signatures.get(&signature.0).copied(),
            _ => None,
        }
    }

    fn at_section_offset(&self, offset: usize) -> Option<EntryRef> {
        let after = self.starts.partition_point(|&(start, _)| start <= offset);
        let (_, unit) = *self.starts.get(after.checked_sub(1)?)?;
        let header = &self.units[unit].unit.header;
        let offset = gimli::DebugInfoOffset(offset).to_unit_offset(header)?;
        Some(EntryRef { unit, offset })
    }

    /// The type of an entry, its own or that of the entry it completes.
    pub fn type_of(&self, unit: usize, entry: &Entry) -> Option<EntryRef> {
        let (unit, value) = self.inherited(unit, entry, gimli::DW_AT_type)?;
        self.target(unit, value)
    }

    pub fn name_of(&self, unit: usize, entry: &Entry) -> Option<String> {
        let (unit, value) = self.inherited(unit, entry, gimli::DW_AT_name)?;
        self.text(unit, value)
    }

    /// The linker name of a variable or function.
    pub fn linkage_name_of(&self, unit: usize, entry: &Entry) -> Option<String> {
        let (unit, value) = self.inherited(unit, entry, gimli::DW_AT_linkage_name)?;
        self.text(unit, value)
    }

    pub fn number_of(&self, unit: usize, entry: &Entry, name: gimli::DwAt) -> Option<u64> {
        match self.inherited(unit, entry, name)?.1 {
            AttributeValue::FileIndex(index) => Some(index),
            value => value.udata_value(),
        }
    }

    pub fn text(&self, unit: usize, value: Value) -> Option<String> {
        let text = self.unit(unit).attr_string(value).ok()?;
        Some(gimli::Reader::to_string_lossy(&text).ok()?.into_owned())
    }

    /// A file of a unit's line table, by its number there.
    pub fn file_name(&self, unit: usize, number: u64) -> Option<String> {
        let unit = self.unit(unit);
        let program = unit.line_program.as_ref()?;
        let file = program.header().file(number)?;
        let name = unit.attr_string(file.path_name()).ok()?;
        Some(gimli::Reader::to_string_lossy(&name).ok()?.into_owned())
    }

    /// An attribute of an entry, or of the declaration or abstract instance it refers to.
    fn inherited(&self, unit: usize, entry: &Entry, name: gimli::DwAt) -> Option<(usize, Value)> {
        if let Some(value) = entry.attr_value(name) {
            return Some((unit, value));
        }
        let mut at = self.original(unit, entry)?;
        for _ in 0..MOST_ORIGINALS {
            let entry = self.entry(at)?;
            if let Some(value) = entry.attr_value(name) {
                return Some((at.unit, value));
            }
            at = self.original(at.unit, &entry)?;
        }
        None
    }

    /// The declaration that an entry completes, if it is in the same unit.
    pub fn declaration(&self, unit: usize, entry: &Entry) -> Option<gimli::UnitOffset> {
        let target = self.target(unit, entry.attr_value(gimli::DW_AT_specification)?)?;
        (target.unit == unit).then_some(target.offset)
    }

    /// The declaration or abstract instance an entry completes.
    pub fn original(&self, unit: usize, entry: &Entry) -> Option<EntryRef> {
        let value = entry
            .attr_value(gimli::DW_AT_specification)
            .or_else(|| entry.attr_value(gimli::DW_AT_abstract_origin))?;
        self.target(unit, value)
    }
}

/// A concrete function refers to its abstract instance, that to its declaration; more is a damaged file.
const MOST_ORIGINALS: usize = 4;

/// `GNU C17 12.2.0 -mtune=generic -g`: C or C++, and the options were kept.
fn is_of_gcc_with_options(producer: &str) -> bool {
    producer.starts_with("GNU C") && producer.contains(" -")
}
