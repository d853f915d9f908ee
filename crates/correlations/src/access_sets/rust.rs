//! Rust, by its syntax alone.
//!
//! Takes   the files of a code base, all at once: a field's type is often known only by its name being unique.
//! Gives   access sets of `Type::field`s and of statics.
//! Misses  fields of values whose type is not told (parameters, results of functions, `let` with a type or a constructor, elements of
//!         collections, `self`) where several types have a field by that name; what macros other than the usual ones write.
//!         What runs observed can add both: `observed`.
//! Invents writes where a method that is called like one of the standard library's changes nothing.
//! Cost    one parse per file.

mod body;
mod conditions;
mod methods;
mod salvage;
mod scope;
mod touches;
mod type_names;
mod types;
mod values;
mod walk;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::c::hash;
use super::{FileSets, SetsBuilder};
use body::Bodies;
use salvage::salvage;
use types::Types;

pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Reads all files that can be parsed, and of the others what can be; it says what not, and why.
pub fn read_all(files: &[PathBuf], missing: &mut Vec<String>) -> Vec<FileSets> {
    let mut types = Types::default();
    let mut parsed = Vec::new();
    for path in files {
        match parse(path) {
            Ok(file) => {
                missing.extend(file.trouble.map(|why| format!("{}: {why}", path.display())));
                let declared = types.learn(&file.items);
                parsed.push((path, file.items, file.lines, declared));
            }
            Err(why) => missing.push(format!("{}: not read: {why}", path.display())),
        }
    }
    let mut all: Vec<FileSets> = parsed
        .into_iter()
        .map(|(path, items, lines, declared)| {
            let mut sets = SetsBuilder::default();
            Bodies::new(&types, &mut sets, path).items(&items);
            FileSets { lines, declared, ..sets.finish() }
        })
        .collect();
    tell_apart(&mut all);
    all
}

struct Parsed {
    items: Vec<syn::Item>,
    lines: usize,
    /// What is missing of it.
    trouble: Option<String>,
}

fn parse(path: &Path) -> Result<Parsed, String> {
    let bytes = std::fs::read(path).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes)
        .map_err(|error| format!("byte {} is not UTF-8", error.utf8_error().valid_up_to()))?;
    let lines = text.lines().count();
    let error = match syn::parse_file(&text) {
        Ok(file) => return Ok(Parsed { items: file.items, lines, trouble: None }),
        Err(error) => format!("line {}: {error}", error.span().start().line),
    };
    let saved = salvage(&text);
    if saved.items.is_empty() {
        return Err(error);
    }
    let lost = saved.lost.max(1);
    let trouble = format!("{error}; {lost} of {} parts of it not read", saved.parts.max(lost));
    Ok(Parsed { items: saved.items, lines, trouble: Some(trouble) })
}

/// Functions by one name are told apart by their places. Who calls one of them calls that of its own file, if it has one only.
fn tell_apart(all: &mut [FileSets]) {
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
