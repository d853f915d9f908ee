//! Whether a reconstruction shows the true bug.

use std::collections::{BTreeMap, BTreeSet};

use unpick_analyses::communication::{
    Contexts, Limits, NodeKey, Reconstruction, Reconstructions, Region, by_accesses, by_edges,
    reconstruct,
};
use unpick_analyses::ranking::CodeBook;
use unpick_findings::{Choices, Names, own_first};
use unpick_names::CodeNames;
use unpick_problem::Problem;
use unpick_subjects::Subject;

use super::runs::Labelled;
use crate::study::choices;
use crate::truth::Truth;

/// How the true bug stands among all reconstructions.
#[derive(Debug, Clone, Default)]
pub struct Standing {
    /// Of the first that shows the bug.
    pub rank: Option<u32>,
    /// How many different pairs of code points come before it.
    pub stories_before: Option<usize>,
    /// Lines in it that belong to the bug, and that do not.
    pub relevant: usize,
    pub irrelevant: usize,
    pub in_order: bool,
    /// Lines of the true pattern that are not in it.
    pub missing: usize,
    pub reconstructions: usize,
    pub edges: usize,
    /// It, and the first of all, in short.
    pub told: Vec<String>,
}

pub struct Judge<'a> {
    truth: &'a Truth,
    names: &'a CodeNames,
    choices: Choices,
    /// Lines that have a marker or name a variable of the true pattern.
    relevant: BTreeSet<u32>,
}

/// A line of the subject's source, or a site outside of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Point {
    Line(u32),
    Elsewhere(u32),
}

/// Where points stand: prefix, source, body, sink, suffix.
const PLACES: usize = 5;

impl<'a> Judge<'a> {
    pub fn new(subject: &Subject, truth: &'a Truth, names: &'a CodeNames) -> Judge<'a> {
        let text = subject.text();
        let names_one = |line: &str| {
            let mut words = line.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.any(|word| subject.variables.iter().any(|variable| variable == word))
        };
        let named = text.lines().zip(1..).filter(|(line, _)| names_one(line));
        let relevant = named.map(|(_, number)| number).chain(truth.lines()).collect();
        Judge { truth, names, choices: choices(), relevant }
    }

    pub fn standing(&self, runs: &[Labelled], contexts: Contexts) -> Result<Standing, Problem> {
        let limits = Limits { contexts, ..Limits::default() };
        let all = self.as_read(reconstruct(runs.iter().cloned(), &limits)?, contexts);
        let mut view = View { judge: self, all: &all, points: BTreeMap::new() };
        let first = all.ranked.iter().position(|one| view.shows_bug(one));
        let closest = first.or_else(|| view.closest());
        let mut standing =
            closest.map_or_else(Standing::default, |at| view.describe(&all.ranked[at]));
        standing.rank = first.map(|at| all.ranked[at].rank);
        standing.stories_before = first.map(|at| view.stories(&all.ranked[..at]));
        standing.reconstructions = all.ranked.len();
        standing.edges = all.edges;
        standing.told.extend(all.ranked.iter().take(4).map(|one| view.told(one)));
        Ok(standing)
    }

    /// In the order in which a user reads them; the paper's own has no notion of whose code it is.
    fn as_read(&self, all: Reconstructions, contexts: Contexts) -> Reconstructions {
        match contexts {
            Contexts::Whole => all,
            Contexts::AnyLength => own_first(all, self.names, &self.choices),
        }
    }

    /// Bugaboo: the best edge between two lines of the true pattern.
    pub fn rank_by_edges(&self, runs: &[Labelled]) -> Result<Option<u32>, Problem> {
        let (ranked, code) = by_edges(runs.iter().cloned())?;
        let is_true = |site: u32| self.is_true(site, &code);
        let found =
            ranked.iter().find(|one| is_true(one.edge.source.site) && is_true(one.edge.sink.site));
        Ok(found.map(|one| one.rank))
    }

    /// CCI: the best access at a line of the true pattern.
    pub fn rank_by_accesses(&self, runs: &[Labelled]) -> Option<u32> {
        let (ranked, code) = by_accesses(runs.iter().cloned());
        ranked.iter().find(|one| self.is_true(one.access.site, &code)).map(|one| one.rank)
    }

    fn is_true(&self, site: u32, code: &CodeBook) -> bool {
        let places = |site: u32| self.names.place(code.sites[site as usize], code);
        let line = self.truth.line_of(site, &[], &places);
        line.is_some_and(|line| self.truth.lines().any(|known| known == line))
    }
}

/// Reconstructions as lines of source.
struct View<'a> {
    judge: &'a Judge<'a>,
    all: &'a Reconstructions,
    points: BTreeMap<u32, Point>,
}

