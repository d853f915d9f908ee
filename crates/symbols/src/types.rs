//! What the debug info says about a type: how large it is and what is where in it.
//!
//! Takes   a reference to a type's entry.      Gives  its shape, read once and kept.
//! Misses  members at computed places (virtual base classes, arrays whose bounds are variables).

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use crate::dwarf_units::{DwarfUnits, Entry, EntryRef};

/// `typedef`s of `typedef`s end some time; longer chains are a damaged file.
const MOST_ALIASES: usize = 32;
/// Members of one type; more is a damaged file.
const MOST_MEMBERS: usize = 1 << 16;

/// A type without its `typedef`s and qualifiers.
#[derive(Debug, Clone)]
pub struct Type {
    /// Where it is described, behind all `typedef`s.
    pub at: EntryRef,
    /// Without namespace. Empty for types without a name.
    pub name: String,
    /// In bytes, if the compiler said so.
    pub size: Option<u64>,
    pub shape: Shape,
}

#[derive(Debug, Clone)]
pub enum Shape {
    /// Numbers, enumerations, functions, and what is not known.
    Plain,
    Pointer {
        target: Option<EntryRef>,
        /// A C++ reference: used without a `*`.
        reference: bool,
    },
    /// Structures, classes, unions, tuples, Rust's enums.
    Aggregate(Vec<Member>),
    Array {
        element: EntryRef,
        /// Elements per dimension; `None` for one of no fixed length.
        counts: Vec<Option<u64>>,
    },
}

#[derive(Debug, Clone)]
pub struct Member {
    /// Empty for base classes and anonymous structures, whose members belong to the outer type.
    pub name: String,
    pub offset: u64,
    /// All of a Rust enum, seen as one of its variants.
    pub is_variant: bool,
    /// Bytes touched by a bit field; `None` for other members.
    pub bit_field_bytes: Option<u64>,
    pub of: EntryRef,
}

/// Name of the member that says which variant of a Rust enum it is.
pub const VARIANT_TAG: &str = "<tag>";

/// The types of a module that were asked for so far.
#[derive(Default)]
pub struct Types {
    known: RefCell<HashMap<EntryRef, Option<Arc<Type>>>>,
}

impl Types {
    pub fn get(&self, units: &DwarfUnits, at: EntryRef) -> Option<Arc<Type>> {
        if let Some(known) = self.known.borrow().get(&at) {
            return known.clone();
        }
        let read = read_type(units, at).map(Arc::new);
        self.known.borrow_mut().insert(at, read.clone());
        read
    }

    /// Size in bytes; of arrays too, which seldom say it themselves.
    pub fn size(&self, units: &DwarfUnits, at: EntryRef) -> Option<u64> {
        self.size_within(units, at, MOST_ALIASES)
    }

    fn size_within(&self, units: &DwarfUnits, at: EntryRef, depth: usize) -> Option<u64> {
        let of = self.get(units, at)?;
        match (&of.shape, of.size) {
            (_, Some(size)) => Some(size),
            (Shape::Pointer { .. }, None) => Some(POINTER_BYTES),
            (Shape::Array { element, counts }, None) => {
                let each = self.size_within(units, *element, depth.checked_sub(1)?)?;
                counts.iter().try_fold(each, |size, count| size.checked_mul((*count)?))
            }
            _ => None,
        }
    }
}

/// Unpick records 64-bit programs only.
pub const POINTER_BYTES: u64 = 8;

fn read_type(units: &DwarfUnits, at: EntryRef) -> Option<Type> {
    let mut at = at;
    let mut alias_name = None;
    for _ in 0..MOST_ALIASES {
        let entry = units.entry(at)?;
        if let Some(signature) = entry.attr_value(gimli::DW_AT_signature) {
            at = units.target(at.unit, signature)?; // the type is in a unit of its own
            continue;
        }
        if !is_alias(entry.tag()) {
            return Some(read_shape(units, at, &entry, alias_name));
        }
        // The name of the first `typedef` is the one the programmer used.
        if entry.tag() == gimli::DW_TAG_typedef && alias_name.is_none() {
            alias_name = units.name_of(at.unit, &entry);
        }
        at = units.type_of(at.unit, &entry)?;
    }
    None
}

fn is_alias(tag: gimli::DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
            | gimli::DW_TAG_template_alias
    )
}

fn read_shape(units: &DwarfUnits, at: EntryRef, entry: &Entry, alias: Option<String>) -> Type {
    let own_name = units.name_of(at.unit, entry);
    let shape = match entry.tag() {
        gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
            Shape::Aggregate(read_members(units, at))
        }
        gimli::DW_TAG_array_type => read_array(units, at, entry).unwrap_or(Shape::Plain),
        gimli::DW_TAG_pointer_type => pointer(units, at, entry, false),
        gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
            pointer(units, at, entry, true)
        }
        _ => Shape::Plain,
    };
    let size = entry.attr_value(gimli::DW_AT_byte_size).and_then(|value| value.udata_value());
    Type { at, name: own_name.or(alias).unwrap_or_default(), size, shape }
}

