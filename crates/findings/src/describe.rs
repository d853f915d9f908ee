//! Makes findings of groups: puts names to numbers.

use std::collections::HashMap;
use std::path::PathBuf;

use unpick_analyses::interleaving_patterns::{self, PatternId, Touch};
use unpick_analyses::races::NamedRule;
use unpick_analyses::ranking::{
    Conclusion, Example, ExampleAccess, ExampleLock, ExampleMemory, PatternKey, Ranked,
    StudyFigures,
};

use crate::correlated::{FindingCorrelation, correlation_of, first_among_equals};
use crate::covered::CoveredRuns;
use crate::finding::{
    AccessKind, Class, Finding, FindingAccess, Findings, HeldLock, InExperiments, Origin,
    RelatedAccess, Relation, Runs, SCHEMA, Study, Supporter,
};
use crate::grouping::{Group, Standing, group, is_doubtful, is_suspicious, ranks};
use crate::led_by::led_by;
use crate::names::{Author, Frame, Names, Place};
use crate::packages::Packages;
use crate::places::{Places, Shown};
use crate::race::{OpenUnit, SourceLine};
use crate::sentences::{OtherWayRound, missing_sentence, sentence};

/// What a user can choose.
#[derive(Debug, Clone)]
pub struct Choices {
    /// Files below it are named as seen from it.
    pub working_folder: PathBuf,
    pub most_findings: usize,
    /// Per finding.
    pub most_supporters: usize,
    /// Which variables belong together, the surest first.
    pub correlations: Vec<NamedRule>,
    /// Which packages are the user's own, and which are ignored.
    pub packages: Packages,
}

/// With correlations so many times as many groups are made: among equals that would not be told, some may come first.
const GROUPS_TO_CHOOSE_FROM: usize = 3;

/// The findings of all runs.
pub fn describe(conclusion: &Conclusion, names: &dyn Names, choices: &Choices) -> Findings {
    let describer = Describer::new(conclusion, names, choices);
    let groups = describer.groups();
    let runs = &conclusion.runs;
    Findings {
        schema: SCHEMA.to_owned(),
        hunt: None,
        failures: Vec::new(),
        runs: Runs {
            total: runs.total(),
            passed: runs.passed,
            failed: runs.failed,
            unusable: runs.unusable,
        },
        formula: conclusion.formula.name().to_owned(),
        findings: describer.findings(&groups),
        hangs: Vec::new(),
        active: None,
        reconstructions: Vec::new(),
        packages: Packages { left_out: describer.left_out(), ..choices.packages.clone() },
    }
}

pub(crate) struct Describer<'c> {
    pub conclusion: &'c Conclusion,
    choices: &'c Choices,
    words: AccessWords<'c>,
    covered: CoveredRuns,
}

impl<'c> Describer<'c> {
    pub fn new(conclusion: &'c Conclusion, names: &'c dyn Names, choices: &'c Choices) -> Self {
        let places = Places::chosen(&conclusion.code, names, choices);
        let covered = CoveredRuns::default();
        Describer { conclusion, choices, words: AccessWords { places }, covered }
    }

    /// One per cause.
    pub fn groups(&self) -> Vec<Group> {
        let lines = self.lines();
        let has_hints = !self.choices.correlations.is_empty();
        let times = if has_hints { GROUPS_TO_CHOOSE_FROM } else { 1 };
        let most = self.choices.most_findings.saturating_mul(times);
        let standing = |place: usize| self.standing(place);
        let groups = group(self.conclusion, |site| lines[site as usize], standing, most);
        groups.into_iter().map(|group| self.led_by_hint(group)).collect()
    }

    /// Where the runs cannot tell the leader from a pattern of variables that belong together, which has all its accesses and more, that
    /// one leads.
    fn led_by_hint(&self, group: Group) -> Group {
        let hinted = group.supporters.iter().position(|&(place, relation)| {
            relation == Relation::Contains
                && self.are_alike(group.leader, place)
                && self.correlation(place).is_some()
        });
        match hinted {
            Some(at) if self.correlation(group.leader).is_none() => led_by(&group, at),
            _ => group,
        }
    }

