//! Headers that several files include, parsed once: a header of all headers, which libclang precompiles.
//!
//! The standard library of C++ costs seconds per file; with a precompiled header a file costs what its own lines cost. Only
//! lines outside of all conditions are taken, and only those before the file defines anything: what depends on definitions is
//! left to the file. A file that then has errors is read again without.

use std::collections::BTreeSet;
use std::fmt::Write;

use super::includes::{Alike, Closure, Includes};
use super::queue::{Unit, include_folders};

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
    /// Those that are worth it. Folders that are searched may differ, if all files find the same headers in all of them.
    pub fn of(units: &[Unit], includes: &mut Includes) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (at, unit) in units.iter().enumerate() {
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
        groups.sort_by_key(|group| std::cmp::Reverse(group.members.len()));
        let mut merged: Vec<Self> = Vec::new();
        for group in groups {
            let open = merged.iter_mut().find(|larger| larger.can_take(&group, units, includes));
            match open {
                Some(larger) => {
                    larger.arguments = union_of(&larger.arguments, &group.arguments);
                    larger.members.extend(group.members);
                    larger.members.sort_unstable();
                }
                None => merged.push(group),
            }
        }
        merged.retain(|group| group.members.len() >= FEWEST);
        merged
    }

    fn can_take(&self, other: &Self, units: &[Unit], includes: &mut Includes) -> bool {
        let is_alike = self.extension == other.extension
            && without_folders(&self.arguments) == without_folders(&other.arguments);
        is_alike && {
            let folders = include_folders(&union_of(&self.arguments, &other.arguments));
            let mut members = self.members.iter().chain(&other.members);
            let mut alike = Alike::default();
            members.all(|&at| units[at].is_same_with(&folders, &mut alike, includes))
        }
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
    pub fn closure(&self, units: &[Unit]) -> Closure {
        self.members.iter().flat_map(|&at| units[at].closure.iter().cloned()).collect()
    }
}

fn is_folder(word: &str) -> bool {
    word.strip_prefix("-I").is_some_and(|folder| !folder.is_empty())
}

fn without_folders(arguments: &[String]) -> Vec<&String> {
    arguments.iter().filter(|word| !is_folder(word)).collect()
}

/// The arguments, with the folders of others behind their own.
fn union_of(arguments: &[String], others: &[String]) -> Vec<String> {
    let mut all = arguments.to_vec();
    let more: Vec<String> =
        others.iter().filter(|word| is_folder(word) && !all.contains(word)).cloned().collect();
    let behind = all.iter().rposition(|word| is_folder(word)).map_or(all.len(), |at| at + 1);
    all.splice(behind..behind, more);
    all
}

#[cfg(test)]
mod tests {
    use super::union_of;

    #[test]
    fn folders_of_others_are_searched_last() {
        let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let all = union_of(&words("-Ia -Ib -DX"), &words("-Ib -Ic -DX"));
        assert_eq!(all, words("-Ia -Ib -Ic -DX"));
    }
}
