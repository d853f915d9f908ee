//! The data of a finding, as JSON shows it. `docs/schema/findings.schema.json` says the same.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::active::Active;
use crate::certainty::Certainty;
use crate::confirmed::Confirmed;
use crate::correlated::FindingCorrelation;
use crate::failure::FailureGroup;
use crate::hang::HangGroup;
use crate::names::Frame;
use crate::packages::Packages;
use crate::reconstruction::Reconstruction;
use crate::violation::TrainedSite;

/// Name and version of the form.
pub const SCHEMA: &str = "unpick-findings/1";

/// Everything a hunt found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Findings {
    pub schema: String,
    /// The hunt they are of, by the number of its first run; none: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunt: Option<u64>,
    pub runs: Runs,
    /// How failing runs ended and what they said, the most frequent first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<FailureGroup>,
    /// The formula of the scores: `jaccard`, `tarantula`, `ochiai`.
    pub formula: String,
    /// The most suspicious first.
    pub findings: Vec<Finding>,
    /// How failing runs hung: deadlocks first.
    #[serde(default)]
    pub hangs: Vec<HangGroup>,
    /// What came of orders that no run had had; none: none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active: Option<Active>,
    /// Where patterns do not say enough: the communications that go best with failing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reconstructions: Vec<Reconstruction>,
    /// The packages that the user named, and how many orders are not reported for that.
    #[serde(default, skip_serializing_if = "Packages::is_empty")]
    pub packages: Packages,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Runs {
    pub total: u32,
    pub passed: u32,
    pub failed: u32,
    /// Not counted: Unpick's own fault, or no verdict.
    pub unusable: u32,
}

/// One cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    /// Findings with the same score share a rank.
    pub rank: u32,
    /// Of the pattern in front, from 0 to 1.
    pub score: f64,
    pub class: Class,
    /// `P1` to `P32`.
    pub pattern: String,
    /// Why this order of accesses is wrong, in plain words.
    pub sentence: String,
    /// In the order of execution.
    pub accesses: Vec<FindingAccess>,
    /// In how many failing and passing runs the pattern occurred.
    pub failed_runs: u32,
    pub passed_runs: u32,
    /// Failing runs that have it, or an order that the same threads make in the same functions, at other lines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub covered_runs: u32,
    /// The same of runs in which some order was forced or prevented.
    #[serde(default, skip_serializing_if = "InExperiments::is_nowhere")]
    pub in_experiments: InExperiments,
    /// Those of `failed_runs` that ended before the last access: they lack the order that passing runs have.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missing_runs: u32,
    /// The run, failing unless it was forced or inferred, that threads, stacks, locks and order of `accesses` are from.
    pub example_run: u32,
    /// Failing runs ended before the last access of a longer pattern: this is what all of them share.
    pub cut_short: bool,
    /// Only failing runs execute some of its code: control got there because something had gone wrong before.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_failing_code: bool,
    /// Other patterns of the same cause, the most suspicious first.
    pub supporters: Vec<Supporter>,
    /// Supporters that are not listed.
    pub further_supporters: u32,
    pub study: Study,
    /// What forcing it has shown; none: nobody tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
    #[serde(default, skip_serializing_if = "Origin::is_correlated")]
    pub origin: Origin,
    /// Trained invariants at its accesses that failing runs violated, those of most runs first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub invariants: Vec<SupportingInvariant>,
    /// How it happened in failing runs; none: not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reconstruction: Option<Reconstruction>,
    /// Of two variables: why they belong together; none: nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub correlation: Option<FindingCorrelation>,
}

/// In how many runs with a forced or prevented order something occurred.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct InExperiments {
    pub failed_runs: u32,
    pub passed_runs: u32,
}

impl InExperiments {
    fn is_nowhere(&self) -> bool {
        *self == InExperiments::default()
    }
}

/// A trained invariant that failing runs violated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupportingInvariant {
    /// As `unpick watch` tells it.
    pub id: String,
    pub case: u8,
    /// `r [w] w`.
    pub order: String,
    /// Of the I-access.
    #[serde(flatten)]
    pub frame: Frame,
    /// Failing runs that violated it, of those that could be looked at.
    pub failed_runs: u32,
    pub looked_at: u32,
    pub trained: TrainedSite,
}

/// How a finding was come by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Failing runs have it, and passing ones seldom.
    #[default]
    Correlated,
    /// No failing run had it: it was forced, and the program failed. It has no score, and its example is of a run that passed. Where passing
    /// runs had it, `passed_runs` says how many.
    Forced,
    /// No failing run lived to show it: passing runs have these accesses the other way round, failing runs ended without the last
    /// one. Its example is of a run that passed.
    Inferred,
}

fn is_zero(runs: &u32) -> bool {
    *runs == 0
}

