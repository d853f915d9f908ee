//! Access sets of a piece of C or C++, in words.
#![allow(dead_code)] // Not every test needs all of it.

use std::fs;
use std::sync::{Mutex, MutexGuard};

use unpick_correlations::access_sets::FileSets;
use unpick_correlations::access_sets::c::{CJob, CReader, Parsed};

/// libclang is for one thread at a time.
static TURN: Mutex<()> = Mutex::new(());

fn turn() -> MutexGuard<'static, ()> {
    TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The access sets of one file; nothing without libclang.
pub fn read(name: &str, text: &str) -> Option<FileSets> {
    read_together(&[(name, text)], &[])?.files.pop()
}

/// Files that are read as one translation unit, and headers beside them, which are read once.
pub fn read_together(files: &[(&str, &str)], headers: &[(&str, &str)]) -> Option<Parsed> {
    let _turn = turn();
    let reader = match CReader::load() {
        Ok(reader) => reader,
        Err(problem) if std::env::var_os("CI").is_some() => panic!("{problem}"),
        Err(_) => return None,
    };
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(&str, &str)| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    };
    let job = CJob {
        files: files.iter().map(write).collect(),
        once: headers.iter().map(write).collect(),
        arguments: vec![],
        header_folders: vec![folder.path().to_path_buf()],
        precompiled: None,
        save: None,
    };
    Some(reader.read(&job).unwrap())
}

/// Accesses of a function as `w Type::field`, in order; with conditions behind `if`.
pub fn accesses(sets: &FileSets, function: &str) -> Vec<String> {
    let function = sets.functions.iter().find(|f| f.name == function).unwrap();
    function
        .accesses
        .iter()
        .map(|access| {
            let kinds: String = [(1, 'r'), (2, 'w'), (4, 'a')]
                .iter()
                .filter(|(bit, _)| access.kind & bit != 0)
                .map(|(_, letter)| *letter)
                .collect();
            let under: Vec<&str> = access
                .under
                .iter()
                .map(|&number| sets.conditions[number as usize].text.as_str())
                .collect();
            let condition = if under.is_empty() {
                String::new()
            } else {
                format!(" if {}", under.join(" and "))
            };
            format!("{kinds} {}{condition}", sets.variables[access.variable as usize])
        })
        .collect()
}

#[track_caller]
pub fn assert_accesses(name: &str, text: &str, function: &str, expected: &[&str]) {
    if let Some(sets) = read(name, text) {
        assert_eq!(sets.errors, Vec::<String>::new());
        assert_eq!(accesses(&sets, function), expected);
    }
}
