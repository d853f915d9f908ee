//! Local values: what type they have, and which variable they refer to.

use std::collections::HashMap;

use syn::{Expr, Member, Pat, Type};

use super::body::Bodies;
use super::type_names::{Known, known_type};
use crate::access_sets::kind;

/// What is known of a value that has a name for a while.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Local {
    pub known: Option<Known>,
    /// The variable that `*value` and `value.push()` change: `let mut count = self.count.lock().unwrap();`.
    pub refers_to: Option<String>,
    pub is_reference: bool,
}

impl Local {
    pub fn of_type(of: &Type) -> Self {
        let is_reference = matches!(of, Type::Reference(_) | Type::Ptr(_));
        Self { known: known_type(of), refers_to: None, is_reference }
    }
}

/// The names that are known at a place, with what they hid.
#[derive(Default)]
pub struct Locals {
    known: HashMap<String, Local>,
    hidden: Vec<(String, Option<Local>)>,
}

impl Locals {
    pub fn get(&self, name: &str) -> Option<&Local> {
        self.known.get(name)
    }

    pub fn mark(&self) -> usize {
        self.hidden.len()
    }

    /// Forgets all names since a mark.
    pub fn back_to(&mut self, mark: usize) {
        for (name, before) in self.hidden.drain(mark..).rev() {
            match before {
                Some(before) => self.known.insert(name, before),
                None => self.known.remove(&name),
            };
        }
    }

    fn bind(&mut self, name: String, local: Local) {
        let before = self.known.insert(name.clone(), local);
        self.hidden.push((name, before));
    }
}

impl Bodies<'_> {
    /// What a value would be known as, were it given a name.
    pub fn local_of(&self, value: &Expr) -> Local {
        let refers_to = self.referred(value);
        let is_reference = refers_to.is_some() || self.is_reference(value);
        Local { known: self.type_of(value), refers_to, is_reference }
    }

    fn is_reference(&self, value: &Expr) -> bool {
        match value {
            Expr::Reference(_) => true,
            Expr::Path(path) => path.path.get_ident().is_some_and(|name| {
                name == "self"
                    || self.locals.get(&name.to_string()).is_some_and(|local| local.is_reference)
            }),
            Expr::Paren(inner) => self.is_reference(&inner.expr),
            _ => false,
        }
    }

    /// Gives names to the parts of a value. Fields that a pattern names are read.
    pub fn bind(&mut self, pattern: &Pat, value: Local) {
        match pattern {
            Pat::Ident(name) => {
                let is_reference = value.is_reference || name.by_ref.is_some();
                self.locals.bind(name.ident.to_string(), Local { is_reference, ..value });
            }
            Pat::Type(typed) => {
                let told = Local::of_type(&typed.ty);
                let known = told.known.map(|known| self.resolved(known)).or(value.known);
                self.bind(&typed.pat, Local { known, ..value });
            }
            Pat::Reference(inner) => self.bind(&inner.pat, value),
            Pat::Paren(inner) => self.bind(&inner.pat, value),
            Pat::Or(cases) => cases.cases.iter().for_each(|one| self.bind(one, value.clone())),
            Pat::Tuple(tuple) => {
                tuple.elems.iter().for_each(|one| self.bind(one, Local::default()));
            }
            Pat::Slice(slice) => {
                let known = value.known.map(Known::inside);
                let element = Local { known, ..value };
                slice.elems.iter().for_each(|one| self.bind(one, element.clone()));
            }
            Pat::Struct(fields) => {
                let owner = self.types.of_path(&fields.path, self.this.as_deref());
                for field in &fields.fields {
                    let Some(owner) = &owner else {
                        self.bind(&field.pat, Local::default());
                        continue;
                    };
                    let name = match &field.member {
                        Member::Named(name) => name.to_string(),
                        Member::Unnamed(index) => index.index.to_string(),
                    };
                    self.bind_field(&field.pat, owner, &name, value.is_reference);
                }
            }
            Pat::TupleStruct(parts) => {
                let owner = self.types.of_path(&parts.path, self.this.as_deref());
                for (at, part) in parts.elems.iter().enumerate() {
                    match &owner {
                        Some(owner) => {
                            self.bind_field(part, owner, &at.to_string(), value.is_reference);
                        }
                        // `Some(value)`, `Ok(value)`.
                        None => self.bind(part, value.clone()),
                    }
                }
            }
            _ => {}
        }
    }

    fn bind_field(&mut self, pattern: &Pat, owner: &str, field: &str, is_reference: bool) {
        if matches!(pattern, Pat::Wild(_) | Pat::Rest(_)) {
            return;
        }
        let name = format!("{owner}::{field}");
        let is_by_ref = matches!(pattern, Pat::Ident(name) if name.by_ref.is_some());
        self.record(&name, kind::READ, syn::spanned::Spanned::span(pattern));
        let known = self.types.field_type(owner, field);
        let refers_to = (is_reference || is_by_ref).then_some(name);
        self.bind(pattern, Local { known, refers_to, is_reference });
    }
}
