//! The form of `expected.toml`, and what follows from it. `subjects/README.md` explains each field.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use unpick_findings::{AccessKind, WaitedFor};

use crate::markers::lines_of_markers;

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Subject {
    /// Also the name of its folder and of the built program.
    pub name: String,
    /// Paper and bug.
    pub origin: String,
    pub language: Language,
    /// Relative to the folder.
    pub source: PathBuf,
    /// Run in the folder, with what `build_command` adds.
    pub build: String,
    pub arguments: Vec<String>,
    /// How many threads the program has, main thread included.
    pub threads: u32,
    /// Every access to shared memory is under a lock or atomic.
    pub race_free: bool,
    /// None for a subject that never fails.
    pub class: Option<Class>,
    /// `P1` to `P17`.
    pub pattern: Option<String>,
    /// Patterns that tell of the same bug by the same lines: there an access of the other kind stands beside it.
    #[serde(default)]
    pub also: Vec<String>,
    pub variables: Vec<String>,
    /// What goes wrong, in one sentence.
    pub why: String,
    pub failure: Option<Failure>,
    pub rate: Rate,
    /// The true pattern, in the order of execution.
    #[serde(default, rename = "access")]
    pub accesses: Vec<Access>,
    /// Of a run that hangs: who waits where. Of a deadlock: each for the next, the last for the first.
    #[serde(default, rename = "wait")]
    pub waits: Vec<Wait>,
    /// Acquisitions of one lock that contend, each pair in both orders.
    #[serde(default, rename = "order")]
    pub orders: Vec<Order>,
    #[serde(skip)]
    pub folder: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum Language {
    #[serde(rename = "c")]
    C,
    #[serde(rename = "c++")]
    Cpp,
    #[serde(rename = "rust")]
    Rust,
}

/// What kind of bug it is. The first three are those of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    Order,
    SingleVariable,
    MultiVariable,
    Deadlock,
    LostNotification,
}

/// How a failing run shows: by an exit code, by a signal, or by not ending.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    #[serde(default)]
    pub hang: bool,
    pub exit_code: Option<i32>,
    /// Like `SIGSEGV`.
    pub signal: Option<String>,
    /// Part of what it then says.
    pub output: Option<String>,
}

/// Share of runs that fail without any perturbation.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rate {
    /// What the paper saw in the original program.
    pub paper: Option<f64>,
    /// What was seen in this one, over `runs` runs.
    pub bare: f64,
    pub runs: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Access {
    pub marker: u32,
    /// 1 or 2: the roles of the pattern.
    pub role: u8,
    pub kind: AccessKind,
    /// The last parts of the function's name.
    pub function: String,
    /// The last part of the variable's name.
    pub variable: String,
}

/// Where a thread of a hung run waits.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wait {
    pub marker: u32,
    pub role: u8,
    pub waits_for: WaitedFor,
    /// The last parts of the function's name.
    pub function: String,
    /// The last part of the name of what it waits for. None for the end of a thread.
    pub object: Option<String>,
    #[serde(default)]
    pub holds: Vec<Held>,
}

/// A lock that a waiting thread holds.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// Where it was taken.
    pub marker: u32,
    pub lock: String,
}

/// One of two orders of acquisitions of a lock, and what the paper saw when it was forced.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Order {
    /// Markers.
    pub first: u32,
    pub then: u32,
    /// Share of runs that hung.
    pub paper_hung: f64,
    /// Share of runs where both threads met there.
    pub paper_hit: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Twin {
    Buggy,
    Fixed,
}

impl Subject {
    /// The words of the command that builds a twin into a folder; to be run in the subject's folder.
    #[must_use]
    pub fn build_command(&self, twin: Twin, into: &Path) -> Vec<String> {
        let mut words: Vec<String> = self.build.split_whitespace().map(String::from).collect();
        let is_rust = self.language == Language::Rust;
        if twin == Twin::Fixed {
            let switch: &[&str] = if is_rust { &["--features", "fixed"] } else { &["-DFIXED"] };
            words.extend(switch.iter().map(|word| String::from(*word)));
        }
        let (option, target) =
            if is_rust { ("--target-dir", into.to_path_buf()) } else { ("-o", self.program(into)) };
        words.extend([option.to_owned(), target.display().to_string()]);
        words
    }

    /// Where `build_command` puts the program.
    #[must_use]
    pub fn program(&self, built_into: &Path) -> PathBuf {
        let folder = if self.language == Language::Rust { "debug" } else { "" };
        built_into.join(folder).join(&self.name)
    }

    /// The source as it is now.
    ///
    /// # Panics
    /// If it cannot be read.
    #[must_use]
    pub fn text(&self) -> String {
        let file = self.folder.join(&self.source);
        fs::read_to_string(&file).unwrap_or_else(|why| panic!("{}: {why}", file.display()))
    }

    /// The lines of the source that carry markers, by marker.
    #[must_use]
    pub fn lines(&self) -> BTreeMap<u32, u32> {
        lines_of_markers(&self.text())
    }

    /// All patterns that describe the bug over its lines, the true one first.
    pub fn patterns(&self) -> impl Iterator<Item = &str> {
        self.pattern.iter().chain(&self.also).map(String::as_str)
    }

    /// A failing run does not end: there is no pattern to rank, only who waits for what.
    #[must_use]
    pub fn hangs(&self) -> bool {
        self.failure.as_ref().is_some_and(|failure| failure.hang)
    }

    /// All markers it speaks of.
    #[must_use]
    pub fn markers(&self) -> BTreeSet<u32> {
        let accesses = self.accesses.iter().map(|access| access.marker);
        let waits = self.waits.iter().map(|wait| wait.marker);
        let held = self.waits.iter().flat_map(|wait| &wait.holds).map(|held| held.marker);
        let orders = self.orders.iter().flat_map(|order| [order.first, order.then]);
        accesses.chain(waits).chain(held).chain(orders).collect()
    }

    /// No order of its threads makes it fail.
    #[must_use]
    pub fn never_fails(&self) -> bool {
        self.failure.is_none()
    }
}
