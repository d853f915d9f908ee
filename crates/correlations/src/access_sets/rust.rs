//! Rust, by its syntax alone.
//!
//! Takes   files of a code base, in two steps: a field's type is often known only by its name being unique, so all files are
//!         looked at for what they declare ([`Outline`]) before the first body is read.
//! Gives   access sets of `Type::field`s and of statics.
//! Misses  fields of values whose type is not told (parameters, results of functions, `let` with a type or a constructor, elements of
//!         collections, `self`) where several types have a field by that name; what macros other than the usual ones write.
//!         What runs observed can add both: `observed`.
//! Invents writes where a method that is called like one of the standard library's changes nothing.
//! Cost    one parse per file.

mod asked;
mod body;
mod conditions;
mod declarations;
mod methods;
mod nesting;
mod outline;
mod parsing;
mod salvage;
mod scope;
mod starts;
mod touches;
mod type_names;
mod types;
mod values;
mod walk;

use std::collections::HashMap;
use std::path::Path;

use super::c::hash;
use super::{FileSets, SetsBuilder};
use asked::Asked;
pub use asked::Reliance;
use body::Bodies;
pub use outline::{Outline, Parsed};
pub use types::Types;

pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// What the functions of a file do, by the types of all files; and what of these it relies on. Functions by one name have
/// one key: [`tell_apart`].
pub fn access_sets(parsed: &Parsed, types: &Types, path: &Path) -> (FileSets, Reliance) {
    let (mut sets, types) = (SetsBuilder::default(), Asked::of(types));
    Bodies::new(&types, &mut sets, path).items(&parsed.items);
    (sets.finish(), types.reliance())
}

/// Functions by one name are told apart by their places. Who calls one of them calls that of its own file, if it has one only.
pub fn tell_apart(all: &mut [FileSets]) {
    let mut named: HashMap<u64, Vec<(usize, u64)>> = HashMap::new();
    for (number, sets) in all.iter().enumerate() {
        for function in &sets.functions {
            let file = &sets.files[function.file as usize];
            let own = hash(format!("{}@{file}:{}", function.name, function.line).as_bytes());
            named.entry(function.key).or_default().push((number, own));
        }
    }
    named.retain(|_, functions| functions.len() > 1);
    for (number, sets) in all.iter_mut().enumerate() {
        for function in &mut sets.functions {
            for call in &mut function.calls {
                let here = |functions: &Vec<(usize, u64)>| {
                    let mut here = functions.iter().filter(|(file, _)| *file == number);
                    here.next().filter(|_| here.next().is_none()).map(|(_, own)| *own)
                };
                call.callee = named.get(&call.callee).and_then(here).unwrap_or(call.callee);
            }
            if named.contains_key(&function.key) {
                let file = &sets.files[function.file as usize];
                let own = format!("{}@{file}:{}", function.name, function.line);
                function.key = hash(own.as_bytes());
            }
        }
    }
}
