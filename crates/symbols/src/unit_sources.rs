//! The source files that a module was made of.
//!
//! Takes   the units of its debug info.      Gives  files that are there now and that the user wrote, absolute and in order.
//! Misses  headers of C and C++: sources lead to them.      Cost  the head of each unit's line table is read.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::dwarf_units::{DwarfUnits, UnitRef};
use crate::library_code::{is_dependency_file, is_library_file};

/// Part of the name of the unit that every instrumented module has: Unpick's runtime.
const RUNTIME_UNIT: &str = "/@/unpick_runtime.";

/// The files that the user wrote.
pub fn own_sources(units: &DwarfUnits) -> BTreeSet<PathBuf> {
    let files = (0..units.count()).flat_map(|at| files_of(&units.unit(at)));
    files.filter(|file| is_own(file) && file.is_file()).collect()
}

/// A unit of C is a file, one of Rust a package of many.
fn files_of(unit: &UnitRef<'_>) -> Vec<PathBuf> {
    let folder = unit.comp_dir.as_ref().and_then(text).unwrap_or_default();
    let name = unit.name.as_ref().and_then(text).unwrap_or_default();
    if name.to_string_lossy().contains(RUNTIME_UNIT) {
        return Vec::new();
    }
    let mut files = vec![folder.join(name)];
    let Some(program) = unit.line_program.as_ref() else { return files };
    let header = program.header();
    for file in header.file_names() {
        let part = |value| unit.attr_string(value).ok().as_ref().and_then(text);
        let Some(name) = part(file.path_name()) else { continue };
        if is_rust(&name) {
            let within = file.directory(header).and_then(part).unwrap_or_default();
            files.push(folder.join(within).join(name));
        }
    }
    files
}

fn is_rust(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending == "rs")
}

fn text<R: gimli::Reader>(value: &R) -> Option<PathBuf> {
    value.to_string_lossy().ok().map(|text| PathBuf::from(text.as_ref()))
}

fn is_own(file: &Path) -> bool {
    let name = file.to_string_lossy();
    !is_library_file(&name) && !is_dependency_file(&name)
}
