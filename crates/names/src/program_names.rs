//! Names from a table where it knows the code, else from the program's files.

use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock};
use unpick_findings::{Author, Names, Place, UsersCall};

use crate::code_names::CodeNames;
use crate::stored_names::StoredNames;

/// All that is known about programs here: what came with imported runs, and the files.
pub struct ProgramNames<'n> {
    stored: Option<&'n StoredNames>,
    files: &'n CodeNames,
}

impl<'n> ProgramNames<'n> {
    pub fn new(stored: Option<&'n StoredNames>, files: &'n CodeNames) -> ProgramNames<'n> {
        ProgramNames { stored, files }
    }

    /// The lines of source around the one that `place` gives for a site, with their numbers.
    pub fn lines_around(&self, site: CodeSite, code: &CodeBook, around: u32) -> Vec<(u32, String)> {
        let stored = self.stored.and_then(|stored| stored.lines_around(site, code, around));
        stored.unwrap_or_else(|| self.files.lines_around(site, code, around))
    }
}

impl Names for ProgramNames<'_> {
    fn place(&self, site: CodeSite, code: &CodeBook) -> Place {
        let stored = self.stored.and_then(|stored| stored.place(site, code));
        stored.unwrap_or_else(|| self.files.place(site, code))
    }

    fn author(&self, site: CodeSite, code: &CodeBook) -> Author {
        let stored = self.stored.and_then(|stored| stored.author(site, code));
        stored.unwrap_or_else(|| self.files.author(site, code))
    }

    fn users_call(&self, site: CodeSite, code: &CodeBook) -> Option<UsersCall> {
        let stored = self.stored.and_then(|stored| stored.users_call(site, code));
        stored.unwrap_or_else(|| self.files.users_call(site, code))
    }

    fn line_text(&self, site: CodeSite, code: &CodeBook) -> Option<String> {
        let stored = self.stored.and_then(|stored| stored.line_text(site, code));
        stored.unwrap_or_else(|| self.files.line_text(site, code))
    }

    fn variable(&self, access: &ExampleAccess, code: &CodeBook) -> Option<String> {
        let stored = self.stored.and_then(|stored| stored.variable(access, code));
        stored.unwrap_or_else(|| self.files.variable(access, code))
    }

    fn lock(&self, lock: &ExampleLock, code: &CodeBook) -> Option<String> {
        let stored = self.stored.and_then(|stored| stored.lock(lock, code));
        stored.unwrap_or_else(|| self.files.lock(lock, code))
    }
}
