//! One finding per bug: patterns that show the same cause form a group, and one of them leads it.
//!
//! Takes   a `Conclusion`, which sites are one line of source, and whose code patterns are about.
//! Gives   groups, the most suspicious first.
//! Misses  that two bugs are two, where one shows in the runs of the other only and they share code.
//! Invents a common cause for patterns that have all their failing runs in common.
//!
//! A group is made around the best pattern that is still free. If nothing that has its score in its failing runs can be the
//! cause, around the best pattern that can be behind it: one that explains these runs (`doubt`), or one about the place where a
//! row of accesses was cut in two (`leader`). Then:
//! - its **core** is what has the same score in the same failing runs: nothing in the runs tells these patterns apart;
//! - then what shares a line of code with the core, and whose failing runs nearly all are among the core's or the other way round;
//! - then the leader's pattern on the same lines at other sites.
//!
//! Own code first: a pattern in code that the user only depends on makes a group after those in the user's own that correlate about as well,
//! and before those that correlate less. Patterns that are all in ignored packages are left out.
//!
//! Who leads the core is told in `leader`. If the leader is missing in a tenth of the failing runs, because they ended before its last access,
//! the pair it began with leads, where all failing runs have it (and at most half of the passing ones: what nearly
//! every run has explains nothing).

mod doubt;
mod leader;

use std::collections::HashSet;

use unpick_analyses::interleaving_patterns::{AccessKind, Class};
use unpick_analyses::ranking::{Conclusion, Ranked, RunSet};

use crate::finding::Relation;

pub use doubt::is_doubtful;
use leader::Partners;

/// Scores this close are told apart by one run or two.
const NEARLY: f64 = 0.05;

/// Scores that differ by less are similar: whose code it is decides.
const SIMILAR: f64 = 0.1;

/// Whose code a pattern is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// An access is in code that the user wrote.
    Own,
    /// All are in code that the user depends on.
    Dependency,
    /// All are in packages that the user wants to hear nothing about.
    Ignored,
}

/// Patterns of one cause, as places in `Conclusion::ranked`.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    pub leader: usize,
    /// The leader stands for a longer pattern that some failing runs did not live to finish.
    pub cut_short: bool,
    /// The most suspicious first.
    pub supporters: Vec<(usize, Relation)>,
    /// The best score in the group, counting also passing runs that have a pair where the window hides it.
    pub score: f64,
    /// The leader is about the user's own code.
    pub is_own: bool,
}

/// Groups the patterns that go with failing; at most `most` groups. `line_of` gives the same number for sites on
/// the same line of source, `standing` says whose code a pattern, by its place, is about.
pub fn group(
    conclusion: &Conclusion,
    line_of: impl Fn(u32) -> u32,
    standing: impl Fn(usize) -> Standing,
    most: usize,
) -> Vec<Group> {
    let mut grouping = Grouping::new(conclusion, line_of, standing);
    let mut groups = Vec::new();
    while groups.len() < most
        && let Some(group) = grouping.next_group()
    {
        groups.push(group);
    }
    groups
}

/// The ranks of groups: those with the same score share one, unless one of them is about the user's own code.
pub fn ranks(groups: &[Group]) -> Vec<u32> {
    let scores = groups.iter().map(|group| with_head_start(group.score, group.is_own));
    let scores: Vec<f64> = scores.collect();
    let better = |score: &f64| scores.iter().filter(|other| *other > score).count();
    scores.iter().map(|score| better(score) as u32 + 1).collect()
}

/// What scores of the user's own code are compared by with those of others: it wins where they are similar, and only there.
fn with_head_start(score: f64, is_own: bool) -> f64 {
    if is_own { score + SIMILAR } else { score }
}

struct Grouping<'c, L> {
    conclusion: &'c Conclusion,
    line_of: L,
    /// Patterns that are in no group yet, the most suspicious first.
    free: Vec<usize>,
    /// Those about the user's own code.
    own: HashSet<usize>,
    /// Only those of them may lead the next group.
    own_leads: bool,
}

impl<'c, L: Fn(u32) -> u32> Grouping<'c, L> {
    fn new(conclusion: &'c Conclusion, line_of: L, standing: impl Fn(usize) -> Standing) -> Self {
        let suspicious =
            (0..conclusion.evidence.len()).filter(|&place| is_suspicious(conclusion, place));
        let standings = suspicious.map(|place| (place, standing(place)));
        let reported: Vec<(usize, Standing)> =
            standings.filter(|(_, standing)| *standing != Standing::Ignored).collect();
        let is_own = |(_, standing): &&(usize, Standing)| *standing == Standing::Own;
        let own = reported.iter().filter(is_own).map(|(place, _)| *place).collect();
        let score = |place: usize| doubt::full_score(conclusion, &conclusion.ranked[place]);
        let mut free: Vec<usize> = reported.into_iter().map(|(place, _)| place).collect();
        free.sort_by(|&one, &other| score(other).total_cmp(&score(one)));
        Grouping { conclusion, line_of, free, own, own_leads: false }
    }

