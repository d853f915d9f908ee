//! Calls in the words of the source: the same in every build whose source has them unchanged.
//!
//! Takes   modules as runs know them, and return addresses in them.      Gives  function, line of source, what is called, and which of
//!         several such calls it is.
//! Misses  modules that are gone or of another build: there the module and the address are all that is known.
//! Cost    reads each file once, takes apart each function that is asked about once.
//!
//! Copies of a line that the compiler made by inlining are told alike: what counts is what the programmer wrote.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use unpick_symbols::Frame;

use super::{ProgramModule, deed_of};
use crate::reproducer::name_without_hash;

/// A call in the code, in the words of the source.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SourceCall {
    /// File name of the executable or library, without the hash that cargo puts behind it.
    pub module: String,
    pub file: Option<String>,
    pub function: Option<String>,
    pub line: Option<u32>,
    /// The line of source, without spaces around it; none: it cannot be read, or is newer than the program.
    pub text: Option<String>,
    /// `read`, `write` or `update` for hooks of the compiler; else the function that is called. None: not known.
    pub deed: Option<String>,
    /// Of several that are alike in all that, the how manieth in the function's code, from 1; 0: not known.
    pub occurrence: u32,
    /// Return address in the module's file, if nothing better is known than that.
    pub offset: Option<u64>,
}

/// Knows the calls of all modules that were asked about.
#[derive(Default)]
pub struct SourceCalls {
    modules: RefCell<HashMap<(PathBuf, String), Option<KnownModule>>>,
}

struct KnownModule {
    module: ProgramModule,
    /// By the address of their function; each by return address.
    functions: HashMap<u64, HashMap<u64, SourceCall>>,
}

impl SourceCalls {
    /// The call of a module (by path and build id in hex) that returns to `offset` in its file.
    pub fn call(&self, path: &Path, build_id: &str, offset: u64) -> SourceCall {
        let mut modules = self.modules.borrow_mut();
        let key = (path.to_owned(), build_id.to_owned());
        let known = modules.entry(key).or_insert_with(|| KnownModule::read(path, build_id));
        let found = known.as_mut().and_then(|module| module.call(offset));
        found.unwrap_or_else(|| SourceCall {
            module: name_without_hash(path),
            offset: Some(offset),
            ..SourceCall::default()
        })
    }
}

impl KnownModule {
    fn read(path: &Path, build_id: &str) -> Option<KnownModule> {
        let module = ProgramModule::read(path).ok()?;
        let is_it = module.build_id == build_id;
        is_it.then(|| KnownModule { module, functions: HashMap::new() })
    }

    fn call(&mut self, return_address: u64) -> Option<SourceCall> {
        let function = self.module.code.function_at(return_address.checked_sub(1)?)?.address;
        let module = &self.module;
        let calls = self.functions.entry(function).or_insert_with(|| calls_of(module, function));
        calls.get(&return_address).cloned()
    }
}

/// The calls of a function, those that are alike told apart.
fn calls_of(module: &ProgramModule, address: u64) -> HashMap<u64, SourceCall> {
    let Some(function) = module.code.function_at(address) else { return HashMap::new() };
    let mut alike: HashMap<Alike, u32> = HashMap::new();
    let mut calls = HashMap::new();
    for call in module.code.calls_of(function) {
        let shown = module.shown(call.return_address);
        let told = SourceCall {
            module: name_without_hash(&module.path),
            file: shown.frame.file,
            function: shown.frame.function,
            line: shown.frame.line,
            text: shown.text.map(|text| text.trim().to_owned()),
            deed: call.callee.map(|callee| deed_in_words(&callee)),
            occurrence: 0,
            offset: None,
        };
        let occurrence = alike.entry(Alike::of(&told, shown.way)).or_default();
        *occurrence += 1;
        calls.insert(call.return_address, SourceCall { occurrence: *occurrence, ..told });
    }
    calls
}

/// What calls have in common that only their place tells apart.
#[derive(PartialEq, Eq, Hash)]
struct Alike {
    function: Option<String>,
    /// Lines may move; a line without its text has nothing else.
    line: Option<u32>,
    text: Option<String>,
    deed: Option<String>,
    /// Each copy by inlining counts for itself, and so all count alike.
    way: Vec<Frame>,
}

impl Alike {
    fn of(call: &SourceCall, way: Vec<Frame>) -> Alike {
        Alike {
            function: call.function.clone(),
            line: call.line.filter(|_| call.text.is_none()),
            text: call.text.clone(),
            deed: call.deed.clone(),
            way,
        }
    }
}

fn deed_in_words(callee: &str) -> String {
    match deed_of(callee) {
        Some(deed) => match (deed.reads, deed.writes) {
            (true, true) => "update",
            (false, true) => "write",
            _ => "read",
        }
        .to_owned(),
        None => callee.to_owned(),
    }
}
