//! Gathers the names of all code and memory of some runs.
//!
//! Takes   the patterns and graphs of runs, one after the other; names while the program's files are there.      Gives  a `NameTable`.
//! Cost    memory per distinct site and access, not per run; every name is asked for once.

use std::collections::{BTreeMap, HashSet};

use unpick_analyses::RunPatterns;
use unpick_analyses::communication::RunGraphs;
use unpick_analyses::interleaving_patterns::CodeSite;
use unpick_analyses::ranking::{CodeBook, ExampleAccess, ExampleLock, ExampleMemory, accesses_of};
use unpick_findings::{Author, Names, UsersCall};

use crate::name_table::{
    AccessKey, FORM, LockKey, MemoryKey, NameTable, NamedCall, NamedLock, NamedModule, NamedSite,
    NamedVariable,
};
use crate::program_names::ProgramNames;

/// A table in the making.
pub struct TableBuilder<'n> {
    names: &'n ProgramNames<'n>,
    /// Lines of source to keep before and after each site.
    around: u32,
    code: CodeBook,
    variables: BTreeMap<AccessKey, Option<String>>,
    locks: BTreeMap<LockKey, Option<String>>,
}

impl<'n> TableBuilder<'n> {
    pub fn new(names: &'n ProgramNames<'n>, around: u32) -> TableBuilder<'n> {
        let (variables, locks) = Default::default();
        TableBuilder { names, around, code: CodeBook::default(), variables, locks }
    }

    /// Names all that a run has to do with.
    pub fn add(&mut self, run: &RunPatterns) {
        for access in accesses_of(run, &mut self.code) {
            self.add_access(&access);
            access.locks.iter().for_each(|lock| self.add_lock(lock));
        }
    }

    /// Names all that the communication graphs of a run have to do with.
    pub fn add_graphs(&mut self, run: &RunGraphs) {
        for access in run.accesses(&mut self.code) {
            self.add_access(&access);
        }
    }

    fn add_access(&mut self, access: &ExampleAccess) {
        let (names, code) = (self.names, &self.code);
        let name = self.variables.entry(AccessKey::of(access));
        name.or_insert_with(|| names.variable(access, code));
    }

    fn add_lock(&mut self, lock: &ExampleLock) {
        let (names, code) = (self.names, &self.code);
        let name = self.locks.entry(LockKey::of(lock));
        name.or_insert_with(|| names.lock(lock, code));
    }

    pub fn finish(self) -> NameTable {
        let mut table = NameTable {
            form: FORM.to_owned(),
            modules: Vec::new(),
            sites: Vec::new(),
            variables: Vec::new(),
            locks: Vec::new(),
            lines: BTreeMap::new(),
        };
        for module in &self.code.modules {
            let (build_id, path) = (module.build_id.clone(), module.path.clone());
            table.modules.push(NamedModule { build_id, path });
        }
        self.name_sites(&mut table);
        let variables = self.variables.into_iter();
        table.variables = variables
            .filter_map(|(access, name)| Some(NamedVariable { access, name: name? }))
            .collect();
        let locks = self.locks.into_iter();
        table.locks =
            locks.filter_map(|(lock, name)| Some(NamedLock { lock, name: name? })).collect();
        table
    }

    fn name_sites(&self, table: &mut NameTable) {
        for &site in &self.code.sites {
            let named = self.name_site(site, table);
            table.sites.push(named);
        }
        // What they refer to comes last: the others have the numbers of the code book.
        let mut known: HashSet<CodeSite> = self.code.sites.iter().copied().collect();
        for &site in &self.code.sites {
            let call = self.users_call(site).map(|call| call.site);
            if let Some(call) = call.filter(|call| known.insert(*call)) {
                let named = self.name_site(call, table);
                table.sites.push(named);
            }
        }
    }

    fn name_site(&self, site: CodeSite, table: &mut NameTable) -> NamedSite {
        let place = self.names.place(site, &self.code);
        if let Some(file) = &place.frame.file {
            let lines = self.names.lines_around(site, &self.code, self.around);
            if !lines.is_empty() {
                table.lines.entry(file.clone()).or_default().extend(lines);
            }
        }
        let users_call = self.users_call(site).map(|call| {
            let UsersCall { site, is_exact } = call;
            NamedCall { offset: site.offset, is_exact }
        });
        NamedSite {
            module: site.module,
            offset: site.offset,
            frame: place.frame,
            inlined_into: place.inlined_into,
            author: self.names.author(site, &self.code),
            text: self.names.line_text(site, &self.code),
            users_call,
        }
    }

    /// Only code of a library is somebody else's.
    fn users_call(&self, site: CodeSite) -> Option<UsersCall> {
        let is_library = self.names.author(site, &self.code) == Author::Language;
        is_library.then(|| self.names.users_call(site, &self.code)).flatten()
    }
}

impl AccessKey {
    fn of(access: &ExampleAccess) -> AccessKey {
        let ExampleAccess { site, touch, length, .. } = *access;
        AccessKey { site, touch, length, memory: MemoryKey::of(&access.memory) }
    }
}

impl LockKey {
    fn of(lock: &ExampleLock) -> LockKey {
        LockKey { kind: lock.kind.clone(), memory: MemoryKey::of(&lock.memory) }
    }
}

impl MemoryKey {
    fn of(memory: &ExampleMemory) -> MemoryKey {
        match memory {
            &ExampleMemory::Static { module, offset } => MemoryKey::Static { module, offset },
            ExampleMemory::Heap { block, offset } => MemoryKey::Heap {
                site: block.site,
                stack: block.stack.clone(),
                size: block.size,
                offset: *offset,
            },
            ExampleMemory::Other { .. } => MemoryKey::Other,
        }
    }
}
