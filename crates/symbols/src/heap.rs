//! Names for heap blocks: the type that was allocated, the member at an offset, the line that asked for it.
//!
//! Takes   the call stack of an allocation, innermost first.      Gives  `Account.balance (heap, allocated at bank.c:31)`.
//! Misses  the type where it stands neither in the debug info nor in the text of the allocating line: memory pools,
//!         own allocation functions, `void *`, arrays of classes with destructors (they begin with a count).
//!
//! A type is believed only if its size fits the block. In this order:
//! 1. the type parameters of the library functions between the user's line and the allocation (`Box::new`,
//!    `Vec<T>`, `make_unique<T>`, `allocator<T>`),
//! 2. what the line itself says: `new T`, `sizeof(T)`, and the pointer that is assigned,
//! 3. a variable declared on the line that points to such a type.

use std::fmt;
use std::sync::Arc;

use crate::dwarf_units::EntryRef;
use crate::library_code::is_library_frame;
use crate::member_path::{Bytes, PathFinder};
use crate::members::{NamedMember, members_at};
use crate::module::{DebugNames, Module};
use crate::place::{Frame, Place};
use crate::source_text::{Source, Sources, allocation_words};
use crate::typed_expression::Scope;
use crate::types::{Shape, Type};

/// Smart pointers nest this deep at most.
const DEEPEST_POINTER: usize = 8;

/// A place in a heap block.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HeapName {
    /// `Account.balance`, `Account[3].balance`; `None` if the type is not known.
    pub path: Option<String>,
    /// The same without members of library types.
    pub own_path: Option<String>,
    pub offset: u64,
    /// Of the block.
    pub size: u64,
    /// `bank.c:31`: the line of the user's code that asked for the block.
    pub allocated_at: Option<String>,
}

impl HeapName {
    /// As its user calls it: without what a library's types are made of.
    #[must_use]
    pub fn in_users_words(self) -> HeapName {
        HeapName { path: self.own_path.clone(), ..self }
    }
}

impl fmt::Display for HeapName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.allocated_at.as_deref().unwrap_or("an unknown place");
        match &self.path {
            Some(path) => write!(f, "{path} (heap, allocated at {at})"),
            None => {
                write!(f, "heap block of {} bytes allocated at {at}, +{}", self.size, self.offset)
            }
        }
    }
}

/// Which bytes of which block.
#[derive(Debug, Clone, Copy)]
pub struct InBlock {
    pub offset: u64,
    pub length: u64,
    pub size: u64,
}

/// One frame of the stack, and where it came from.
pub struct StackFrame<'a> {
    pub place: &'a Arc<Place>,
    /// Position in the place's frames: 0 is the innermost.
    pub index: usize,
    pub frame: &'a Frame,
    pub module: Option<&'a Module>,
}

/// The stack with inlined frames spelled out.
pub struct AllocationStack<'a> {
    library: Vec<StackFrame<'a>>,
    user: Option<StackFrame<'a>>,
    innermost: Option<&'a Arc<Place>>,
}

impl<'a> AllocationStack<'a> {
    pub fn new(stack: &'a [Arc<Place>], module_of: impl Fn(&Place) -> Option<&'a Module>) -> Self {
        let mut library = Vec::new();
        for place in stack {
            for (index, frame) in place.frames.iter().enumerate() {
                let here = StackFrame { place, index, frame, module: module_of(place) };
                if !is_library_frame(frame, place.module.as_deref()) {
                    return AllocationStack { library, user: Some(here), innermost: stack.first() };
                }
                library.push(here);
            }
        }
        AllocationStack { library, user: None, innermost: stack.first() }
    }

    fn allocated_at(&self) -> Option<String> {
        match &self.user {
            Some(user) => Some(user.frame.short().unwrap_or_else(|| user.place.short())),
            None => self.innermost.map(|place| place.short()),
        }
    }
}

/// The name of some bytes of a block.
pub fn name(stack: &AllocationStack<'_>, sources: &Sources, block: InBlock) -> HeapName {
    let (path, own_path) = paths(stack, sources, block).unzip();
    HeapName {
        path,
        own_path,
        offset: block.offset,
        size: block.size,
        allocated_at: stack.allocated_at(),
    }
}

