//! Reconstructions in words: what led up to a communication, what happened, what followed.
//!
//! Takes   the `Reconstructions` of all runs, and names.      Gives  them as data and JSON (`docs/schema/reconstructions.schema.json`);
//!         for a finding the one that shows the same cause.
//! Misses  reconstructions whose two ends both are in libraries of the language, called by nobody else; those all in ignored packages.
//! Cost    names of what is shown, and of the ends of those that are looked through.

mod own_first;

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use unpick_analyses::communication::{
    self, CommunicationContext, NodeKey, Reconstructions, Region,
};
use unpick_analyses::ranking::ExampleAccess;

use crate::describe::{AccessWords, Choices, kind_of};
use crate::finding::{AccessKind, CodePlace, Finding, FindingAccess, Runs, Unreadable, parse};
use crate::names::{Author, Frame, Names};
use crate::places::{Places, Shown};
pub use own_first::own_first;

/// Name and version of the form.
pub const RECONSTRUCTIONS_SCHEMA: &str = "unpick-reconstructions/1";

/// So many are looked through for the one that has most in common with a finding.
const MOST_COMPARED: usize = 200;

/// The reconstructions of a hunt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ReconstructionList {
    pub schema: String,
    pub runs: Runs,
    /// Pairs of code points that were reconstructed.
    pub reconstructed: u32,
    /// The most suspicious first.
    pub reconstructions: Vec<Reconstruction>,
}

/// What stood around a communication that goes with failing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reconstruction {
    /// Among all of its hunt; equal scores share a rank.
    pub rank: u32,
    /// The product of frequency, consistency, earliness, and of overlap from a half to 1.
    pub score: f64,
    /// Share of failing runs with it by share of passing runs with it.
    pub buggy_frequency: f64,
    /// How different the numbers of contexts are, from 0 to 1. Not part of the score.
    pub context_variation: f64,
    /// Mean confidence of what is around it.
    pub consistency: f64,
    /// 1 if nothing as suspicious comes before it.
    pub earliness: f64,
    /// Share of its failing runs in which both threads were at work at the same time. Earlier versions did not say.
    #[serde(default = "whole")]
    pub overlap: f64,
    pub failed_runs: u32,
    pub passed_runs: u32,
    /// What both threads must just have been through, newest first: `lr`, `lw`, `rr`, `rw`. Empty: it does not matter.
    pub source_context: Vec<String>,
    pub sink_context: Vec<String>,
    /// Before, the write, between, who met it, after: in this order.
    pub points: Vec<CodePoint>,
}

fn whole() -> f64 {
    1.0
}

/// Where a code point stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointPlace {
    Prefix,
    /// The write.
    Source,
    Body,
    /// The access of another thread that met it.
    Sink,
    Suffix,
}

/// Whose code point it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointThread {
    /// The thread that wrote.
    Source,
    /// The thread that met what was written.
    Sink,
    Another,
}

/// An access that stood there.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CodePoint {
    pub place: PointPlace,
    pub thread: PointThread,
    /// Share of the failing runs with the communication in which it stood there.
    pub confidence: f64,
    pub kind: AccessKind,
    pub variable: Option<String>,
    #[serde(flatten)]
    pub frame: Frame,
    /// The line of source, as it was when the program was built; none if it cannot be read any more.
    pub text: Option<String>,
    pub code: CodePlace,
}

impl CodePoint {
    /// The same line, if it has one.
    fn line(&self) -> Option<(&str, u32)> {
        Some((self.frame.file.as_deref()?, self.frame.line?))
    }
}

impl ReconstructionList {
    /// From JSON of this version.
    pub fn from_json(text: &str) -> Result<ReconstructionList, Unreadable> {
        parse(text, RECONSTRUCTIONS_SCHEMA)
    }

    /// As JSON, for people too.
    ///
    /// # Panics
    /// Never: there is nothing in it that JSON cannot say.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("scores are finite and keys are texts")
    }
}

