//! Which finding is the root cause: statistics propose, experiments decide.
//!
//! Takes   findings in the order of their scores, and alternatives to each.
//! Gives   proposals for `unpick_forcing::decide`, and findings in the order that its decision gives them.

use unpick_findings::{
    AccessKind, Alternative, Confirmed, Finding, Findings, Origin, Reason, Runs,
};
use unpick_forcing::{Candidate, Decision, Judged};
use unpick_reproduce::{confirmation, doubt as kept_doubt};

/// A candidate for the root cause.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    pub finding: Finding,
    /// The place of the finding in the list that it is, or could lead; none: it belongs to none of them, or others have driven it out of the list.
    pub place: Option<usize>,
}

/// Of proposals by their scores, before each pattern that tears a unit: what correlates best is tried first, and a hint soon.
const SCORED_PER_TORN: usize = 2;

/// The findings and their alternatives, the best prior first, at most `max`; of equals those that lead already. What is a
/// consequence of the failure, or the normal end of a life, is proposed only if nothing else is. Patterns that tear a unit of two variables have a place among the others whatever their
/// score: that a detector finds it open in one run is a hint that scores do not have.
pub fn propose(findings: &Findings, alternatives: Vec<Alternative>, max: usize) -> Vec<Proposal> {
    let place_of =
        |of: &Finding| findings.findings.iter().position(|listed| listed.is_same_order(of));
    let listed = findings.findings.iter().cloned().enumerate();
    let mut scored: Vec<Proposal> =
        listed.map(|(place, finding)| Proposal { finding, place: Some(place) }).collect();
    let mut torn = Vec::new();
    for Alternative { of, finding, reason } in alternatives {
        let place = place_of(&of);
        match reason {
            Reason::TearsUnit => torn.push(Proposal { finding, place }),
            Reason::Correlates => scored.push(Proposal { finding, place }),
        }
    }
    scored.sort_by(|one, other| other.finding.score.total_cmp(&one.finding.score));
    let mut proposals = interleaved(scored, torn);
    if proposals.iter().any(|proposal| !proposal.finding.is_consequence()) {
        proposals.retain(|proposal| !proposal.finding.is_consequence());
    }
    truncate(&mut proposals, max, |proposal| place_of(&proposal.finding).is_some());
    proposals
}

/// Leaves out the last alternatives; each finding of the list stands for a cause of its own and stays, as long as there is room.
fn truncate(proposals: &mut Vec<Proposal>, max: usize, is_listed: impl Fn(&Proposal) -> bool) {
    let listed = proposals.iter().filter(|proposal| is_listed(proposal)).count();
    let mut room = max.saturating_sub(listed);
    proposals.retain(|proposal| {
        let stays = is_listed(proposal) || room > 0;
        if stays && !is_listed(proposal) {
            room -= 1;
        }
        stays
    });
    proposals.truncate(max);
}

/// Both lists, each in its order; what is in both is there once.
fn interleaved(scored: Vec<Proposal>, torn: Vec<Proposal>) -> Vec<Proposal> {
    let mut torn = torn.into_iter();
    let mut proposals: Vec<Proposal> = Vec::new();
    let mut add = |proposal: Proposal| {
        let is_same = |known: &Proposal| known.finding.is_same_order(&proposal.finding);
        if !proposals.iter().any(is_same) {
            proposals.push(proposal);
        }
    };
    for (at, proposal) in scored.into_iter().enumerate() {
        add(proposal);
        if (at + 1) % SCORED_PER_TORN == 0 {
            torn.next().into_iter().for_each(&mut add);
        }
    }
    torn.for_each(add);
    proposals
}

/// Proposals made again from findings that were ranked again: the known ones keep their places and get their new scores, new ones follow,
/// at most `max` in all.
pub fn repropose(known: &mut Vec<Proposal>, again: Vec<Proposal>, max: usize) {
    for proposal in known.iter_mut() {
        let new = again.iter().find(|new| new.finding.is_same_order(&proposal.finding));
        match new {
            Some(new) => *proposal = new.clone(),
            None => proposal.place = None,
        }
    }
    for new in again {
        let is_known = known.iter().any(|known| known.finding.is_same_order(&new.finding));
        if !is_known && known.len() < max {
            known.push(new);
        }
    }
}

/// The proposals as the search knows them, after a hunt of these runs. What was found by forcing it has no score: every run that had it failed. If passing runs had it
/// before, nothing says that failing ones need it.
pub fn candidates(proposals: &[Proposal], runs: Runs) -> Vec<Candidate> {
    let begins_with_free = |finding: &Finding| {
        finding.accesses.first().is_some_and(|first| first.kind == AccessKind::Free)
    };
    let candidate = |finding: &Finding| match finding.origin {
        Origin::Forced => {
            let agreement = if finding.passed_runs > 0 { 0.0 } else { 1.0 };
            Candidate { agreement, ..Candidate::default() }
        }
        Origin::Correlated | Origin::Inferred => Candidate {
            agreement: finding.score,
            missed: 1.0 - f64::from(finding.failed_runs) / f64::from(runs.failed.max(1)),
            uses_freed: begins_with_free(finding),
            ..Candidate::default()
        },
    };
    proposals.iter().map(|one| candidate(&one.finding)).collect()
}

/// Puts verdicts to findings, and these in the order of them; who leads by the decision comes first, in the place of the finding that it belongs to: a measured
/// effect says more than any correlation, also where it is too small to be sure.
pub fn apply(findings: &mut Findings, mut proposals: Vec<Proposal>, decision: &Decision) {
    for (at, proposal) in proposals.iter_mut().enumerate() {
        proposal.finding.confirmed = confirmed(decision, at);
        let mut listed = findings.findings.iter_mut();
        if let Some(listed) = listed.find(|listed| listed.is_same_order(&proposal.finding)) {
            listed.confirmed = proposal.finding.confirmed;
        }
    }
    let leader = decision.leader.map(|at| proposals.swap_remove(at));
    let leader = leader.map(|leader| taken_from_list(&mut findings.findings, leader));
    findings.order_by_confirmation();
    if let Some(leader) = leader {
        findings.findings.insert(0, leader);
    }
}

/// Takes the finding that a proposal is, or could lead, from the list.
fn taken_from_list(list: &mut Vec<Finding>, Proposal { finding, place }: Proposal) -> Finding {
    let own = list.iter().position(|listed| listed.is_same_order(&finding));
    match own.or(place.filter(|&place| place < list.len())) {
        Some(place) => Finding { rank: list.remove(place).rank, ..finding },
        None => ranked_among(list, finding),
    }
}

/// A finding with its rank by score among others.
fn ranked_among(others: &[Finding], finding: Finding) -> Finding {
    let better = others.iter().filter(|other| other.score > finding.score).count();
    Finding { rank: better as u32 + 1, ..finding }
}

/// What was measured of a candidate, as a finding keeps it; none: it was not tried.
pub fn confirmed(decision: &Decision, candidate: usize) -> Option<Confirmed> {
    let Judged { measured, verdict, doubt } = decision.judged.get(candidate)?;
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
        doubt: doubt.map(kept_doubt),
    })
}
