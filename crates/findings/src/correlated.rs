//! Patterns of two variables that belong together: what says so, and where they stand among equals.
//!
//! Takes   the example of a pattern, names, and rules: from the sources (`unpick correlate`), or mined from recordings.
//! Gives   the rule that the variables are those of, in a sentence; among findings of one rank those with a rule come first.
//! Misses  variables without names. Never puts a finding above a more suspicious one.

use serde::{Deserialize, Serialize};
use unpick_analyses::PatternId;
use unpick_analyses::interleaving_patterns::{Class, Touch, Variable};
use unpick_analyses::races::{NamedAccess, NamedRule};
use unpick_analyses::ranking::{Example, ExampleAccess};

use crate::describe::AccessWords;
use crate::finding::Finding;

/// Why the two variables of a finding belong together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FindingCorrelation {
    /// `x` and `y` belong together: 5 of 6 functions that write the first write the second.
    pub sentence: String,
    /// As `unpick correlate` shows it.
    pub rule: String,
}

/// The first of the rules that the accesses of either thread are of.
pub(crate) fn correlation_of(
    pattern: PatternId,
    example: &Example,
    rules: &[NamedRule],
    words: &AccessWords<'_>,
) -> Option<FindingCorrelation> {
    if pattern.class() != Class::MultiVariable || rules.is_empty() {
        return None;
    }
    let units = [1, 2].map(|role| unit_of(pattern, example, role));
    let units: Vec<[(&ExampleAccess, String); 2]> = units
        .into_iter()
        .filter_map(|unit| {
            let [one, other] = unit?;
            Some([(one, words.variable(one)?), (other, words.variable(other)?)])
        })
        .collect();
    rules.iter().find_map(|rule| units.iter().find_map(|unit| told(rule, unit)))
}

/// What one thread did to both variables.
fn unit_of(pattern: PatternId, example: &Example, role: u8) -> Option<[&ExampleAccess; 2]> {
    let of = |variable: Variable| {
        let mut steps = pattern.steps().iter().zip(&example.accesses);
        let made = steps.find(|(step, _)| step.role == role && step.variable == variable);
        made.map(|(_, access)| access)
    };
    Some([of(Variable::X)?, of(Variable::Y)?])
}

fn told(rule: &NamedRule, unit: &[(&ExampleAccess, String); 2]) -> Option<FindingCorrelation> {
    let accesses = [0, 1].map(|at| NamedAccess {
        name: &unit[at].1,
        writes: unit[at].0.touch != Touch::Read,
        memory: &unit[at].0.memory,
    });
    let first = rule.first_of(accesses)?;
    let sentence = format!(
        "`{}` and `{}` belong together: {}.",
        without_origin(&unit[first].1),
        without_origin(&unit[1 - first].1),
        rule.because
    );
    Some(FindingCorrelation { sentence, rule: rule.text.clone() })
}

/// `Account.balance` of `Account.balance (heap, allocated at bank.c:31)`.
pub(crate) fn without_origin(name: &str) -> &str {
    name.split(" (").next().unwrap_or(name)
}

/// Among findings of one rank, those whose variables belong together come first; all else stays where it is.
pub(crate) fn first_among_equals(findings: &mut [Finding]) {
    let mut ranks: Vec<u32> = findings.iter().map(|finding| finding.rank).collect();
    ranks.sort_unstable();
    ranks.dedup();
    for rank in ranks {
        let places: Vec<usize> =
            (0..findings.len()).filter(|&at| findings[at].rank == rank).collect();
        let mut equals: Vec<Finding> = places.iter().map(|&at| findings[at].clone()).collect();
        equals.sort_by_key(|finding| finding.correlation.is_none());
        for (place, finding) in places.into_iter().zip(equals) {
            findings[place] = finding;
        }
    }
}
