//! C and C++ through libclang, which is loaded when it is needed.
//!
//! Takes   a file, or several to be read as one translation unit, with compile flags and a precompiled header if there is one.
//! Gives   access sets of each; functions of the project's headers too, where no precompiled header has them.
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
mod together;
mod walk;

use std::path::{Path, PathBuf};

use clang::diagnostic::Severity;
use clang::{Clang, Index, TranslationUnit, Unsaved};
use serde::{Deserialize, Serialize};
use unpick_problem::Problem;

use super::{FileSets, split};
pub use names::hash;
pub use walk::without_steps_back;
use walk::{Walker, Wanted};

/// The oldest libclang that is known to work.
const OLDEST: u32 = 16;

/// Errors that are kept of a file, to show.
const ERRORS_KEPT: usize = 3;

/// What is to be read, and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CJob {
    /// One file, or several that are compiled alike.
    pub files: Vec<PathBuf>,
    /// Headers without a guard, which several of the files include.
    pub once: Vec<PathBuf>,
    pub arguments: Vec<String>,
    /// Functions of headers in these folders are wanted, too.
    pub header_folders: Vec<PathBuf>,
    /// A precompiled header to begin with.
    pub precompiled: Option<PathBuf>,
    /// Where to write the file as a precompiled header.
    pub save: Option<PathBuf>,
}

impl CJob {
    /// The folder that relative names start from.
    fn base(&self) -> PathBuf {
        let folder =
            self.arguments.iter().find_map(|word| word.strip_prefix("-working-directory="));
        PathBuf::from(folder.unwrap_or_default())
    }
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Parsed {
    /// One for each file of the job. A file that was read alone has the functions of the headers it brings, too.
    pub files: Vec<FileSets>,
    /// Functions of headers that several files brought.
    pub headers: FileSets,
    /// Other files in which there were errors: headers, or the unit as a whole.
    pub faulty: Vec<PathBuf>,
    /// The first file with an error of syntax: what is behind it may have been swallowed, and the one before may be to blame.
    #[serde(default)]
    pub broken_at: Option<usize>,
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

    /// With flags that libclang does not take, a file that is alone is read without them, and that is one of its errors.
    pub fn read(&self, job: &CJob) -> Result<Parsed, String> {
        let Some(first) = job.files.first() else { return Ok(Parsed::default()) };
        let why = match self.read_with(job, first, &job.arguments) {
            Ok(parsed) => return Ok(parsed),
            Err(why) => why,
        };
        let sure = sure_flags(&job.arguments);
        if sure.len() == job.arguments.len() || job.files.len() > 1 {
            return Err(why);
        }
        let mut parsed = self.read_with(job, first, &sure).map_err(|_| why)?;
        let refused: Vec<&str> =
            job.arguments.iter().map(String::as_str).filter(|one| !is_sure(one)).collect();
        let (refused, file) = (refused.join(" "), first.display());
        for sets in &mut parsed.files {
            let error = format!("{file}: read without flags libclang refuses: {refused}");
            sets.error_count += 1;
            sets.errors.insert(0, error);
        }
        Ok(parsed)
    }

    fn read_with(&self, job: &CJob, first: &Path, arguments: &[String]) -> Result<Parsed, String> {
        let index = Index::new(&self.clang, true, false);
        let mut arguments = arguments.to_vec();
        // All errors are wanted, to see which files have some; but no guess at what was meant.
        arguments.extend(["-ferror-limit=0".to_owned(), "-fno-spell-checking".to_owned()]);
        if let Some(precompiled) = &job.precompiled {
            arguments.extend(["-include-pch".to_owned(), precompiled.display().to_string()]);
        }
        let is_one = job.files.len() == 1;
        let name = if is_one { first.to_path_buf() } else { together::unit_name(first) };
        let mut unsaved: Vec<Unsaved> =
            job.once.iter().filter_map(|header| together::read_once(header)).collect();
        if !is_one {
            unsaved.push(Unsaved::new(&name, together::unit_of(&job.files)));
        }
        let unit = index
            .parser(&name)
            .arguments(&arguments)
            .unsaved(&unsaved)
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
        Ok(parsed(&unit, job))
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

fn parsed(unit: &TranslationUnit<'_>, job: &CJob) -> Parsed {
    let wanted = || Wanted {
        files: job.files.iter().cloned().collect(),
        header_folders: job.header_folders.clone(),
        base: job.base(),
    };
    let sets = Walker::new(wanted()).walk(unit.get_entity());
    let (files, headers) = match job.files.len() {
        1 => (vec![sets], FileSets::default()),
        _ => {
            let names: Vec<String> =
                job.files.iter().map(|file| file.to_string_lossy().into_owned()).collect();
            split::by_file(sets, &names)
        }
    };
    let mut parsed = Parsed { files, headers, ..Parsed::default() };
    note_errors(unit, job, &wanted(), &mut parsed);
    parsed
}

/// Errors are those of the file they are in; of a file that was read alone they are all.
fn note_errors(unit: &TranslationUnit<'_>, job: &CJob, wanted: &Wanted, parsed: &mut Parsed) {
    for diagnostic in unit.get_diagnostics() {
        if !matches!(diagnostic.get_severity(), Severity::Error | Severity::Fatal) {
            continue;
        }
        // What macros put together is in no file but where they are used.
        let at = diagnostic.get_location().get_expansion_location();
        let file = at.file.map(|file| wanted.path_of(file)).unwrap_or_default();
        let place = job.files.iter().position(|one| *one == file || job.files.len() == 1);
        let Some(place) = place else {
            if !parsed.faulty.contains(&file) {
                parsed.faulty.push(file);
            }
            continue;
        };
        let text = diagnostic.get_text();
        if is_of_syntax(&text) {
            parsed.broken_at = Some(parsed.broken_at.map_or(place, |known| known.min(place)));
        }
        let sets = &mut parsed.files[place];
        sets.error_count += 1;
        if sets.errors.len() < ERRORS_KEPT {
            sets.errors.push(format!("{}:{}: {text}", file.display(), at.line));
        }
    }
}

/// Whether an error may be of a bracket that is open, or a sentence without an end: libclang tells kinds of errors by their words only.
fn is_of_syntax(error: &str) -> bool {
    const BEGINNINGS: [&str; 5] =
        ["expected", "unterminated", "extraneous closing", "unmatched", "missing terminating"];
    BEGINNINGS.iter().any(|words| error.starts_with(words))
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