impl View<'_> {
    fn point(&mut self, node: NodeKey) -> Point {
        let (all, judge) = (self.all, self.judge);
        *self.points.entry(node.site).or_insert_with(|| {
            let places = |site: u32| judge.names.place(all.code.sites[site as usize], &all.code);
            let stack = all.examples.get(&node.site).map_or(&[][..], |example| &example.stack);
            let line = judge.truth.line_of(node.site, stack, &places);
            line.map_or(Point::Elsewhere(node.site), Point::Line)
        })
    }

    /// The points at each place.
    fn points(&mut self, one: &Reconstruction) -> [BTreeSet<Point>; PLACES] {
        let mut region = |region: Region| -> BTreeSet<Point> {
            one.members(region).iter().map(|member| self.point(member.node)).collect()
        };
        let [prefix, body, suffix] = Region::ALL.map(&mut region);
        let [source, sink] =
            [one.edge.source, one.edge.sink].map(|node| BTreeSet::from([self.point(node)]));
        [prefix, source, body, sink, suffix]
    }

    fn missing(&self, points: &[BTreeSet<Point>; PLACES]) -> usize {
        let lines: BTreeSet<u32> = self.judge.truth.lines().collect();
        let is_there = |line: &u32| points.iter().any(|place| place.contains(&Point::Line(*line)));
        lines.iter().filter(|line| !is_there(line)).count()
    }

    /// Whether a reader meets the true accesses in their order; those that are missing do not count.
    fn in_order(&self, points: &[BTreeSet<Point>; PLACES]) -> bool {
        let mut at = 0;
        for line in self.judge.truth.lines().map(Point::Line) {
            if !points.iter().any(|place| place.contains(&line)) {
                continue;
            }
            match (at..PLACES).find(|&place| points[place].contains(&line)) {
                Some(place) => at = place,
                None => return false,
            }
        }
        true
    }

    fn is_about_bug(&self, points: &[BTreeSet<Point>; PLACES]) -> bool {
        let is_true =
            |point: &Point| self.judge.truth.lines().any(|line| *point == Point::Line(line));
        points[1].iter().chain(&points[3]).any(is_true)
    }

    fn shows_bug(&mut self, one: &Reconstruction) -> bool {
        let points = self.points(one);
        self.is_about_bug(&points) && self.missing(&points) == 0 && self.in_order(&points)
    }

    /// The one that is about the bug and lacks least.
    fn closest(&mut self) -> Option<usize> {
        let all = self.all;
        let mut best = None;
        for (one, at) in all.ranked.iter().zip(0..) {
            let points = self.points(one);
            if self.is_about_bug(&points) {
                let lacks = (self.missing(&points), !self.in_order(&points), at);
                best = Some(best.map_or(lacks, |known: (usize, bool, usize)| known.min(lacks)));
            }
        }
        best.map(|(_, _, at)| at)
    }

    /// Different pairs of code points.
    fn stories(&mut self, some: &[Reconstruction]) -> usize {
        let ends = some.iter().map(|one| (self.point(one.edge.source), self.point(one.edge.sink)));
        ends.collect::<BTreeSet<_>>().len()
    }

    fn describe(&mut self, one: &Reconstruction) -> Standing {
        let points = self.points(one);
        let all: BTreeSet<&Point> = points.iter().flatten().collect();
        let is_relevant = |point: &&&Point| match point {
            Point::Line(line) => self.judge.relevant.contains(line),
            Point::Elsewhere(_) => false,
        };
        let relevant = all.iter().filter(is_relevant).count();
        Standing {
            relevant,
            irrelevant: all.len() - relevant,
            in_order: self.in_order(&points),
            missing: self.missing(&points),
            told: vec![self.told(one)],
            ..Standing::default()
        }
    }

    fn told(&mut self, one: &Reconstruction) -> String {
        let mut region = |region: Region| {
            let members = one.members(region).iter().map(|member| {
                let point = self.point(member.node);
                format!("{} {:.0}%", brief(point), member.confidence * 100.0)
            });
            members.collect::<Vec<_>>().join(", ")
        };
        let [prefix, body, suffix] = Region::ALL.map(&mut region);
        let [source, sink] = [one.edge.source, one.edge.sink].map(|node| self.point(node));
        let contexts = [one.edge.source, one.edge.sink].map(|node| node.context.to_string());
        format!(
            "#{} {:.2} (B {:.2} R {:.2} E {:.2} O {:.2}; {}/{}): [{prefix}] {} -> [{body}] {} [{suffix}]; {contexts:?} {:?}",
            one.rank,
            one.score,
            one.buggy_frequency,
            one.consistency,
            one.earliness,
            one.overlap,
            one.failed,
            one.passed,
            brief(source),
            brief(sink),
            one.edge.way_back
        )
    }
}

fn brief(point: Point) -> String {
    match point {
        Point::Line(line) => line.to_string(),
        Point::Elsewhere(site) => format!("site {site}"),
    }
}
