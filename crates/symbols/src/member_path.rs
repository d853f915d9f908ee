//! From an offset in a variable to the member there: `.limits[3].max`.
//!
//! Takes   a type, an offset, the length of the access.      Gives  the path as the source would write it.
//! Misses  which member of a union, bit field or Rust enum was meant, unless the source text at the access
//!         says so: then all that fit are listed in braces.

use std::cell::Cell;

use crate::dwarf_units::{DwarfUnits, EntryRef};
use crate::globals::Globals;
use crate::module::DebugNames;
use crate::types::{Member, Shape, Type, Types};

/// Nesting deeper than this is a damaged file.
const DEEPEST: usize = 64;
/// Types looked at for one path; only a damaged file has a union tree that needs more.
const MOST_STEPS: usize = 10_000;
/// Members listed in braces.
const MOST_ALTERNATIVES: usize = 4;

/// Which bytes of a variable are asked about.
#[derive(Debug, Clone, Copy)]
pub struct Bytes {
    pub offset: u64,
    pub length: u64,
}

/// The answer: what to write behind the variable, and how far into that the bytes begin.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberPath {
    pub text: String,
    /// The same without the members of library types: `.open`, not `.open.data.base.table.table.items`.
    pub own: String,
    pub rest: u64,
}

/// Finds paths in the types of one module.
pub struct PathFinder<'a> {
    pub units: &'a DwarfUnits,
    pub types: &'a Types,
    globals: &'a Globals,
    /// The member the source text at the access names, to choose between overlapping ones.
    pub hint: Option<&'a str>,
    steps_left: Cell<usize>,
}

impl<'a> PathFinder<'a> {
    pub fn new(names: &'a DebugNames, hint: Option<&'a str>) -> PathFinder<'a> {
        let DebugNames { units, types, globals, .. } = names;
        PathFinder { units, types, globals, hint, steps_left: Cell::new(MOST_STEPS) }
    }
}

impl PathFinder<'_> {
    pub fn find(&self, of: EntryRef, bytes: Bytes) -> MemberPath {
        let bytes = Bytes { length: bytes.length.max(1), ..bytes };
        self.steps_left.set(MOST_STEPS);
        self.find_within(of, bytes, DEEPEST)
    }

    fn find_within(&self, of: EntryRef, bytes: Bytes, depth: usize) -> MemberPath {
        let stop = MemberPath { rest: bytes.offset, ..MemberPath::default() };
        let (Some(depth), Some(steps)) =
            (depth.checked_sub(1), self.steps_left.get().checked_sub(1))
        else {
            return stop;
        };
        self.steps_left.set(steps);
        let Some(of) = self.types.get(self.units, of) else { return stop };
        match &of.shape {
            Shape::Array { element, counts } => {
                self.in_array(*element, counts, bytes, depth).unwrap_or(stop)
            }
            Shape::Aggregate(members) => {
                self.in_members(&of, members, bytes, depth).unwrap_or(stop)
            }
            Shape::Plain | Shape::Pointer { .. } => stop,
        }
    }

    fn in_array(
        &self,
        element: EntryRef,
        counts: &[Option<u64>],
        bytes: Bytes,
        depth: usize,
    ) -> Option<MemberPath> {
        let each = self.types.size(self.units, element).filter(|&size| size > 0)?;
        let within = bytes.offset % each;
        if within.checked_add(bytes.length)? > each {
            return None; // several elements at once
        }
        let subscripts = subscripts(bytes.offset / each, counts)?;
        let inner = self.find_within(element, Bytes { offset: within, ..bytes }, depth);
        let own = subscripts.clone() + &inner.own;
        Some(MemberPath { text: subscripts + &inner.text, own, rest: inner.rest })
    }

    fn in_members(
        &self,
        of: &Type,
        members: &[Member],
        bytes: Bytes,
        depth: usize,
    ) -> Option<MemberPath> {
        let mut paths: Vec<MemberPath> = members
            .iter()
            .filter(|member| self.holds(member, bytes))
            .filter_map(|member| self.through(of, member, bytes, depth))
            .collect();
        paths.dedup();
        if paths.len() > 1
            && let Some(named) = self.named_by_the_source(&paths)
        {
            return Some(named);
        }
        match paths.len() {
            0 => None,
            1 => paths.pop(),
            _ => Some(in_braces(&paths)),
        }
    }

    fn named_by_the_source(&self, paths: &[MemberPath]) -> Option<MemberPath> {
        let hint = self.hint?;
        let mut fitting = paths.iter().filter(|path| last_name(&path.text) == hint);
        let first = fitting.next()?;
        fitting.next().is_none().then(|| first.clone())
    }

    /// Whether all of the bytes are in a member.
    pub fn holds(&self, member: &Member, bytes: Bytes) -> bool {
        let Some(end) = bytes.offset.checked_add(bytes.length) else { return false };
        if let Some(length) = member.bit_field_bytes {
            // Compilers touch the whole storage unit, so its neighbours are touched as well.
            return member.offset < end && bytes.offset < member.offset.saturating_add(length);
        }
        if bytes.offset < member.offset {
            return false;
        }
        match self.types.size(self.units, member.of) {
            Some(size) if size > 0 => end <= member.offset.saturating_add(size),
            _ => self.has_no_fixed_length(member),
        }
    }

    fn has_no_fixed_length(&self, member: &Member) -> bool {
        let of = self.types.get(self.units, member.of);
        of.is_some_and(
            |of| matches!(&of.shape, Shape::Array { counts, .. } if counts.first() == Some(&None)),
        )
    }

    /// `None` for a variant of a Rust enum that has nothing there.
    fn through(
        &self,
        of: &Type,
        member: &Member,
        bytes: Bytes,
        depth: usize,
    ) -> Option<MemberPath> {
        let name = match is_wrapping(&of.name, &member.name) || member.name.is_empty() {
            true => String::new(),
            false => format!(".{}", member.name),
        };
        let own = if self.is_internal(of) { String::new() } else { name.clone() };
        if member.bit_field_bytes.is_some() {
            return Some(MemberPath { text: name, own, rest: 0 });
        }
        let offset = bytes.offset - member.offset;
        let inner = self.find_within(member.of, Bytes { offset, ..bytes }, depth);
        let is_empty_there = member.is_variant && inner.text.is_empty();
        (!is_empty_there).then(|| MemberPath {
            text: name + &inner.text,
            own: own + &inner.own,
            rest: inner.rest,
        })
    }

    /// Whether the members of a type are names that no user of it writes. Those of a pair are its interface.
    fn is_internal(&self, of: &Type) -> bool {
        self.globals.is_library_type(of.at) && !of.name.starts_with("pair<")
    }
}

