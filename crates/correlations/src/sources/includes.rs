//! Who includes whom, by the text of the files: for guessed include folders, shared headers, and to see what has changed.
//!
//! Conditions are not evaluated: a header counts as included wherever a line says so.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::claims::{Claim, Claims};
use crate::access_sets::c::{hash, is_header, without_steps_back};

/// One `#include` line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Include {
    /// As written: `a/b.h`.
    pub name: String,
    pub is_quoted: bool,
    /// Not inside any `#if` of the file, and before it defines anything.
    pub is_plain: bool,
    /// What the file has defined before, on which the header may depend.
    pub behind: Vec<String>,
}

/// What is known of a file's text.
#[derive(Debug, Default)]
pub struct FileText {
    pub hash: u64,
    pub bytes: usize,
    pub lines: usize,
    pub includes: Vec<Include>,
    /// Has nothing that keeps it from being read twice.
    pub is_open: bool,
    pub content: Content,
    /// What it defines for itself alone.
    pub claims: Vec<Claim>,
}

/// What a header has, and so what comes of it if it is read twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Content {
    /// Neither of both, but perhaps parts for macros to put together.
    #[default]
    Other,
    /// Declarations, which may be said again, and only cost time.
    Declarations,
    /// Types, or functions of its own, which may not.
    Definitions,
}

/// Files without a guard that several files of a translation unit may include.
#[derive(Debug, Default)]
pub struct Open {
    /// Nothing in them is what an includer defines: once is enough.
    pub once: HashSet<PathBuf>,
    /// Meant to be read by each of its includers, of which a translation unit can have only one.
    pub for_each: HashSet<PathBuf>,
}

/// Files that were looked at, each once.
#[derive(Default)]
pub struct Includes {
    files: FxHashMap<PathBuf, Rc<FileText>>,
    exists: FxHashMap<PathBuf, bool>,
    /// What a file includes itself, by the hash of the folders that are searched.
    direct: FxHashMap<(Arc<Path>, u64), Headers>,
}

/// Headers that a file includes itself.
type Headers = Rc<Vec<Arc<Path>>>;

/// Files that were seen to find the same headers, by the numbers of the folders that were searched.
pub type Alike = FxHashSet<(Arc<Path>, [u64; 2])>;

/// Headers that a file brings, directly or not.
pub type Closure = FxHashSet<Arc<Path>>;

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
    pub fn closure(&mut self, file: &Path, folders: &[PathBuf]) -> Closure {
        let key = key_of(folders);
        let mut found = Closure::default();
        let mut open: Vec<Arc<Path>> = vec![Arc::from(file)];
        while let Some(file) = open.pop() {
            for header in self.direct(&file, folders, key).iter() {
                if found.insert(Arc::clone(header)) {
                    open.push(Arc::clone(header));
                }
            }
        }
        found
    }

    /// Whether a file, and all that it brings, finds the same headers in these folders as in those.
    pub fn are_alike(
        &mut self,
        file: &Path,
        these: &[PathBuf],
        those: &[PathBuf],
        alike: &mut Alike,
    ) -> bool {
        let keys = [these, those].map(key_of);
        let mut open: Vec<Arc<Path>> = vec![Arc::from(file)];
        while let Some(file) = open.pop() {
            if !alike.insert((Arc::clone(&file), keys)) {
                continue;
            }
            let found = self.direct(&file, these, keys[0]);
            if found != self.direct(&file, those, keys[1]) {
                return false;
            }
            open.extend(found.iter().cloned());
        }
        true
    }

    fn direct(&mut self, file: &Arc<Path>, folders: &[PathBuf], key: u64) -> Headers {
        if let Some(known) = self.direct.get(&(Arc::clone(file), key)) {
            return Rc::clone(known);
        }
        let text = self.text(file);
        let found = text.includes.iter().filter_map(|include| self.resolve(file, include, folders));
        let found = Rc::new(found.map(Arc::from).collect());
        self.direct.insert((Arc::clone(file), key), Rc::clone(&found));
        found
    }

    /// One number for the contents of a file and of all that it brings, in whichever order.
    pub fn hash_of(&mut self, file: &Path, closure: &Closure) -> u64 {
        let headers: u64 = closure
            .iter()
            .map(|header| {
                let path = hash(header.as_os_str().as_encoded_bytes());
                hash(&(self.text(header).hash ^ path).to_le_bytes())
            })
            .fold(0, u64::wrapping_add);
        hash(&[self.text(file).hash.to_le_bytes(), headers.to_le_bytes()].concat())
    }

    /// Those of the files that have no guard.
    pub fn open(&mut self, files: &FxHashSet<&Path>) -> Open {
        let given = self.given_to(files);
        let mut open = Open::default();
        for &file in files {
            let text = self.text(file);
            if !text.is_open || text.content == Content::Other {
                continue;
            }
            let given = file.file_name().and_then(|last| given.get(last));
            if is_header(file) && !given.is_some_and(|given| mentions(file, given)) {
                open.once.insert(file.to_path_buf());
            } else if text.content == Content::Definitions {
                open.for_each.insert(file.to_path_buf());
            }
        }
        open
    }

    /// What is defined where a file by this name is included.
    fn given_to(&mut self, files: &FxHashSet<&Path>) -> HashMap<OsString, HashSet<String>> {
        let mut given: HashMap<OsString, HashSet<String>> = HashMap::new();
        for file in files {
            for include in &self.text(file).includes {
                if let Some(last) = Path::new(&include.name).file_name() {
                    given.entry(last.to_owned()).or_default().extend(include.behind.clone());
                }
            }
        }
        given
    }

    /// Lines of these files, each counted once.
    pub fn lines_of<'a>(&mut self, files: impl IntoIterator<Item = &'a Path>) -> usize {
        let files: FxHashSet<&Path> = files.into_iter().collect();
        files.into_iter().map(|file| self.text(file).lines).sum()
    }
}

