//! The real compiler behind a wrapper: which program it is, and what kind.

use super::Driver;
use super::response_file::split;
use crate::cache::Cache;
use std::collections::hash_map::DefaultHasher;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::{Hash, Hasher};
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use unpick_problem::Problem;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Family {
    Gcc,
    Clang,
}

/// A compiler that can be called: `gcc`, `ccache clang-16`, `/opt/gcc 13/bin/g++`.
#[derive(Debug, Clone)]
pub struct Compiler {
    /// The program and the arguments that come before all others.
    words: Vec<OsString>,
    family: Family,
    major_version: u32,
}

impl Compiler {
    /// The compiler the environment asks for (`UNPICK_CC`, `UNPICK_CXX`), else the usual ones.
    pub fn choose(driver: Driver) -> Result<Self, Problem> {
        let words = match env::var_os(driver.variable()).filter(|value| !value.is_empty()) {
            Some(value) => words_of(&value),
            None => {
                vec![first_installed(driver.usual_names()).ok_or_else(|| none_installed(driver))?]
            }
        };
        Self::inspect(words)
    }

    /// Finds out what kind of compiler these words call; the answer is remembered per program.
    pub fn inspect(words: Vec<OsString>) -> Result<Self, Problem> {
        let program = find_program(&words[0]).ok_or_else(|| not_installed(&words))?;
        refuse_to_call_ourselves(&program, &words)?;
        let facts = Facts::remembered_or_asked(&words)?;
        facts.refuse_other_machines(&words)?;
        Ok(Self { words, family: facts.family, major_version: facts.major_version })
    }

    pub fn family(&self) -> Family {
        self.family
    }

    pub fn major_version(&self) -> u32 {
        self.major_version
    }

    /// The compiler, ready to be given arguments.
    pub fn command(&self) -> Command {
        command(&self.words)
    }

    /// As the user would type it.
    pub fn name(&self) -> String {
        shown(&self.words)
    }
}

impl Driver {
    /// The environment variable that names the real compiler.
    pub fn variable(self) -> &'static str {
        match self {
            Self::C => "UNPICK_CC",
            Self::Cxx => "UNPICK_CXX",
        }
    }

    fn usual_names(self) -> &'static [&'static str] {
        match self {
            Self::C => &["gcc", "clang", "cc"],
            Self::Cxx => &["g++", "clang++", "c++"],
        }
    }
}

/// What the preprocessor tells about a compiler.
struct Facts {
    family: Family,
    major_version: u32,
    is_x86_64_linux: bool,
}

/// Both families answer with these words replaced by numbers, or left as they are.
const QUESTION: &[u8] = b"unpick __clang_major__ __GNUC__ __x86_64__ __LP64__ __linux__\n";

impl Facts {
    fn remembered_or_asked(words: &[OsString]) -> Result<Self, Problem> {
        let cache = Cache::open()?;
        let name = format!("compiler-{:016x}.txt", identity(words));
        if let Some(facts) = cache.recall(&name).and_then(|answer| Self::parse(&answer)) {
            return Ok(facts);
        }
        let answer = ask(words)?;
        let facts = Self::parse(&answer).ok_or_else(|| not_a_compiler(words, &answer))?;
        cache.remember(&name, answer.lines().find(|line| is_answer(line)).unwrap_or_default());
        Ok(facts)
    }

    fn parse(answer: &str) -> Option<Self> {
        let line = answer.lines().find(|line| is_answer(line))?;
        let mut numbers = line.split_whitespace().skip(1).map(|word| word.parse::<u32>().ok());
        let (clang, gcc) = (numbers.next()?, numbers.next()?);
        let is_x86_64_linux = numbers.by_ref().take(3).all(|number| number == Some(1));
        // clang also claims to be gcc 4, for old headers.
        let (family, major_version) = match (clang, gcc) {
            (Some(version), _) => (Family::Clang, version),
            (None, Some(version)) => (Family::Gcc, version),
            (None, None) => return None,
        };
        Some(Self { family, major_version, is_x86_64_linux })
    }

    fn refuse_other_machines(&self, words: &[OsString]) -> Result<(), Problem> {
        if self.is_x86_64_linux {
            return Ok(());
        }
        Err(Problem::usage("this compiler makes programs for another machine")
            .at("compiler", shown(words))
            .why("Unpick's runtime runs on 64-bit x86 Linux only")
            .next("choose a compiler for x86_64 Linux with UNPICK_CC and UNPICK_CXX"))
    }
}

fn is_answer(line: &str) -> bool {
    line.starts_with("unpick ")
}

fn ask(words: &[OsString]) -> Result<String, Problem> {
    let mut call = command(words);
    call.args(["-E", "-x", "c", "-"]);
    call.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = answer_to(call).map_err(|error| cannot_start(words, &error))?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    Err(not_a_compiler(words, &String::from_utf8_lossy(&output.stderr)))
}

fn answer_to(mut call: Command) -> std::io::Result<Output> {
    let mut child = call.spawn()?;
    if let Some(mut input) = child.stdin.take() {
        // A program that reads nothing closes the pipe; what it prints tells enough.
        let _ = input.write_all(QUESTION);
    }
    child.wait_with_output()
}

