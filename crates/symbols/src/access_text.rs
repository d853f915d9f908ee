//! Chooses the one expression that an access can have meant.
//!
//! Takes   the candidates of `source_text`, and what else is known about the access.
//! Gives   the text of the only one that fits; nothing if none or several do.

use crate::member_path::last_name;
use crate::source_text::{Candidate, Memory, Touch};
use crate::typed_expression::Scope;
use crate::types::POINTER_BYTES;
use crate::variable::Variable;

/// Longer expressions are no names.
const LONGEST_TEXT: usize = 100;

/// What is known about an access beyond its place.
pub struct Knowledge<'a> {
    pub touch: Touch,
    /// The global variable at the accessed address.
    pub global: Option<Variable>,
    /// The names and types at the place; `None` without debug info.
    pub scope: Option<Scope<'a>>,
    /// In closures and lambdas what looks like a variable is a member of the closure.
    pub in_closure: bool,
}

/// The text of the only candidate that fits.
pub fn only_fitting(candidates: Vec<Candidate>, known: &Knowledge<'_>) -> Option<String> {
    let mut texts: Vec<String> = candidates
        .into_iter()
        .map(|candidate| Candidate { text: without_parentheses(&candidate.text), ..candidate })
        .filter(|candidate| known.allows(candidate))
        .map(|candidate| candidate.text)
        .collect();
    texts.dedup();
    if let Some(exact) = texts.iter().find(|text| known.is_exactly(text)) {
        return Some(exact.clone());
    }
    match texts.len() {
        1 => texts.pop().filter(|text| text.len() <= LONGEST_TEXT),
        _ => None,
    }
}

/// `*p` for `(*p)`.
fn without_parentheses(text: &str) -> String {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    match inner {
        Some(inner) if !inner.contains(['(', ')']) => inner.to_owned(),
        _ => text.to_owned(),
    }
}

impl Knowledge<'_> {
    fn is_exactly(&self, text: &str) -> bool {
        self.global.as_ref().is_some_and(|global| global.path == text)
    }

    fn allows(&self, candidate: &Candidate) -> bool {
        let right_length = !candidate.is_pointer || self.touch.length == POINTER_BYTES;
        right_length
            && !(self.is_on_heap() && self.is_variable(candidate))
            && self.fits_the_address(candidate)
            && !self.is_ruled_out(candidate)
    }

    fn is_on_heap(&self) -> bool {
        self.touch.memory == Memory::Heap && self.global.is_none() && !self.in_closure
    }

    fn is_variable(&self, candidate: &Candidate) -> bool {
        candidate.is_variable
            || self.scope.as_ref().is_some_and(|scope| scope.is_local_value(&candidate.text))
    }

    fn is_ruled_out(&self, candidate: &Candidate) -> bool {
        self.scope.as_ref().is_some_and(|scope| {
            scope.rules_out(&candidate.text, self.touch.length, candidate.is_pointer)
        })
    }

    fn fits_the_address(&self, candidate: &Candidate) -> bool {
        match &self.global {
            Some(global) => could_be(&candidate.text, global),
            None => self.touch.address.is_none() || !self.names_a_global(&candidate.text),
        }
    }

    fn names_a_global(&self, text: &str) -> bool {
        let globals = self.scope.as_ref().map(|scope| &scope.names.globals);
        globals.is_some_and(|globals| globals.named(text).is_some())
    }
}

/// Whether an expression can denote a global: through a pointer any but a vtable, else by the same name.
fn could_be(text: &str, global: &Variable) -> bool {
    let through_pointer = text.starts_with('*') || text.ends_with(']');
    through_pointer && !global.name.contains("vtable")
        || [&global.path, &global.name].iter().any(|path| last_name(path) == last_name(text))
}
