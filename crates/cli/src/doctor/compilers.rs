//! Which compilers work: each is tried with a small threaded program.

use super::Check;
use super::trial::{Language, Trial};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use unpick_instrument::RuntimeFiles;
use unpick_instrument::cc::{Compiler, Family};

pub struct Examined {
    pub checks: Vec<Check>,
    pub c_works: bool,
}

pub fn examine(runtime: &RuntimeFiles) -> Examined {
    let mut checks = Vec::new();
    let mut c_works = false;
    for language in [Language::C, Language::Cxx] {
        for name in installed(language) {
            let check = try_compiler(&name, language, runtime);
            c_works |= language == Language::C && check.state == super::State::Good;
            checks.push(check);
        }
        checks.extend(missing(language));
    }
    checks.push(try_rust());
    Examined { checks, c_works }
}

/// The plain name, and versioned ones that are not merely other names for it.
fn installed(language: Language) -> Vec<String> {
    let names: BTreeSet<String> =
        programs_on_path().filter(|name| language.is_compiler(name)).collect();
    let mut seen = BTreeSet::new();
    let is_new = |name: &String| real_file(name).is_some_and(|file| seen.insert(file));
    names.into_iter().filter(is_new).collect()
}

fn programs_on_path() -> impl Iterator<Item = String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let entries =
        folders.into_iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok())
}

fn real_file(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let mut candidates = std::env::split_paths(&path).map(|folder| folder.join(name));
    candidates.find_map(|candidate| candidate.canonicalize().ok())
}

fn missing(language: Language) -> Vec<Check> {
    let absent =
        language.usual_compilers().into_iter().filter(|(name, _)| real_file(name).is_none());
    absent.map(|(name, package)| Check::absent(name, format!("apt install {package}"))).collect()
}

fn try_compiler(name: &str, language: Language, runtime: &RuntimeFiles) -> Check {
    let compiler = match Compiler::inspect(vec![OsString::from(name)]) {
        Ok(compiler) => compiler,
        Err(problem) => {
            return Check::bad(name, first_line(&problem.to_string()), "use another compiler");
        }
    };
    let subject = format!("{name} {}", version(&compiler)).trim_end().to_owned();
    let trial = Trial { compiler: &compiler, language, runtime };
    match trial.run() {
        Ok(()) => {
            Check::good(subject, format!("{language}: compiles, links, runs, debug info is read"))
        }
        Err(failure) => Check::bad(subject, failure.what, failure.next),
    }
}

fn version(compiler: &Compiler) -> String {
    let option = match compiler.family() {
        Family::Gcc => "-dumpfullversion",
        Family::Clang => "-dumpversion",
    };
    let output = compiler.command().arg(option).output();
    output.map(|output| first_line(&String::from_utf8_lossy(&output.stdout))).unwrap_or_default()
}

/// Through `unpick cargo`, as users do it.
fn try_rust() -> Check {
    const NEXT: &str = "install Rust 1.88 or later from https://rustup.rs";
    let Some(version) = rustc_version() else { return Check::absent("rustc", NEXT) };
    match super::trial::rust_program_works() {
        Ok(()) => Check::good(format!("rustc {version}"), "Rust: compiles, links, runs"),
        Err(failure) => Check::bad(format!("rustc {version}"), failure.what, failure.next),
    }
}

fn rustc_version() -> Option<String> {
    let output = Command::new("rustc").arg("--version").output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.split_whitespace().nth(1).map(str::to_owned)
}

pub fn first_line(text: &str) -> String {
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("nothing was printed");
    line.trim().trim_start_matches("error: ").to_owned()
}
