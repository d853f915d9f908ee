//! What a correlation is, as data: the joint to whoever shows it or takes it as a hint.
//!
//! Variables are named as sources name them: `Type::field` for a field of any object of the type,
//! the plain (in C++ and Rust qualified) name for a global.

use serde::{Deserialize, Serialize};

/// Which accesses one side of a rule is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessType {
    Read,
    Write,
    /// A read, a write, or its address taken.
    Any,
}

impl AccessType {
    pub const ALL: [Self; 3] = [Self::Read, Self::Write, Self::Any];

    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Any => "any",
        }
    }
}

/// One side of a rule: `write(Cache::table)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Side {
    pub access: AccessType,
    pub variable: String,
}

impl std::fmt::Display for Side {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}({})", self.access.word(), self.variable)
    }
}

/// A place in the sources.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Place {
    pub function: String,
    pub file: String,
    /// Of the access that the place is shown for, from 1.
    pub line: u32,
    /// From 1, where it is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub column: Option<u32>,
}

/// Whoever makes the left access makes the right one nearby, in nearly all functions. Who writes one by hand needs the two sides only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Correlation {
    /// From 1.
    #[serde(default)]
    pub rank: usize,
    /// The same for the same rule, wherever its functions have gone since.
    #[serde(default)]
    pub fingerprint: String,
    pub left: Side,
    pub right: Side,
    /// Under which value of a flag it holds, where it does not hold everywhere: `Log::enabled`, `Pager::state == 2`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub condition: Option<String>,
    /// Functions with both, together.
    #[serde(default)]
    pub support: usize,
    /// Functions with the left one.
    #[serde(default)]
    pub left_functions: usize,
    /// Functions with the right one.
    #[serde(default)]
    pub right_functions: usize,
    /// Support by functions with the left one.
    #[serde(default)]
    pub confidence: f64,
    /// How sure and how telling it is, from 0 to 1: what the ranking goes by.
    #[serde(default)]
    pub score: f64,
    /// The two are often together, but hardly anything relates them: told only if asked for, and ranked behind the others.
    #[serde(default)]
    pub is_weak: bool,
    #[serde(default)]
    pub closeness: Closeness,
    /// Some of the functions with both.
    #[serde(default)]
    pub examples: Vec<Place>,
    /// Functions with the left one only.
    #[serde(default)]
    pub broken_by: Vec<Place>,
    /// The other rules of the same two variables that hold.
    #[serde(default)]
    pub others: Vec<OtherRule>,
}

/// How the two variables of a correlation meet, in functions that touch them themselves, whatever the statements between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Closeness {
    /// Functions that touch one of them, or both.
    pub either: usize,
    pub both: usize,
    /// Of those with both, the ones with a statement that has both, or that touch one under a condition on the other.
    pub related: usize,
    /// Functions that write one of them, or both.
    pub write_either: usize,
    pub write_both: usize,
}

/// A rule beside another one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OtherRule {
    pub left: Side,
    pub right: Side,
    pub support: usize,
    pub left_functions: usize,
    pub confidence: f64,
}

/// A function that updates one side only.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Break {
    /// From 1.
    pub rank: usize,
    /// The same for the same break, wherever its lines have gone since.
    #[serde(default)]
    pub fingerprint: String,
    /// Where the left access is made.
    pub place: Place,
    /// What it does, and what it leaves out.
    pub left: Side,
    pub right: Side,
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub condition: Option<String>,
    /// Functions that do both.
    pub support: usize,
    /// Functions that do the first.
    pub left_functions: usize,
    pub confidence: f64,
    pub score: f64,
    /// Functions that do both, to compare with.
    pub examples: Vec<Place>,
    /// Other rules that the same function breaks.
    pub others: Vec<OtherRule>,
}

/// Closed frequent item sets of three variables and more: what belongs together as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern {
    pub variables: Vec<String>,
    pub support: usize,
}

/// Version of [`CorrelationList`] as JSON.
pub const LIST_VERSION: u32 = 1;

/// What a code base says about its variables.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CorrelationList {
    pub version: u32,
    pub summary: Summary,
    pub correlations: Vec<Correlation>,
    pub breaks: Vec<Break>,
    pub patterns: Vec<Pattern>,
    /// What could not be looked at, in sentences.
    pub missing: Vec<String>,
}

/// How much was looked at, and with which choices.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    pub files: usize,
    /// Of them, how many were known from an earlier time.
    pub files_unchanged: usize,
    pub lines: usize,
    /// Full runs whose observations were used.
    #[serde(default)]
    pub runs: usize,
    /// Accesses that runs added to what the sources tell, or showed to be writes; without sources, all of them.
    #[serde(default)]
    pub observed: usize,
    pub functions: usize,
    pub variables: usize,
    pub max_distance: u32,
    pub min_support: usize,
    pub min_confidence: f64,
}

impl CorrelationList {
    /// Those to tell: all, or without the weak ones.
    pub fn told(&self, with_weak: bool) -> impl Iterator<Item = &Correlation> {
        self.correlations.iter().filter(move |correlation| with_weak || !correlation.is_weak)
    }

    /// # Panics
    ///
    /// Never: all keys are strings, and no number is infinite.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("plain data becomes JSON")
    }

    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}
