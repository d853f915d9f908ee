//! What a hunt reports first, and whether it is the root cause. Pure functions over `findings.json`.
//!
//! Takes   the JSON of findings, of a hang, and the lines that the truth demands.
//! Gives   the leading hang or finding, its verdict, and whether every group of the truth has a line in it.

use serde_json::Value;

use crate::places::{Place, all_in};

/// The first thing a report shows.
#[derive(Debug, Clone, PartialEq)]
pub enum Leader<'f> {
    /// With the run whose `hang.json` has the places.
    Hang {
        group: &'f Value,
        run: u64,
    },
    Finding(&'f Value),
}

/// The leader as `unpick show` chooses it: a hang that is understood and explains at least half of the failures, unless experiments refute
/// it or show that the first finding is the cause.
pub fn leader(findings: &Value) -> Option<Leader<'_>> {
    let first = findings["findings"].get(0);
    let has_cause = first.is_some_and(|first| verdict(first) == Some("cause"));
    let hangs = findings["hangs"].as_array().map_or(&[][..], Vec::as_slice);
    let leads = |hang: &&Value| {
        explains_most(hang, &findings["runs"])
            && verdict(hang) != Some("refuted")
            && (verdict(hang) == Some("cause") || !has_cause)
    };
    let hang = hangs.iter().find(leads);
    let run = hang.and_then(|hang| hang["example_run"].as_u64());
    let leading_hang = hang.zip(run).map(|(group, run)| Leader::Hang { group, run });
    leading_hang.or(first.map(Leader::Finding))
}

fn explains_most(hang: &Value, runs: &Value) -> bool {
    let is_understood = hang["deadlock"] == true || hang["lost_notification"] == true;
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    is_understood && 2 * count(&hang["failed_runs"]) >= count(&runs["failed"])
}

fn verdict(thing: &Value) -> Option<&str> {
    thing["confirmed"]["verdict"].as_str()
}

impl Leader<'_> {
    /// What experiments have shown; none: nobody tried.
    pub fn verdict(&self) -> Option<&str> {
        match self {
            Leader::Hang { group, .. } => verdict(group),
            Leader::Finding(finding) => verdict(finding),
        }
    }
}

/// The places that a finding names; with those of the calls that led to its accesses if asked for.
pub fn places_of(finding: &Value, with_stacks: bool) -> Vec<Place> {
    let accesses = finding["accesses"].as_array().map_or(&[][..], Vec::as_slice);
    accesses.iter().flat_map(|access| places_of_access(access, with_stacks)).collect()
}

fn places_of_access(access: &Value, with_stacks: bool) -> Vec<Place> {
    let mut places: Vec<Place> = Place::of(access).into_iter().collect();
    places.extend(all_in(&access["inlined_into"]));
    if with_stacks {
        places.extend(all_in(&access["stack"]));
    }
    places
}

/// Whether at least one line of every group is reported.
pub fn is_right(must: &[Vec<Place>], reported: &[Place]) -> bool {
    let is_reported = |wanted: &Place| reported.iter().any(|place| wanted.is(place));
    !must.is_empty() && must.iter().all(|group| group.iter().any(is_reported))
}

/// The number, from 1, of the first failing run.
pub fn first_failing(labels: &[Option<String>]) -> Option<usize> {
    labels.iter().position(|label| label.as_deref() == Some("fail")).map(|at| at + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn hang(failed_runs: u32, verdict: Option<&str>) -> Value {
        let group = json!({ "deadlock": false, "lost_notification": true, "failed_runs": failed_runs, "example_run": 3 });
        confirmed(group, verdict)
    }

    fn finding(verdict: Option<&str>) -> Value {
        confirmed(json!({ "accesses": [] }), verdict)
    }

    fn confirmed(mut thing: Value, verdict: Option<&str>) -> Value {
        if let Some(verdict) = verdict {
            thing["confirmed"] = json!({ "verdict": verdict });
        }
        thing
    }

    fn hang_leads(hang: Value, finding: Value) -> bool {
        let findings = json!({ "runs": { "failed": 10 }, "findings": [finding], "hangs": [hang] });
        matches!(leader(&findings), Some(Leader::Hang { run: 3, .. }))
    }

    #[test]
    fn a_hang_that_is_understood_leads_if_it_explains_half_of_the_failures() {
        assert!(hang_leads(hang(5, None), finding(None)));
        assert!(!hang_leads(hang(4, None), finding(None)));
        let mut unknown = hang(9, None);
        unknown["lost_notification"] = json!(false);
        assert!(!hang_leads(unknown.clone(), finding(None)));
        unknown["deadlock"] = json!(true);
        assert!(hang_leads(unknown, finding(None)));
    }

    #[test]
    fn a_finding_that_is_the_cause_leads_before_a_hang_unless_that_is_one_too() {
        assert!(hang_leads(hang(9, None), finding(Some("likely"))));
        assert!(!hang_leads(hang(9, None), finding(Some("cause"))));
        assert!(hang_leads(hang(9, Some("cause")), finding(Some("cause"))));
        assert!(!hang_leads(hang(9, Some("refuted")), finding(None)));
    }

    #[test]
    fn without_findings_and_hangs_nothing_leads() {
        assert_eq!(leader(&json!({ "runs": { "failed": 0 }, "findings": [] })), None);
        assert_eq!(leader(&Value::Null), None);
    }

    #[test]
    fn the_verdict_is_that_of_the_leader() {
        let findings = json!({ "runs": { "failed": 4 }, "findings": [finding(Some("likely"))], "hangs": [hang(4, None)] });
        assert_eq!(leader(&findings).unwrap().verdict(), None);
        let findings = json!({ "runs": { "failed": 4 }, "findings": [finding(Some("likely"))] });
        assert_eq!(leader(&findings).unwrap().verdict(), Some("likely"));
    }

    fn place(file: &str, line: u64) -> Place {
        Place { file: file.to_owned(), line }
    }

    #[test]
    fn stacks_count_only_if_asked_for() {
        let access = json!({
            "file": "a.c", "line": 1,
            "inlined_into": [{ "file": "b.c", "line": 2 }],
            "stack": [{ "file": "c.c", "line": 3 }],
            "locks": [{ "taken_at": { "file": "d.c", "line": 4 } }],
        });
        let finding = json!({ "accesses": [access], "supporters": [{ "accesses": [{ "file": "e.c", "line": 5 }] }] });
        assert_eq!(places_of(&finding, false), [place("a.c", 1), place("b.c", 2)]);
        assert_eq!(places_of(&finding, true), [place("a.c", 1), place("b.c", 2), place("c.c", 3)]);
    }

    #[test]
    fn every_group_must_have_a_line_and_one_is_enough() {
        let must = [vec![place("a.c", 1), place("a.c", 2)], vec![place("a.c", 3)]];
        assert!(is_right(&must, &[place("x/a.c", 2), place("x/a.c", 3), place("x/a.c", 9)]));
        assert!(!is_right(&must, &[place("a.c", 1), place("a.c", 2)]));
        assert!(!is_right(&must, &[]));
        assert!(!is_right(&[], &[place("a.c", 1)]), "a truth that demands nothing is no truth");
    }

    #[test]
    fn runs_until_the_first_failing_one_are_counted_from_one() {
        let labels =
            |words: &[&str]| words.iter().map(|&word| Some(word.to_owned())).collect::<Vec<_>>();
        assert_eq!(first_failing(&labels(&["pass", "unusable", "fail", "fail"])), Some(3));
        assert_eq!(first_failing(&labels(&["pass"])), None);
        assert_eq!(first_failing(&[None, Some("fail".to_owned())]), Some(2));
    }
}
