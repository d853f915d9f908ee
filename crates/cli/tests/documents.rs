//! The tables of the documents say each thing once: words of the glossary in order, folders of the
//! architecture that are there. Merges by hand are where they go wrong.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The first column of all rows of a document's tables, without their headings.
fn first_column(document: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join(document)).expect("the document is there");
    let rows = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| line.split('|').nth(1).expect("a row has columns").trim().to_owned())
        .collect()
}

#[track_caller]
fn assert_told_once(mut names: Vec<&str>) {
    names.sort_unstable();
    let twice: Vec<_> = names.windows(2).filter(|pair| pair[0] == pair[1]).collect();
    assert!(twice.is_empty(), "told twice: {twice:?}");
}

#[test]
fn words_of_the_glossary_are_in_order_and_explained_once() {
    let words = first_column("GLOSSARY.md");
    assert!(words.len() > 100, "the table was not found: {words:?}");
    for pair in words.windows(2) {
        assert!(pair[0].to_lowercase() < pair[1].to_lowercase(), "{pair:?}");
    }
}

#[test]
fn folders_of_the_architecture_exist_and_are_told_once() {
    let cells = first_column("ARCHITECTURE.md");
    let folders: Vec<&str> =
        cells.iter().flat_map(|cell| cell.split('`')).filter(|name| name.contains('/')).collect();
    for folder in &folders {
        assert!(root().join(folder).is_dir(), "{folder} is not there");
    }
    let crates = std::fs::read_dir(root().join("crates")).expect("crates are there");
    for entry in crates.map(|entry| entry.expect("an entry").file_name()) {
        let folder = format!("crates/{}", entry.to_string_lossy());
        assert!(folders.contains(&folder.as_str()), "{folder} is not told");
    }
    assert_told_once(folders);
}

#[test]
fn commands_are_told_once_in_the_readme() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("the readme is there");
    let commands: Vec<&str> = readme
        .lines()
        .filter_map(|line| line.strip_prefix("| `unpick ")?.split("` |").next())
        .collect();
    assert!(commands.len() > 20, "the table was not found: {commands:?}");
    assert_told_once(commands);
}

#[test]
fn results_are_whole_sections_each_there_once() {
    let results =
        std::fs::read_to_string(root().join("docs/RESULTS.md")).expect("results are there");
    let mut open: Option<&str> = None;
    let mut sections = Vec::new();
    for line in results.lines().skip(1).filter(|line| !line.is_empty()) {
        if let Some(name) = line.strip_prefix("<!-- begin ") {
            assert_eq!(open, None, "{line}");
            open = name.split(" (").next();
            sections.extend(open);
        } else if let Some(name) = line.strip_prefix("<!-- end ") {
            assert_eq!(open, name.split(" -->").next(), "{line}");
            open = None;
        } else {
            assert!(open.is_some(), "in no section: {line}");
        }
    }
    assert_eq!(open, None, "a section without an end");
    assert_told_once(sections);
}
