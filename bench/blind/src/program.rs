//! A program with a known bug: how it is built, and which lines must be reported.

use std::path::PathBuf;

use unpick_subjects::Subject;

use crate::places::Place;

#[derive(Debug)]
pub struct Program {
    /// `c/route-cache`, or `shop`.
    pub name: String,
    pub class: String,
    /// At least one line of each group must be reported.
    pub must: Vec<Vec<Place>>,
    /// The calls that led to an access count too: the truth about a crate has the lines of callers.
    pub with_stacks: bool,
    pub recipe: Recipe,
    pub arguments: Vec<String>,
}

/// How a program is built.
#[derive(Debug)]
pub enum Recipe {
    /// By `unpick cc` or `unpick c++`.
    Compiler { verb: &'static str, flags: Vec<String>, sources: Vec<PathBuf> },
    /// `unpick cargo build --locked` in a copy of the folder.
    Cargo { folder: PathBuf },
    /// `unpick cargo test --no-run` in a copy of the folder; the program is the test binary of that name.
    CargoTest { folder: PathBuf, binary: String },
    /// One source, put into a cargo project of its own.
    RustFile { file: PathBuf, opt_level: u8 },
    /// As the catalogue of subjects says.
    Subject(Box<Subject>),
}

/// `-g -O1 -pthread` and the standard that the blind programs are written for.
pub fn default_flags(verb: &str) -> Vec<String> {
    let standard = if verb == "cc" { "-std=gnu11" } else { "-std=c++17" };
    [standard, "-g", "-O1", "-pthread"].map(str::to_owned).to_vec()
}
