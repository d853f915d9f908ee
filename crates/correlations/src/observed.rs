//! What recordings observed: accesses that the syntax of Rust does not show, or shows as something else.
//!
//! Takes   accesses that runs made: the functions on the way there, the fields that the bytes are by debug info or, where it does not
//!         tell, which bytes of which object.
//! Gives   access sets of Rust files with what is missing there: a write that was taken for a read (`self.jobs.admit(job)`), a field
//!         of a value whose type is not told, what a macro or a trait's method touches. Without sources, access sets of what ran.
//! Misses  what no run executed, memory that threads do not share, and objects on stacks; of objects without a type, fields that no line
//!         names alone. So nothing is ever taken away: that a line
//!         was not seen to write says nothing.
//! Invents fields where a line has another access that its syntax does not show, and the field's own leaves no trace; nothing else, if
//!         the sources are those of the program: who asks sees to that.
//! Cost    one look-up per access.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::access_sets::{Access, FileSets, FunctionSet, SetsBuilder, WRITTEN_HERE, kind};
use crate::access_sets::{c::hash, rust};

/// An access that a run made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedAccess {
    /// The functions on the way to it, the innermost first, without those of libraries.
    pub way: Vec<ObservedFrame>,
    /// Of [`crate::access_sets::kind`].
    pub kind: u8,
    /// The static variable that its bytes are in, with namespaces.
    pub global: Option<String>,
    /// Type and field for each level of nesting, the outermost first.
    pub members: Vec<(String, String)>,
    /// The bytes of a heap block that it is to.
    pub bytes: Option<ObservedBytes>,
}

/// Bytes of an object on the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ObservedBytes {
    /// Tells objects of all recordings apart.
    pub object: u64,
    pub offset: u64,
    pub length: u64,
}

/// A function on the way to an access, and where in it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObservedFrame {
    /// As debug info has it: `bank::Account::deposit`, `bank::main::{closure#0}`.
    pub function: String,
    pub file: String,
    pub line: u32,
}

/// A variable at a line of a function: number of the file, number of the function, line, name.
type Spot = (usize, usize, u32, String);

/// Adds what was observed to the access sets of Rust files. Gives how many accesses came of it, or became writes.
pub fn join_observed(sets: &mut [FileSets], observed: &[ObservedAccess]) -> usize {
    let spots = spots_of(sets, observed);
    let mut changes = 0;
    for ((file, function, line, name), kinds) in spots {
        let variable = number_of(&mut sets[file].variables, &name);
        changes += usize::from(join(&mut sets[file].functions[function], line, variable, kinds));
    }
    changes
}

/// All that was observed where sources are, each spot once.
fn spots_of(sets: &[FileSets], observed: &[ObservedAccess]) -> BTreeMap<Spot, u8> {
    let files: HashMap<&str, usize> = sets
        .iter()
        .enumerate()
        .filter_map(|(number, set)| Some((set.files.first()?.as_str(), number)))
        .filter(|(path, _)| rust::is_source(path.as_ref()))
        .collect();
    let declared: HashSet<&str> =
        sets.iter().flat_map(|set| &set.declared).map(String::as_str).collect();
    let placed: Vec<Placed<'_>> =
        observed.iter().filter_map(|access| placed(access, sets, &files)).collect();
    let named = named_bytes(sets, &placed);
    let mut spots = BTreeMap::new();
    for Placed { access, file, function, line } in placed {
        let by_bytes = || named.get(&access.bytes?).cloned().flatten();
        if let Some(name) = declared_variable(access, &declared).or_else(by_bytes) {
            *spots.entry((file, function, line, name)).or_default() |= access.kind;
        }
    }
    spots
}

/// An access, and where in the sources it is: numbers of file and function.
struct Placed<'a> {
    access: &'a ObservedAccess,
    file: usize,
    function: usize,
    line: u32,
}

fn placed<'a>(
    access: &'a ObservedAccess,
    sets: &[FileSets],
    files: &HashMap<&str, usize>,
) -> Option<Placed<'a>> {
    let frame = access.way.iter().find(|frame| files.contains_key(frame.file.as_str()))?;
    let file = files[frame.file.as_str()];
    let (function, line) = function_at(&sets[file].functions, frame)?;
    Some(Placed { access, file, function, line })
}

