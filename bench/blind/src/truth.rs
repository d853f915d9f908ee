//! The truth of a blind program: `truth.toml` and the markers in its sources. BRIEF.md explains the form.
//!
//! Messages never quote what is in the files: they are also shown of sealed programs.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use unpick_subjects::Language;

use crate::places::Place;

const EXTENSIONS: [&str; 5] = ["c", "cpp", "h", "hpp", "rs"];

/// The lines of each marker.
type Lines = BTreeMap<String, Vec<Place>>;

#[derive(Debug, Deserialize)]
pub struct Truth {
    pub language: Language,
    pub class: String,
    /// Groups of markers: at least one of each group must be reported.
    pub must: Vec<Vec<String>>,
    /// Of a bug inside a published crate: where its lines are.
    package: Option<String>,
    version: Option<String>,
    #[serde(default)]
    lines: BTreeMap<String, PackageLine>,
}

/// A line of a published package.
#[derive(Debug, Deserialize)]
struct PackageLine {
    file: String,
    line: u64,
}

impl Truth {
    /// Reads the truth about the program in a folder.
    pub fn read(folder: &Path) -> Result<Truth, String> {
        let text = fs::read_to_string(folder.join("truth.toml"));
        let text = text.map_err(|_| "its truth.toml cannot be read".to_owned())?;
        toml::from_str(&text).map_err(|_| "its truth.toml cannot be parsed".to_owned())
    }

    /// The groups of lines of which one each must be reported.
    pub fn must_lines(&self, folder: &Path) -> Result<Vec<Vec<Place>>, String> {
        let lines = match &self.package {
            Some(package) => self.lines_in_package(package),
            None => lines_of_markers(folder)?,
        };
        groups(&self.must, &lines)
    }

    fn lines_in_package(&self, package: &str) -> Lines {
        let version = self.version.as_deref().unwrap_or_default();
        let place = |line: &PackageLine| Place {
            file: format!("{package}-{version}/{}", line.file),
            line: line.line,
        };
        self.lines.iter().map(|(name, line)| (name.clone(), vec![place(line)])).collect()
    }
}

fn groups(must: &[Vec<String>], lines: &Lines) -> Result<Vec<Vec<Place>>, String> {
    if must.is_empty() || must.iter().any(Vec::is_empty) {
        return Err("its truth demands nothing, or has an empty group".to_owned());
    }
    let of_marker = |marker: &String| lines.get(marker).cloned();
    let of_group = |group: &Vec<String>| {
        let places: Option<Vec<Vec<Place>>> = group.iter().map(of_marker).collect();
        places.map(|places| places.concat())
    };
    let groups: Option<Vec<_>> = must.iter().map(of_group).collect();
    groups.ok_or_else(|| "its truth names a marker that is on no line".to_owned())
}

fn lines_of_markers(folder: &Path) -> Result<Lines, String> {
    let mut lines = Lines::new();
    for file in sources(folder) {
        let text = fs::read_to_string(&file).map_err(|_| "a source cannot be read".to_owned())?;
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        for (marker, line) in markers(&text) {
            lines.entry(marker).or_default().push(Place { file: name.clone().into_owned(), line });
        }
    }
    Ok(lines)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let below = entries
        .map(|entry| entry.path())
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    let is_source = |path: &PathBuf| {
        path.extension().is_some_and(|own| EXTENSIONS.iter().any(|extension| own == *extension))
    };
    let mut files: Vec<_> = below.filter(is_source).collect();
    files.sort();
    files
}

/// Markers with their lines, from 1: `/* BUG: a, b */` or `// BUG: a`.
fn markers(source: &str) -> Vec<(String, u64)> {
    let on_line = |(text, line): (&str, u64)| {
        markers_in(text).into_iter().map(move |marker| (marker, line)).collect::<Vec<_>>()
    };
    source.lines().zip(1..).flat_map(on_line).collect()
}

fn markers_in(line: &str) -> Vec<String> {
    let Some((_, rest)) = line.split_once("BUG:") else { return Vec::new() };
    let list = rest.split("*/").next().unwrap_or_default();
    let first_word = |part: &str| part.split_whitespace().next().map(str::to_owned);
    list.split(',').filter_map(first_word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_of_both_comments_are_read() {
        let source = "a; /* BUG: a */\n\nb; // BUG: b, c2\nc; /* BUG: a, d */ e;\n";
        let found = markers(source);
        let named: Vec<_> = found.iter().map(|(name, line)| (name.as_str(), *line)).collect();
        assert_eq!(named, [("a", 1), ("b", 3), ("c2", 3), ("a", 4), ("d", 4)]);
    }

    fn truth(text: &str) -> Truth {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn lines_of_a_package_are_those_of_its_version() {
        let truth = truth(
            "language = 'rust'\nclass = 'x'\npackage = 'p'\nversion = '1.2.3'\nmust = [['a']]\n[lines]\na = { file = 'src/lib.rs', line = 4, text = 'x' }",
        );
        let expected = Place { file: "p-1.2.3/src/lib.rs".to_owned(), line: 4 };
        assert_eq!(truth.must_lines(Path::new("/nowhere")), Ok(vec![vec![expected]]));
    }

    #[test]
    fn lines_of_a_program_are_those_of_its_markers() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("src")).unwrap();
        fs::write(folder.path().join("src/main.rs"), "x(); // BUG: a\ny(); // BUG: b\n").unwrap();
        let place = |line| Place { file: "main.rs".to_owned(), line };
        let told = truth("language = 'rust'\nclass = 'x'\nmust = [['a', 'b'], ['b']]");
        let expected = vec![vec![place(1), place(2)], vec![place(2)]];
        assert_eq!(told.must_lines(folder.path()), Ok(expected));
        let unknown = truth("language = 'rust'\nclass = 'x'\nmust = [['a'], ['c']]");
        assert!(unknown.must_lines(folder.path()).is_err());
        let empty = truth("language = 'rust'\nclass = 'x'\nmust = [['a'], []]");
        assert!(empty.must_lines(folder.path()).is_err());
    }

    #[test]
    fn a_damaged_truth_is_not_quoted() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("truth.toml"), "secret = [").unwrap();
        let message = Truth::read(folder.path()).unwrap_err();
        assert!(!message.contains("secret"), "{message}");
    }
}