/// The path, and that in the words of the user.
fn paths(
    stack: &AllocationStack<'_>,
    sources: &Sources,
    block: InBlock,
) -> Option<(String, String)> {
    let (names, fitting) = fitting(stack, sources, block)?;
    Some(Fit { names, block }.in_value(&fitting))
}

/// The fields that some bytes of a block are.
pub fn members(stack: &AllocationStack<'_>, sources: &Sources, block: InBlock) -> Vec<NamedMember> {
    let Some((names, fitting)) = fitting(stack, sources, block) else { return Vec::new() };
    let bytes = Bytes { offset: fitting.offset, length: block.length };
    members_at(names, fitting.of, bytes)
}

/// The type that fits a block best.
fn fitting<'a>(
    stack: &AllocationStack<'a>,
    sources: &Sources,
    block: InBlock,
) -> Option<(&'a DebugNames, Fitting)> {
    let user = stack.user.as_ref()?;
    let names = user.module?.names()?;
    let fit = Fit { names, block };
    let guesses = guesses(stack, user, names, sources);
    let exact = guesses.iter().find_map(|&guess| fit.one(guess));
    let found = exact.or_else(|| guesses.iter().find_map(|&guess| fit.several(guess)));
    found.map(|fitting| (names, fitting))
}

/// Types the block may be of, the surest first.
fn guesses(
    stack: &AllocationStack<'_>,
    user: &StackFrame<'_>,
    names: &DebugNames,
    sources: &Sources,
) -> Vec<EntryRef> {
    let mut guesses = Vec::new();
    for frame in &stack.library {
        let same_module = frame.module.zip(user.module).is_some_and(|(a, b)| std::ptr::eq(a, b));
        if same_module {
            guesses.extend(type_parameters(frame, names));
        }
    }
    guesses.extend(from_text(user, names, sources));
    guesses.extend(from_declarations(user, names));
    guesses
}

fn type_parameters(frame: &StackFrame<'_>, names: &DebugNames) -> Vec<EntryRef> {
    let entry =
        frame.module.and_then(|module| module.function_entry(frame.place.address, frame.index));
    let mut found = entry.map(|entry| names.type_parameters(entry)).unwrap_or_default();
    // Members of class templates have the parameter in the name only: `allocator<T>::allocate`.
    let function = frame.frame.function.as_deref().unwrap_or_default();
    if let Some((_, rest)) = function.split_once("allocator<") {
        found.extend_from_slice(names.types_called(first_parameter(rest)));
    }
    found
}

/// `a::B<C, D>` of `a::B<C, D>, E>::f`.
fn first_parameter(text: &str) -> &str {
    let mut open = 0;
    for (at, c) in text.char_indices() {
        match c {
            '<' => open += 1,
            '>' | ',' if open == 0 => return text[..at].trim(),
            '>' => open -= 1,
            _ => {}
        }
    }
    text
}

fn from_text(user: &StackFrame<'_>, names: &DebugNames, sources: &Sources) -> Vec<EntryRef> {
    let Some(source) = source_of(user, sources) else { return Vec::new() };
    let Some(line) = user.frame.line else { return Vec::new() };
    let scope = scope_of(user, names, source.is_rust);
    let words = allocation_words(&source, line);
    let mut found: Vec<EntryRef> = Vec::new();
    for name in &words.type_names {
        found.extend_from_slice(names.types_called(name));
    }
    found.extend(words.expressions.iter().filter_map(|text| scope.type_of(text)));
    found.extend(words.pointers.iter().filter_map(|text| scope.target_of(text)));
    found
}

fn source_of(user: &StackFrame<'_>, sources: &Sources) -> Option<Arc<Source>> {
    sources.get(user.frame.file.as_deref()?, user.module?.file()?.modified)
}

fn scope_of<'a>(user: &StackFrame<'_>, names: &'a DebugNames, is_rust: bool) -> Scope<'a> {
    let locals = user.module.map(|module| module.locals(user.place.address, user.index));
    Scope { names, locals: locals.unwrap_or_default(), is_rust }
}

/// What variables declared on the allocating line point to.
fn from_declarations(user: &StackFrame<'_>, names: &DebugNames) -> Vec<EntryRef> {
    let scope = scope_of(user, names, false);
    let line = user.frame.line.map(u64::from);
    let declared = scope.locals.iter().filter(|local| local.line.is_some() && local.line == line);
    let mut found = Vec::new();
    for local in declared {
        add_targets(names, local.of, DEEPEST_POINTER, &mut found);
    }
    found
}

