//! The variables and parameters of the function around an address.
//!
//! Takes   the entry of a function or of an inlined copy of one.      Gives  name, type and line of what it declares.
//! Misses  variables the optimiser removed with all trace.

use crate::dwarf_units::{DwarfUnits, Entry, EntryRef};

/// Declarations in one function; more is a damaged file.
const MOST_LOCALS: usize = 10_000;

/// A local variable or parameter.
#[derive(Debug, Clone)]
pub struct Local {
    pub name: String,
    pub of: EntryRef,
    pub line: Option<u64>,
    /// Whether its block contains the address that was asked about.
    pub in_scope: bool,
}

/// What the function at `function` declares, outer blocks first.
pub fn locals_of(units: &DwarfUnits, function: EntryRef, address: u64) -> Vec<Local> {
    let mut search = Search { units, unit: function.unit, address, found: Vec::new() };
    let unit = units.unit(function.unit).unit;
    if let Ok(mut tree) = unit.entries_tree(Some(function.offset))
        && let Ok(root) = tree.root()
    {
        search.visit_children(root, true);
    }
    search.found
}

/// The variable a name means at the address: the innermost block wins.
pub fn meant_by<'a>(locals: &'a [Local], name: &str) -> Option<&'a Local> {
    locals.iter().rev().find(|local| local.in_scope && local.name == name)
}

struct Search<'a> {
    units: &'a DwarfUnits,
    unit: usize,
    address: u64,
    found: Vec<Local>,
}

impl Search<'_> {
    fn visit_children(
        &mut self,
        node: gimli::EntriesTreeNode<'_, '_, crate::elf_file::Bytes>,
        in_scope: bool,
    ) {
        let mut children = node.children();
        while let Ok(Some(child)) = children.next() {
            if self.found.len() >= MOST_LOCALS {
                return;
            }
            match child.entry().tag() {
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    self.found.extend(self.local(child.entry(), in_scope));
                }
                gimli::DW_TAG_lexical_block => {
                    let in_scope = in_scope && self.covers(child.entry());
                    self.visit_children(child, in_scope);
                }
                _ => {}
            }
        }
    }

    fn local(&self, entry: &Entry, in_scope: bool) -> Option<Local> {
        Some(Local {
            name: self.units.name_of(self.unit, entry)?,
            of: self.units.type_of(self.unit, entry)?,
            line: self.units.number_of(self.unit, entry, gimli::DW_AT_decl_line),
            in_scope,
        })
    }

    /// A block without addresses is taken to cover all of its function.
    fn covers(&self, block: &Entry) -> bool {
        let Ok(mut ranges) = self.units.unit(self.unit).die_ranges(block) else { return true };
        let mut any = false;
        while let Ok(Some(range)) = ranges.next() {
            any = true;
            if (range.begin..range.end).contains(&self.address) {
                return true;
            }
        }
        !any
    }
}