/// Puts names to reconstructions.
pub struct ReconstructionWords<'r> {
    all: &'r Reconstructions,
    words: AccessWords<'r>,
}

impl<'r> ReconstructionWords<'r> {
    pub fn new(
        all: &'r Reconstructions,
        names: &'r dyn Names,
        choices: &'r Choices,
    ) -> ReconstructionWords<'r> {
        let places = Places::chosen(&all.code, names, choices);
        ReconstructionWords { all, words: AccessWords { places } }
    }

    /// The first `most` of those that somebody but the language's libraries has to do with.
    pub fn list(&self, most: usize) -> ReconstructionList {
        let runs = &self.all.runs;
        ReconstructionList {
            schema: RECONSTRUCTIONS_SCHEMA.to_owned(),
            runs: Runs {
                total: runs.total(),
                passed: runs.passed,
                failed: runs.failed,
                unusable: runs.unusable,
            },
            reconstructed: self.all.ranked.len() as u32,
            reconstructions: self.first(most),
        }
    }

    /// Failing runs that were compared.
    pub(crate) fn failed_runs(&self) -> u32 {
        self.all.runs.failed
    }

    /// The first `most`.
    pub fn first(&self, most: usize) -> Vec<Reconstruction> {
        let shown = self.all.ranked.iter().filter(|one| self.is_shown(one));
        shown.take(most).map(|one| self.told(one)).collect()
    }

    /// The reconstruction of a finding's own cause: of the edge between two of its accesses; else the one that has most lines in
    /// common with it, at least two, one of them an end.
    pub fn of_finding(&self, finding: &Finding) -> Option<Reconstruction> {
        let sites = self.sites_of(finding);
        let is_pair = |one: &&communication::Reconstruction| {
            let place = |site: u32| {
                sites.iter().enumerate().filter(move |(_, known)| **known == Some(site))
            };
            let ends = [one.edge.source.site, one.edge.sink.site].map(place);
            let [sources, sinks] = ends;
            let sinks: Vec<usize> = sinks.map(|(at, _)| at).collect();
            sources.into_iter().any(|(first, _)| {
                sinks.iter().any(|&second| are_pair(&finding.accesses, first, second))
            })
        };
        let exact = self.all.ranked.iter().find(is_pair).map(|one| self.told(one));
        exact.or_else(|| self.most_alike(finding))
    }

    /// The numbers that the sites of a finding's accesses have here.
    fn sites_of(&self, finding: &Finding) -> Vec<Option<u32>> {
        let known: HashMap<(Option<String>, String), u32> = (0..self.all.code.sites.len() as u32)
            .map(|site| (code_key(&self.words.places.code_place(site)), site))
            .collect();
        let accesses = finding.accesses.iter();
        accesses.map(|access| known.get(&code_key(&access.code)).copied()).collect()
    }

    fn most_alike(&self, finding: &Finding) -> Option<Reconstruction> {
        let lines: Vec<(&str, u32)> = finding
            .accesses
            .iter()
            .filter_map(|access| Some((access.frame.file.as_deref()?, access.frame.line?)))
            .collect();
        let is_common = |point: &&CodePoint| point.line().is_some_and(|line| lines.contains(&line));
        let mut best: Option<(usize, Reconstruction)> = None;
        for one in self.all.ranked.iter().take(MOST_COMPARED) {
            let told = self.told(one);
            let is_end =
                |point: &&CodePoint| matches!(point.place, PointPlace::Source | PointPlace::Sink);
            let mut common: Vec<_> = told.points.iter().filter(is_common).collect();
            let has_end = common.iter().any(is_end);
            common.sort_by_key(|point| point.line());
            common.dedup_by_key(|point| point.line());
            let count = common.len();
            if has_end && count >= 2 && best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, told));
            }
        }
        best.map(|(_, told)| told)
    }

    /// What is not known is shown.
    fn is_shown(&self, one: &communication::Reconstruction) -> bool {
        let ends = [one.edge.source.site, one.edge.sink.site];
        let known = ends.map(|site| self.all.examples.get(&site));
        let are_all = |is: &dyn Fn(&ExampleAccess) -> bool| {
            known.iter().all(|example| example.is_some_and(is))
        };
        let is_of_language = |access: &ExampleAccess| self.words.author(access) == Author::Language;
        !are_all(&is_of_language) && !are_all(&|access| self.words.is_ignored(access))
    }

    fn told(&self, one: &communication::Reconstruction) -> Reconstruction {
        let mut points = Vec::new();
        self.add_region(one, Region::Prefix, PointPlace::Prefix, &mut points);
        points.extend(self.end(one.edge.source, PointPlace::Source, PointThread::Source));
        self.add_region(one, Region::Body, PointPlace::Body, &mut points);
        points.extend(self.end(one.edge.sink, PointPlace::Sink, PointThread::Sink));
        self.add_region(one, Region::Suffix, PointPlace::Suffix, &mut points);
        Reconstruction {
            rank: one.rank,
            score: one.score,
            buggy_frequency: one.buggy_frequency,
            context_variation: one.context_variation,
            consistency: one.consistency,
            earliness: one.earliness,
            overlap: one.overlap,
            failed_runs: one.failed,
            passed_runs: one.passed,
            source_context: context_words(one.edge.source.context),
            sink_context: context_words(one.edge.sink.context),
            points,
        }
    }

    /// The points of a region. What one thread does on one line is told once.
    fn add_region(
        &self,
        one: &communication::Reconstruction,
        region: Region,
        place: PointPlace,
        points: &mut Vec<CodePoint>,
    ) {
        let before = points.len();
        for member in one.members(region) {
            let thread = match member {
                member if member.with_source * 2 > member.runs => PointThread::Source,
                member if member.with_sink * 2 > member.runs => PointThread::Sink,
                _ => PointThread::Another,
            };
            let Some(example) = self.all.examples.get(&member.node.site) else { continue };
            let point = self.point(example, place, thread, member.confidence);
            let is_same = |known: &&mut CodePoint| {
                (known.thread, known.kind) == (point.thread, point.kind)
                    && known.line().is_some()
                    && known.line() == point.line()
            };
            match points[before..].iter_mut().find(is_same) {
                Some(known) => known.confidence = known.confidence.max(point.confidence),
                None => points.push(point),
            }
        }
    }

    fn end(&self, node: NodeKey, place: PointPlace, thread: PointThread) -> Option<CodePoint> {
        let example = self.all.examples.get(&node.site)?;
        Some(self.point(example, place, thread, 1.0))
    }

    fn point(
        &self,
        example: &ExampleAccess,
        place: PointPlace,
        thread: PointThread,
        confidence: f64,
    ) -> CodePoint {
        let places = &self.words.places;
        let Shown { site, place: shown, .. } = self.words.shown(example);
        CodePoint {
            place,
            thread,
            confidence,
            kind: kind_of(example.touch),
            variable: self.words.variable(example),
            frame: shown.frame,
            text: places.names.line_text(site, places.code),
            code: places.code_place(example.site),
        }
    }
}

/// Whether two accesses of a finding can be a write and another thread's access that met it.
fn are_pair(accesses: &[FindingAccess], first: usize, second: usize) -> bool {
    let (write, met) = (&accesses[first], &accesses[second]);
    first < second && write.role != met.role && write.kind != AccessKind::Read
}

/// A build id says which file it is, wherever it is; without one only its path does.
fn code_key(code: &CodePlace) -> (Option<String>, String) {
    (code.build_id.clone().or_else(|| code.module.clone()), code.offset.clone())
}

fn context_words(context: CommunicationContext) -> Vec<String> {
    context.happenings().map(|happening| happening.name().to_owned()).collect()
}