    /// The same score in the same failing runs.
    fn are_alike(&self, one: usize, other: usize) -> bool {
        let Conclusion { ranked, evidence, .. } = self.conclusion;
        ranked[one].score == ranked[other].score && evidence[one].failing == evidence[other].failing
    }

    /// Why the variables of a pattern belong together, if anything says so.
    fn correlation(&self, place: usize) -> Option<FindingCorrelation> {
        let pattern = self.conclusion.ranked[place].key.pattern;
        correlation_of(pattern, self.example(place)?, &self.choices.correlations, &self.words)
    }

    /// For every site the number of its line of source; a site without one has a number of its own.
    /// Only sites of patterns with evidence are looked up: naming is slow.
    fn lines(&self) -> Vec<u32> {
        let mut lines: Vec<u32> = (0..self.words.places.code.sites.len() as u32).collect();
        let mut first_sites: HashMap<(String, u32), u32> = HashMap::new();
        let with_evidence = &self.conclusion.ranked[..self.conclusion.evidence.len()];
        for &site in with_evidence.iter().flat_map(|ranked| ranked.key.sites()) {
            if let Frame { file: Some(file), line: Some(line), .. } =
                self.words.places.place(site).frame
            {
                lines[site as usize] = *first_sites.entry((file, line)).or_insert(site);
            }
        }
        lines
    }

    /// Code that only failing runs execute follows from the failure: what led there is the cause.
    pub fn can_be_cause(&self, place: usize) -> bool {
        !is_doubtful(self.conclusion, &self.conclusion.ranked[place])
    }

    /// Whose code a pattern is about.
    pub fn standing(&self, place: usize) -> Standing {
        self.example(place).map_or(Standing::Own, |example| self.words.standing(example))
    }

    /// Orders that correlate with failure, and are all in ignored packages.
    fn left_out(&self) -> u32 {
        if self.choices.packages.ignored.is_empty() {
            return 0;
        }
        let is_left_out = |place: &usize| {
            is_suspicious(self.conclusion, *place) && self.standing(*place) == Standing::Ignored
        };
        (0..self.conclusion.evidence.len()).filter(is_left_out).count() as u32
    }

    /// Whether a pattern tears one of these units.
    pub fn tears_one(&self, place: usize, units: &[OpenUnit]) -> bool {
        let Some(example) = self.example(place) else { return false };
        let steps = self.conclusion.ranked[place].key.pattern.steps().iter();
        let accesses = steps.zip(&example.accesses).map(|(step, access)| {
            let Frame { file, line, .. } = self.words.shown_frame(access);
            (step.role, file.zip(line))
        });
        let accesses: Vec<(u8, SourceLine)> = accesses.collect();
        units.iter().any(|unit| unit.is_torn_by(&accesses))
    }

    fn findings(&self, groups: &[Group]) -> Vec<Finding> {
        let findings = groups.iter().zip(ranks(groups));
        let mut findings: Vec<Finding> =
            findings.filter_map(|(group, rank)| self.finding(group, rank)).collect();
        first_among_equals(&mut findings);
        findings.truncate(self.choices.most_findings);
        findings
    }