fn pointer(units: &DwarfUnits, at: EntryRef, entry: &Entry, reference: bool) -> Shape {
    Shape::Pointer { target: units.type_of(at.unit, entry), reference }
}

fn read_array(units: &DwarfUnits, at: EntryRef, entry: &Entry) -> Option<Shape> {
    let element = units.type_of(at.unit, entry)?;
    let counts = children(units, at)
        .iter()
        .filter(|(child, _)| child.tag() == gimli::DW_TAG_subrange_type)
        .map(|(child, _)| element_count(child))
        .collect();
    Some(Shape::Array { element, counts })
}

fn element_count(subrange: &Entry) -> Option<u64> {
    let number = |name| {
        subrange.attr_value(name).and_then(|value: crate::dwarf_units::Value| value.udata_value())
    };
    let count = number(gimli::DW_AT_count)
        .or_else(|| number(gimli::DW_AT_upper_bound).and_then(|upper| upper.checked_add(1)))?;
    // gcc writes the bound -1 for `int data[0]`: no fixed length.
    (count != 0 && count <= i64::MAX as u64).then_some(count)
}

fn read_members(units: &DwarfUnits, at: EntryRef) -> Vec<Member> {
    children(units, at)
        .iter()
        .filter_map(|(child, variant)| member(units, at.unit, child, variant.as_deref()))
        .collect()
}

fn member(units: &DwarfUnits, unit: usize, child: &Entry, variant: Option<&str>) -> Option<Member> {
    let is_base = child.tag() == gimli::DW_TAG_inheritance;
    if !is_base && child.tag() != gimli::DW_TAG_member {
        return None;
    }
    // A static member is somewhere else.
    if child.has_attr(gimli::DW_AT_external) || child.has_attr(gimli::DW_AT_declaration) {
        return None;
    }
    let name = match variant {
        Some(variant) => variant.to_owned(),
        None if is_base => String::new(),
        None => written_name(units.name_of(unit, child).unwrap_or_default()),
    };
    let (offset, bit_field_bytes) = member_place(child)?;
    let is_variant = variant.is_some_and(|variant| variant != VARIANT_TAG);
    Some(Member { name, offset, is_variant, bit_field_bytes, of: units.type_of(unit, child)? })
}

/// Rust's tuples call their members `__0`, `__1`; the programmer writes `.0`, `.1`.
fn written_name(name: String) -> String {
    match name.strip_prefix("__") {
        Some(number) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => {
            number.to_owned()
        }
        _ => name,
    }
}

/// Offset in bytes, and the length in bytes of a bit field.
fn member_place(child: &Entry) -> Option<(u64, Option<u64>)> {
    let number = |name| child.attr(name).map(|attribute| attribute.udata_value());
    let offset = match number(gimli::DW_AT_data_member_location) {
        Some(offset) => offset?, // not a number: the place is computed
        None => 0,
    };
    let Some(bits) = number(gimli::DW_AT_bit_size).flatten() else { return Some((offset, None)) };
    let Some(first_bit) = number(gimli::DW_AT_data_bit_offset).flatten() else {
        // DWARF 3 counts bits from the other end: the storage unit is what can be said.
        return Some((offset, Some(number(gimli::DW_AT_byte_size).flatten().unwrap_or(4))));
    };
    let first = offset.checked_add(first_bit / 8)?;
    let bytes = (first_bit % 8).checked_add(bits)?.div_ceil(8);
    Some((first, Some(bytes)))
}

/// The direct children of an entry; those of a Rust enum's variants with the variant's name.
fn children(units: &DwarfUnits, at: EntryRef) -> Vec<(Entry, Option<String>)> {
    let mut found = Vec::new();
    let unit = units.unit(at.unit).unit;
    let Ok(mut tree) = unit.entries_tree(Some(at.offset)) else { return found };
    let Ok(root) = tree.root() else { return found };
    let mut nodes = root.children();
    while let Ok(Some(node)) = nodes.next() {
        if found.len() > MOST_MEMBERS {
            break;
        }
        match node.entry().tag() {
            gimli::DW_TAG_variant_part => add_variants(units, at.unit, node, &mut found),
            _ => found.push((node.entry().clone(), None)),
        }
    }
    found
}

fn add_variants(
    units: &DwarfUnits,
    unit: usize,
    part: gimli::EntriesTreeNode<'_, '_, crate::elf_file::Bytes>,
    found: &mut Vec<(Entry, Option<String>)>,
) {
    let mut nodes = part.children();
    while let Ok(Some(node)) = nodes.next() {
        match node.entry().tag() {
            gimli::DW_TAG_member => {
                found.push((node.entry().clone(), Some(VARIANT_TAG.to_owned())))
            }
            gimli::DW_TAG_variant => {
                let mut members = node.children();
                while let Ok(Some(member)) = members.next() {
                    let name = units.name_of(unit, member.entry());
                    found.push((member.entry().clone(), name));
                }
            }
            _ => {}
        }
    }
}
