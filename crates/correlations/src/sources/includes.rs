//! Who includes whom, by the text of the files: for guessed include folders, shared headers, and to see what has changed.
//!
//! Conditions are not evaluated: a header counts as included wherever a line says so.

use std::collections::{BTreeSet, HashMap};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use crate::access_sets::c::hash;

/// One `#include` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// As written: `a/b.h`.
    pub name: String,
    pub is_quoted: bool,
    /// Not inside any `#if` of the file, and before it defines anything.
    pub is_plain: bool,
}

/// What is known of a file's text.
#[derive(Debug, Default)]
pub struct FileText {
    pub hash: u64,
    pub lines: usize,
    pub includes: Vec<Include>,
}

/// Files that were looked at, each once.
#[derive(Default)]
pub struct Includes {
    files: HashMap<PathBuf, Rc<FileText>>,
    exists: HashMap<PathBuf, bool>,
}

impl Includes {
    pub fn text(&mut self, path: &Path) -> Rc<FileText> {
        if let Some(known) = self.files.get(path) {
            return Rc::clone(known);
        }
        let text = Rc::new(std::fs::read(path).map(|text| look_at(&text)).unwrap_or_default());
        self.files.insert(path.to_path_buf(), Rc::clone(&text));
        text
    }

    /// The file that a line means, if it is found beside the includer or in one of the folders.
    pub fn resolve(
        &mut self,
        includer: &Path,
        include: &Include,
        folders: &[PathBuf],
    ) -> Option<PathBuf> {
        let beside = include.is_quoted.then(|| includer.parent()).flatten();
        let tried = beside.into_iter().chain(folders.iter().map(PathBuf::as_path));
        let candidates: Vec<PathBuf> =
            tried.map(|folder| without_steps_back(&folder.join(&include.name))).collect();
        candidates.into_iter().find(|candidate| self.is_file(candidate))
    }

    fn is_file(&mut self, path: &Path) -> bool {
        if let Some(&known) = self.exists.get(path) {
            return known;
        }
        let is_file = path.is_file();
        self.exists.insert(path.to_path_buf(), is_file);
        is_file
    }

    /// All headers that a file brings, directly or not, of those that are in the folders.
    pub fn closure(&mut self, file: &Path, folders: &[PathBuf]) -> BTreeSet<PathBuf> {
        let mut found = BTreeSet::new();
        let mut open = vec![file.to_path_buf()];
        while let Some(file) = open.pop() {
            for include in &self.text(&file).includes {
                if let Some(header) = self.resolve(&file, include, folders)
                    && found.insert(header.clone())
                {
                    open.push(header);
                }
            }
        }
        found
    }

    /// One number for the contents of a file and of all that it brings.
    pub fn hash_of(&mut self, file: &Path, closure: &BTreeSet<PathBuf>) -> u64 {
        let mut bytes = self.text(file).hash.to_le_bytes().to_vec();
        for header in closure {
            bytes.extend(self.text(header).hash.to_le_bytes());
        }
        hash(&bytes)
    }

    /// Lines of these files, each counted once.
    pub fn lines_of<'a>(&mut self, files: impl IntoIterator<Item = &'a PathBuf>) -> usize {
        let files: BTreeSet<&PathBuf> = files.into_iter().collect();
        files.into_iter().map(|file| self.text(file).lines).sum()
    }
}

/// The same file by one name, however it was come by.
fn without_steps_back(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut so_far, part| {
        match part {
            Component::ParentDir => {
                so_far.pop();
            }
            part => so_far.push(part),
        }
        so_far
    })
}

fn look_at(text: &[u8]) -> FileText {
    let mut found = FileText { hash: hash(text), ..FileText::default() };
    let mut depth = 0_usize;
    // What surrounds a whole header, and the definition that goes with it, do not count.
    let (mut guard, mut has_defined) = (0, false);
    for line in text.split(|&byte| byte == b'\n') {
        found.lines += 1;
        let Some(directive) = line.trim_ascii_start().strip_prefix(b"#") else { continue };
        let directive = String::from_utf8_lossy(directive.trim_ascii());
        let end = directive.find(|c: char| !c.is_alphabetic()).unwrap_or(directive.len());
        let (word, rest) = directive.split_at(end);
        match word {
            "if" | "ifdef" | "ifndef" => {
                if word == "ifndef" && depth == 0 && found.includes.is_empty() && !has_defined {
                    guard = 1;
                }
                depth += 1;
            }
            "endif" => depth = depth.saturating_sub(1),
            "define" if guard == 1 && depth == 1 && found.includes.is_empty() => {}
            "define" => has_defined = true,
            "include" => found.includes.extend(named(rest.trim(), depth <= guard && !has_defined)),
            _ => {}
        }
    }
    found
}

fn named(text: &str, is_plain: bool) -> Option<Include> {
    let is_quoted = text.starts_with('"');
    let end = if is_quoted { '"' } else { '>' };
    let inner = text.strip_prefix(['"', '<'])?;
    let name = &inner[..inner.find(end)?];
    Some(Include { name: name.to_owned(), is_quoted, is_plain })
}

#[cfg(test)]
mod tests {
    use super::{look_at, without_steps_back};
    use std::path::Path;

    #[test]
    fn one_file_has_one_name() {
        assert_eq!(without_steps_back(Path::new("/a/src/../inc/./b.h")), Path::new("/a/inc/b.h"));
    }

    #[test]
    fn includes_are_found_and_conditional_ones_are_told() {
        let text = b"#ifndef A_H\n#define A_H\n#include <a.h>\n# include \"b/c.h\" // why\n#ifdef X\n#include \"x.h\"\n#endif\n#endif\n";
        let found = look_at(text);
        let names: Vec<(&str, bool, bool)> = found
            .includes
            .iter()
            .map(|include| (include.name.as_str(), include.is_quoted, include.is_plain))
            .collect();
        let expected = [("a.h", false, true), ("b/c.h", true, true), ("x.h", true, false)];
        assert_eq!(names, expected);
    }

    #[test]
    fn what_stands_behind_a_definition_may_depend_on_it() {
        let found = look_at(b"#include \"a.h\"\n#define MODE 2\n#include \"table.h\"\n");
        assert!(found.includes[0].is_plain && !found.includes[1].is_plain);
    }
}
