//! Who changes how sources are read need not remember that results of earlier times are kept.

#[path = "../build.rs"]
#[allow(dead_code)] // What cargo runs.
mod build;

use std::fs;
use std::path::Path;

use tempfile::TempDir;

/// A crate with all that is looked at, and more.
fn crate_with(changed: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let usual = [
        ("Cargo.toml", "[package]"),
        ("README.md", "A crate."),
        ("src/lib.rs", "mod sources;"),
        ("src/rules.rs", "fn rules() {}"),
        ("src/access_sets.rs", "mod rust;"),
        ("src/access_sets/rust.rs", "mod walk;"),
        ("src/access_sets/rust/walk.rs", "fn walk() {}"),
        ("src/sources.rs", "mod cache;"),
        ("src/sources/cache.rs", "fn keep() {}"),
    ];
    for (name, text) in usual.iter().chain(changed) {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn rules_with(changed: &[(&str, &str)]) -> u64 {
    build::reading_rules(crate_with(changed).path()).unwrap()
}

#[test]
fn are_the_same_wherever_the_crate_lies() {
    assert_eq!(rules_with(&[]), rules_with(&[]));
}

#[test]
fn are_others_if_a_reader_is_changed_added_or_moved() {
    let before = rules_with(&[]);
    for changed in [
        ("Cargo.toml", "[package] # syn 3"),
        ("src/access_sets.rs", "mod rust; mod c;"),
        ("src/access_sets/rust/walk.rs", "fn walk() { }"),
        ("src/access_sets/rust/more/deeper.rs", ""),
        ("src/sources.rs", ""),
        ("src/sources/cache.rs", "fn keep() {}\n"),
        ("src/sources/queue.rs", "fn read() {}"),
    ] {
        assert_ne!(rules_with(&[changed]), before, "{changed:?}");
    }
    let (one, other) = (crate_with(&[]), crate_with(&[]));
    let name = |name: &str| other.path().join("src/sources").join(name);
    fs::rename(name("cache.rs"), name("kept.rs")).unwrap();
    let rules = |of: &TempDir| build::reading_rules(of.path()).unwrap();
    assert_ne!(rules(&one), rules(&other));
    fs::remove_file(name("kept.rs")).unwrap();
    assert_ne!(rules(&one), rules(&other));
}

#[test]
fn are_the_same_whatever_else_is_changed() {
    let before = rules_with(&[]);
    for changed in [("README.md", "A good crate."), ("src/rules.rs", ""), ("src/lib.rs", "")] {
        assert_eq!(rules_with(&[changed]), before, "{changed:?}");
    }
}

#[test]
fn what_ends_a_file_is_not_what_begins_the_next() {
    let split =
        |first, second| rules_with(&[("src/sources/a.rs", first), ("src/sources/b.rs", second)]);
    assert_ne!(split("ab", "c"), split("a", "bc"));
}

#[test]
fn this_build_knows_the_rules_of_the_sources_as_they_are() {
    let now = build::reading_rules(Path::new(env!("CARGO_MANIFEST_DIR"))).unwrap();
    assert_eq!(env!("UNPICK_READING_RULES"), format!("{now:016x}"));
}

#[test]
fn a_crate_without_its_readers_is_an_error() {
    let folder = crate_with(&[]);
    fs::remove_dir_all(folder.path().join("src/sources")).unwrap();
    assert!(build::reading_rules(folder.path()).is_err());
}
