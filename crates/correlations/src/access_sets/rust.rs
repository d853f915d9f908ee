//! Rust, by its syntax alone.
//!
//! Takes   the files of a code base, all at once: a field's type is often known only by its name being unique.
//! Gives   access sets of `Type::field`s and of statics.
//! Misses  fields of values whose type is not told nearby (parameters, `let` with a type or a constructor, `self`) where several
//!         types have a field by that name; what macros other than the usual ones write.
//! Invents writes where a method that is called like one of the standard library's changes nothing.
//! Cost    one parse per file.

mod body;
mod methods;
mod types;

use std::path::{Path, PathBuf};

use super::{FileSets, SetsBuilder};
use body::Bodies;
use types::Types;

pub fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

/// Reads all files that can be parsed; of the others it says why not.
pub fn read_all(files: &[PathBuf], missing: &mut Vec<String>) -> Vec<FileSets> {
    let mut types = Types::default();
    let mut parsed = Vec::new();
    for path in files {
        match parse(path) {
            Ok((file, lines)) => {
                types.learn(&file.items);
                parsed.push((path, file, lines));
            }
            Err(why) => missing.push(format!("{}: not read: {why}", path.display())),
        }
    }
    parsed
        .into_iter()
        .map(|(path, file, lines)| {
            let mut sets = SetsBuilder::default();
            Bodies::new(&types, &mut sets, path).items(&file.items);
            FileSets { lines, ..sets.finish() }
        })
        .collect()
}

fn parse(path: &Path) -> Result<(syn::File, usize), String> {
    let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
    let file = syn::parse_file(&text).map_err(|error| {
        let at = error.span().start();
        format!("line {}: {error}", at.line)
    })?;
    Ok((file, text.lines().count()))
}
