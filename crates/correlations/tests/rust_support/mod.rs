//! Access sets of a piece of Rust, in words.

use std::fs;

use unpick_correlations::access_sets::FileSets;
use unpick_correlations::access_sets::rust::read_all;

pub fn read(text: &str) -> (Vec<FileSets>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.rs");
    fs::write(&file, text).unwrap();
    let mut missing = Vec::new();
    (read_all(&[file], &mut missing), missing)
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
