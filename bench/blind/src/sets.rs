//! The programs of each set.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use unpick_problem::Problem;
use unpick_subjects::{Language, Subject, subjects};

use crate::cases;
use crate::options::{Options, Set};
use crate::places::Place;
use crate::program::{Program, Recipe, default_flags};
use crate::truth::Truth;

/// The chosen programs of the chosen set, sorted by name.
pub fn programs(options: &Options) -> Result<Vec<Program>, Problem> {
    let all = match options.set {
        Set::Cases => cases::programs(&options.cases)?,
        Set::Subjects => can_fail().iter().map(of_subject).collect(),
        Set::Open | Set::Sealed | Set::Second | Set::Crates => of_folders(options.set)?,
    };
    let unknown = options.only.iter().find(|name| !all.iter().any(|one| is_named(one, name)));
    if let Some(unknown) = unknown.filter(|_| !all.is_empty()) {
        return Err(Problem::usage(format!("the set has no program {unknown}")));
    }
    Ok(all.into_iter().filter(|program| options.has(&program.name)).collect())
}

fn is_named(program: &Program, name: &str) -> bool {
    program.name == name || program.name.rsplit('/').next() == Some(name)
}

fn of_folders(set: Set) -> Result<Vec<Program>, Problem> {
    let named = folders(set).into_iter();
    named.map(|(name, folder)| of_folder(&name, &folder, set)).collect()
}

fn of_folder(name: &str, folder: &Path, set: Set) -> Result<Program, Problem> {
    blind_program(name, folder, set == Set::Crates).map_err(|why| {
        let who = if set == Set::Sealed { "a sealed program" } else { name };
        Problem::own_fault(format!("the truth of {who} cannot be used")).why(why)
    })
}

fn blind_program(name: &str, folder: &Path, with_stacks: bool) -> Result<Program, String> {
    let truth = Truth::read(folder)?;
    Ok(Program {
        name: name.to_owned(),
        must: truth.must_lines(folder)?,
        class: truth.class,
        with_stacks,
        recipe: recipe(truth.language, folder),
        arguments: Vec::new(),
    })
}

fn recipe(language: Language, folder: &Path) -> Recipe {
    let compiler = |verb: &'static str, source: &str| Recipe::Compiler {
        verb,
        flags: default_flags(verb),
        sources: vec![folder.join(source)],
    };
    match language {
        Language::C => compiler("cc", "main.c"),
        Language::Cpp => compiler("c++", "main.cpp"),
        Language::Rust => Recipe::Cargo { folder: folder.to_path_buf() },
    }
}

/// The folders with a truth, by name: `c/route-cache`, of crates `reply-slot`.
fn folders(set: Set) -> BTreeMap<String, PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(set.name());
    let languages: &[&str] = if set == Set::Crates { &[""] } else { &["c", "cpp", "rust"] };
    let below = |language: &&str| {
        let entries = fs::read_dir(root.join(language)).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect::<Vec<_>>()
    };
    let has_truth = |folder: &PathBuf| folder.join("truth.toml").is_file();
    let all = languages.iter().flat_map(below).filter(has_truth);
    all.map(|folder| (name_below(&root, &folder), folder)).collect()
}

fn name_below(root: &Path, folder: &Path) -> String {
    folder.strip_prefix(root).unwrap_or(folder).display().to_string()
}

fn can_fail() -> Vec<Subject> {
    subjects().into_iter().filter(|subject| !subject.never_fails()).collect()
}

fn of_subject(subject: &Subject) -> Program {
    let class = subject.class.map_or_else(String::new, |class| format!("{class:?}"));
    Program {
        name: subject.name.clone(),
        class,
        must: must_of_subject(subject),
        with_stacks: false,
        arguments: subject.arguments.clone(),
        recipe: Recipe::Subject(Box::new(subject.clone())),
    }
}

/// All lines of the true pattern, or all lines where the threads of a hung run wait.
fn must_of_subject(subject: &Subject) -> Vec<Vec<Place>> {
    let name = subject.source.file_name().unwrap_or_default().to_string_lossy();
    let lines = subject.lines();
    let of_marker = |marker: u32| {
        let line = lines.get(&marker).copied().unwrap_or_default();
        vec![Place { file: name.clone().into_owned(), line: line.into() }]
    };
    if subject.hangs() {
        subject.waits.iter().map(|wait| of_marker(wait.marker)).collect()
    } else {
        subject.accesses.iter().map(|access| of_marker(access.marker)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Says only which program it is: what is in a sealed folder must not be seen.
    fn assert_all_usable(set: Set, at_least: usize) {
        let folders = folders(set);
        assert!(folders.len() >= at_least, "{}: {} programs", set.name(), folders.len());
        for (name, folder) in &folders {
            let is_usable = blind_program(name, folder, false).is_ok();
            assert!(is_usable, "{}/{name}: its truth cannot be used", set.name());
        }
    }

    #[test]
    fn every_open_truth_is_usable() {
        assert_all_usable(Set::Open, 20);
    }

    #[test]
    fn every_sealed_truth_is_usable() {
        assert_all_usable(Set::Sealed, 20);
    }

    #[test]
    fn every_later_truth_is_usable() {
        assert_all_usable(Set::Second, 20);
    }

    #[test]
    fn every_truth_about_a_crate_is_usable() {
        assert_all_usable(Set::Crates, 5);
    }

    #[test]
    fn every_subject_that_can_fail_demands_lines() {
        for subject in can_fail() {
            let must = must_of_subject(&subject);
            let has_lines = must.iter().flatten().all(|place| place.line > 0);
            assert!(!must.is_empty() && has_lines, "{}: {must:?}", subject.name);
        }
    }
}