    pub fn finding(&self, group: &Group, rank: u32) -> Option<Finding> {
        let ranked = &self.conclusion.ranked[group.leader];
        let example = self.example(group.leader)?;
        let accesses = self.words.accesses(ranked.key.pattern, example);
        let pattern = ranked.key.pattern;
        let shown = group.supporters.iter().take(self.choices.most_supporters);
        let supporters: Vec<_> = shown.filter_map(|&(at, how)| self.supporter(at, how)).collect();
        Some(Finding {
            rank,
            score: ranked.score,
            class: class_of(pattern.class()),
            pattern: pattern.name(),
            sentence: self.sentence(ranked, &accesses),
            accesses,
            failed_runs: ranked.failed,
            passed_runs: ranked.passed,
            covered_runs: self.covered_runs(group.leader),
            in_experiments: InExperiments {
                failed_runs: ranked.experiments.failed,
                passed_runs: ranked.experiments.passed,
            },
            missing_runs: missing_runs(ranked),
            example_run: example.run,
            cut_short: group.cut_short,
            in_failing_code: !self.can_be_cause(group.leader),
            further_supporters: (group.supporters.len() - supporters.len()) as u32,
            supporters,
            study: study_of(self.conclusion.study(group.leader)),
            confirmed: None,
            origin: origin_of(ranked),
            invariants: Vec::new(),
            reconstruction: None,
            correlation: self.correlation(group.leader),
        })
    }

    fn covered_runs(&self, place: usize) -> u32 {
        let frame_of = |site: u32| self.words.places.place(site).frame;
        self.covered.of(place, self.conclusion, &frame_of)
    }

    fn sentence(&self, ranked: &Ranked, accesses: &[FindingAccess]) -> String {
        let (pattern, runs) = (ranked.key.pattern, &self.conclusion.runs);
        match missing_runs(ranked) {
            0 => sentence(pattern, accesses, self.other_way_round(ranked), runs),
            missing => missing_sentence(accesses, missing, self.other_way_round(ranked), runs),
        }
    }

    fn example(&self, place: usize) -> Option<&Example> {
        self.conclusion.evidence.get(place)?.example.as_ref()
    }

    fn other_way_round(&self, ranked: &Ranked) -> OtherWayRound {
        let steps = ranked.key.pattern.steps();
        let end = |at: usize| (steps[at].kind, ranked.key.sites()[at]);
        let (first, second) = (end(1), end(0));
        let turned = PatternId::of_pair(first.0, second.0)
            .map(|pattern| PatternKey::new(pattern, [first.1, second.1]));
        let passed = turned.map_or(0, |key| {
            let shown = self.conclusion.find(&key).map_or(0, |turned| turned.passed);
            shown + self.conclusion.hidden_in_passing(&key)
        });
        OtherWayRound { passed }
    }

    fn supporter(&self, place: usize, relation: Relation) -> Option<Supporter> {
        let ranked = &self.conclusion.ranked[place];
        let example = self.example(place)?;
        let steps = ranked.key.pattern.steps().iter();
        let accesses = steps.zip(&example.accesses).map(|(step, access)| RelatedAccess {
            role: step.role,
            kind: kind_of(access.touch),
            variable: self.words.variable(access),
            frame: self.words.shown_frame(access),
        });
        Some(Supporter {
            pattern: ranked.key.pattern.name(),
            class: class_of(ranked.key.pattern.class()),
            score: ranked.score,
            pattern_rank: ranked.rank,
            relation,
            failed_runs: ranked.failed,
            passed_runs: ranked.passed,
            accesses: accesses.collect(),
        })
    }
}

/// Accesses of examples in words.
pub(crate) struct AccessWords<'c> {
    pub places: Places<'c>,
}

