//! The variants: the ways to build and run one workload.
//!
//! A variant is a recipe (compilers, flags for compiling and linking) plus a command that runs the program. Variants with
//! equal recipes share their object files, and so do variants that differ only in what they link.

use std::path::Path;

use clap::ValueEnum;

use crate::options::{RuntimeObject, Scale};

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum VariantName {
    /// No instrumentation
    Native,
    /// Hooks that do nothing: no recorder behind the same hooks can be faster
    Floor,
    /// Built with `unpick cc`, recording
    Unpick,
    /// The same with clang below `unpick cc`
    UnpickClang,
    /// ThreadSanitizer of gcc
    GccTsan,
    /// ThreadSanitizer of clang
    ClangTsan,
    /// The native program under Valgrind's Helgrind
    Helgrind,
    /// The native program under Valgrind's DRD
    Drd,
}

impl VariantName {
    /// What the published table holds.
    pub const PUBLISHED: [Self; 7] = [
        Self::Native,
        Self::Floor,
        Self::Unpick,
        Self::GccTsan,
        Self::ClangTsan,
        Self::Helgrind,
        Self::Drd,
    ];
}

impl std::fmt::Display for VariantName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let value = self.to_possible_value();
        f.write_str(value.as_ref().map_or("", |value| value.get_name()))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Variant {
    Named(VariantName),
    /// gcc's hooks with a runtime given as object file.
    RuntimeObject(RuntimeObject),
}

/// What provides the hooks that instrumented code calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Runtime<'a> {
    /// The compiler's driver links it because of the flag, or nothing is needed.
    FromCompiler,
    EmptyHooks,
    Object(&'a Path),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compiler {
    Gcc,
    Clang,
    /// `unpick cc` and `unpick c++`; which compiler is below them is told by `UNPICK_CC` and `UNPICK_CXX`.
    Unpick,
    UnpickClang,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recipe<'a> {
    pub compiler: Compiler,
    pub compile_with_sanitizer: bool,
    pub link_with_sanitizer: bool,
    pub runtime: Runtime<'a>,
}

impl<'a> Recipe<'a> {
    fn plain(compiler: Compiler) -> Self {
        Self {
            compiler,
            compile_with_sanitizer: false,
            link_with_sanitizer: false,
            runtime: Runtime::FromCompiler,
        }
    }

    fn thread_sanitizer(compiler: Compiler) -> Self {
        Self { compile_with_sanitizer: true, link_with_sanitizer: true, ..Self::plain(compiler) }
    }

    fn hooks_of(runtime: Runtime<'a>) -> Self {
        Self { compile_with_sanitizer: true, runtime, ..Self::plain(Compiler::Gcc) }
    }
}

impl Variant {
    pub fn label(&self) -> String {
        match self {
            Self::Named(name) => name.to_string(),
            Self::RuntimeObject(object) => object.label.clone(),
        }
    }

    pub fn recipe(&self) -> Recipe<'_> {
        match self {
            Self::Named(VariantName::Native | VariantName::Helgrind | VariantName::Drd) => {
                Recipe::plain(Compiler::Gcc)
            }
            Self::Named(VariantName::Floor) => Recipe::hooks_of(Runtime::EmptyHooks),
            Self::Named(VariantName::Unpick) => Recipe::plain(Compiler::Unpick),
            Self::Named(VariantName::UnpickClang) => Recipe::plain(Compiler::UnpickClang),
            Self::Named(VariantName::GccTsan) => Recipe::thread_sanitizer(Compiler::Gcc),
            Self::Named(VariantName::ClangTsan) => Recipe::thread_sanitizer(Compiler::Clang),
            Self::RuntimeObject(object) => Recipe::hooks_of(Runtime::Object(&object.path)),
        }
    }

    /// What is put before the program's name to run it.
    pub fn launcher(&self) -> &'static [&'static str] {
        // A fair scheduler: otherwise a spinning thread can keep Valgrind's one running slot for seconds.
        match self {
            Self::Named(VariantName::Helgrind) => {
                &["valgrind", "-q", "--fair-sched=try", "--tool=helgrind"]
            }
            Self::Named(VariantName::Drd) => &["valgrind", "-q", "--fair-sched=try", "--tool=drd"],
            _ => &[],
        }
    }

    /// Valgrind is so slow that it always gets the small size, and is compared with native at that size.
    pub fn is_heavy(&self) -> bool {
        !self.launcher().is_empty()
    }

    pub fn scale(&self, asked: Scale) -> Scale {
        if self.is_heavy() { Scale::Small } else { asked }
    }

    /// Whether this is what the figures with targets are about.
    pub fn is_recording(&self) -> bool {
        matches!(
            self,
            Self::Named(VariantName::Unpick | VariantName::UnpickClang) | Self::RuntimeObject(_)
        )
    }
}
