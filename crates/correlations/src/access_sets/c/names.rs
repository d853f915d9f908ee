//! What declarations are called: `Type::field`, globals, functions.

use std::path::Path;

use clang::{Entity, EntityKind, Linkage, TypeKind};
use rustc_hash::FxHashMap;

use crate::access_sets::SetsBuilder;

/// Namespaces of libraries that come with the compiler: their insides are nobody's variables.
const LIBRARY_NAMESPACES: [&str; 3] = ["std::", "__gnu_cxx::", "__cxxabiv1::"];

/// Names of declarations that were met, each worked out once.
#[derive(Default)]
pub struct Names<'tu> {
    variables: FxHashMap<Entity<'tu>, Option<u32>>,
    functions: FxHashMap<Entity<'tu>, u64>,
    records: FxHashMap<Entity<'tu>, String>,
    /// Fields by name; none where several types have one.
    fields: FxHashMap<String, Option<Entity<'tu>>>,
}

impl<'tu> Names<'tu> {
    /// A field that the file, or a header it brings, declares.
    pub fn note_field(&mut self, field: Entity<'tu>) {
        let Some(name) = field.get_name() else { return };
        let known = self.fields.entry(name);
        known.and_modify(|other| *other = other.filter(|one| *one == field)).or_insert(Some(field));
    }

    /// The only field by a name.
    pub fn field(&self, name: &str) -> Option<Entity<'tu>> {
        self.fields.get(name).copied().flatten()
    }

    /// The number of a field or global; nothing for locals, constants, and what belongs to the compiler's libraries.
    pub fn variable(&mut self, declaration: Entity<'tu>, sets: &mut SetsBuilder) -> Option<u32> {
        if let Some(&known) = self.variables.get(&declaration) {
            return known;
        }
        let name = self.variable_name(declaration);
        let number = name.map(|name| sets.variable(&name));
        self.variables.insert(declaration, number);
        number
    }

    fn variable_name(&mut self, declaration: Entity<'tu>) -> Option<String> {
        let name = match declaration.get_kind() {
            EntityKind::FieldDecl => self.field_name(declaration),
            EntityKind::VarDecl => self.global_name(declaration),
            _ => None,
        }?;
        let is_library = LIBRARY_NAMESPACES.iter().any(|space| name.starts_with(space));
        (!is_library && !is_constant(declaration)).then_some(name)
    }

    fn field_name(&mut self, field: Entity<'tu>) -> Option<String> {
        let record = self.record_name(field.get_semantic_parent()?);
        Some(format!("{record}::{}", field.get_name()?))
    }

    fn global_name(&mut self, variable: Entity<'tu>) -> Option<String> {
        let name = variable.get_name()?;
        let parent = variable.get_semantic_parent();
        let space = match parent.map(|parent| (parent.get_kind(), parent)) {
            Some((kind, _)) if is_function(kind) => return None,
            Some((kind, parent)) if is_record(kind) || kind == EntityKind::Namespace => {
                self.record_name(parent)
            }
            // The translation unit, whose number differs between versions of libclang.
            _ => String::new(),
        };
        // Two files may have variables of their own by the same name.
        let file = match variable.get_linkage() {
            Some(Linkage::Internal) => file_name_of(variable),
            _ => None,
        };
        let parts = [file.unwrap_or_default(), space, name];
        Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("::"))
    }

    /// Qualified name of a type or namespace. One without a name is called by the line where it is, within what encloses it.
    pub fn record_name(&mut self, record: Entity<'tu>) -> String {
        if let Some(known) = self.records.get(&record) {
            return known.clone();
        }
        let name = self.work_out_record_name(record);
        self.records.insert(record, name.clone());
        name
    }

    fn work_out_record_name(&mut self, record: Entity<'tu>) -> String {
        let own = record.get_name().filter(|name| !name.contains('(') && !name.is_empty());
        let is_space = record.get_kind() == EntityKind::Namespace;
        let parent = match own {
            // In C the type around another one is only where it is written.
            None => record.get_lexical_parent(),
            Some(_) => record.get_semantic_parent(),
        };
        let outer = parent
            .filter(|parent| is_record(parent.get_kind()) || is_namespace(parent.get_kind()))
            .map(|parent| self.record_name(parent))
            .unwrap_or_default();
        let own = match own {
            Some(own) => own,
            None if is_space => String::new(),
            None => format!("anonymous@{}", line_of(record)),
        };
        match (outer.is_empty(), own.is_empty()) {
            (true, _) => own,
            (false, true) => outer,
            (false, false) => format!("{outer}::{own}"),
        }
    }

    /// The same number for all declarations, and for all instantiations of a template.
    pub fn function_key(&mut self, function: Entity<'tu>) -> u64 {
        if let Some(&known) = self.functions.get(&function) {
            return known;
        }
        let definition = function.get_template().unwrap_or(function);
        let key = definition.get_usr().map_or(0, |usr| hash(usr.0.as_bytes()));
        self.functions.insert(function, key);
        key
    }

    pub fn function_name(&mut self, function: Entity<'tu>) -> String {
        let name = function.get_name().unwrap_or_else(|| "(no name)".to_owned());
        let parent = function.get_semantic_parent().filter(|parent| {
            is_record(parent.get_kind()) || parent.get_kind() == EntityKind::Namespace
        });
        match parent.map(|parent| self.record_name(parent)) {
            Some(space) if !space.is_empty() => format!("{space}::{name}"),
            _ => name,
        }
    }
}

pub fn is_function(kind: EntityKind) -> bool {
    use EntityKind::{
        Constructor, ConversionFunction, Destructor, FunctionDecl, FunctionTemplate, Method,
    };
    matches!(
        kind,
        FunctionDecl | Method | Constructor | Destructor | ConversionFunction | FunctionTemplate
    )
}

pub fn is_record(kind: EntityKind) -> bool {
    use EntityKind::{
        ClassDecl, ClassTemplate, ClassTemplatePartialSpecialization, StructDecl, UnionDecl,
    };
    matches!(
        kind,
        ClassDecl | StructDecl | UnionDecl | ClassTemplate | ClassTemplatePartialSpecialization
    )
}

fn is_namespace(kind: EntityKind) -> bool {
    kind == EntityKind::Namespace
}

/// Nobody writes a constant: it goes with everything, and means nothing.
fn is_constant(declaration: Entity<'_>) -> bool {
    let Some(mut of) = declaration.get_type() else { return false };
    while matches!(of.get_kind(), TypeKind::ConstantArray | TypeKind::IncompleteArray) {
        let Some(element) = of.get_element_type() else { break };
        of = element;
    }
    of.is_const_qualified()
}

fn line_of(declaration: Entity<'_>) -> u32 {
    declaration.get_location().map_or(0, |at| at.get_expansion_location().line)
}

fn file_name_of(declaration: Entity<'_>) -> Option<String> {
    let file = declaration.get_location()?.get_expansion_location().file?;
    let path = file.get_path();
    Some(Path::new(&path).file_name()?.to_string_lossy().into_owned())
}

/// FNV-1a: the same on all machines and in all versions, for what is kept in files.
pub fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