impl Origin {
    fn is_correlated(&self) -> bool {
        *self == Origin::Correlated
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Class {
    Order,
    SingleVariable,
    MultiVariable,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AccessKind {
    Read,
    Write,
    /// A write: the memory was given back.
    Free,
}

/// The most calls that are kept of what led to a place.
pub const MOST_CALLS: usize = 10;

/// Where code is, for those who look for it without names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodePlace {
    pub module: Option<String>,
    pub build_id: Option<String>,
    /// Return address in the terms of the module's file, in hex.
    pub offset: String,
}

/// An access of the pattern in front.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingAccess {
    /// 1 or 2: which of the two threads.
    pub role: u8,
    pub kind: AccessKind,
    /// What the program calls the bytes.
    pub variable: Option<String>,
    #[serde(flatten)]
    pub frame: Frame,
    /// The line of source, as it was when the program was built; none if it cannot be read any more.
    #[serde(default)]
    pub text: Option<String>,
    /// Functions the first one was inlined into.
    pub inlined_into: Vec<Frame>,
    /// In the example run.
    pub thread: u16,
    pub process: u32,
    pub atomic: bool,
    /// Place in the order of accesses of the example run's process.
    pub order: u32,
    /// The calls that led here, innermost first; empty: not known.
    pub stack: Vec<Frame>,
    pub locks: Vec<HeldLock>,
    pub code: CodePlace,
    /// How many bytes it touched in all; 0: not known.
    #[serde(default)]
    pub bytes: u64,
    /// Made by a function of a library at its call (`memcpy`, `read`); false also where that is not known.
    #[serde(default)]
    pub library: bool,
    /// The calls that led to `code`, innermost first, at most `MOST_CALLS`; empty: not known.
    #[serde(default)]
    pub calls: Vec<CodePlace>,
    /// Which of `calls` is shown, because `code` is inside a library of the language; none: `code` itself, or the only call of the
    /// library in the user's code, where it is none of `calls`.
    #[serde(default)]
    pub shown_call: Option<usize>,
}

/// A lock that was held at an access.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HeldLock {
    pub name: Option<String>,
    /// `mutex`, `rwlock`, …
    pub kind: String,
    /// Held together with other readers.
    pub shared: bool,
    pub taken_at: Frame,
    /// Where it was taken, for those who look for it without names; none: not known.
    #[serde(default)]
    pub code: Option<CodePlace>,
    /// The calls that led there, innermost first, at most `MOST_CALLS`.
    #[serde(default)]
    pub calls: Vec<CodePlace>,
    /// Which of `calls` is `taken_at`, because `code` is inside a library of the language; none: `code` itself.
    #[serde(default)]
    pub shown_call: Option<usize>,
    /// The same at two accesses of one thread: it was not given back in between. None: not known.
    #[serde(default)]
    pub acquisition: Option<u64>,
    /// How many bytes behind the lock the accessed variable is, if they seem to be parts of one object. None: not known, or
    /// not held at an access.
    #[serde(default)]
    pub distance: Option<i64>,
}

/// How a supporter stands to the pattern in front.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// It has all accesses of the pattern in front, and more.
    Contains,
    /// The pattern in front has all its accesses.
    PartOf,
    /// It has code in common with the group.
    SharesCode,
    /// It occurred in the same failing runs.
    SameRuns,
}

/// Another pattern of the same cause.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Supporter {
    pub pattern: String,
    pub class: Class,
    pub score: f64,
    /// Among all patterns.
    pub pattern_rank: u32,
    pub relation: Relation,
    pub failed_runs: u32,
    pub passed_runs: u32,
    pub accesses: Vec<RelatedAccess>,
}

/// An access of a supporter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RelatedAccess {
    pub role: u8,
    pub kind: AccessKind,
    pub variable: Option<String>,
    #[serde(flatten)]
    pub frame: Frame,
}

/// Figures to compare with the studies of the papers.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Study {
    pub first_pair: Option<f64>,
    pub second_pair: Option<f64>,
    pub pattern_rank: u32,
    pub patterns_at_rank_1: u32,
    pub pairs: u32,
    pub patterns: u32,
    pub median_distance: Option<u32>,
    pub longest_distance: Option<u32>,
    pub access_window: Option<u32>,
}

/// As it is written: with what follows from the rest, for those who do not want to know how.
#[derive(Serialize)]
struct Written<'f> {
    #[serde(flatten)]
    findings: &'f Findings,
    certainty: Certainty,
}

/// What every version has.
#[derive(Deserialize)]
struct Form {
    schema: String,
}

/// Why a text is not the JSON of findings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unreadable {
    /// Its `schema` is another one.
    OtherForm(String),
    Damaged(String),
}

/// Reads JSON whose `schema` must be this one.
pub fn parse<T: DeserializeOwned>(text: &str, schema: &str) -> Result<T, Unreadable> {
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    // The form is looked at first: another version may have other fields.
    let form: Form = serde_json::from_str(text).map_err(damaged)?;
    if form.schema != schema {
        return Err(Unreadable::OtherForm(form.schema));
    }
    serde_json::from_str(text).map_err(damaged)
}

impl Findings {
    /// From JSON of this version.
    pub fn from_json(text: &str) -> Result<Findings, Unreadable> {
        parse(text, SCHEMA)
    }

    /// As JSON, for people too.
    ///
    /// # Panics
    /// Never: there is nothing in it that JSON cannot say.
    pub fn to_json(&self) -> String {
        let written = Written { findings: self, certainty: self.certainty() };
        serde_json::to_string_pretty(&written).expect("scores are finite and keys are texts")
    }
}