fn command(words: &[OsString]) -> Command {
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]);
    command
}

/// Changes whenever one of the programs among the words is replaced, or another is found on PATH.
fn identity(words: &[OsString]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for word in words {
        word.hash(&mut hasher);
        if let Some(path) = find_program(word).and_then(|path| path.canonicalize().ok()) {
            path.hash(&mut hasher);
            let facts = fs::metadata(&path).ok();
            facts.map(|facts| (facts.len(), facts.mtime(), facts.mtime_nsec())).hash(&mut hasher);
        }
    }
    hasher.finish()
}

/// A value that names an existing file is that file, spaces and all; else it is split into words.
fn words_of(value: &OsStr) -> Vec<OsString> {
    let words = split(value.as_bytes());
    if find_program(value).is_some() || words.is_empty() { vec![value.to_owned()] } else { words }
}

fn first_installed(names: &[&str]) -> Option<OsString> {
    names.iter().map(OsString::from).find(|name| find_program(name).is_some())
}

/// Where the shell would find this program.
pub(crate) fn find_program(name: &OsStr) -> Option<PathBuf> {
    if name.as_bytes().contains(&b'/') {
        return Some(PathBuf::from(name)).filter(|path| is_executable(path));
    }
    let path = env::var_os("PATH")?;
    env::split_paths(&path).map(|folder| folder.join(name)).find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|facts| facts.is_file() && facts.permissions().mode() & 0o111 != 0)
}

fn shown(words: &[OsString]) -> String {
    words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

fn refuse_to_call_ourselves(program: &Path, words: &[OsString]) -> Result<(), Problem> {
    let ours = env::current_exe().and_then(|path| path.canonicalize());
    match (ours, program.canonicalize()) {
        (Ok(ours), Ok(theirs)) if ours == theirs => {
            Err(Problem::usage("the wrapper would call itself for ever")
                .at("compiler", shown(words))
                .why("UNPICK_CC or UNPICK_CXX names Unpick, not a compiler")
                .next("set UNPICK_CC and UNPICK_CXX to the real compilers, e.g. gcc and g++"))
        }
        _ => Ok(()),
    }
}

fn none_installed(driver: Driver) -> Problem {
    let (language, packages) = match driver {
        Driver::C => ("C", "gcc or clang"),
        Driver::Cxx => ("C++", "g++ or clang"),
    };
    Problem::usage(format!("no {language} compiler is installed"))
        .why(format!("none of {} is on PATH", driver.usual_names().join(", ")))
        .next(format!(
            "install one (Debian, Ubuntu: apt install {packages}), or set {}",
            driver.variable()
        ))
}

fn not_installed(words: &[OsString]) -> Problem {
    Problem::usage(format!("the compiler `{}` cannot be found", words[0].to_string_lossy()))
        .at("command", shown(words))
        .why("it is no program on PATH, nor the path of one")
        .next("install it, or name another with UNPICK_CC and UNPICK_CXX")
}

pub(super) fn cannot_start(words: &[OsString], error: &std::io::Error) -> Problem {
    Problem::usage("the compiler cannot be started").at("command", shown(words)).why(error).next(
        "check that this program runs by itself, or name another with UNPICK_CC and UNPICK_CXX",
    )
}

fn not_a_compiler(words: &[OsString], output: &str) -> Problem {
    let said = output.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing");
    Problem::usage("this program does not behave like gcc or clang")
        .at("command", format!("{} -E -x c -", shown(words)))
        .why(format!("asked for its version, it said: {said}"))
        .next("name gcc or clang with UNPICK_CC and UNPICK_CXX")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(answer: &str) -> Option<(Family, u32, bool)> {
        Facts::parse(answer).map(|facts| (facts.family, facts.major_version, facts.is_x86_64_linux))
    }

    #[test]
    fn both_families_are_told_apart_by_their_preprocessor() {
        let gcc = "# 1 \"<stdin>\"\nunpick __clang_major__ 12 1 1 1\n";
        assert_eq!(facts(gcc), Some((Family::Gcc, 12, true)));
        assert_eq!(facts("unpick 16 4 1 1 1"), Some((Family::Clang, 16, true)));
        assert_eq!(facts("unpick 16 4 __x86_64__ 1 1"), Some((Family::Clang, 16, false)));
        assert_eq!(facts("unpick __clang_major__ 12 1 __LP64__ 1"), Some((Family::Gcc, 12, false)));
    }

    #[test]
    fn other_programs_are_no_compilers() {
        assert_eq!(facts(""), None);
        assert_eq!(facts("unpick __clang_major__ __GNUC__ 1 1 1"), None);
    }

    #[test]
    fn a_value_may_hold_arguments_or_be_a_path_with_spaces() {
        assert_eq!(words_of(OsStr::new("ccache  gcc -m64")), ["ccache", "gcc", "-m64"]);
        let folder = tempfile::Builder::new().prefix("a b").tempdir().unwrap();
        let program = folder.path().join("my gcc");
        fs::write(&program, "").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(words_of(program.as_os_str()), [program.as_os_str()]);
    }
}
