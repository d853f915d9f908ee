//! The access sets of all files as one: functions with what they touch themselves and through those they call.
//!
//! Takes   the sets of every file.      Gives  a [`Database`] with one numbering.
//! Misses  callees of callees. Functions with the same key are one: those of a header are taken from the file that brings it first.

use std::collections::HashMap;

use crate::access_sets::{Access, ConditionText, FileSets, FunctionSet, WRITTEN_HERE, kind};

/// Fields of one type beyond which a function is about the type as a whole.
const WHOLE: usize = 10;

/// All functions of a code base.
#[derive(Debug, Default)]
pub struct Database {
    pub variables: Vec<String>,
    pub conditions: Vec<ConditionText>,
    pub files: Vec<String>,
    pub functions: Vec<Function>,
    /// By variable, the functions that touch it themselves.
    touched_by: Vec<Vec<u32>>,
}

#[derive(Debug)]
pub struct Function {
    pub name: String,
    pub file: u32,
    pub line: u32,
    pub is_life: bool,
    /// By variable, then by statement.
    pub touches: Vec<Touch>,
    /// Functions it calls, by number.
    pub callees: Vec<(u32, u32)>,
}

/// An access, as it counts for the function: its own, or that of one it calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Touch {
    pub variable: u32,
    pub kind: u8,
    pub line: u32,
    /// From 1; 0: not known.
    pub column: u32,
    pub statement: u32,
    pub source: Source,
    pub under: Vec<u32>,
}

/// Who wrote an access into a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    Own,
    /// A macro, by number: its accesses are one piece of evidence, however often it is used.
    Macro(u32),
    /// The function goes through most of a type, by the type's number: it copies, clears or prints it, and says nothing about any
    /// two fields.
    Whole(u32),
    /// A function that does nothing but this access: as good as the caller's own.
    Accessor,
    /// A call, by the number of the function that is called.
    Call(u32),
}

impl Source {
    /// Whether the function is responsible for it, and not one it calls.
    pub fn is_own(self) -> bool {
        !matches!(self, Self::Call(_))
    }

    /// Two accesses from one macro or one callee are one decision of the programmer.
    pub fn is_independent_of(self, other: Self) -> bool {
        match self {
            Self::Own | Self::Accessor => true,
            Self::Macro(_) | Self::Whole(_) | Self::Call(_) => self != other,
        }
    }
}

impl Function {
    /// Its touches of one variable.
    pub fn touches_of(&self, variable: u32) -> &[Touch] {
        let from = self.touches.partition_point(|touch| touch.variable < variable);
        let to = self.touches.partition_point(|touch| touch.variable <= variable);
        &self.touches[from..to]
    }

    /// Whether it touches a variable, and not only through one it calls.
    pub fn touches_itself(&self, variable: u32) -> bool {
        self.touches_of(variable).iter().any(|touch| touch.source.is_own())
    }

    /// One slice per variable.
    pub fn by_variable(&self) -> impl Iterator<Item = &[Touch]> {
        self.touches.chunk_by(|one, other| one.variable == other.variable)
    }
}

impl Database {
    pub fn of(files: Vec<FileSets>) -> Self {
        let mut database = Self::default();
        let mut merge = Merge::default();
        for file in files {
            merge.add(&mut database, file);
        }
        merge.connect(&mut database);
        database.mark_whole_types();
        database.note_who_touches();
        database
    }

    fn note_who_touches(&mut self) {
        self.touched_by = vec![Vec::new(); self.variables.len()];
        for (number, function) in self.functions.iter().enumerate() {
            for touches in function.by_variable() {
                if touches.iter().any(|touch| touch.source.is_own()) {
                    self.touched_by[touches[0].variable as usize].push(number as u32);
                }
            }
        }
    }

    /// Functions that touch a variable themselves, by number.
    pub fn functions_with(&self, variable: u32) -> &[u32] {
        &self.touched_by[variable as usize]
    }

    fn mark_whole_types(&mut self) {
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let owners: Vec<u32> = self
            .variables
            .iter()
            .map(|name| {
                let next = numbers.len() as u32;
                *numbers.entry(owner(name)).or_insert(next)
            })
            .collect();
        for function in &mut self.functions {
            let mut fields: HashMap<u32, usize> = HashMap::new();
            for touches in function.by_variable() {
                if touches.iter().any(|touch| touch.source == Source::Own) {
                    *fields.entry(owners[touches[0].variable as usize]).or_default() += 1;
                }
            }
            for touch in &mut function.touches {
                let owner = owners[touch.variable as usize];
                if touch.source == Source::Own && fields.get(&owner).is_some_and(|&n| n > WHOLE) {
                    touch.source = Source::Whole(owner);
                }
            }
        }
    }

    pub fn file_of(&self, function: &Function) -> &str {
        &self.files[function.file as usize]
    }
}