/// Names of bytes that debug info does not tell the type of: what the sources call them where they are the only variable of a line.
/// None where two lines say different things.
fn named_bytes(sets: &[FileSets], placed: &[Placed<'_>]) -> HashMap<ObservedBytes, Option<String>> {
    let mut named: HashMap<ObservedBytes, Option<String>> = HashMap::new();
    for one in placed
        .iter()
        .filter(|one| one.access.way.first().is_some_and(|frame| frame.line == one.line))
    {
        let (Some(bytes), Some(name)) = (one.access.bytes, only_variable(sets, one)) else {
            continue;
        };
        let known = named.entry(bytes).or_insert_with(|| Some(name.to_owned()));
        if known.as_deref() != Some(name) {
            *known = None;
        }
    }
    named
}

/// The only field that a line touches, if it is touched as was observed.
fn only_variable<'s>(sets: &'s [FileSets], at: &Placed<'_>) -> Option<&'s str> {
    let accesses = &sets[at.file].functions[at.function].accesses;
    let mut here = accesses.iter().filter(|access| access.line == at.line);
    let first = here.next()?;
    let is_one = here.all(|other| other.variable == first.variable);
    let is_as_seen = first.kind & at.access.kind != 0;
    let name = &sets[at.file].variables[first.variable as usize];
    (is_one && is_as_seen && name.contains("::")).then_some(name)
}

/// The innermost field that the sources declare, or the static.
fn declared_variable(access: &ObservedAccess, declared: &HashSet<&str>) -> Option<String> {
    let fields = access.members.iter().rev().map(|(owner, field)| format!("{owner}::{field}"));
    let global = access.global.as_deref().map(|global| last_part(global).to_owned());
    fields.chain(global).find(|name| declared.contains(name.as_str()))
}

/// The function of the sources that a frame is in, and the line in it: the last that begins before the line, if it is called the same.
/// The lines of a macro are elsewhere: there the only one of that name, and where it begins.
fn function_at(functions: &[FunctionSet], frame: &ObservedFrame) -> Option<(usize, u32)> {
    let parts = path_parts(&frame.function);
    let is_called_so = |function: &FunctionSet| parts.contains(&last_part(&function.name));
    let (number, last) = functions
        .iter()
        .enumerate()
        .filter(|(_, function)| function.line <= frame.line)
        .max_by_key(|(number, function)| (function.line, *number))?;
    if is_called_so(last) {
        return Some((number, frame.line));
    }
    let mut by_name = functions.iter().enumerate().filter(|(_, one)| is_called_so(one));
    let (number, only) = by_name.next().filter(|_| by_name.next().is_none())?;
    Some((number, only.line))
}

/// Whether an access came of it, or another kind of one that was known.
fn join(function: &mut FunctionSet, line: u32, variable: u32, kinds: u8) -> bool {
    let statement = function.statements.partition_point(|one| one.line <= line) as u32;
    let is_here = |access: &&mut Access| {
        access.variable == variable && (access.line == line || access.statement == statement)
    };
    let mut known: Vec<&mut Access> = function.accesses.iter_mut().filter(is_here).collect();
    if !known.is_empty() {
        // That a library's method reads what it writes is no read of the program.
        let is_write = kinds & kind::WRITE != 0;
        let is_known = known.iter().any(|access| access.kind & kind::WRITE != 0);
        if is_write && !is_known {
            known[0].kind |= kind::WRITE;
        }
        return is_write && !is_known;
    }
    let at = statement.checked_sub(1).and_then(|at| function.statements.get(at as usize));
    let under = at.map(|one| one.under.clone()).unwrap_or_default();
    let origin = WRITTEN_HERE;
    let (kind, column) = (kinds, 0);
    function.accesses.push(Access { variable, kind, line, column, statement, origin, under });
    true
}

fn number_of(names: &mut Vec<String>, name: &str) -> u32 {
    let known = names.iter().position(|known| known == name);
    known.unwrap_or_else(|| {
        names.push(name.to_owned());
        names.len() - 1
    }) as u32
}

/// What a function touches, by line and name.
type Touched = BTreeMap<(u32, String), u8>;

/// Access sets of what runs executed, for a program without sources: lines stand for statements.
pub fn sets_of_observed(observed: &[ObservedAccess]) -> Vec<FileSets> {
    let mut files: BTreeMap<&str, BTreeMap<&str, Touched>> = BTreeMap::new();
    for access in observed {
        let (Some(frame), Some(name)) = (access.way.first(), innermost_name(access)) else {
            continue;
        };
        let functions = files.entry(&frame.file).or_default();
        let touched = functions.entry(without_closures(&frame.function)).or_default();
        *touched.entry((frame.line, name)).or_default() |= access.kind;
    }
    files.iter().map(|(file, functions)| sets_of_file(file, functions)).collect()
}

fn sets_of_file(path: &str, functions: &BTreeMap<&str, Touched>) -> FileSets {
    let mut sets = SetsBuilder::default();
    let file = sets.file(path);
    for (name, touched) in functions {
        let first = touched.keys().next().map_or(0, |(line, _)| *line);
        let is_life = matches!(last_part(name), "new" | "default" | "drop");
        sets.begin_function(hash(name.as_bytes()), (*name).to_owned(), file, first, is_life);
        let mut at = first;
        for ((line, variable), kinds) in touched {
            (at..*line).for_each(|_| sets.next_statement());
            at = *line;
            let variable = sets.variable(variable);
            sets.access(variable, *kinds, (*line, 0), WRITTEN_HERE);
        }
        sets.end_function();
    }
    sets.finish()
}

fn innermost_name(access: &ObservedAccess) -> Option<String> {
    let field = access.members.last().map(|(owner, field)| format!("{owner}::{field}"));
    field.or_else(|| access.global.clone())
}

/// `bank::Account::deposit` of `bank::Account::deposit::{closure#0}`: what a closure does is its function's.
fn without_closures(function: &str) -> &str {
    function.find("::{").map_or(function, |at| &function[..at])
}

fn last_part(path: &str) -> &str {
    path_parts(path).last().copied().unwrap_or(path)
}

/// `["bank", "deposit"]` of `bank::deposit<u32>::{closure#0}`, `["deposit"]` of `<bank::Account as bank::Ledger>::deposit`.
fn path_parts(path: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let (mut depth, mut from) = (0_i32, 0);
    for (at, letter) in path.char_indices() {
        match letter {
            '<' | '{' => depth += 1,
            '>' | '}' => depth -= 1,
            ':' if depth == 0 => {
                parts.push(&path[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&path[from..]);
    let plain = parts.into_iter().map(|part| part.split('<').next().unwrap_or(part));
    plain.filter(|part| !part.is_empty() && !part.starts_with('{')).collect()
}

#[cfg(test)]
mod tests;