/// The types behind all pointers that a value holds.
fn add_targets(names: &DebugNames, of: EntryRef, depth: usize, found: &mut Vec<EntryRef>) {
    let (Some(of), Some(depth)) = (names.types.get(&names.units, of), depth.checked_sub(1)) else {
        return;
    };
    match &of.shape {
        Shape::Pointer { target: Some(target), .. } => found.push(*target),
        Shape::Aggregate(members) if members.len() <= DEEPEST_POINTER => {
            members.iter().for_each(|member| add_targets(names, member.of, depth, found));
        }
        _ => {}
    }
}

/// A type that fits a block, and where in a value of it some bytes begin.
struct Fitting {
    of_type: Arc<Type>,
    of: EntryRef,
    offset: u64,
    /// Which of several values.
    subscript: String,
}

/// Whether and how a type fits a block.
struct Fit<'a> {
    names: &'a DebugNames,
    block: InBlock,
}

impl Fit<'_> {
    /// The block holds one value of the type.
    fn one(&self, of: EntryRef) -> Option<Fitting> {
        let (of_type, size) = self.type_and_size(of)?;
        let fits = size == self.block.size || size < self.block.size && self.has_open_end(&of_type);
        let (offset, subscript) = (self.block.offset, String::new());
        fits.then_some(Fitting { of_type, of, offset, subscript })
    }

    /// The block holds several values of the type, one behind the other.
    fn several(&self, of: EntryRef) -> Option<Fitting> {
        let (of_type, size) = self.type_and_size(of)?;
        if !self.block.size.is_multiple_of(size) {
            return None;
        }
        let subscript = format!("[{}]", self.block.offset / size);
        Some(Fitting { of_type, of, offset: self.block.offset % size, subscript })
    }

    fn type_and_size(&self, of: EntryRef) -> Option<(Arc<Type>, u64)> {
        let of_type = self.names.types.get(&self.names.units, of)?;
        let size = self.names.types.size(&self.names.units, of).filter(|&size| size > 0)?;
        (!of_type.name.is_empty()).then_some((of_type, size))
    }

    /// A structure that ends in an array without length.
    fn has_open_end(&self, of: &Type) -> bool {
        let Shape::Aggregate(members) = &of.shape else { return false };
        let last = members.last().and_then(|last| self.names.types.get(&self.names.units, last.of));
        last.is_some_and(|last| matches!(&last.shape, Shape::Array { counts, .. } if counts.first() == Some(&None)))
    }

    fn in_value(&self, fitting: &Fitting) -> (String, String) {
        let Fitting { of_type, of, offset, subscript } = fitting;
        let finder = PathFinder::new(self.names, None);
        let path = finder.find(*of, Bytes { offset: *offset, length: self.block.length });
        let rest = if path.rest == 0 { String::new() } else { format!("+{}", path.rest) };
        let (name, members) = unwrapped(&of_type.name, &path.text);
        let (own, own_rest) = match path.own == path.text {
            true => (members, rest.as_str()),
            false => (path.own.as_str(), ""),
        };
        let own = format!("{name}{subscript}{own}{own_rest}");
        (format!("{name}{subscript}{members}{rest}"), own)
    }
}

/// What `Arc` and `Rc` allocate around a value: `Account.balance`, not `ArcInner<bank::Account>.data.balance`.
fn unwrapped<'a>(type_name: &'a str, path: &'a str) -> (&'a str, &'a str) {
    let inner = ["ArcInner<", "RcInner<", "RcBox<"]
        .iter()
        .find_map(|prefix| type_name.strip_prefix(prefix));
    match (inner.and_then(|inner| inner.strip_suffix('>')), path.strip_prefix(".data")) {
        (Some(inner), Some(path)) => (inner, path),
        _ => (type_name, path),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parameter_ends_where_its_brackets_do() {
        assert_eq!(first_parameter("a::B<C, D>, E>::f"), "a::B<C, D>");
        assert_eq!(first_parameter("int>::allocate"), "int");
    }

    #[test]
    fn counted_values_are_named_without_their_counts() {
        assert_eq!(
            unwrapped("ArcInner<bank::Account>", ".data.balance"),
            ("bank::Account", ".balance")
        );
        assert_eq!(
            unwrapped("ArcInner<bank::Account>", ".strong"),
            ("ArcInner<bank::Account>", ".strong")
        );
    }
}
