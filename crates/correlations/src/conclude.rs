//! From the access sets of all files to the list a user sees.

use std::collections::HashSet;
use std::path::Path;

use crate::access_sets::FileSets;
use crate::access_sets::c::hash;
use crate::closeness::{closeness_of, is_close};
use crate::conditional::{ConditionalRule, find_conditional_rules};
use crate::correlation::{
    Break, Correlation, CorrelationList, LIST_VERSION, OtherRule, Pattern, Place, Side, Summary,
};
use crate::database::{Database, Touch, types_of};
use crate::inconsistent::{FoundBreak, find_breaks};
use crate::item_sets::closed_item_sets;
use crate::rules::{PairRules, Rule, Thresholds, bit_of, find_rules, together};

/// Functions shown for a correlation.
const EXAMPLES: usize = 3;
/// Functions named that break one; beyond, the number says enough.
const BROKEN_SHOWN: usize = 10;
/// Closed sets that are looked at, and patterns that are kept of them.
const MOST_SETS: usize = 50_000;
const MOST_PATTERNS: usize = 50;

/// What a function has to do with a rule.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Supports,
    /// The right access is made by a function that it calls.
    SupportsBy(u32),
    Breaks,
    /// Both come from one macro.
    NotCounted,
}

/// What a user may choose; the rest follows from the size of the code base.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Choices {
    pub max_distance: Option<u32>,
    pub min_support: Option<usize>,
    pub min_confidence: Option<f64>,
}

impl Choices {
    fn thresholds(&self, functions: usize) -> Thresholds {
        let usual = Thresholds::for_size(functions);
        Thresholds {
            max_distance: self.max_distance.unwrap_or(usual.max_distance),
            min_support: self.min_support.unwrap_or(usual.min_support),
            min_confidence: self.min_confidence.unwrap_or(usual.min_confidence),
        }
    }
}

/// Correlations, breaks and patterns of a code base; `missing` is passed on.
pub fn conclude(files: Vec<FileSets>, choices: &Choices, missing: Vec<String>) -> CorrelationList {
    let (count, lines) = (files.len(), files.iter().map(|file| file.lines).sum());
    let database = Database::of(files);
    let thresholds = choices.thresholds(database.functions.len());
    let rules = find_rules(&database, &thresholds);
    let known: HashSet<(u32, u32)> =
        rules.iter().flatten().map(|rule| (rule.left.1, rule.right.1)).collect();
    let conditional = find_conditional_rules(&database, &thresholds, &known);
    let words = Words { database: &database, thresholds: &thresholds };
    CorrelationList {
        version: LIST_VERSION,
        summary: Summary {
            files: count,
            files_unchanged: 0,
            lines,
            runs: 0,
            observed: 0,
            functions: database.functions.len(),
            variables: database.variables.len(),
            max_distance: thresholds.max_distance,
            min_support: thresholds.min_support,
            min_confidence: thresholds.min_confidence,
        },
        breaks: words.breaks(&find_breaks(&database, &rules, &conditional)),
        correlations: words.correlations(&rules, &conditional),
        patterns: words.patterns(),
        missing,
    }
}

struct Words<'a> {
    database: &'a Database,
    thresholds: &'a Thresholds,
}

