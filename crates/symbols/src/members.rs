//! Which fields of which types some bytes are, as sources name them: `Stats::pushed`.
//!
//! Takes   the type of an object, and bytes in it.      Gives  the members on the way to them, the outermost first.
//! Misses  members of unions and of Rust's enums that lie over each other: the way ends before them.

use crate::dwarf_units::EntryRef;
use crate::member_path::{Bytes, PathFinder};
use crate::module::DebugNames;
use crate::types::{Member, Shape};

/// Nesting deeper than this is a damaged file.
const DEEPEST: usize = 64;

/// A member of a type that the user wrote, or somebody else than the language's library.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NamedMember {
    /// The type without namespace and parameters: `Stats`.
    pub owner: String,
    pub member: String,
}

/// What some bytes belong to.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Belonging {
    /// The global or static variable they are in, with namespaces.
    pub global: Option<String>,
    /// The outermost first, without those of the language's library.
    pub members: Vec<NamedMember>,
}

/// The members of written types on the way to some bytes of an object.
pub fn members_at(names: &DebugNames, of: EntryRef, bytes: Bytes) -> Vec<NamedMember> {
    let finder = PathFinder::new(names, None);
    let mut bytes = Bytes { length: bytes.length.max(1), ..bytes };
    let mut at = of;
    let mut way = Vec::new();
    for _ in 0..DEEPEST {
        let Some(of) = names.types.get(&names.units, at) else { break };
        at = match &of.shape {
            Shape::Array { element, .. } => {
                let Some(offset) = offset_in_element(names, *element, bytes) else { break };
                bytes.offset = offset;
                *element
            }
            Shape::Aggregate(members) => {
                let Some(member) = only_one(members, |member| finder.holds(member, bytes)) else {
                    break;
                };
                let owner = without_parameters(&of.name);
                let is_written = is_name(owner) && !names.globals.is_library_type(at);
                if is_written && !member.name.is_empty() {
                    let (owner, member) = (owner.to_owned(), member.name.clone());
                    way.push(NamedMember { owner, member });
                }
                let Some(offset) = bytes.offset.checked_sub(member.offset) else { break };
                bytes.offset = offset;
                member.of
            }
            Shape::Plain | Shape::Pointer { .. } => break,
        };
    }
    way
}

fn offset_in_element(names: &DebugNames, element: EntryRef, bytes: Bytes) -> Option<u64> {
    let each = names.types.size(&names.units, element).filter(|&size| size > 0)?;
    let within = bytes.offset % each;
    (within.checked_add(bytes.length)? <= each).then_some(within)
}

fn only_one(members: &[Member], is: impl Fn(&Member) -> bool) -> Option<&Member> {
    let mut found = members.iter().filter(|member| is(member));
    found.next().filter(|_| found.next().is_none())
}

/// Tuples and closures have types that nobody wrote.
fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_alphabetic() || first == '_')
}

/// `Pair` of `Pair<u32>`.
fn without_parameters(name: &str) -> &str {
    name.split('<').next().unwrap_or(name)
}