    fn ranked(&self, place: usize) -> &'c Ranked {
        &self.conclusion.ranked[place]
    }

    fn score(&self, place: usize) -> f64 {
        doubt::full_score(self.conclusion, self.ranked(place))
    }

    fn failing(&self, place: usize) -> &'c RunSet {
        &self.conclusion.evidence[place].failing
    }

    fn next_group(&mut self) -> Option<Group> {
        self.own_leads = self.is_own_code_next();
        let best = self.most_telling()?;
        let seed = self.behind(best).unwrap_or(best);
        let core = self.core_of(seed);
        let chosen = leader::choose(self.conclusion, &self.partners(seed), &core);
        let beginning = self.shared_beginning(chosen);
        let leader = beginning.unwrap_or(chosen);
        let lines: HashSet<u32> =
            core.iter().chain([&leader]).flat_map(|&place| self.lines(place)).collect();
        let is_member = |place: usize| {
            place == leader
                || self.is_like(seed, place)
                || self.is_like(best, place)
                || self.is_copy(leader, place)
                || self.is_nested(seed, place)
                    && self.lines(place).any(|line| lines.contains(&line))
        };
        let (members, free): (Vec<usize>, Vec<usize>) =
            self.free.iter().partition(|&&place| is_member(place));
        let others = members.into_iter().filter(|&place| place != leader);
        let supporters =
            others.map(|place| (place, self.relation(leader, place, &lines))).collect();
        self.free = free;
        let (score, is_own) = (self.score(best), self.own.contains(&leader));
        Some(Group { leader, cut_short: beginning.is_some(), supporters, score, is_own })
    }

    /// The user's own code leads, unless code that it only depends on correlates clearly better: bugs in dependencies count.
    fn is_own_code_next(&self) -> bool {
        let standing = |&place: &usize| {
            let is_own = self.own.contains(&place);
            (with_head_start(self.score(place), is_own), is_own)
        };
        let best = self
            .free
            .iter()
            .map(standing)
            .max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
        best.is_some_and(|(_, is_own)| is_own)
    }

    /// The best of those that may lead; or one that is nearly as good, in about the same failing runs and in fewer passing ones. A
    /// window can miss a pattern in a failing run, but a passing run that has it shows that it is not enough to fail.
    fn most_telling(&self) -> Option<usize> {
        let best = self.leading().next()?;
        let passed = |place: usize| doubt::passed(self.conclusion, self.ranked(place));
        let near =
            self.leading().take_while(|&place| self.score(place) >= self.score(best) - NEARLY);
        // Of several with as few passing runs, the first is the best.
        near.filter(|&place| self.is_nested(best, place)).min_by_key(|&place| passed(place))
    }

    /// Those that are free and may lead, the most suspicious first.
    fn leading(&self) -> impl Iterator<Item = usize> {
        let may_lead = |place: &usize| !self.own_leads || self.own.contains(place);
        self.free.iter().copied().filter(may_lead)
    }

    /// What nothing in the runs tells apart from `seed`, and may lead.
    fn core_of(&self, seed: usize) -> Vec<usize> {
        self.leading().filter(|&place| self.is_like(seed, place)).collect()
    }

    /// What the patterns of about the same failing runs say about rows that were cut in two.
    fn partners(&self, seed: usize) -> Partners {
        let nested = self.free.iter().copied().filter(|&place| self.is_nested(seed, place));
        Partners::of(self.conclusion, nested)
    }

    /// If neither `best` nor anything like it can be the cause: the best pattern that can.
    fn behind(&self, best: usize) -> Option<usize> {
        let partners = self.partners(best);
        if !leader::standing(self.conclusion, &partners, &self.core_of(best)).is_empty() {
            return None;
        }
        let stands = |place: usize| {
            let partners = self.partners(place);
            leader::standing(self.conclusion, &partners, &[place]).contains(&place)
        };
        let is_behind = |place: usize| {
            let contains = is_within(&steps_of(self.ranked(best)), &steps_of(self.ranked(place)));
            doubt::is_behind(self.conclusion, place, best, contains)
        };
        let behind = self.leading().find(|&place| is_behind(place) && stands(place));
        behind.or_else(|| {
            let cut = self.cut_by(best, &partners);
            self.leading().find(|&place| self.is_about(place, best, &cut) && stands(place))
        })
    }

    /// For what is there only because a row was cut in two: the lines where that happened.
    fn cut_by(&self, best: usize, partners: &Partners) -> HashSet<u32> {
        let ranked = self.ranked(best);
        if !partners.refute(self.conclusion, ranked) {
            return HashSet::new();
        }
        let triples = partners.told_about(self.conclusion, ranked);
        triples.flat_map(|triple| self.lines(triple)).collect()
    }

    /// Whether a pattern is about these lines, in about the same failing runs as `best`.
    fn is_about(&self, place: usize, best: usize, lines: &HashSet<u32>) -> bool {
        self.is_nested(best, place) && self.lines(place).any(|line| lines.contains(&line))
    }

    fn lines(&self, place: usize) -> impl Iterator<Item = u32> {
        self.ranked(place).key.sites().iter().map(|&site| (self.line_of)(site))
    }

    /// Nothing in the runs tells the two apart.
    fn is_like(&self, one: usize, other: usize) -> bool {
        self.score(one) == self.score(other) && self.has_same_runs(one, other)
    }

    /// The same pattern on the same lines: a template or an inlined function has many sites for one line.
    fn is_copy(&self, one: usize, other: usize) -> bool {
        self.ranked(one).key.pattern == self.ranked(other).key.pattern
            && self.lines(one).eq(self.lines(other))
    }

    /// Nearly all failing runs of the one that has fewer are also runs of the other; windows can miss it in some.
    fn is_nested(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.failing(one), self.failing(other));
        doubt::is_nearly_all(one.common_with(other), one.len().min(other.len()))
    }

    /// For a pattern that some failing runs lack: the pair it began with, if all failing runs have that.
    fn shared_beginning(&self, chosen: usize) -> Option<usize> {
        let runs = &self.conclusion.runs;
        let ranked = self.ranked(chosen);
        // A window can miss it in some runs that did live to finish it.
        let is_missed = doubt::is_nearly_all(ranked.failed as usize, runs.failed as usize);
        if is_missed || ranked.key.pattern.class() == Class::Order {
            return None;
        }
        let pairs = ranked.key.pattern.pairs().into_iter();
        let last = ranked.key.pattern.steps().len() - 1;
        let begun = pairs.filter(|pair| !pair.contains(&last)).filter_map(|[first, second]| {
            let steps = steps_of(ranked);
            self.conclusion.find_pair([steps[first], steps[second]])
        });
        let explains =
            |pair: &&Ranked| pair.failed == runs.failed && 2 * pair.passed <= runs.passed;
        let pair = begun.into_iter().find(explains)?;
        self.free.iter().copied().find(|&place| self.ranked(place).key == pair.key)
    }

    /// How a member stands to its leader; `lines` are those of the leader and of what is like it.
    fn relation(&self, leader: usize, place: usize, lines: &HashSet<u32>) -> Relation {
        let (leading, other) = (steps_of(self.ranked(leader)), steps_of(self.ranked(place)));
        let leader_lines: HashSet<u32> = self.lines(leader).collect();
        let shares = |lines: &HashSet<u32>| self.lines(place).any(|line| lines.contains(&line));
        if is_within(&leading, &other) {
            Relation::Contains
        } else if is_within(&other, &leading) {
            Relation::PartOf
        } else if shares(&leader_lines) || shares(lines) && !self.has_same_runs(leader, place) {
            Relation::SharesCode
        } else {
            Relation::SameRuns
        }
    }

    fn has_same_runs(&self, one: usize, other: usize) -> bool {
        self.failing(one) == self.failing(other)
    }
}

/// The kind and site of each access of a pattern.
fn steps_of(ranked: &Ranked) -> Vec<(AccessKind, u32)> {
    let kinds = ranked.key.pattern.steps().iter().map(|step| step.kind);
    kinds.zip(ranked.key.sites().iter().copied()).collect()
}

/// Whether all accesses of `part` are in `whole`, in this order.
fn is_within(part: &[(AccessKind, u32)], whole: &[(AccessKind, u32)]) -> bool {
    let mut rest = whole.iter();
    part.iter().all(|step| rest.any(|other| other == step))
}

/// A larger share of the failing runs has it than of the passing ones.
pub fn is_suspicious(conclusion: &Conclusion, place: usize) -> bool {
    let ranked = &conclusion.ranked[place];
    let share = |part: u32, whole: u32| f64::from(part) / f64::from(whole.max(1));
    let passed = doubt::passed(conclusion, ranked);
    share(ranked.failed, conclusion.runs.failed) > share(passed, conclusion.runs.passed)
}