impl Words<'_> {
    fn correlations(
        &self,
        rules: &[PairRules],
        conditional: &[ConditionalRule],
    ) -> Vec<Correlation> {
        let plain = rules.iter().map(|rules| self.correlation(&rules[0], None, &rules[1..]));
        let under = conditional
            .iter()
            .map(|found| self.correlation(&found.rule, Some(found.condition), &[]));
        let mut all: Vec<Correlation> = plain.chain(under).collect();
        all.sort_by(|one, other| {
            one.is_weak.cmp(&other.is_weak).then(other.score.total_cmp(&one.score))
        });
        for (number, correlation) in all.iter_mut().enumerate() {
            correlation.rank = number + 1;
        }
        all
    }

    fn correlation(&self, rule: &Rule, condition: Option<u32>, others: &[Rule]) -> Correlation {
        let (examples, broken_by) = self.supporters(rule, condition);
        let rule_text = self.rule_text(rule, condition);
        let closeness = closeness_of(self.database, rule, condition);
        Correlation {
            rank: 0,
            fingerprint: fingerprint(&[&rule_text]),
            left: self.side(rule.left),
            right: self.side(rule.right),
            condition: condition.map(|condition| self.condition(condition)),
            support: rule.support,
            left_functions: rule.left_functions,
            right_functions: rule.right_functions,
            confidence: rounded(rule.confidence()),
            score: rounded(rule.score),
            is_weak: !is_close(self.database, self.thresholds, rule, condition, &closeness),
            closeness,
            examples,
            broken_by,
            others: others.iter().map(|rule| self.other(rule)).collect(),
        }
    }

    fn rule_text(&self, rule: &Rule, condition: Option<u32>) -> String {
        let condition = condition.map(|condition| self.condition(condition)).unwrap_or_default();
        format!("{} => {} if {condition}", self.side(rule.left), self.side(rule.right))
    }

    /// Without line and folder: both change while the break is still there.
    fn fingerprint_of(&self, found: &FoundBreak) -> String {
        let function = &self.database.functions[found.function as usize];
        let file = Path::new(self.database.file_of(function)).file_name().unwrap_or_default();
        let rule = self.rule_text(&found.rule, found.condition);
        fingerprint(&[&function.name, &file.to_string_lossy(), &rule])
    }

    fn other(&self, rule: &Rule) -> OtherRule {
        OtherRule {
            left: self.side(rule.left),
            right: self.side(rule.right),
            support: rule.support,
            left_functions: rule.left_functions,
            confidence: rounded(rule.confidence()),
        }
    }

    fn side(&self, (access, variable): (crate::AccessType, u32)) -> Side {
        Side { access, variable: self.database.variables[variable as usize].clone() }
    }

    fn condition(&self, condition: u32) -> String {
        self.database.conditions[condition as usize].text.clone()
    }

    /// Some functions with both accesses, and those with the left one only.
    fn supporters(&self, rule: &Rule, condition: Option<u32>) -> (Vec<Place>, Vec<Place>) {
        let (mut examples, mut broken_by) = (Vec::new(), Vec::new());
        for &number in self.database.functions_with(rule.left.1) {
            match self.part(number, rule, condition) {
                Some((at, Part::Supports | Part::SupportsBy(_))) if examples.len() < EXAMPLES => {
                    examples.push(self.place(number, at));
                }
                Some((at, Part::Breaks)) if broken_by.len() < BROKEN_SHOWN => {
                    broken_by.push(self.place(number, at));
                }
                _ => {}
            }
        }
        (examples, broken_by)
    }

    /// What a function has to do with a rule, and where its left access is; nothing if it has none of its own.
    fn part(&self, number: u32, rule: &Rule, condition: Option<u32>) -> Option<((u32, u32), Part)> {
        let at = bit_of(rule.left.0) * 3 + bit_of(rule.right.0);
        let function = &self.database.functions[number as usize];
        let xs: Vec<Touch> = function
            .touches_of(rule.left.1)
            .iter()
            .filter(|touch| condition.is_none_or(|held| touch.under.contains(&held)))
            .cloned()
            .collect();
        let is_left = |touch: &&Touch| {
            touch.source.is_own() && types_of(touch.kind) >> bit_of(rule.left.0) & 1 == 1
        };
        let left = xs.iter().find(is_left)?;
        let ys = function.touches_of(rule.right.1);
        let found = together(&xs, ys, self.thresholds.max_distance);
        let part = if found.own >> at & 1 == 1 {
            Part::Supports
        } else if found.by_callee >> at & 1 == 1 {
            Part::SupportsBy(found.callee)
        } else if found.dependent >> at & 1 == 1 {
            Part::NotCounted
        } else {
            Part::Breaks
        };
        Some(((left.line, left.column), part))
    }

    fn place(&self, function: u32, (line, column): (u32, u32)) -> Place {
        let function = &self.database.functions[function as usize];
        Place {
            function: function.name.clone(),
            file: self.database.file_of(function).to_owned(),
            line: if line == 0 { function.line } else { line },
            column: Some(column).filter(|&column| line != 0 && column != 0),
        }
    }

    fn breaks(&self, found: &[FoundBreak]) -> Vec<Break> {
        found.iter().zip(1..).map(|(found, rank)| self.one_break(found, rank)).collect()
    }

    fn one_break(&self, found: &FoundBreak, rank: usize) -> Break {
        let [support, left_functions] = self.counted_as_broken(found);
        let place = self.place(found.function, (found.line, found.column));
        let mut examples = self.supporters(&found.rule, found.condition).0;
        examples.retain(|example| example != &place);
        Break {
            rank,
            fingerprint: self.fingerprint_of(found),
            place,
            left: self.side(found.rule.left),
            right: self.side(found.rule.right),
            condition: found.condition.map(|condition| self.condition(condition)),
            support,
            left_functions,
            confidence: rounded(support as f64 / left_functions as f64),
            score: rounded(found.score),
            examples,
            others: found.others.iter().map(|rule| self.other(rule)).collect(),
        }
    }

    /// How many functions have both accesses, of how many with the left one. The function that breaks the rule is one of the latter, and
    /// none of the former, though for the rule it may count by what it calls, or not at all.
    fn counted_as_broken(&self, found: &FoundBreak) -> [usize; 2] {
        let Rule { support, left_functions, left, .. } = found.rule;
        let part = |number| {
            self.part(number, &found.rule, found.condition).map_or(Part::Breaks, |(_, part)| part)
        };
        match part(found.function) {
            Part::Breaks => [support, left_functions],
            Part::Supports => [support - 1, left_functions],
            // What a callee adds counts once, for the first who calls it.
            by @ Part::SupportsBy(_)
                if !self
                    .database
                    .functions_with(left.1)
                    .iter()
                    .any(|&number| number < found.function && part(number) == by) =>
            {
                [support - 1, left_functions]
            }
            Part::SupportsBy(_) | Part::NotCounted => [support, left_functions + 1],
        }
    }

    /// Closed item sets of three and more variables each of which is mostly touched with the others.
    fn patterns(&self) -> Vec<Pattern> {
        let sets = |function: &crate::database::Function| {
            let own = |touches: &&[Touch]| touches.iter().any(|touch| touch.source.is_own());
            function.by_variable().filter(own).map(|touches| touches[0].variable).collect()
        };
        let rows: Vec<Vec<u32>> = self.database.functions.iter().map(sets).collect();
        let mut count = vec![0_usize; self.database.variables.len()];
        rows.iter().flatten().for_each(|&variable| count[variable as usize] += 1);
        let mut found = closed_item_sets(&rows, self.thresholds.min_support, MOST_SETS).sets;
        found.retain(|set| {
            set.items.len() >= 3
                && set.items.iter().all(|&item| count[item as usize] <= 2 * set.support)
        });
        found.sort_by_key(|set| {
            std::cmp::Reverse((set.support * (set.items.len() - 1), set.items.clone()))
        });
        found.truncate(MOST_PATTERNS);
        let name = |item: u32| self.database.variables[item as usize].clone();
        found
            .into_iter()
            .map(|set| Pattern {
                variables: set.items.into_iter().map(name).collect(),
                support: set.support,
            })
            .collect()
    }
}

fn fingerprint(parts: &[&str]) -> String {
    format!("{:016x}", hash(parts.join("\0").as_bytes()))
}

/// Four digits are enough, and the same on all machines.
fn rounded(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::test_support::sets;

    #[test]
    fn who_breaks_a_rule_is_counted_as_such_though_what_it_calls_has_both() {
        let both = "w:x w:y";
        let helper = "w:x w:y w:p";
        let functions = [both, both, both, both, both, both, both, helper, "w:x w:q call:8"];
        let choices = Choices { min_support: Some(3), ..Choices::default() };
        let list = conclude(vec![sets(&functions)], &choices, Vec::new());
        let found = list.breaks.iter().find(|one| one.place.function == "f8").unwrap();
        assert!(found.support < found.left_functions, "{found:?}");
        assert!(found.examples.iter().all(|example| example.function != "f8"), "{found:?}");
    }
}
