//! What the source calls the bytes of an access: `cache->empty`, read at the line and column of the access.
//!
//! Takes   a place, what kind of access it is, the source file.      Gives  the expression as written, or nothing.
//! Misses  accesses inside macros, initialisers, range loops, and wherever two expressions share a column.
//! Cost    each file is cut into tokens once.

mod allocation;
mod columns;
mod expression;
mod tokens;

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

pub use allocation::allocation_words;
pub use columns::{Candidate, Dialect, candidates};
pub use expression::{Chain, Step};
pub use tokens::Source;

/// Which half of a statement an access is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    Read,
    Write,
}

/// Where the accessed bytes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Memory {
    Heap,
    Stack,
    #[default]
    Unknown,
}

/// What is known about an access besides its place. The more is known, the more often it has one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Touch {
    pub access: Access,
    /// Bytes accessed.
    pub length: u64,
    pub address: Option<u64>,
    pub memory: Memory,
}

impl Touch {
    pub fn new(access: Access, length: u64) -> Touch {
        Touch { access, length, address: None, memory: Memory::Unknown }
    }
}

/// Source files longer than this are generated, not written.
const LARGEST_SOURCE: u64 = 16 << 20;

/// The source files read so far.
#[derive(Default)]
pub struct Sources {
    files: RefCell<HashMap<String, Option<Arc<Source>>>>,
}

impl Sources {
    /// A source file, unless it is gone or was changed after the program was built.
    pub fn get(&self, path: &str, built: Option<SystemTime>) -> Option<Arc<Source>> {
        if let Some(known) = self.files.borrow().get(path) {
            return known.clone();
        }
        let source = read_if_unchanged(Path::new(path), built).map(Arc::new);
        self.files.borrow_mut().insert(path.to_owned(), source.clone());
        source
    }
}

fn read_if_unchanged(path: &Path, built: Option<SystemTime>) -> Option<Source> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > LARGEST_SOURCE || about.modified().ok()? > built? {
        return None;
    }
    let text = String::from_utf8(fs::read(path).ok()?).ok()?;
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    Some(Source::new(text, is_rust))
}