/// `[1][2]`; `None` if the index is beyond the array.
fn subscripts(index: u64, counts: &[Option<u64>]) -> Option<String> {
    let mut index = index;
    let mut text = String::new();
    for (dimension, count) in counts.iter().enumerate().rev() {
        let here = match count {
            Some(count) if dimension > 0 => index % count,
            Some(count) if index >= *count => return None,
            _ => index,
        };
        text.insert_str(0, &format!("[{here}]"));
        index = count.map_or(0, |count| index / count);
    }
    Some(text)
}

fn in_braces(paths: &[MemberPath]) -> MemberPath {
    let own_paths = paths.iter().map(|path| path.own.as_str());
    let own = match own_paths.clone().all(|own| own == paths[0].own) {
        true => paths[0].own.clone(),
        false => names_in_braces(own_paths),
    };
    let text = names_in_braces(paths.iter().map(|path| path.text.as_str()));
    MemberPath { text, own, rest: 0 }
}

fn names_in_braces<'p>(paths: impl Iterator<Item = &'p str>) -> String {
    let mut names: Vec<&str> = paths.map(|path| path.trim_start_matches('.')).collect();
    names.retain(|name| !name.is_empty());
    let more = if names.len() > MOST_ALTERNATIVES { ", …" } else { "" };
    names.truncate(MOST_ALTERNATIVES);
    format!(".{{{}{more}}}", names.join(", "))
}

/// The last name of a path or expression: `max` of `config.limits[3].max`.
pub fn last_name(path: &str) -> &str {
    let mut path = path;
    while path.ends_with(']') {
        path = without_last_subscript(path);
    }
    path.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(path)
}

fn without_last_subscript(path: &str) -> &str {
    let mut open = 0;
    for (at, byte) in path.bytes().enumerate().rev() {
        match byte {
            b']' => open += 1,
            b'[' => open -= 1,
            _ => {}
        }
        if open == 0 {
            return &path[..at];
        }
    }
    ""
}

/// Library types that hold one value under a name nobody writes: `COUNTER`, not `COUNTER.v.value`.
fn is_wrapping(type_name: &str, member: &str) -> bool {
    const WRAPPERS: &[(&str, &str)] = &[
        ("UnsafeCell<", "value"),
        ("SyncUnsafeCell<", "value"),
        ("Cell<", "value"),
        ("ManuallyDrop<", "value"),
        ("MaybeUninit<", "value"),
        ("MaybeDangling<", "0"),
        ("Atomic", "v"),
        ("AlignedStorage<", "0"),
        ("__atomic_base<", "_M_i"),
        ("atomic<", "_M_i"),
        ("atomic<", "_M_base"),
        ("__atomic_base<", "_M_p"),
        ("atomic<", "_M_b"),
        ("atomic_bool", "_M_base"),
    ];
    WRAPPERS.iter().any(|(prefix, name)| type_name.starts_with(prefix) && member == *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscripts_count_dimensions_from_the_right() {
        assert_eq!(subscripts(7, &[Some(2), Some(4)]).as_deref(), Some("[1][3]"));
        assert_eq!(subscripts(8, &[Some(2), Some(4)]), None);
        assert_eq!(subscripts(8, &[None]).as_deref(), Some("[8]"));
    }

    #[test]
    fn the_last_name_ignores_what_is_subscripted() {
        assert_eq!(last_name("config.limits[3].max"), "max");
        assert_eq!(last_name("p->table[p->rows[2]][1]"), "table");
        assert_eq!(last_name(".1"), "1");
        assert_eq!(last_name("x"), "x");
    }
}
