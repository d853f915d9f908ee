//! The calls in a program as it is on disk now: where each is in the source, and what it calls.
//!
//! Takes   the paths of an executable and of libraries it uses.      Gives  calls by function, with names of what they call.
//! Misses  code without a symbol; calls through pointers; calls through registers that were loaded on another way than the last
//!         one before them in the code. Only x86-64.
//! Cost    reads each file; takes apart the functions that are asked for, and all of them if they do not have what is looked for.

mod beginnings;
mod callees;
mod completed;
mod disassembly;
mod hooks;
mod lock_ways;
mod source_calls;
mod whole;

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use unpick_findings::{CodePlace, FindingAccess, Hang, HeldLock};
use unpick_problem::Problem;
use unpick_symbols::{Frame, ModuleInfo, Place, Symbols};

use crate::plan::{CallPlace, ModuleName};

use callees::Code;
pub(crate) use hooks::deed_of;
pub use hooks::operand_of;
pub(crate) use lock_ways::LockWay;
pub use source_calls::{SourceCall, SourceCalls};

/// A program's files.
pub struct Program {
    /// The executable first.
    pub(crate) modules: Vec<ProgramModule>,
}

pub(crate) struct ProgramModule {
    path: PathBuf,
    build_id: String,
    code: Code,
    symbols: Symbols,
    calls: OnceCell<Vec<Call>>,
}

/// A call in the code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Call {
    pub return_address: u64,
    /// As the programmer wrote it, or as the linker knows a hook; none: a pointer.
    pub callee: Option<String>,
}

impl Program {
    /// Reads the executable.
    pub fn open(executable: &Path) -> Result<Program, Problem> {
        Ok(Program { modules: vec![ProgramModule::read(executable)?] })
    }

    /// Reads a library of the program as well.
    pub fn with_library(mut self, library: &Path) -> Result<Program, Problem> {
        self.modules.push(ProgramModule::read(library)?);
        Ok(self)
    }

    /// Reads the libraries of a finding as well, those that are there and of the build it was found in; their paths are as seen from
    /// `folder`.
    #[must_use]
    pub fn with_libraries_of(self, accesses: &[FindingAccess], folder: &Path) -> Program {
        let code = accesses.iter().flat_map(|access| {
            [&access.code].into_iter().chain(&access.calls).chain(code_of_locks(&access.locks))
        });
        self.with_modules_at(code, folder)
    }

    /// The same for the threads of a hang.
    #[must_use]
    pub fn with_libraries_of_hang(self, hang: &Hang, folder: &Path) -> Program {
        let threads = hang.processes.iter().flat_map(|process| &process.threads);
        let code = threads.flat_map(|thread| {
            thread.code.iter().chain(&thread.calls).chain(code_of_locks(&thread.holds))
        });
        let lost = hang.lost_notification().into_iter().flat_map(|lost| &lost.steps);
        let code = code.chain(lost.flat_map(|step| {
            step.code.iter().chain(&step.calls).chain(code_of_locks(step.lock.as_slice()))
        }));
        self.with_modules_at(code, folder)
    }

    fn with_modules_at<'c>(
        mut self,
        code: impl Iterator<Item = &'c CodePlace>,
        folder: &Path,
    ) -> Program {
        for place in code {
            let (Some(path), Some(call)) = (&place.module, CallPlace::of(place)) else { continue };
            if self.module_of(&call).is_none() {
                let module = ProgramModule::read(&folder.join(path)).ok();
                self.modules.extend(module.filter(|module| module.is_called(&call.module)));
            }
        }
        self
    }

    /// The module that a place is in, if it is of this build.
    pub(crate) fn module_of(&self, place: &CallPlace) -> Option<&ProgramModule> {
        self.modules.iter().find(|module| module.is_called(&place.module))
    }

    /// That of the executable.
    pub fn path(&self) -> &Path {
        &self.modules[0].path
    }

    /// A return address in the executable.
    pub fn place(&self, return_address: u64) -> CallPlace {
        self.modules[0].place(return_address)
    }

    /// What is called at a place.
    pub fn callee_at(&self, place: &CallPlace) -> Option<String> {
        self.module_of(place)?.call_at(place.offset)?.callee
    }
}

impl ProgramModule {
    fn read(path: &Path) -> Result<ProgramModule, Problem> {
        let unreadable = |why: String| {
            Problem::usage("a program cannot be looked at").at("file", path.display()).why(why)
        };
        let path = path.canonicalize().map_err(|error| unreadable(error.to_string()))?;
        let code = Code::read(&path).map_err(unreadable)?;
        let info = ModuleInfo { path: path.clone(), length: u64::MAX, ..ModuleInfo::default() };
        let build_id = code.build_id.clone();
        let symbols = Symbols::load(&[info]);
        Ok(ProgramModule { path, build_id, code, symbols, calls: OnceCell::new() })
    }

    /// How the runtime knows it.
    pub fn name(&self) -> ModuleName {
        match self.build_id.as_str() {
            "" => ModuleName::Path(self.path.to_string_lossy().into_owned()),
            build_id => ModuleName::BuildId(build_id.to_owned()),
        }
    }

    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn is_called(&self, name: &ModuleName) -> bool {
        match name {
            ModuleName::BuildId(build_id) => *build_id == self.build_id,
            // Findings name files as seen from a folder that is not known here.
            ModuleName::Path(path) => self.build_id.is_empty() && self.path.ends_with(path),
        }
    }

    /// All calls of the module, by address.
    pub fn calls(&self) -> &[Call] {
        self.calls.get_or_init(|| {
            let functions = self.code.functions.iter();
            functions.flat_map(|function| self.code.calls_of(function)).collect()
        })
    }

    /// The calls of all functions that the programmer called so.
    pub fn calls_inside(&self, name: &str) -> Vec<Call> {
        let functions = self.code.functions.iter().filter(|function| function.name == name);
        functions.flat_map(|function| self.code.calls_of(function)).collect()
    }

    fn call_at(&self, return_address: u64) -> Option<Call> {
        let function = self.code.function_at(return_address.checked_sub(1)?)?;
        let mut calls = self.code.calls_of(function).into_iter();
        calls.find(|call| call.return_address == return_address)
    }

    /// Where a call is, as a reader is shown it.
    pub fn shown(&self, return_address: u64) -> ShownCall {
        let place = self.symbols.place(return_address);
        let at = place.own_frame().unwrap_or(0);
        ShownCall {
            frame: place.frames.get(at).cloned().unwrap_or_default(),
            inside: name_of_outermost(&place),
            way: place.frames.get(at + 1..).unwrap_or_default().to_vec(),
            is_own: place.own_frame().is_some(),
            text: self.symbols.line_text(&place, at),
        }
    }

    pub fn place(&self, return_address: u64) -> CallPlace {
        CallPlace { module: self.name(), offset: return_address }
    }
}

/// Where a call is.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShownCall {
    pub frame: Frame,
    /// The function whose code it is part of.
    pub inside: Option<String>,
    /// The calls that were inlined on the way there, from the inside out: of two copies they differ.
    pub way: Vec<Frame>,
    /// Not all of it is of a library of the language.
    pub is_own: bool,
    /// None: the source is gone, or newer than the program.
    pub text: Option<String>,
}

fn code_of_locks(locks: &[HeldLock]) -> impl Iterator<Item = &CodePlace> {
    locks.iter().flat_map(|lock| lock.code.iter().chain(&lock.calls))
}

fn name_of_outermost(place: &Place) -> Option<String> {
    place.frames.last()?.function.clone()
}
