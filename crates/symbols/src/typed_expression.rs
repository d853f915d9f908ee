//! The type of an expression read from the source, by the debug info of the function it stands in.
//!
//! Takes   `cache->items[i].count` and the locals of its function.      Gives  whether an access of some length
//!         can be an access to it.
//! Misses  overloaded operators, calls, casts and generics: then the answer is "do not know".

use crate::globals::Global;
use crate::locals::{Local, meant_by};
use crate::module::DebugNames;
use crate::source_text::{Chain, Source, Step};
use crate::types::{Member, POINTER_BYTES, Shape};

use crate::dwarf_units::EntryRef;

/// References to references and base classes nest this deep at most.
const DEEPEST: usize = 16;

/// The names an expression may use.
pub struct Scope<'a> {
    pub names: &'a DebugNames,
    pub locals: Vec<Local>,
    pub is_rust: bool,
}

/// What an expression denotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Denoted {
    Of(EntryRef),
    /// Shares its bytes with others: lengths say nothing.
    BitField,
}

impl Scope<'_> {
    /// Whether the debug info rules out that an access of `length` bytes touched `text`.
    pub fn rules_out(&self, text: &str, length: u64, used_as_pointer: bool) -> bool {
        let Some(Denoted::Of(of)) = self.denoted(text) else { return false };
        let Some((of_type, size)) = self.type_and_size(of) else { return false };
        match of_type.shape {
            _ if length == 0 => false,
            Shape::Pointer { reference: true, .. } => false, // the reference or what it refers to
            _ if used_as_pointer => size != POINTER_BYTES || !self.is_pointer_like(of, DEEPEST),
            Shape::Plain | Shape::Pointer { .. } => size != length,
            // Large values are copied in parts.
            Shape::Aggregate(_) | Shape::Array { .. } => length > size,
        }
    }

    /// Whether a name is a local variable or parameter that holds its value itself.
    pub fn is_local_value(&self, name: &str) -> bool {
        let Some(local) = meant_by(&self.locals, name) else { return false };
        let of = self.names.types.get(&self.names.units, local.of);
        of.is_some_and(|of| !matches!(of.shape, Shape::Pointer { reference: true, .. }))
    }

    /// The type of an expression.
    pub fn type_of(&self, text: &str) -> Option<EntryRef> {
        match self.denoted(text)? {
            Denoted::Of(of) => Some(of),
            Denoted::BitField => None,
        }
    }

    /// The type a pointer points to.
    pub fn target_of(&self, text: &str) -> Option<EntryRef> {
        self.pointee(self.type_of(text)?)
    }

    fn type_and_size(&self, of: EntryRef) -> Option<(std::sync::Arc<crate::types::Type>, u64)> {
        let of_type = self.names.types.get(&self.names.units, of)?;
        Some((of_type, self.names.types.size(&self.names.units, of)?))
    }

    /// A pointer, or a box around nothing but one.
    fn is_pointer_like(&self, of: EntryRef, depth: usize) -> bool {
        let of_type = self.names.types.get(&self.names.units, of);
        match (of_type.as_deref().map(|of| &of.shape), depth.checked_sub(1)) {
            (Some(Shape::Pointer { .. }), _) => true,
            (Some(Shape::Aggregate(members)), Some(depth)) => {
                members.iter().any(|member| self.is_pointer_like(member.of, depth))
            }
            _ => false,
        }
    }

    fn denoted(&self, text: &str) -> Option<Denoted> {
        let source = Source::new(text.to_owned(), self.is_rust);
        let stars = (0..).take_while(|&index| source.word(index) == "*").count();
        let chain = source.chain_from(stars)?;
        if !source.word(chain.end()).is_empty() {
            return None;
        }
        let mut denoted = self.chain(&source, &chain)?;
        for _ in 0..stars {
            let Denoted::Of(of) = denoted else { return None };
            denoted = Denoted::Of(self.pointee(of)?);
        }
        Some(denoted)
    }

    fn chain(&self, source: &Source, chain: &Chain) -> Option<Denoted> {
        let (_, start) = *chain.steps.first()?;
        let mut denoted = self.start(source, chain.first, start)?;
        for &(step, end) in &chain.steps[1..] {
            let Denoted::Of(of) = denoted else { return None };
            let member = source.word(end - 1);
            denoted = match step {
                Step::Dot => self.member(of, member, self.is_rust)?,
                Step::Arrow => self.member(self.pointee(self.referred(of)?)?, member, false)?,
                Step::Subscript => Denoted::Of(self.element(of)?),
                Step::Start | Step::Call => return None,
            };
        }
        Some(denoted)
    }

    fn start(&self, source: &Source, first: usize, end: usize) -> Option<Denoted> {
        if source.word(first) == "(" {
            return self.denoted(&source.joined(first + 1, end - 1));
        }
        let name = source.joined(first, end);
        if let Some(local) = meant_by(&self.locals, &name) {
            return Some(Denoted::Of(local.of));
        }
        let implicit = meant_by(&self.locals, "this")
            .and_then(|this| self.member(self.pointee(this.of)?, &name, false));
        let global = || self.global(&name).map(|global| Denoted::Of(global.of));
        implicit.or_else(global)
    }

    fn global(&self, name: &str) -> Option<&Global> {
        self.names.globals.named(name)
    }

    fn pointee(&self, of: EntryRef) -> Option<EntryRef> {
        match self.names.types.get(&self.names.units, of)?.shape {
            Shape::Pointer { target, .. } => target,
            _ => None,
        }
    }

    /// C++: a reference is what it refers to.
    fn referred(&self, of: EntryRef) -> Option<EntryRef> {
        match self.names.types.get(&self.names.units, of)?.shape {
            Shape::Pointer { target, reference: true } => target,
            _ => Some(of),
        }
    }

    fn element(&self, of: EntryRef) -> Option<EntryRef> {
        let of = self.referred(of)?;
        match &self.names.types.get(&self.names.units, of)?.shape {
            Shape::Array { element, counts } if counts.len() == 1 => Some(*element),
            Shape::Pointer { target, .. } if !self.is_rust => *target,
            _ => None,
        }
    }

    /// A member by name; Rust follows any number of references on the way.
    fn member(&self, of: EntryRef, name: &str, follow_pointers: bool) -> Option<Denoted> {
        let mut of = self.referred(of)?;
        for _ in 0..DEEPEST {
            if let Some(found) = self.own_member(of, name, DEEPEST) {
                return Some(found);
            }
            if !follow_pointers {
                return None;
            }
            of = self.pointee(of)?;
        }
        None
    }

    fn own_member(&self, of: EntryRef, name: &str, depth: usize) -> Option<Denoted> {
        let of = self.names.types.get(&self.names.units, of)?;
        let Shape::Aggregate(members) = &of.shape else { return None };
        if let Some(member) = members.iter().find(|member| member.name == name) {
            return Some(denoted_by(member));
        }
        let depth = depth.checked_sub(1)?;
        let inner = members.iter().filter(|member| member.name.is_empty());
        inner.filter_map(|member| self.own_member(member.of, name, depth)).next()
    }
}

fn denoted_by(member: &Member) -> Denoted {
    match member.bit_field_bytes {
        Some(_) => Denoted::BitField,
        None => Denoted::Of(member.of),
    }
}
