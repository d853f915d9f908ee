//! Headers that several files include, parsed once: a header of all headers, which libclang precompiles.
//!
//! The standard library of C++ costs seconds per file; with a precompiled header a file costs what its own lines cost. Only
//! lines outside of all conditions are taken, and only those before the file defines anything: what depends on definitions is
//! left to the file. A file that then has errors is read again without.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::PathBuf;

use super::includes::Includes;
use super::queue::Unit;

/// Files below which a header of their own does not pay.
const FEWEST: usize = 4;

/// Files that are compiled alike.
pub struct Group {
    pub arguments: Vec<String>,
    pub extension: String,
    /// Places in the list of units.
    pub members: Vec<usize>,
}

impl Group {
    /// Those of the units at these places that are worth it.
    pub fn of(units: &[Unit], places: &[usize]) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for &at in places {
            let unit = &units[at];
            let extension = unit.extension();
            let known = groups
                .iter_mut()
                .find(|group| group.arguments == unit.arguments && group.extension == extension);
            match known {
                Some(group) => group.members.push(at),
                None => groups.push(Self {
                    arguments: unit.arguments.clone(),
                    extension,
                    members: vec![at],
                }),
            }
        }
        groups.retain(|group| group.members.len() >= FEWEST);
        groups
    }

    /// Whether it is C++.
    pub fn language(&self) -> &'static str {
        if self.extension == "c" { "c-header" } else { "c++-header" }
    }

    /// The header of all headers: those of libraries first, as files mostly have them.
    pub fn header(&self, units: &[Unit], includes: &mut Includes) -> String {
        let (mut libraries, mut own) = (Vec::new(), Vec::new());
        let mut seen = BTreeSet::new();
        for &at in &self.members {
            let unit = &units[at];
            for include in &includes.text(&unit.file).includes {
                if !include.is_plain {
                    continue;
                }
                let name = match includes.resolve(&unit.file, include, &unit.folders) {
                    Some(path) => format!("\"{}\"", path.display()),
                    None if include.is_quoted => continue,
                    None => format!("<{}>", include.name),
                };
                if seen.insert(name.clone()) {
                    if include.is_quoted { own.push(name) } else { libraries.push(name) }
                }
            }
        }
        let mut text = String::new();
        for name in libraries.iter().chain(&own) {
            // A header for another system is not there.
            let _ = writeln!(text, "#if __has_include({name})\n#include {name}\n#endif");
        }
        text
    }

    /// Headers of the code base that come with it.
    pub fn closure(&self, units: &[Unit]) -> BTreeSet<PathBuf> {
        self.members.iter().flat_map(|&at| units[at].closure.iter().cloned()).collect()
    }
}