#[derive(Default)]
struct Merge {
    variables: HashMap<String, u32>,
    files: HashMap<String, u32>,
    conditions: HashMap<ConditionText, u32>,
    functions: HashMap<u64, u32>,
    calls: Vec<Vec<(u64, u32)>>,
}

impl Merge {
    fn add(&mut self, database: &mut Database, file: FileSets) {
        let numbers =
            |known: &mut HashMap<String, u32>, all: &mut Vec<String>, names: Vec<String>| {
                names.into_iter().map(|name| number_of(known, all, name)).collect::<Vec<_>>()
            };
        let variables = numbers(&mut self.variables, &mut database.variables, file.variables);
        let files = numbers(&mut self.files, &mut database.files, file.files);
        let conditions: Vec<u32> = file
            .conditions
            .into_iter()
            .map(|ConditionText { variable, text }| {
                let variable = variables[variable as usize];
                let condition = ConditionText { variable, text };
                number_of(&mut self.conditions, &mut database.conditions, condition)
            })
            .collect();
        for function in file.functions {
            if self.functions.contains_key(&function.key) {
                continue;
            }
            self.functions.insert(function.key, database.functions.len() as u32);
            self.calls
                .push(function.calls.iter().map(|call| (call.callee, call.statement)).collect());
            database.functions.push(own_touches(function, &variables, &files, &conditions));
        }
    }

    /// Adds to each function what those it calls touch themselves.
    fn connect(self, database: &mut Database) {
        let accessors: Vec<bool> = database
            .functions
            .iter()
            .zip(&self.calls)
            .map(|(f, calls)| is_accessor(f, calls))
            .collect();
        let mut all_added = Vec::with_capacity(database.functions.len());
        for (function, calls) in database.functions.iter_mut().zip(&self.calls) {
            function.callees = calls
                .iter()
                .filter_map(|(key, statement)| Some((*self.functions.get(key)?, *statement)))
                .collect();
        }
        for function in &database.functions {
            let mut added = Vec::new();
            for &(callee, statement) in &function.callees {
                let source = if accessors[callee as usize] {
                    Source::Accessor
                } else {
                    Source::Call(callee)
                };
                added.extend(touches_at(&database.functions[callee as usize], statement, source));
            }
            all_added.push(added);
        }
        let everyone = database.functions.iter_mut().zip(all_added).zip(accessors);
        for ((function, added), is_accessor) in everyone {
            function.touches.extend(added);
            // Who makes an object touches all of it; what an accessor does is done by its callers.
            if function.is_life || is_accessor {
                function.touches.clear();
            }
            function.touches.sort_by_key(|touch| (touch.variable, touch.statement));
        }
    }
}

fn number_of<T: Clone + Eq + std::hash::Hash>(
    known: &mut HashMap<T, u32>,
    all: &mut Vec<T>,
    one: T,
) -> u32 {
    *known.entry(one).or_insert_with_key(|one| {
        all.push(one.clone());
        all.len() as u32 - 1
    })
}

fn own_touches(
    function: FunctionSet,
    variables: &[u32],
    files: &[u32],
    conditions: &[u32],
) -> Function {
    let touch = |access: Access| Touch {
        variable: variables[access.variable as usize],
        kind: access.kind,
        line: access.line,
        column: access.column,
        statement: access.statement,
        source: match access.origin {
            WRITTEN_HERE => Source::Own,
            origin => Source::Macro(origin),
        },
        under: access.under.iter().map(|&number| conditions[number as usize]).collect(),
    };
    Function {
        name: function.name,
        file: files[function.file as usize],
        line: function.line,
        is_life: function.is_life,
        touches: function.accesses.into_iter().map(touch).collect(),
        callees: Vec::new(),
    }
}

/// `Type` of `Type::field`; nothing of a global.
pub fn owner(name: &str) -> &str {
    name.rsplit_once("::").map_or("", |(owner, _)| owner)
}

/// A function that only gets or sets one variable.
fn is_accessor(function: &Function, calls: &[(u64, u32)]) -> bool {
    let Some(first) = function.touches.first() else { return false };
    calls.is_empty()
        && function.touches.len() <= 2
        && function.touches.iter().all(|touch| touch.variable == first.variable)
}

/// What a caller sees of a function: each variable once, with all that is done to it.
fn touches_at(callee: &Function, statement: u32, source: Source) -> Vec<Touch> {
    let mut kinds: HashMap<u32, u8> = HashMap::new();
    for touch in callee.touches.iter().filter(|touch| touch.source.is_own()) {
        *kinds.entry(touch.variable).or_default() |= touch.kind;
    }
    kinds
        .into_iter()
        .map(|(variable, kind)| {
            let (line, column, under) = Default::default();
            Touch { variable, kind, line, column, statement, source, under }
        })
        .collect()
}

/// Whether a touch is of the type: a read, a write, either.
pub fn types_of(kinds: u8) -> u8 {
    let any = if kinds == 0 { 0 } else { 1 << 2 };
    (kinds & (kind::READ | kind::WRITE)) | any
}
