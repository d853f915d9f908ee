//! C and C++ through libclang, which is loaded when it is needed.
//!
//! Takes   a file, its compile flags, a precompiled header if there is one.
//! Gives   its access sets; functions of the project's headers too, where no precompiled header has them.
//! Misses  code that the preprocessor leaves out, what templates become with their arguments, virtual calls, what is written by macros
//!         without a sign between operands.
//! Cost    what libclang needs to parse, and about as much again for the walk. Functions of templates are not instantiated.

mod atomics;
mod bindings;
mod conditions;
mod expressions;
mod names;
mod operators;
mod statements;
mod walk;

use std::path::{Path, PathBuf};

use clang::diagnostic::Severity;
use clang::{Clang, Index, TranslationUnit};
use serde::{Deserialize, Serialize};
use unpick_problem::Problem;

use super::FileSets;
pub use names::hash;
use walk::{Walker, Wanted};

/// The oldest libclang that is known to work.
const OLDEST: u32 = 16;

/// Errors that are kept of a file, to show.
const ERRORS_KEPT: usize = 3;

/// What is to be read, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CJob {
    pub file: PathBuf,
    pub arguments: Vec<String>,
    /// Functions of headers in these folders are wanted, too.
    pub header_folders: Vec<PathBuf>,
    /// A precompiled header to begin with.
    pub precompiled: Option<PathBuf>,
    /// Where to write the file as a precompiled header.
    pub save: Option<PathBuf>,
}

/// libclang, loaded.
pub struct CReader {
    clang: Clang,
}

impl CReader {
    pub fn load() -> Result<Self, Problem> {
        let clang = Clang::new().map_err(|error| no_libclang(&error))?;
        let version = clang::get_version();
        match major_version(&version) {
            Some(major) if major < OLDEST => Err(old_libclang(&version)),
            _ => Ok(Self { clang }),
        }
    }

    /// With flags that libclang does not take the file is read without them, and that is one of its errors.
    pub fn read(&self, job: &CJob) -> Result<FileSets, String> {
        let why = match self.read_with(job, &job.arguments) {
            Ok(sets) => return Ok(sets),
            Err(why) => why,
        };
        let sure = sure_flags(&job.arguments);
        if sure.len() == job.arguments.len() {
            return Err(why);
        }
        let mut sets = self.read_with(job, &sure).map_err(|_| why)?;
        let refused: Vec<&str> =
            job.arguments.iter().map(String::as_str).filter(|one| !is_sure(one)).collect();
        let refused = refused.join(" ");
        sets.error_count += 1;
        let file = job.file.display();
        sets.errors.insert(0, format!("{file}: read without flags libclang refuses: {refused}"));
        Ok(sets)
    }

    fn read_with(&self, job: &CJob, arguments: &[String]) -> Result<FileSets, String> {
        let index = Index::new(&self.clang, true, false);
        let mut arguments = arguments.to_vec();
        if let Some(precompiled) = &job.precompiled {
            arguments.extend(["-include-pch".to_owned(), precompiled.display().to_string()]);
        }
        let unit = index
            .parser(&job.file)
            .arguments(&arguments)
            .keep_going(true)
            // Bodies of templates are read where they are defined.
            .incomplete(true)
            .detailed_preprocessing_record(false)
            .parse()
            .map_err(|_| {
                "libclang gives up: the flags are wrong, or it is no C or C++".to_owned()
            })?;
        if let Some(goal) = &job.save {
            unit.save(goal).map_err(|error| format!("{}: {error}", goal.display()))?;
        }
        Ok(sets_of(&unit, job))
    }
}

/// Flags that no version refuses: where headers are, what is defined.
fn sure_flags(arguments: &[String]) -> Vec<String> {
    let mut sure = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let has_value_behind = word == "-x";
        if is_sure(word) {
            sure.push(word.clone());
        } else if has_value_behind {
            words.next();
        }
    }
    sure
}

fn is_sure(word: &str) -> bool {
    const SURE: [&str; 8] =
        ["-I", "-D", "-U", "-i", "-w", "-working-directory", "-pthread", "-include-pch"];
    !word.starts_with('-') || SURE.iter().any(|beginning| word.starts_with(beginning))
}

fn sets_of(unit: &TranslationUnit<'_>, job: &CJob) -> FileSets {
    let wanted = Wanted { file: job.file.clone(), header_folders: job.header_folders.clone() };
    let mut sets = Walker::new(wanted).walk(unit.get_entity());
    note_errors(unit, &mut sets);
    sets
}

fn note_errors(unit: &TranslationUnit<'_>, sets: &mut FileSets) {
    for diagnostic in unit.get_diagnostics() {
        if matches!(diagnostic.get_severity(), Severity::Error | Severity::Fatal) {
            sets.error_count += 1;
            if sets.errors.len() < ERRORS_KEPT {
                let at = diagnostic.get_location().get_file_location();
                let file = at.file.map(|file| file.get_path()).unwrap_or_default();
                let text = diagnostic.get_text();
                sets.errors.push(format!("{}:{}: {text}", file.display(), at.line));
            }
        }
    }
}

fn major_version(version: &str) -> Option<u32> {
    let rest = version.split("version ").nth(1)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn no_libclang(error: &str) -> Problem {
    Problem::usage("C and C++ cannot be read: libclang is not found")
        .why(error.split(", set the").next().unwrap_or(error))
        .next("apt install libclang-dev, or set LIBCLANG_PATH to the folder of libclang.so (16 or newer); Rust is read without")
}

fn old_libclang(version: &str) -> Problem {
    Problem::usage(format!("C and C++ cannot be read: {version} is too old"))
        .why("libclang 16 or newer is needed")
        .next("apt install libclang-16-dev, or set LIBCLANG_PATH to the folder of a newer libclang.so")
}

/// Whether a file is of this language, by its name.
pub fn is_source(path: &Path) -> bool {
    has_extension(path, &["c", "cc", "cpp", "cxx", "c++", "C"])
}

pub fn is_header(path: &Path) -> bool {
    has_extension(path, &["h", "hh", "hpp", "hxx", "h++", "inl", "ipp"])
}

fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension().and_then(|extension| extension.to_str()).is_some_and(|e| known.contains(&e))
}