impl AccessWords<'_> {
    /// The accesses of a pattern's example, each with its role.
    pub fn accesses(&self, pattern: PatternId, example: &Example) -> Vec<FindingAccess> {
        let steps = pattern.steps().iter().zip(&example.accesses);
        steps.map(|(step, access)| self.access(step.role, access)).collect()
    }

    /// Whose code an order is about: the user's, if any access is in it.
    pub fn standing(&self, example: &Example) -> Standing {
        if example.accesses.iter().all(|access| self.is_ignored(access)) {
            Standing::Ignored
        } else if example.accesses.iter().any(|access| self.is_own_access(access)) {
            Standing::Own
        } else {
            Standing::Dependency
        }
    }

    pub fn is_own_access(&self, access: &ExampleAccess) -> bool {
        self.author(access) == Author::User
    }

    /// Who wrote the code that made an access, itself or by a library of the language.
    pub fn author(&self, access: &ExampleAccess) -> Author {
        self.places.author(self.shown(access).site)
    }

    pub fn is_ignored(&self, access: &ExampleAccess) -> bool {
        self.places.is_ignored(self.shown(access).site)
    }

    fn shown_frame(&self, access: &ExampleAccess) -> Frame {
        self.shown(access).place.frame
    }

    pub fn shown<'a>(&self, access: &'a ExampleAccess) -> Shown<'a> {
        self.places.shown(access.site, &access.stack)
    }

    pub fn variable(&self, access: &ExampleAccess) -> Option<String> {
        self.places.names.variable(access, self.places.code)
    }

    pub fn access(&self, role: u8, access: &ExampleAccess) -> FindingAccess {
        let Shown { site, place, calls, shown_call } = self.shown(access);
        let Place { frame, inlined_into } = place;
        FindingAccess {
            role,
            kind: kind_of(access.touch),
            variable: self.variable(access),
            frame,
            text: self.places.names.line_text(site, self.places.code),
            inlined_into,
            thread: access.thread,
            process: access.process,
            atomic: access.atomic,
            order: access.index,
            stack: self.places.stack(calls),
            locks: access.locks.iter().map(|lock| self.held(lock, access)).collect(),
            code: self.places.code_place(access.site),
            bytes: access.whole_length,
            library: access.library,
            calls: self.places.calls(&access.stack),
            shown_call,
        }
    }

    fn held(&self, lock: &ExampleLock, access: &ExampleAccess) -> HeldLock {
        HeldLock { distance: distance(&lock.memory, &access.memory), ..self.places.lock(lock) }
    }
}

/// Failing runs that did not live to show a pattern.
fn missing_runs(ranked: &Ranked) -> u32 {
    ranked.missing.map_or(0, |missing| missing.runs)
}

fn origin_of(ranked: &Ranked) -> Origin {
    let is_seen = missing_runs(ranked) < ranked.failed;
    if is_seen { Origin::Correlated } else { Origin::Inferred }
}

pub(crate) fn class_of(class: interleaving_patterns::Class) -> Class {
    match class {
        interleaving_patterns::Class::Order => Class::Order,
        interleaving_patterns::Class::SingleVariable => Class::SingleVariable,
        interleaving_patterns::Class::MultiVariable => Class::MultiVariable,
    }
}

pub(crate) fn kind_of(touch: Touch) -> AccessKind {
    match touch {
        Touch::Read => AccessKind::Read,
        Touch::Write => AccessKind::Write,
        Touch::Free => AccessKind::Free,
    }
}

fn study_of(figures: StudyFigures) -> Study {
    Study {
        first_pair: figures.first_pair,
        second_pair: figures.second_pair,
        pattern_rank: figures.rank,
        patterns_at_rank_1: figures.at_rank_1 as u32,
        pairs: figures.pairs as u32,
        patterns: figures.patterns as u32,
        median_distance: figures.median_distance,
        longest_distance: figures.longest_distance,
        access_window: figures.access_window,
    }
}

/// A lock and what it guards are rarely further apart than this inside of one object.
const LARGEST_OBJECT: u64 = 512;

/// How far behind a lock some bytes are, if they seem to be parts of one object.
fn distance(lock: &ExampleMemory, bytes: &ExampleMemory) -> Option<i64> {
    let (lock, bytes) = match (lock, bytes) {
        (
            ExampleMemory::Static { module: of_lock, offset: lock },
            ExampleMemory::Static { module, offset },
        ) if of_lock == module => (*lock, *offset),
        (
            ExampleMemory::Heap { block: of_lock, offset: lock },
            ExampleMemory::Heap { block, offset },
        ) if of_lock == block => (*lock, *offset),
        (ExampleMemory::Other { address: lock }, ExampleMemory::Other { address }) => {
            (*lock, *address)
        }
        _ => return None,
    };
    let is_near = lock.abs_diff(bytes) <= LARGEST_OBJECT;
    is_near.then(|| bytes.wrapping_sub(lock) as i64)
}
