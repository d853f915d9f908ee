//! Global and static variables by address, with the member that was touched.
//!
//! Takes   an address and the length of the access.      Gives  `config.limits[3].max`.
//! Misses  thread-locals, stack and heap.

use std::fmt;

use crate::demangle::demangled;
use crate::globals::Global;
use crate::member_path::{Bytes, PathFinder};
use crate::members::{Belonging, members_at};
use crate::module::{DebugNames, Module};
use crate::symbol_table::Symbol;

/// A global or static variable, and which part of it an address is in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Variable {
    /// `config.limits[3].max`: as far as the debug info can say.
    pub path: String,
    /// The same without members of library types: `sessions.open`, not `sessions.open.data.base.table.table.items`.
    pub own_path: String,
    /// The variable alone: `config`.
    pub name: String,
    /// Bytes from the start of what `path` names to the address.
    pub rest: u64,
    /// The function, for a static local of C.
    pub function: Option<String>,
    pub module: String,
    /// File and line of the declaration.
    pub declared: Option<(String, u32)>,
}

impl Variable {
    /// As its user calls it: without what a library's types are made of.
    pub fn in_users_words(mut self) -> String {
        if self.own_path != self.path {
            self.path = std::mem::take(&mut self.own_path);
            self.rest = 0;
        }
        self.to_string()
    }
}

impl fmt::Display for Variable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)?;
        if self.rest != 0 {
            write!(f, "+{}", self.rest)?;
        }
        match &self.function {
            Some(function) => write!(f, " (static in {function})"),
            None => Ok(()),
        }
    }
}

/// The variable at an address of `module`; `all` are searched for the debug info of variables that the
/// linker copied from a library into the executable.
pub fn find(
    all: &[Module],
    module: &Module,
    address: u64,
    length: u64,
    hint: Option<&str>,
) -> Option<Variable> {
    let in_file = module.in_file(address);
    if let Some(names) = module.names()
        && let Some(global) = names.globals.at(in_file)
    {
        let bytes = Bytes { offset: in_file - global.address, length };
        return Some(describe(module, names, global, bytes, hint));
    }
    let symbol = module.symbols().object(in_file)?;
    let bytes = Bytes { offset: in_file - symbol.address, length };
    copied_from_library(all, module, symbol, bytes, hint)
        .or_else(|| Some(by_symbol(module, symbol, bytes)))
}

/// What the bytes at an address of `module` belong to.
pub fn belonging(module: &Module, address: u64, length: u64) -> Option<Belonging> {
    let in_file = module.in_file(address);
    let names = module.names()?;
    let global = names.globals.at(in_file)?;
    let bytes = Bytes { offset: in_file - global.address, length };
    let members = members_at(names, global.of, bytes);
    Some(Belonging { global: Some(global.name.clone()), members })
}

fn describe(
    module: &Module,
    names: &DebugNames,
    global: &Global,
    bytes: Bytes,
    hint: Option<&str>,
) -> Variable {
    let path = PathFinder::new(names, hint).find(global.of, bytes);
    Variable {
        path: global.name.clone() + &path.text,
        own_path: global.name.clone() + &path.own,
        name: global.name.clone(),
        rest: path.rest,
        function: global.function.clone().or_else(|| function_by_symbol(module, global)),
        module: module.info.name(),
        declared: names.declaration(global.entry),
    }
}

/// clang does not always say which inlined function a static local is from, but calls it `function.variable`.
fn function_by_symbol(module: &Module, global: &Global) -> Option<String> {
    let symbol = module.symbols().object(global.address)?;
    let function = symbol.name.strip_suffix(&global.name)?.strip_suffix('.')?;
    (!function.is_empty()).then(|| function.to_owned())
}

/// A library's variable that the executable uses lives in the executable, its debug info in the library.
fn copied_from_library(
    all: &[Module],
    module: &Module,
    symbol: &Symbol,
    bytes: Bytes,
    hint: Option<&str>,
) -> Option<Variable> {
    let name = demangled(&symbol.name);
    all.iter().filter(|other| !std::ptr::eq(*other, module)).find_map(|other| {
        let names = other.names()?;
        let global = names.globals.named(&name).filter(|global| global.size == symbol.size)?;
        Some(describe(other, names, global, bytes, hint))
    })
}

/// Without debug info: the object's symbol and the offset in it.
fn by_symbol(module: &Module, symbol: &Symbol, bytes: Bytes) -> Variable {
    let name = demangled(&symbol.name);
    Variable {
        path: name.clone(),
        own_path: name.clone(),
        name,
        rest: bytes.offset,
        function: None,
        module: module.info.name(),
        declared: None,
    }
}
