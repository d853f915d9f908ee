//! What is known of a code base's types: their fields, and its statics.

use std::collections::{HashMap, HashSet};

use syn::{Fields, Item, Type};

/// Types by the names of their fields, and statics.
#[derive(Default)]
pub struct Types {
    /// Per type, its fields with their types.
    fields: HashMap<String, HashMap<String, Option<String>>>,
    /// Per field name, the types that have one.
    owners: HashMap<String, HashSet<String>>,
    statics: HashSet<String>,
}

impl Types {
    pub fn learn(&mut self, items: &[Item]) {
        for item in items {
            match item {
                Item::Struct(item) => self.learn_fields(&item.ident.to_string(), &item.fields),
                Item::Union(item) => {
                    self.learn_fields(&item.ident.to_string(), &Fields::Named(item.fields.clone()));
                }
                Item::Static(item) => {
                    self.statics.insert(item.ident.to_string());
                }
                Item::Mod(module) => {
                    if let Some((_, items)) = &module.content {
                        self.learn(items);
                    }
                }
                _ => {}
            }
        }
    }

    fn learn_fields(&mut self, owner: &str, fields: &Fields) {
        for (at, field) in fields.iter().enumerate() {
            let name = field.ident.as_ref().map_or_else(|| at.to_string(), ToString::to_string);
            let of = type_name(&field.ty);
            self.fields.entry(owner.to_owned()).or_default().insert(name.clone(), of);
            self.owners.entry(name).or_default().insert(owner.to_owned());
        }
    }

    pub fn is_static(&self, name: &str) -> bool {
        self.statics.contains(name)
    }

    /// The type that a field belongs to: that of the value if it is known, or the only one with such a field.
    pub fn owner<'a>(&'a self, value: Option<&'a str>, field: &str) -> Option<&'a str> {
        if let Some(of) = value {
            return self.fields.get(of)?.contains_key(field).then_some(of);
        }
        let owners = self.owners.get(field)?;
        // Places in a tuple have no name of their own.
        let has_name = field.parse::<usize>().is_err();
        (has_name && owners.len() == 1).then(|| owners.iter().next().map(String::as_str)).flatten()
    }

    /// The type of a field, if it is one of the code base.
    pub fn field_type(&self, owner: &str, field: &str) -> Option<&str> {
        self.fields.get(owner)?.get(field)?.as_deref()
    }
}

/// What a value can be reached through without saying so.
const TRANSPARENT: [&str; 12] = [
    "Box",
    "Rc",
    "Arc",
    "Ref",
    "RefMut",
    "MutexGuard",
    "RwLockReadGuard",
    "RwLockWriteGuard",
    "Pin",
    "Cow",
    "ManuallyDrop",
    "CachePadded",
];

/// The plain name of a type, without references, smart pointers and parameters.
pub fn type_name(of: &Type) -> Option<String> {
    match of {
        Type::Reference(reference) => type_name(&reference.elem),
        Type::Ptr(pointer) => type_name(&pointer.elem),
        Type::Paren(inner) => type_name(&inner.elem),
        Type::Group(inner) => type_name(&inner.elem),
        Type::Path(path) => {
            let last = path.path.segments.last()?;
            let name = last.ident.to_string();
            if TRANSPARENT.contains(&name.as_str())
                && let syn::PathArguments::AngleBracketed(arguments) = &last.arguments
            {
                return arguments.args.iter().rev().find_map(|argument| match argument {
                    syn::GenericArgument::Type(inner) => type_name(inner),
                    _ => None,
                });
            }
            Some(name)
        }
        _ => None,
    }
}
