//! Findings after experiments: who leads, and who keeps its place.

#[path = "../../reproduce/tests/made/mod.rs"]
mod made;

use made::code;
use unpick_analyses::interleaving_patterns::PatternId;
use unpick_engine::{Proposal, apply, candidates, propose, repropose};
use unpick_findings::{
    AccessKind, Alternative, Confirmation, Finding, Findings, Origin, Packages, Reason, Runs,
    SCHEMA,
};
use unpick_forcing::{Arm, Candidate, Decision, Experiments, Observation, Settings, decide};

const RUNS: Runs = Runs { total: 40, passed: 20, failed: 20, unusable: 0 };

/// An order that begins at this offset in the code.
fn order(offset: u64, score: f64) -> Finding {
    let mut finding = Finding { score, failed_runs: 20, ..made::finding(PatternId::P3) };
    finding.accesses[0].code = code(offset);
    finding
}

fn offset(finding: &Finding) -> &str {
    &finding.accesses[0].code.offset
}

fn listed(scores: &[(u64, f64)]) -> Findings {
    Findings {
        schema: SCHEMA.to_owned(),
        hunt: None,
        runs: RUNS,
        failures: Vec::new(),
        formula: "jaccard".to_owned(),
        findings: scores.iter().map(|&(offset, score)| order(offset, score)).collect(),
        hangs: Vec::new(),
        active: None,
        packages: Packages::default(),
        reconstructions: Vec::new(),
    }
}

/// A program that fails if one of its orders is forced, and no other can be.
struct Program(Option<usize>);

impl Experiments for Program {
    type Error = std::convert::Infallible;

    fn reconsider(&mut self, known: Vec<Candidate>) -> Result<Vec<Candidate>, Self::Error> {
        Ok(known)
    }

    fn run(&mut self, arm: Arm) -> Result<Option<Observation>, Self::Error> {
        let (failed, reached) = match arm {
            Arm::Baseline => (false, true),
            Arm::Forced { candidate, .. } => (Some(candidate) == self.0, Some(candidate) == self.0),
            Arm::Prevented { candidate, .. } => (false, Some(candidate) == self.0),
        };
        Ok(Some(Observation { failed, reached }))
    }

    fn ways_to_force(&mut self, _candidate: usize) -> usize {
        1
    }

    fn ways_elsewhere(&mut self, _candidate: usize, _way: usize) -> Vec<usize> {
        Vec::new()
    }

    fn ways_to_prevent(&mut self, _candidate: usize) -> usize {
        1
    }

    fn tells_apart(&self, _candidate: usize, _other: usize) -> bool {
        true
    }

    fn is_earlier(&self, _one: usize, _other: usize) -> bool {
        false
    }

    fn time_used(&self) -> f64 {
        0.0
    }
}

fn decision(proposals: &[Proposal], cause: Option<usize>) -> Decision {
    let Ok(decision) =
        decide(&candidates(proposals, RUNS), &mut Program(cause), &Settings::default());
    decision
}

fn offsets(findings: &Findings) -> Vec<&str> {
    findings.findings.iter().map(offset).collect()
}

#[test]
fn the_cause_comes_first_and_the_others_keep_their_order() {
    let mut findings = listed(&[(1, 0.9), (2, 0.8), (3, 0.7)]);
    let proposals = propose(&findings, Vec::new(), 10);
    let decision = decision(&proposals, Some(2));
    apply(&mut findings, proposals, &decision);
    assert_eq!(offsets(&findings), ["0x3", "0x1", "0x2"]);
    let verdict = |at: usize| findings.findings[at].confirmed.map(|confirmed| confirmed.verdict);
    assert_eq!(verdict(0), Some(Confirmation::Cause));
    assert_eq!(verdict(1), Some(Confirmation::NotReproduced));
}

#[test]
fn what_could_not_be_forced_does_not_lose_its_place_to_what_nobody_tried() {
    let mut findings = listed(&[(1, 0.3), (2, 0.9)]);
    let mut proposals = propose(&findings, Vec::new(), 10);
    proposals.truncate(1);
    assert_eq!(offset(&proposals[0].finding), "0x2", "the best prior first");
    let decision = decision(&proposals, None);
    apply(&mut findings, proposals, &decision);
    assert_eq!(offsets(&findings), ["0x2", "0x1"]);
}

#[test]
fn an_alternative_that_leads_takes_the_place_of_its_finding() {
    let mut findings = listed(&[(1, 0.9), (2, 0.8)]);
    let alternative =
        Alternative { finding: order(7, 0.8), of: order(2, 0.8), reason: Reason::Correlates };
    let proposals = propose(&findings, vec![alternative], 10);
    let cause = proposals.iter().position(|proposal| offset(&proposal.finding) == "0x7");
    let decision = decision(&proposals, cause);
    apply(&mut findings, proposals, &decision);
    assert_eq!(offsets(&findings), ["0x7", "0x1"]);
}

