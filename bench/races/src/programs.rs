//! The small programs: what is true of each, and which lines race.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

/// The end of a line that is part of the race.
const MARKER: &str = "/* RACE */";

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    Racy,
    Clean,
}

impl Verdict {
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Racy => "racy",
            Verdict::Clean => "clean",
        }
    }
}

/// A program, and whether it has a data race.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Relative to the folder of programs.
    pub source: PathBuf,
    pub verdict: Verdict,
    /// What synchronises, or should.
    pub kind: String,
    pub why: String,
    /// What building it needs besides the usual.
    #[serde(default)]
    pub flags: Vec<String>,
    /// What gcc's ThreadSanitizer says, where that is not true.
    pub peer: Option<Mistake>,
}

/// A verdict that is wrong.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mistake {
    pub verdict: Verdict,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    program: Vec<Program>,
}

pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("programs")
}

/// All programs, in the order of the table.
///
/// # Panics
/// If the table cannot be read: it is part of this crate.
pub fn programs() -> Vec<Program> {
    let file = folder().join("programs.toml");
    let text = fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    let table: Table =
        toml::from_str(&text).unwrap_or_else(|why| panic!("{}: {why}", file.display()));
    table.program
}

impl Program {
    pub fn name(&self) -> String {
        self.source.file_stem().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn is_cpp(&self) -> bool {
        self.source.extension().is_some_and(|extension| extension == "cpp")
    }

    /// The verb of `unpick` that compiles it.
    pub fn verb(&self) -> &'static str {
        if self.is_cpp() { "c++" } else { "cc" }
    }

    pub fn compiler(&self) -> &'static str {
        if self.is_cpp() { "g++" } else { "gcc" }
    }

    /// What every compiler is told, without where the program goes.
    pub fn arguments(&self) -> Vec<String> {
        let standard = if self.is_cpp() { "-std=c++20" } else { "-std=gnu11" };
        let source = folder().join(&self.source);
        let usual = [standard, "-g", "-O1", "-pthread"].map(str::to_owned);
        let source = source.display().to_string();
        usual.into_iter().chain([source]).chain(self.flags.iter().cloned()).collect()
    }

    /// The lines of the race: `name.c:12`.
    pub fn racing_lines(&self) -> BTreeSet<String> {
        let name = self.source.file_name().unwrap_or_default().to_string_lossy();
        let text = fs::read_to_string(folder().join(&self.source)).unwrap_or_default();
        let lines = text.lines().zip(1..).filter(|(line, _)| line.contains(MARKER));
        lines.map(|(_, number)| format!("{name}:{number}")).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources_in(verdict: &str) -> BTreeSet<PathBuf> {
        let entries = fs::read_dir(folder().join(verdict)).unwrap();
        entries.map(|entry| Path::new(verdict).join(entry.unwrap().file_name())).collect()
    }

    #[test]
    fn the_table_has_every_source_once_under_its_verdict() {
        let programs = programs();
        for verdict in [Verdict::Racy, Verdict::Clean] {
            let of_verdict = programs.iter().filter(|program| program.verdict == verdict);
            let listed: Vec<PathBuf> = of_verdict.map(|program| program.source.clone()).collect();
            let sources: BTreeSet<PathBuf> = listed.iter().cloned().collect();
            assert_eq!(sources.len(), listed.len(), "one is listed twice");
            assert_eq!(sources, sources_in(verdict.name()));
            assert!(sources.len() >= 30, "{} of {}", sources.len(), verdict.name());
        }
    }

    #[test]
    fn racy_programs_say_where_and_clean_ones_have_nothing_to_say() {
        for program in programs() {
            let is_racy = program.verdict == Verdict::Racy;
            assert_eq!(!program.racing_lines().is_empty(), is_racy, "{}", program.name());
            assert!(program.why.ends_with('.'), "{}", program.name());
        }
    }

    #[test]
    fn a_mistake_is_one() {
        for program in programs() {
            assert!(
                program.peer.is_none_or(|peer| peer.verdict != program.verdict),
                "{}",
                program.source.display()
            );
        }
    }
}
