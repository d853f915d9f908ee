//! The programs of the set `cases`: they lie outside the repository, so `cases.toml` says how they are built and which lines must be
//! reported, by their text.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use unpick_problem::Problem;

use crate::places::Place;
use crate::program::{Program, Recipe, default_flags};

const TABLE: &str = include_str!("../cases.toml");

#[derive(Debug, Deserialize)]
struct Table {
    case: Vec<Case>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    class: String,
    build: How,
    /// The flags of a compiler; without them those of the blind programs.
    flags: Option<Vec<String>>,
    /// Relative to the folder of the cases. Of cargo: the project's folder.
    sources: Vec<PathBuf>,
    /// The test binary of a cargo project.
    binary: Option<String>,
    #[serde(default)]
    arguments: Vec<String>,
    must: Vec<Vec<Text>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum How {
    Cc,
    Cxx,
    RustFile,
    CargoTest,
}

/// A line by a part of its text.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Text {
    file: PathBuf,
    text: String,
    /// Which of the lines that have the text, from 1.
    #[serde(default = "first")]
    nth: usize,
}

fn first() -> usize {
    1
}

/// All cases, none if the folder is not there.
pub fn programs(folder: &Path) -> Result<Vec<Program>, Problem> {
    let Ok(folder) = folder.canonicalize() else {
        eprintln!("cases: {} is not there (say where: --cases DIR)", folder.display());
        return Ok(Vec::new());
    };
    let of_case = |case: Case| {
        let name = case.name.clone();
        program(case, &folder).map_err(|why| {
            Problem::usage(format!("the case {name} cannot be used"))
                .at("folder", folder.display())
                .why(why)
        })
    };
    table().case.into_iter().map(of_case).collect()
}

fn table() -> Table {
    toml::from_str(TABLE).expect("cases.toml has the form that its test checks")
}

fn program(case: Case, folder: &Path) -> Result<Program, String> {
    let of_group = |group: &Vec<Text>| group.iter().map(|text| place(text, folder)).collect();
    let must: Result<Vec<Vec<Place>>, String> = case.must.iter().map(of_group).collect();
    Ok(Program {
        must: must?,
        recipe: recipe(&case, folder),
        name: case.name,
        class: case.class,
        with_stacks: false,
        arguments: case.arguments,
    })
}

fn recipe(case: &Case, folder: &Path) -> Recipe {
    let sources: Vec<PathBuf> = case.sources.iter().map(|source| folder.join(source)).collect();
    let compiler = |verb: &'static str| Recipe::Compiler {
        verb,
        flags: case.flags.clone().unwrap_or_else(|| default_flags(verb)),
        sources: sources.clone(),
    };
    let first = || sources.first().cloned().unwrap_or_default();
    match case.build {
        How::Cc => compiler("cc"),
        How::Cxx => compiler("c++"),
        How::RustFile => Recipe::RustFile { file: first(), opt_level: 1 },
        How::CargoTest => {
            Recipe::CargoTest { folder: first(), binary: case.binary.clone().unwrap_or_default() }
        }
    }
}

fn place(wanted: &Text, folder: &Path) -> Result<Place, String> {
    let source = fs::read_to_string(folder.join(&wanted.file)).map_err(|why| why.to_string())?;
    let line = line_of(&source, &wanted.text, wanted.nth)
        .ok_or_else(|| format!("no line {} with `{}`", wanted.nth, wanted.text))?;
    let name = wanted.file.file_name().unwrap_or_default().to_string_lossy();
    // A file given alone is built as the main source of a project of its own.
    let is_alone = wanted.file.components().count() == 1 && name.ends_with(".rs");
    let file = if is_alone { "main.rs".to_owned() } else { name.into_owned() };
    Ok(Place { file, line })
}

/// The number, from 1, of the `nth` line that contains `text`.
fn line_of(source: &str, text: &str, nth: usize) -> Option<u64> {
    let has_text = |(line, _): &(&str, u64)| line.contains(text);
    let found = source.lines().zip(1..).filter(has_text).nth(nth.checked_sub(1)?);
    found.map(|(_, line)| line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_can_be_read_and_every_case_demands_lines() {
        for case in table().case {
            let is_complete =
                !case.must.is_empty() && case.must.iter().all(|group| !group.is_empty());
            assert!(is_complete && !case.sources.is_empty(), "{}", case.name);
            assert_eq!(case.build == How::CargoTest, case.binary.is_some(), "{}", case.name);
        }
    }

    #[test]
    fn a_line_is_found_by_its_text() {
        let source = "a\nb x\nc\nd x\n";
        assert_eq!(line_of(source, "x", 1), Some(2));
        assert_eq!(line_of(source, "x", 2), Some(4));
        assert_eq!(line_of(source, "x", 3), None);
        assert_eq!(line_of(source, "x", 0), None);
    }

    #[test]
    fn a_single_rust_file_becomes_the_main_source() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("one.rs"), "a\nb\n").unwrap();
        let text = Text { file: "one.rs".into(), text: "b".to_owned(), nth: 1 };
        let expected = Place { file: "main.rs".to_owned(), line: 2 };
        assert_eq!(place(&text, folder.path()), Ok(expected));
    }

    #[test]
    fn a_missing_folder_has_no_programs() {
        assert!(programs(Path::new("/no/such/folder")).unwrap().is_empty());
    }
}
