//! Which finding is the root cause: statistics propose, experiments decide.
//!
//! Takes   findings in the order of their scores, and alternatives to each.
//! Gives   proposals for `unpick_forcing::decide`, and findings in the order that its decision gives them.

use unpick_findings::{Alternative, Confirmed, Finding, Findings, Origin};
use unpick_forcing::{Candidate, Decision, Judged};
use unpick_reproduce::confirmation;

/// A candidate for the root cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub finding: Finding,
    /// The place of the finding in the list that it is, or could lead.
    pub place: usize,
}

/// The findings and their alternatives, the best prior first, at most `max`; of equals those that lead already.
pub fn propose(findings: &Findings, alternatives: Vec<Alternative>, max: usize) -> Vec<Proposal> {
    let listed = findings.findings.iter().cloned().enumerate();
    let mut proposals: Vec<Proposal> =
        listed.map(|(place, finding)| Proposal { finding, place }).collect();
    let place_of =
        |of: &Finding| findings.findings.iter().position(|listed| listed.is_same_order(of));
    proposals.extend(alternatives.into_iter().filter_map(|alternative| {
        let place = place_of(&alternative.of)?;
        Some(Proposal { finding: alternative.finding, place })
    }));
    proposals.sort_by(|one, other| other.finding.score.total_cmp(&one.finding.score));
    proposals.truncate(max);
    proposals
}

/// Proposals made again from findings that were ranked again: the known ones keep their places and get their new scores, new ones follow,
/// at most `max` in all. A known one that is no longer proposed correlates no more: its score is 0.
pub fn repropose(known: &mut Vec<Proposal>, again: Vec<Proposal>, max: usize) {
    for proposal in known.iter_mut() {
        let new = again.iter().find(|new| new.finding.is_same_order(&proposal.finding));
        match new {
            Some(new) => *proposal = new.clone(),
            None => proposal.finding.score = 0.0,
        }
    }
    for new in again {
        let is_known = known.iter().any(|known| known.finding.is_same_order(&new.finding));
        if !is_known && known.len() < max {
            known.push(new);
        }
    }
}

/// The proposals as the search knows them. What was found by forcing it has no score: every run that had it failed.
pub fn candidates(proposals: &[Proposal]) -> Vec<Candidate> {
    let agreement = |finding: &Finding| match finding.origin {
        Origin::Forced => 1.0,
        Origin::Correlated | Origin::Inferred => finding.score,
    };
    proposals.iter().map(|one| Candidate { agreement: agreement(&one.finding) }).collect()
}

/// Puts verdicts to findings; who leads by the decision comes first, in the place of the finding that it belongs to.
pub fn apply(findings: &mut Findings, proposals: Vec<Proposal>, decision: &Decision) {
    for (at, proposal) in proposals.into_iter().enumerate() {
        let confirmed = confirmed(decision, at);
        let Some(listed) = findings.findings.get_mut(proposal.place) else { continue };
        if decision.leader == Some(at) {
            *listed = Finding { confirmed, rank: listed.rank, ..proposal.finding };
        } else if listed.is_same_order(&proposal.finding) {
            listed.confirmed = confirmed;
        }
    }
    let leads = decision.leader.and_then(|at| confirmed(decision, at));
    findings.order_by_confirmation();
    // A measured effect says more than any correlation, also where it is too small to be sure.
    let leader =
        findings.findings.iter().position(|finding| leads.is_some() && finding.confirmed == leads);
    if let Some(leader) = leader {
        findings.findings[..=leader].rotate_right(1);
    }
}

/// What was measured of a candidate, as a finding keeps it; none: it was not tried.
pub fn confirmed(decision: &Decision, candidate: usize) -> Option<Confirmed> {
    let Judged { measured, verdict } = decision.judged.get(candidate)?;
    let verdict = (*verdict)?;
    let (forced, prevented) = measured.best();
    Some(Confirmed {
        forced_runs: forced.runs,
        forced_hits: forced.reached.runs,
        forced_failures: forced.reached.failures,
        inverse_runs: prevented.runs,
        inverse_hits: prevented.reached.runs,
        inverse_failures: prevented.reached.failures,
        baseline_runs: decision.baseline.runs,
        baseline_failures: decision.baseline.failures,
        verdict: confirmation(verdict),
    })
}
