//! Answers from a table of names: the program and its sources need not be there.
//!
//! Takes   a `NameTable`; sites and memory with the numbers of a code book.
//! Gives   what the table says, or that it does not know the code.
//!
//! A module is known by its build id, so what is said about it is right wherever the file is now.

use std::collections::HashMap;

use unpick_analyses::interleaving_patterns::{CodeModule, CodeSite};
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock, ExampleMemory};
use unpick_findings::{Author, Place, UsersCall};

use crate::name_table::{
    AccessKey, KeptLines, LockKey, MemoryKey, NameTable, NamedCall, NamedSite,
};

/// A table of names that can be asked.
pub struct StoredNames {
    modules: HashMap<String, u32>,
    site_numbers: HashMap<(u32, u64), u32>,
    sites: Vec<NamedSite>,
    variables: HashMap<AccessKey, String>,
    locks: HashMap<LockKey, String>,
    lines: KeptLines,
}

impl StoredNames {
    pub fn new(table: NameTable) -> StoredNames {
        let known_by = |build_id: &str, path: &str| {
            if build_id.is_empty() { path.to_owned() } else { build_id.to_owned() }
        };
        let modules = table.modules.iter().zip(0..);
        let sites = table.sites.iter().zip(0..);
        StoredNames {
            modules: modules.map(|(one, at)| (known_by(&one.build_id, &one.path), at)).collect(),
            site_numbers: sites
                .filter_map(|(site, at)| Some(((site.module?, site.offset), at)))
                .collect(),
            sites: table.sites,
            variables: table.variables.into_iter().map(|one| (one.access, one.name)).collect(),
            locks: table.locks.into_iter().map(|one| (one.lock, one.name)).collect(),
            lines: table.lines,
        }
    }

    pub fn lines(&self) -> &KeptLines {
        &self.lines
    }

    /// `None`: the table does not know the site.
    pub fn place(&self, site: CodeSite, code: &CodeBook) -> Option<Place> {
        let NamedSite { frame, inlined_into, .. } = self.site(site, code)?;
        Some(Place { frame: frame.clone(), inlined_into: inlined_into.clone() })
    }

    /// `None`: the table does not know the site.
    pub fn author(&self, site: CodeSite, code: &CodeBook) -> Option<Author> {
        self.site(site, code).map(|site| site.author)
    }

    /// The outer `None`: the table does not know the site.
    pub fn users_call(&self, site: CodeSite, code: &CodeBook) -> Option<Option<UsersCall>> {
        let known = self.site(site, code)?.users_call;
        Some(known.map(|NamedCall { offset, is_exact }| UsersCall {
            site: CodeSite { offset, ..site },
            is_exact,
        }))
    }

    /// The outer `None`: the table does not know the site.
    pub fn line_text(&self, site: CodeSite, code: &CodeBook) -> Option<Option<String>> {
        self.site(site, code).map(|site| site.text.clone())
    }

    /// The lines it keeps around a site; `None`: it does not know the site.
    pub fn lines_around(
        &self,
        site: CodeSite,
        code: &CodeBook,
        around: u32,
    ) -> Option<Vec<(u32, String)>> {
        let frame = &self.site(site, code)?.frame;
        let lines = || {
            let lines = self.lines.get(frame.file.as_ref()?)?;
            let line = frame.line?;
            let kept = lines.range(line.saturating_sub(around)..=line.saturating_add(around));
            Some(kept.map(|(&number, text)| (number, text.clone())).collect())
        };
        Some(lines().unwrap_or_default())
    }

    /// The outer `None`: the table does not know the code of the access.
    pub fn variable(&self, access: &ExampleAccess, code: &CodeBook) -> Option<Option<String>> {
        let site = self.site_number(code.sites[access.site as usize], code)?;
        let memory = self.memory(&access.memory, code)?;
        let key = AccessKey { site, touch: access.touch, length: access.length, memory };
        Some(self.variables.get(&key).cloned())
    }

    /// The outer `None`: the table does not know the code around the lock.
    pub fn lock(&self, lock: &ExampleLock, code: &CodeBook) -> Option<Option<String>> {
        let memory = self.memory(&lock.memory, code)?;
        Some(self.locks.get(&LockKey { kind: lock.kind.clone(), memory }).cloned())
    }

    fn site(&self, site: CodeSite, code: &CodeBook) -> Option<&NamedSite> {
        self.site_number(site, code).map(|number| &self.sites[number as usize])
    }

    fn site_number(&self, site: CodeSite, code: &CodeBook) -> Option<u32> {
        let module = self.module(&code.modules[site.module? as usize])?;
        self.site_numbers.get(&(module, site.offset)).copied()
    }

    fn module(&self, module: &CodeModule) -> Option<u32> {
        let name = if module.build_id.is_empty() { &module.path } else { &module.build_id };
        self.modules.get(name).copied()
    }

    fn memory(&self, memory: &ExampleMemory, code: &CodeBook) -> Option<MemoryKey> {
        let site_of = |&site: &u32| self.site_number(code.sites[site as usize], code);
        Some(match memory {
            &ExampleMemory::Static { module, offset } => {
                let module = self.module(&code.modules[module as usize])?;
                MemoryKey::Static { module, offset }
            }
            ExampleMemory::Heap { block, offset } => MemoryKey::Heap {
                site: site_of(&block.site)?,
                stack: block.stack.iter().map(site_of).collect::<Option<_>>()?,
                size: block.size,
                offset: *offset,
            },
            ExampleMemory::Other { .. } => MemoryKey::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(build_id: &str) -> CodeModule {
        let (build_id, path) = (build_id.to_owned(), "/bank".to_owned());
        CodeModule { build_id, path, lowest: 0, length: 64 }
    }

    #[test]
    fn a_call_behind_a_library_is_one_of_the_same_module() {
        let site = r#"{"module": 0, "offset": 16, "frame": {}, "author": "language",
            "users_call": {"offset": 32, "is_exact": true}}"#;
        let call = r#"{"module": 0, "offset": 32, "frame": {"function": "put", "line": 55}}"#;
        let json = format!(
            r#"{{"form": "unpick-names/1", "modules": [{{"build_id": "aa", "path": "/bank"}}],
            "sites": [{site}, {call}], "variables": [], "locks": [], "lines": {{}}}}"#
        );
        let names = StoredNames::new(NameTable::from_json(json.as_bytes()).unwrap());
        let mut code = CodeBook::default();
        code.modules = ["bb", "aa"].map(module).to_vec();
        let at = |offset| CodeSite { module: Some(1), offset };
        let call = names.users_call(at(16), &code).flatten().unwrap();
        assert_eq!(call, UsersCall { site: at(32), is_exact: true });
        assert_eq!(names.place(call.site, &code).and_then(|place| place.frame.line), Some(55));
        assert_eq!(names.users_call(at(32), &code), Some(None));
        assert_eq!(names.users_call(at(48), &code), None, "the table does not know it");
    }
}