#[test]
fn a_cause_that_others_drove_out_of_the_list_replaces_none_of_them() {
    let mut findings = listed(&[(1, 0.9), (2, 0.8)]);
    let mut proposals = propose(&findings, Vec::new(), 10);
    findings = listed(&[(1, 0.9), (3, 0.8)]);
    repropose(&mut proposals, propose(&findings, Vec::new(), 10), 10);
    let cause = proposals.iter().position(|proposal| offset(&proposal.finding) == "0x2");
    assert_eq!(proposals[cause.unwrap()].place, None);
    let decision = decision(&proposals, cause);
    apply(&mut findings, proposals, &decision);
    assert_eq!(offsets(&findings), ["0x2", "0x1", "0x3"]);
}

#[test]
fn code_that_only_failing_runs_execute_is_proposed_if_nothing_else_is() {
    let mut findings = listed(&[(1, 0.9), (2, 0.8)]);
    findings.findings[0].in_failing_code = true;
    let proposed = |findings: &Findings| -> Vec<String> {
        let proposals = propose(findings, Vec::new(), 10);
        proposals.iter().map(|proposal| offset(&proposal.finding).to_owned()).collect()
    };
    assert_eq!(proposed(&findings), ["0x2"]);
    findings.findings[1].in_failing_code = true;
    assert_eq!(proposed(&findings), ["0x1", "0x2"]);
}

#[test]
fn the_access_that_does_the_harm_is_not_always_the_last() {
    let kind = |pattern| made::finding(pattern).harmful_access().map(|access| access.kind);
    assert_eq!(kind(PatternId::P6), Some(AccessKind::Read), "between two writes");
    assert_eq!(kind(PatternId::P7), Some(AccessKind::Write));
}

#[test]
fn the_normal_end_of_a_life_is_proposed_if_nothing_else_is() {
    let mut findings = listed(&[(1, 0.9), (2, 0.8)]);
    findings.findings[0].accesses[1].kind = AccessKind::Free;
    let proposals = propose(&findings, Vec::new(), 10);
    assert_eq!(places(&proposals), [("0x2", Some(1))]);
    findings.findings[0].accesses[0].kind = AccessKind::Free;
    let proposals = propose(&findings, Vec::new(), 10);
    assert_eq!(places(&proposals).len(), 2, "freed twice is a bug");
}

/// An order that tears an open unit, and could lead the finding that begins at `of`.
fn torn(of: u64, offset: u64, score: f64) -> Alternative {
    Alternative { of: order(of, score), finding: order(offset, score), reason: Reason::TearsUnit }
}

fn places(proposals: &[Proposal]) -> Vec<(&str, Option<usize>)> {
    proposals.iter().map(|proposal| (offset(&proposal.finding), proposal.place)).collect()
}

#[test]
fn orders_that_tear_a_unit_are_tried_soon_whatever_their_score() {
    let findings = listed(&[(1, 0.9), (2, 0.8), (3, 0.7), (4, 0.6)]);
    let alternatives = vec![torn(3, 7, 0.1), torn(8, 8, 0.05)];
    let proposals = propose(&findings, alternatives, 5);
    let expected =
        [("0x1", Some(0)), ("0x2", Some(1)), ("0x7", Some(2)), ("0x3", Some(2)), ("0x4", Some(3))];
    assert_eq!(places(&proposals), expected, "at most five");
}

#[test]
fn a_finding_that_tears_a_unit_is_proposed_once() {
    let findings = listed(&[(1, 0.9), (2, 0.8), (3, 0.7)]);
    let proposals = propose(&findings, vec![torn(3, 3, 0.7)], 10);
    assert_eq!(places(&proposals), [("0x1", Some(0)), ("0x2", Some(1)), ("0x3", Some(2))]);
}

#[test]
fn what_leads_and_belongs_to_no_finding_comes_first_with_its_rank_by_score() {
    let mut findings = listed(&[(1, 0.9), (2, 0.5)]);
    let proposals = propose(&findings, vec![torn(7, 7, 0.6)], 10);
    let cause = proposals.iter().position(|proposal| offset(&proposal.finding) == "0x7");
    let decision = decision(&proposals, cause);
    apply(&mut findings, proposals, &decision);
    assert_eq!(offsets(&findings), ["0x7", "0x1", "0x2"]);
    assert_eq!(findings.findings[0].rank, 2);
}

#[test]
fn a_forced_order_that_passing_runs_had_agrees_with_nothing() {
    let forced = |passed_runs: u32| {
        let finding = Finding { origin: Origin::Forced, passed_runs, ..order(1, 0.0) };
        candidates(&[Proposal { finding, place: Some(0) }], RUNS)[0].agreement
    };
    assert_eq!((forced(0), forced(3)), (1.0, 0.0));
}
