//! Who gives names: injected, so that findings need no files.

use serde::{Deserialize, Serialize};
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock};

/// A function at a line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
pub struct Frame {
    pub function: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub column: Option<u32>,
}

/// A place in the code, in words.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// What a reader should look at.
    pub frame: Frame,
    /// The functions it was inlined into, from the inside out.
    pub inlined_into: Vec<Frame>,
}

/// Who wrote the code at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Author {
    /// Or it is not known.
    #[default]
    User,
    /// Somebody whose package cargo fetched.
    Dependency,
    /// All of it is a library's of the language: a reader should look at who called it.
    Language,
}

/// A call in the user's code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsersCall {
    pub site: CodeSite,
    /// Whether it is the only one. Else others are on the same line of the same function, and nothing else is known.
    pub is_exact: bool,
}

/// Knows names. What it does not know it leaves out.
pub trait Names {
    fn place(&self, site: CodeSite, code: &CodeBook) -> Place;
    /// Who wrote the code at a site.
    fn author(&self, _site: CodeSite, _code: &CodeBook) -> Author {
        Author::User
    }
    /// The call through which the user's code gets to a site inside a library of the language, whoever made it; none if there are
    /// several, or nobody knows.
    fn users_call(&self, _site: CodeSite, _code: &CodeBook) -> Option<UsersCall> {
        None
    }
    /// The line of source that `place` gives for a site, as it was when the program was built.
    fn line_text(&self, _site: CodeSite, _code: &CodeBook) -> Option<String> {
        None
    }
    /// What the program calls the bytes of an access.
    fn variable(&self, access: &ExampleAccess, code: &CodeBook) -> Option<String>;
    /// What the program calls a lock, or another object that threads wait for.
    fn lock(&self, lock: &ExampleLock, code: &CodeBook) -> Option<String>;
}
