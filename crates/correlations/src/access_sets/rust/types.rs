//! What is known of a code base's types: their fields and methods, its statics and functions.

use std::collections::{HashMap, HashSet};

use super::declarations::Declaration;
use super::type_names::Known;

/// Types by the names of their fields, and statics.
#[derive(Default)]
pub struct Types {
    /// Per type, its fields with their types. A variant of an enumeration is a type: `Shape::Circle`.
    fields: HashMap<String, HashMap<String, Option<Known>>>,
    /// Per field name, the types that have one.
    owners: HashMap<String, HashSet<String>>,
    statics: HashMap<String, Option<Known>>,
    aliases: HashMap<String, Known>,
    /// `Type::method` and plain functions.
    functions: HashMap<String, Function>,
    /// Enumerations by variant, where only one has a variant of that name.
    variants: HashMap<String, Option<String>>,
}

/// What a function's first line says.
struct Function {
    changes_its_object: bool,
    gives: Option<Known>,
}

impl Types {
    /// Of two that declare the same, the later one counts.
    pub fn of<'d>(all: impl IntoIterator<Item = &'d Declaration>) -> Self {
        let mut types = Self::default();
        all.into_iter().for_each(|one| types.learn(one));
        types
    }

    fn learn(&mut self, declaration: &Declaration) {
        match declaration.clone() {
            Declaration::Field { owner, name, of } => {
                self.owners.entry(name.clone()).or_default().insert(owner.clone());
                self.fields.entry(owner).or_default().insert(name, of);
            }
            Declaration::Static { name, of } => {
                self.statics.insert(name, of);
            }
            Declaration::Alias { name, meant } => {
                self.aliases.insert(name, meant);
            }
            Declaration::Function { name, changes_its_object, gives } => {
                self.functions.insert(name, Function { changes_its_object, gives });
            }
            Declaration::Variant { name, owner } => {
                let known = self.variants.entry(name);
                known.and_modify(|other| *other = None).or_insert(Some(owner));
            }
        }
    }

    pub fn is_static(&self, name: &str) -> bool {
        self.statics.contains_key(name)
    }

    pub fn static_type(&self, name: &str) -> Option<Known> {
        Some(self.resolved(self.statics.get(name)?.clone()?))
    }

    /// The type that a field belongs to: that of the value if it is known, or the only one with such a field.
    pub fn owner<'a>(&'a self, value: Option<&'a str>, field: &str) -> Option<&'a str> {
        if let Some(of) = value {
            let is_own = |of: &str| self.fields.get(of).is_some_and(|all| all.contains_key(field));
            return is_own(of).then_some(of);
        }
        let owners = self.owners.get(field)?;
        // Places in a tuple have no name of their own.
        let has_name = field.parse::<usize>().is_err();
        (has_name && owners.len() == 1).then(|| owners.iter().next().map(String::as_str)).flatten()
    }

    /// The type of a field.
    pub fn field_type(&self, owner: &str, field: &str) -> Option<Known> {
        Some(self.resolved(self.fields.get(owner)?.get(field)?.clone()?))
    }

    /// The type that a name stands for.
    pub fn resolved(&self, known: Known) -> Known {
        match self.aliases.get(&known.name) {
            Some(meant) => meant.clone(),
            None => known,
        }
    }

    /// What a function of the code base gives.
    pub fn result_of(&self, function: &str) -> Option<Known> {
        Some(self.resolved(self.functions.get(function)?.gives.clone()?))
    }

    /// Whether a method of the code base changes its object; nothing if there is no such method.
    pub fn changes_its_object(&self, of: &str, method: &str) -> Option<bool> {
        self.functions.get(&format!("{of}::{method}")).map(|one| one.changes_its_object)
    }

    /// The type whose fields a pattern or literal names: `Stats`, `Shape::Circle`, `Circle` where it is the only one.
    pub fn of_path(&self, path: &syn::Path, this: Option<&str>) -> Option<String> {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let last = parts.last()?;
        let last = if last == "Self" { this?.to_owned() } else { last.clone() };
        if let Some(outer) = parts.len().checked_sub(2).map(|at| &parts[at]) {
            let outer = if outer == "Self" { this? } else { outer };
            let variant = format!("{outer}::{last}");
            if self.fields.contains_key(&variant) {
                return Some(variant);
            }
        }
        if self.fields.contains_key(&last) {
            return Some(last);
        }
        if let Some(Some(variant)) = self.variants.get(&last) {
            return Some(variant.clone());
        }
        let meant = self.aliases.get(&last)?;
        self.fields.contains_key(&meant.name).then(|| meant.name.clone())
    }
}
