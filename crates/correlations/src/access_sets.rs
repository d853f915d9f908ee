//! Access sets: per function, which globals and fields it touches itself, how, where, and whom it calls.
//!
//! Takes   one source file, parsed by its language's reader (`c`, `rust`).
//! Gives   [`FileSets`]: functions with accesses in the order of the source; plain data, kept from one time to the next.
//! Misses  what an access means for other names of the same bytes.
//! Cost    one walk over the syntax tree.

pub mod c;
pub mod rust;
pub mod split;
mod tables;

use serde::{Deserialize, Serialize};

pub use tables::{SetsBuilder, StatementCounter};

/// What is done to a variable, as bits: a read-modify-write has two of them.
pub mod kind {
    pub const READ: u8 = 1;
    pub const WRITE: u8 = 2;
    /// Its address goes elsewhere: whoever has it may read or write.
    pub const ADDRESS: u8 = 4;
}

/// All functions that one source file defines, headers of the project included where it is the first to bring them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct FileSets {
    /// Names of variables, which accesses refer to by number.
    pub variables: Vec<String>,
    /// Files of functions and of macros.
    pub files: Vec<String>,
    pub conditions: Vec<ConditionText>,
    pub functions: Vec<FunctionSet>,
    /// Lines of this file, and of the project's headers that only its parse has seen.
    pub lines: usize,
    /// Errors of the parser, the first few.
    pub errors: Vec<String>,
    pub error_count: usize,
    /// Headers it includes, whose change makes it another file.
    pub headers: Vec<String>,
    /// Fields and statics that it declares, by the names that accesses have; for Rust only, where recordings add accesses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declared: Vec<String>,
}

/// A condition on one variable, in words: `Log::enabled`, `!Log::enabled`, `Pager::state == 2`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ConditionText {
    pub variable: u32,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionSet {
    /// The same for a declaration and its definition, in all files.
    pub key: u64,
    pub name: String,
    pub file: u32,
    pub line: u32,
    pub accesses: Vec<Access>,
    pub calls: Vec<Call>,
    /// Whether it makes or destroys its object: all fields are touched there.
    pub is_life: bool,
    /// Where its statements are, in order; number 1 is the first. For Rust only.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub statements: Vec<Statement>,
}

/// A statement, as far as an access must know it that is found out later.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, Vec<u32>)", into = "(u32, Vec<u32>)")]
pub struct Statement {
    /// Where it begins.
    pub line: u32,
    /// Conditions that hold there, the innermost last.
    pub under: Vec<u32>,
}

impl From<(u32, Vec<u32>)> for Statement {
    fn from((line, under): (u32, Vec<u32>)) -> Self {
        Self { line, under }
    }
}

impl From<Statement> for (u32, Vec<u32>) {
    fn from(statement: Statement) -> Self {
        (statement.line, statement.under)
    }
}

/// `origin` of an access that is written in the function itself.
pub const WRITTEN_HERE: u32 = 0;

/// One access as the source has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "AccessRow", into = "AccessRow")]
pub struct Access {
    pub variable: u32,
    pub kind: u8,
    pub line: u32,
    /// From 1; 0: not known.
    pub column: u32,
    /// Which statement of the function, counted from its beginning.
    pub statement: u32,
    /// [`WRITTEN_HERE`], or a number for the macro that wrote it, the same in all functions of the file.
    pub origin: u32,
    /// Conditions that hold here, the innermost last.
    pub under: Vec<u32>,
}

/// Rows are a third of the size of maps.
type AccessRow = (u32, u8, u32, u32, u32, u32, Vec<u32>);

impl From<AccessRow> for Access {
    fn from((variable, kind, line, column, statement, origin, under): AccessRow) -> Self {
        Self { variable, kind, line, column, statement, origin, under }
    }
}

impl From<Access> for AccessRow {
    fn from(access: Access) -> Self {
        let Access { variable, kind, line, column, statement, origin, under } = access;
        (variable, kind, line, column, statement, origin, under)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, u32)", into = "(u64, u32)")]
pub struct Call {
    /// [`FunctionSet::key`] of whom it calls.
    pub callee: u64,
    pub statement: u32,
}

impl From<(u64, u32)> for Call {
    fn from((callee, statement): (u64, u32)) -> Self {
        Self { callee, statement }
    }
}

impl From<Call> for (u64, u32) {
    fn from(call: Call) -> Self {
        (call.callee, call.statement)
    }
}
