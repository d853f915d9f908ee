//! Access sets of a piece of Rust, in words.
#![allow(dead_code)] // Not every test needs all of it.

use std::fs;
use std::path::Path;
use std::time::Duration;

use unpick_correlations::access_sets::FileSets;
use unpick_correlations::{Request, Sources, WorkerCommand, read_sources};

/// What is below a folder, by so many threads.
pub fn read_folder(folder: &Path, cache: Option<&Path>, jobs: usize) -> Sources {
    read_sources(&Request {
        paths: vec![folder.to_path_buf()],
        cache: cache.map(Path::to_path_buf),
        worker: WorkerCommand { program: "/nowhere".into(), arguments: vec![] },
        jobs,
        time_limit: Duration::from_secs(60),
        seen_flags: &|_| None,
        progress: &|_, _| {},
    })
    .unwrap()
}

pub fn read(text: &str) -> (Vec<FileSets>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.rs"), text).unwrap();
    let sources = read_folder(folder.path(), None, 1);
    (sources.sets, sources.missing)
}

/// Accesses of a function as `w Type::field`, in order; with conditions behind `if`.
pub fn accesses(text: &str, function: &str) -> Vec<String> {
    let (sets, missing) = read(text);
    assert_eq!(missing, Vec::<String>::new());
    let function = sets[0].functions.iter().find(|f| f.name == function).unwrap();
    let letters = |bits: u8| -> String {
        [(1, 'r'), (2, 'w'), (4, 'a')]
            .iter()
            .filter(|(bit, _)| bits & bit != 0)
            .map(|(_, letter)| *letter)
            .collect()
    };
    function
        .accesses
        .iter()
        .map(|access| {
            let under: Vec<&str> = access
                .under
                .iter()
                .map(|&n| sets[0].conditions[n as usize].text.as_str())
                .collect();
            let condition = if under.is_empty() {
                String::new()
            } else {
                format!(" if {}", under.join(" and "))
            };
            let name = &sets[0].variables[access.variable as usize];
            format!("{} {name}{condition}", letters(access.kind))
        })
        .collect()
}
