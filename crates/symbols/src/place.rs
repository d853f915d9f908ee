//! A place in the code: where an instruction is, in the words of the source.

use std::fmt;
use std::path::Path;

use crate::library_code::{is_dependency_frame, is_library_frame};

/// One function on the way to an instruction: itself, or one it was inlined into.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Frame {
    /// Demangled, with namespaces or module path, without parameters.
    pub function: Option<String>,
    /// As the compiler was told: absolute in most builds.
    pub file: Option<String>,
    /// From 1.
    pub line: Option<u32>,
    /// From 1. `None` where the compiler gave none.
    pub column: Option<u32>,
}

/// Where an instruction is. With no debug info `frames` holds at most a function name without a line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Place {
    /// The address that was asked for (a return address: one past the call).
    pub address: u64,
    /// Name of the module's file; `None` if no module covers the address.
    pub module: Option<String>,
    /// Address in the module's file: `address` minus the load bias.
    pub offset: u64,
    /// Innermost first; the last one is the function that really was called.
    pub frames: Vec<Frame>,
}

impl Place {
    /// The innermost frame: the function whose text holds the instruction.
    pub fn innermost(&self) -> Option<&Frame> {
        self.frames.first()
    }

    /// Position of the first frame that is not of a library of the language: what the user wrote. What the compiler adds has no file, and
    /// is the user's only where nothing has one.
    pub fn own_frame(&self) -> Option<usize> {
        let module = self.module.as_deref();
        let is_own = |frame: &Frame| !is_library_frame(frame, module);
        let with_file = self.frames.iter().position(|frame| frame.file.is_some() && is_own(frame));
        with_file.or_else(|| {
            let is_without_files = self.frames.iter().all(|frame| frame.file.is_none());
            is_without_files.then(|| self.frames.iter().position(is_own)).flatten()
        })
    }

    /// Whether the code that uses the language's libraries here was fetched by cargo, and not written by the user. None: all of
    /// it is of these libraries.
    pub fn is_of_dependency(&self) -> Option<bool> {
        self.own_frame().map(|at| is_dependency_frame(&self.frames[at]))
    }

    /// Whether the source has this first, in the innermost function that both places are part of.
    pub fn is_before_in_source(&self, other: &Place) -> bool {
        let mut frames = self.frames.iter().rev().zip(other.frames.iter().rev());
        let parting = frames.find(|(one, other)| one != other);
        parting.is_some_and(|(one, other)| {
            one.function == other.function
                && one.file == other.file
                && (one.line, one.column) < (other.line, other.column)
        })
    }

    pub fn function(&self) -> Option<&str> {
        self.innermost()?.function.as_deref()
    }

    pub fn file(&self) -> Option<&str> {
        self.innermost()?.file.as_deref()
    }

    pub fn line(&self) -> Option<u32> {
        self.innermost()?.line
    }

    pub fn column(&self) -> Option<u32> {
        self.innermost()?.column
    }

    /// `bank.c:31`, or `bank+0x1234` where there is no line.
    pub fn short(&self) -> String {
        match self.innermost().and_then(Frame::short) {
            Some(text) => text,
            None => self.module_and_offset(),
        }
    }

    /// `bank+0x1234`, or the bare address outside all modules.
    pub fn module_and_offset(&self) -> String {
        match &self.module {
            Some(module) => format!("{module}+{:#x}", self.offset),
            None => format!("{:#x}", self.address),
        }
    }
}

impl Frame {
    /// `bank.c:31`: the file's last part and the line.
    pub fn short(&self) -> Option<String> {
        let file = Path::new(self.file.as_deref()?).file_name()?.to_string_lossy();
        Some(format!("{file}:{}", self.line?))
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.function.as_deref().unwrap_or("??"))?;
        let Some(file) = &self.file else { return Ok(()) };
        write!(f, " at {file}")?;
        let Some(line) = self.line else { return Ok(()) };
        write!(f, ":{line}")?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Place {
    /// `deposit at /src/bank.c:31:9 (inlined into main at /src/bank.c:60:5)`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some((innermost, outer)) = self.frames.split_first() else {
            return f.write_str(&self.module_and_offset());
        };
        innermost.fmt(f)?;
        if innermost.file.is_none() {
            write!(f, " ({})", self.module_and_offset())?;
        }
        for frame in outer {
            write!(f, " (inlined into {frame})")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(frames: &[(&str, Option<&str>)]) -> Place {
        let frame = |&(function, file): &(&str, Option<&str>)| Frame {
            function: Some(function.to_owned()),
            file: file.map(str::to_owned),
            ..Frame::default()
        };
        Place { frames: frames.iter().map(frame).collect(), ..Place::default() }
    }

    #[test]
    fn what_the_compiler_adds_is_not_the_users() {
        assert_eq!(place(&[("__rust_try", None)]).own_frame(), None);
        let started = [("made", None), ("std::thread::spawn", Some("/rustc/0/thread/mod.rs"))];
        assert_eq!(place(&started).own_frame(), None, "it has no file where others have one");
        let own = [("made", None), ("bank::main", Some("/home/me/bank/src/main.rs"))];
        assert_eq!(place(&own).own_frame(), Some(1));
    }

    #[test]
    fn without_debug_info_a_name_is_enough() {
        assert_eq!(place(&[("deposit", None)]).own_frame(), Some(0));
    }
}
