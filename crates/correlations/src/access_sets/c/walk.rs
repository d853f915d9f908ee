//! From a translation unit to its functions.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use clang::source::File;
use clang::{Entity, EntityKind};
use rustc_hash::FxHashMap;

use super::names::{Names, hash, is_function, is_record};
use super::operators::Texts;
use crate::access_sets::{FileSets, SetsBuilder, WRITTEN_HERE};

/// Which functions of a translation unit are wanted: those of the files, and of headers in these folders.
pub struct Wanted {
    pub files: HashSet<PathBuf>,
    pub header_folders: Vec<PathBuf>,
    /// What names are relative to.
    pub base: PathBuf,
}

impl Wanted {
    /// One name for a file, whichever include folder it was found by.
    pub fn path_of(&self, file: File<'_>) -> PathBuf {
        without_steps_back(&self.base.join(file.get_path()))
    }

    fn has(&self, path: &Path) -> bool {
        self.files.contains(path)
            || self.header_folders.iter().any(|folder| path.starts_with(folder))
    }
}

/// Reads one translation unit.
pub struct Walker<'tu> {
    pub(super) sets: SetsBuilder,
    pub(super) names: Names<'tu>,
    pub(super) texts: Texts<'tu>,
    /// Names for parts of objects, with the fields they are: `auto [a, b] = pair`.
    pub(super) bindings: FxHashMap<Entity<'tu>, Entity<'tu>>,
    /// What the `switch` statements around are on.
    pub(super) switches: Vec<Entity<'tu>>,
    wanted: Wanted,
    /// Files that were asked about, with their number if they are wanted.
    files: FxHashMap<File<'tu>, Option<u32>>,
    /// The one that was asked about last.
    last: Option<(File<'tu>, Option<u32>)>,
}

impl<'tu> Walker<'tu> {
    pub fn new(wanted: Wanted) -> Self {
        Self {
            sets: SetsBuilder::default(),
            names: Names::default(),
            texts: Texts::default(),
            bindings: FxHashMap::default(),
            switches: Vec::new(),
            wanted,
            files: FxHashMap::default(),
            last: None,
        }
    }

    pub fn walk(mut self, unit: Entity<'tu>) -> FileSets {
        self.declarations(unit);
        self.sets.finish()
    }

    fn declarations(&mut self, parent: Entity<'tu>) {
        for declaration in parent.get_children() {
            match declaration.get_kind() {
                EntityKind::Namespace | EntityKind::LinkageSpec | EntityKind::UnexposedDecl
                    if self.file_of(declaration).is_some() =>
                {
                    self.declarations(declaration);
                }
                EntityKind::FieldDecl => self.names.note_field(declaration),
                kind if is_function(kind) => self.function(declaration),
                kind if is_record(kind) && self.file_of(declaration).is_some() => {
                    self.declarations(declaration);
                }
                _ => {}
            }
        }
    }

    /// The number of the file that something is in, if its functions are wanted.
    fn file_of(&mut self, declaration: Entity<'tu>) -> Option<u32> {
        let file = declaration.get_location()?.get_expansion_location().file?;
        if let Some((last, number)) = self.last
            && last == file
        {
            return number;
        }
        let number = match self.files.get(&file) {
            Some(&known) => known,
            None => self.new_file(file),
        };
        self.last = Some((file, number));
        number
    }

    fn new_file(&mut self, file: File<'tu>) -> Option<u32> {
        let path = self.wanted.path_of(file);
        let number = self.wanted.has(&path).then(|| self.sets.file(&path.to_string_lossy()));
        self.files.insert(file, number);
        number
    }

    fn function(&mut self, function: Entity<'tu>) {
        if !function.is_definition() {
            return;
        }
        let Some(file) = self.file_of(function) else { return };
        let Some(range) = function.get_range() else { return };
        let begin = range.get_start().get_expansion_location();
        let is_life =
            matches!(function.get_kind(), EntityKind::Constructor | EntityKind::Destructor);
        let key = self.names.function_key(function);
        let name = self.names.function_name(function);
        let is_outermost = self.sets.begin_function(key, name, file, begin.line, is_life);
        for child in function.get_children() {
            self.part_of_function(child);
        }
        if is_outermost {
            self.sets.end_function();
        }
    }

    fn part_of_function(&mut self, part: Entity<'tu>) {
        match part.get_kind() {
            EntityKind::CompoundStmt | EntityKind::TryStmt => self.statement(part),
            // `Type() : field(value)`
            EntityKind::MemberRef => self.initialised(part),
            EntityKind::ParmDecl
            | EntityKind::TypeRef
            | EntityKind::TemplateRef
            | EntityKind::NamespaceRef => {}
            kind if part.is_expression() && kind != EntityKind::DeclRefExpr => self.value(part),
            _ => {}
        }
    }

    /// A class or function inside a function belongs to it.
    pub(super) fn local_declaration(&mut self, declaration: Entity<'tu>) {
        if is_record(declaration.get_kind()) {
            self.declarations(declaration);
        }
    }

    /// Line and column of an access to the variable by this name, and which macro wrote it: what comes of a macro's body stands where the
    /// macro is used, and there stands the macro's name, not the variable's.
    pub(super) fn position_of(
        &mut self,
        expression: Entity<'tu>,
        variable: u32,
    ) -> ((u32, u32), u32) {
        let Some(location) = expression.get_location() else { return ((0, 0), WRITTEN_HERE) };
        let here = location.get_file_location();
        let at = (here.line, here.column);
        let Some(file) = here.file else { return (at, WRITTEN_HERE) };
        let text = self.texts.of(file);
        let text = text.get(here.offset as usize..).unwrap_or_default();
        let name = self.sets.name_of(variable).rsplit("::").next().unwrap_or_default();
        let is_written = text.starts_with(name.as_bytes());
        (at, if is_written { WRITTEN_HERE } else { macro_number(text) })
    }
}

/// The same file by one name, however it was come by.
pub fn without_steps_back(path: &Path) -> PathBuf {
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

/// A number for the name that stands here, the same everywhere.
fn macro_number(text: &[u8]) -> u32 {
    let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let length = text.iter().position(|byte| !is_word(byte)).unwrap_or(text.len());
    // Never the number that means `written here`.
    hash(&text[..length]) as u32 | 1
}

#[cfg(test)]
mod tests {
    use super::without_steps_back;
    use std::path::Path;

    #[test]
    fn one_file_has_one_name() {
        assert_eq!(without_steps_back(Path::new("/a/src/../inc/./b.h")), Path::new("/a/inc/b.h"));
    }
}