/// One number for folders in this order.
fn key_of(folders: &[PathBuf]) -> u64 {
    folders.iter().fold(0, |key: u64, folder| {
        hash(folder.as_os_str().as_encoded_bytes()) ^ key.rotate_left(7)
    })
}

fn mentions(file: &Path, names: &HashSet<String>) -> bool {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    text.split(|letter| !is_of_name(letter)).any(|word| names.contains(word))
}

fn look_at(text: &[u8]) -> FileText {
    let mut found = FileText { hash: hash(text), bytes: text.len(), ..FileText::default() };
    let mut depth = 0_usize;
    let mut guards = Guards::default();
    let mut claims = Claims::default();
    // What surrounds a whole header, and the definition that goes with it, do not count.
    let mut guard = 0;
    let mut defined: Vec<String> = Vec::new();
    for line in text.split(|&byte| byte == b'\n') {
        found.lines += 1;
        let Some(directive) = line.trim_ascii_start().strip_prefix(b"#") else {
            found.content = found.content.max(content_of(line));
            claims.see(line);
            continue;
        };
        let directive = String::from_utf8_lossy(directive.trim_ascii());
        let end = directive.find(|c: char| !c.is_alphabetic()).unwrap_or(directive.len());
        let (word, rest) = directive.split_at(end);
        guards.see(word, rest.trim());
        match word {
            "if" | "ifdef" | "ifndef" => {
                if word == "ifndef" && depth == 0 && found.includes.is_empty() && defined.is_empty()
                {
                    guard = 1;
                }
                depth += 1;
            }
            "endif" => depth = depth.saturating_sub(1),
            "define" if guard == 1 && depth == 1 && found.includes.is_empty() => {}
            "define" => {
                defined.extend(rest.trim().split(|c| !is_of_name(c)).next().map(str::to_owned))
            }
            "include" => {
                let named = named(rest.trim());
                let is_plain = depth <= guard && defined.is_empty();
                let behind = defined.clone();
                found.includes.extend(named.map(|(name, is_quoted)| Include {
                    name,
                    is_quoted,
                    is_plain,
                    behind,
                }));
            }
            _ => {}
        }
    }
    found.is_open = !guards.is_guarded;
    found.claims = claims.all();
    found
}

fn is_of_name(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

fn content_of(line: &[u8]) -> Content {
    const DEFINITIONS: [&[u8]; 5] = [b"struct ", b"typedef ", b"enum ", b"union ", b"static "];
    if DEFINITIONS.iter().any(|word| line.starts_with(word)) {
        Content::Definitions
    } else if line.starts_with(b"extern ") {
        Content::Declarations
    } else {
        Content::Other
    }
}

/// Whether the first two directives of a file keep it from being read twice, or a pragma does.
#[derive(Default)]
struct Guards {
    seen: usize,
    /// What the first directive asks about.
    asked: String,
    is_guarded: bool,
}

impl Guards {
    fn see(&mut self, word: &str, rest: &str) {
        match (word, self.seen) {
            ("ifndef", 0) => {
                self.asked = rest.split(|c| !is_of_name(c)).next().unwrap_or("").into()
            }
            ("if", 0) => {
                let name = rest.strip_prefix("!defined").unwrap_or_default();
                self.asked = name.chars().filter(|&c| is_of_name(c)).collect();
            }
            ("define", 1) => {
                let name = rest.split(|c| !is_of_name(c)).next();
                self.is_guarded = !self.asked.is_empty() && name == Some(&self.asked);
            }
            ("pragma", _) if rest.starts_with("once") => self.is_guarded = true,
            _ => {}
        }
        self.seen += 1;
    }
}

fn named(text: &str) -> Option<(String, bool)> {
    let is_quoted = text.starts_with('"');
    let end = if is_quoted { '"' } else { '>' };
    let inner = text.strip_prefix(['"', '<'])?;
    let name = &inner[..inner.find(end)?];
    Some((name.to_owned(), is_quoted))
}

#[cfg(test)]
mod tests {
    use super::{Content, look_at};

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
    fn a_header_without_a_guard_is_open_and_what_it_has_is_known() {
        use Content::{Declarations, Definitions, Other};
        for (text, is_open, content) in [
            ("struct a {\n};\n", true, Definitions),
            ("#include <b.h>\ntypedef int c;\n", true, Definitions),
            ("#ifndef A_H\n# define A_H\nstruct a {\n};\n#endif\n", false, Definitions),
            ("#if !defined(A_H)\n#define A_H\nstruct a {\n};\n#endif\n", false, Definitions),
            ("#pragma once\nstruct a {\n};\n", false, Definitions),
            ("extern int a;\n", true, Declarations),
            // Meant to be read again, with other macros.
            ("ITEM(a)\nITEM(b)\n#undef ITEM\n", true, Other),
        ] {
            let found = look_at(text.as_bytes());
            assert_eq!((found.is_open, found.content), (is_open, content), "{text}");
        }
    }

    #[test]
    fn what_stands_behind_a_definition_may_depend_on_it() {
        let found = look_at(b"#include \"a.h\"\n#define MODE 2\n#include \"table.h\"\n");
        assert!(found.includes[0].is_plain && !found.includes[1].is_plain);
    }
}
