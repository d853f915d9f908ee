//! What bodies want to know of types, and what they have asked so far.
//!
//! Takes   the types of all files.      Gives  answers; and [`Reliance`], by which access sets that were kept are known to be right
//!         still although types have changed: what nobody asked for may change.

use std::cell::RefCell;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::type_names::Known;
use super::types::{Function, Question, Types, number};

/// Types, of which all questions are noted.
pub struct Asked<'t> {
    types: &'t Types,
    questions: RefCell<HashSet<u64>>,
}

/// All that was asked of types, and what came of it, as numbers.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reliance {
    questions: Vec<u64>,
    answers: u64,
}

impl Reliance {
    /// Whether these types would answer the same.
    pub fn holds_for(&self, types: &Types) -> bool {
        types.answers_to(&self.questions) == self.answers
    }
}

impl<'t> Asked<'t> {
    pub fn of(types: &'t Types) -> Self {
        Self { types, questions: RefCell::default() }
    }

    pub fn reliance(self) -> Reliance {
        let mut questions: Vec<u64> = self.questions.into_inner().into_iter().collect();
        questions.sort_unstable();
        Reliance { answers: self.types.answers_to(&questions), questions }
    }

    /// For the functions below, which look up nothing but what they ask for; all others go through them.
    fn ask(&self, question: Question<'_>) -> &'t Types {
        self.questions.borrow_mut().insert(number(&question));
        self.types
    }

    fn has_fields(&self, name: &str) -> bool {
        self.ask(Question::Type(name)).fields.contains_key(name)
    }

    fn field(&self, owner: &str, field: &str) -> Option<&'t Option<Known>> {
        self.ask(Question::Field(owner, field)).fields.get(owner)?.get(field)
    }

    fn alias(&self, name: &str) -> Option<&'t Known> {
        self.ask(Question::Alias(name)).aliases.get(name)
    }

    fn static_known(&self, name: &str) -> Option<&'t Option<Known>> {
        self.ask(Question::Static(name)).statics.get(name)
    }

    fn function(&self, name: &str) -> Option<&'t Function> {
        self.ask(Question::Function(name)).functions.get(name)
    }

    fn variant(&self, name: &str) -> Option<&'t String> {
        self.ask(Question::Variant(name)).variants.get(name)?.as_ref()
    }

    fn only_owner(&self, field: &str) -> Option<&'t str> {
        self.ask(Question::Owner(field)).only_owner(field)
    }

    pub fn is_static(&self, name: &str) -> bool {
        self.static_known(name).is_some()
    }

    pub fn static_type(&self, name: &str) -> Option<Known> {
        Some(self.resolved(self.static_known(name)?.clone()?))
    }

    /// The type that a field belongs to: that of the value if it is known, or the only one with such a field.
    pub fn owner<'a>(&'a self, value: Option<&'a str>, field: &str) -> Option<&'a str> {
        if let Some(of) = value {
            return self.field(of, field).map(|_| of);
        }
        // Places in a tuple have no name of their own.
        let has_name = field.parse::<usize>().is_err();
        has_name.then(|| self.only_owner(field)).flatten()
    }

    /// The type of a field.
    pub fn field_type(&self, owner: &str, field: &str) -> Option<Known> {
        Some(self.resolved(self.field(owner, field)?.clone()?))
    }

    /// The type that a name stands for.
    pub fn resolved(&self, known: Known) -> Known {
        match self.alias(&known.name) {
            Some(meant) => meant.clone(),
            None => known,
        }
    }

    /// What a function of the code base gives.
    pub fn result_of(&self, function: &str) -> Option<Known> {
        Some(self.resolved(self.function(function)?.gives.clone()?))
    }

    /// Whether a method of the code base changes its object; nothing if there is no such method.
    pub fn changes_its_object(&self, of: &str, method: &str) -> Option<bool> {
        self.function(&format!("{of}::{method}")).map(|one| one.changes_its_object)
    }

    /// The type whose fields a pattern or literal names: `Stats`, `Shape::Circle`, `Circle` where it is the only one.
    pub fn of_path(&self, path: &syn::Path, this: Option<&str>) -> Option<String> {
        let parts: Vec<String> = path.segments.iter().map(|part| part.ident.to_string()).collect();
        let last = parts.last()?;
        let last = if last == "Self" { this?.to_owned() } else { last.clone() };
        if let Some(outer) = parts.len().checked_sub(2).map(|at| &parts[at]) {
            let outer = if outer == "Self" { this? } else { outer };
            let variant = format!("{outer}::{last}");
            if self.has_fields(&variant) {
                return Some(variant);
            }
        }
        if self.has_fields(&last) {
            return Some(last);
        }
        if let Some(variant) = self.variant(&last) {
            return Some(variant.clone());
        }
        let meant = self.alias(&last)?;
        self.has_fields(&meant.name).then(|| meant.name.clone())
    }
}
