//! Makes experiments on findings and hangs.
//!
//! Takes   findings, and how the program is run.      Gives  them with verdicts, the root cause first.
//! Misses  a cause that is neither a finding nor an alternative to one.
//!
//! Hangs are tried one after the other. Findings and their alternatives compete (`unpick_forcing::decide`): what fails together
//! cannot be told apart by watching, but by forcing it.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_engine::{Proposal, apply, confirmed, propose};
use unpick_findings::{Confirmation, Confirmed, Findings, HangGroup};
use unpick_forcing::{Decision, MIN_RUNS, Settings, decide};
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Trials};

use super::evidence::HuntEvidence;
use super::laboratory::{Laboratory, MAX_PROPOSALS};
use crate::calibration::calibrated;
use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::{Tally, plan_of_hang, repeat};
use crate::show;
use crate::terminal;

/// Runs of each kind in the first round.
const FIRST_ROUND: u32 = 5;
/// As many as are wanted, times this, if what is asked for happens seldom.
const MAX_TIMES: u32 = 4;

/// A finding that was tried.
pub struct Tried {
    /// As it was numbered before.
    pub what: String,
    pub confirmed: Confirmed,
    /// What stood in the way, if it was never reached.
    pub remark: Option<String>,
}

impl Tried {
    /// None: nothing could be forced, which says nothing about the finding.
    fn confirmed(&self) -> Option<Confirmed> {
        (self.confirmed.forced_runs > 0).then_some(self.confirmed)
    }

    fn nothing(what: String) -> Tried {
        Tried { what, confirmed: Trials::default().confirmed(), remark: None }
    }

    pub fn is_cause(&self) -> bool {
        self.confirmed.verdict == Confirmation::Cause
    }

    fn says_more_than(&self, other: &Tried) -> bool {
        self.confirmed.verdict.place() < other.confirmed.verdict.place()
    }
}

/// How findings are tried.
pub struct Trying<'a> {
    pub forcing: &'a Forcing,
    pub store: &'a Path,
    pub plan: &'a PlanOptions,
    pub top: usize,
    /// Of each kind.
    pub runs: u32,
    pub until: Option<Instant>,
    pub quiet: bool,
    pub evidence: &'a HuntEvidence<'a>,
}

impl Trying<'_> {
    /// Tries the leading hangs and findings, and orders both by what was measured.
    pub fn try_all(&self, findings: &mut Findings) -> Result<Vec<Tried>, Problem> {
        let mut plain = None;
        let mut tried = self.try_hangs(findings, &mut plain)?;
        findings.order_by_confirmation();
        if !findings.are_all_hangs_explained() && self.may_go_on() {
            tried.extend(self.try_findings(findings)?);
        }
        Ok(tried)
    }

    /// Lets findings and their alternatives compete.
    fn try_findings(&self, findings: &mut Findings) -> Result<Vec<Tried>, Problem> {
        let proposals = self.proposals(findings)?;
        let bar = terminal::progress_bar(0, self.quiet);
        bar.set_prefix("experiments");
        let mut laboratory = Laboratory::new(self, findings, proposals, bar.clone());
        let candidates = laboratory.candidates(findings.runs);
        let decision = decide(&candidates, &mut laboratory, &self.settings())?;
        bar.finish_and_clear();
        let Laboratory { proposals, findings: ranked, .. } = laboratory;
        let tried = rows(&proposals, &decision);
        findings.findings = ranked.findings;
        apply(findings, proposals, &decision);
        Ok(tried)
    }

    /// Of the leading findings, and what could lead them.
    fn proposals(&self, findings: &Findings) -> Result<Vec<Proposal>, Problem> {
        let ranked = self.evidence.rerank.map(|rerank| rerank.rank(&[])).transpose()?;
        let alternatives = ranked.map_or_else(Vec::new, |ranked| ranked.alternatives);
        let mut proposals = propose(findings, alternatives, MAX_PROPOSALS);
        proposals.retain(|proposal| proposal.place.is_none_or(|place| place < self.top));
        Ok(proposals)
    }

    fn settings(&self) -> Settings {
        let first = FIRST_ROUND.min(self.runs);
        Settings {
            rounds: [first, self.runs, self.runs],
            baseline: self.evidence.baseline,
            ..Settings::default()
        }
    }

    fn try_hangs(
        &self,
        findings: &mut Findings,
        plain: &mut Option<Tally>,
    ) -> Result<Vec<Tried>, Problem> {
        let mut tried = Vec::new();
        for (at, hang) in findings.hangs.iter_mut().enumerate().take(self.top) {
            if hang.is_explained() && self.may_go_on() {
                let kind = if hang.deadlock { "deadlock" } else { "lost notification" };
                tried.push(self.try_hang(format!("{kind} {}", at + 1), hang, plain)?);
            }
        }
        Ok(tried)
    }

    /// Forces and prevents each order that led to the hang until one is confirmed as the cause. A thread that tests two variables before it waits is kept from
    /// losing a notification only if nobody comes after the first of the tests.
    fn try_hang(
        &self,
        what: String,
        hang: &mut HangGroup,
        plain: &mut Option<Tally>,
    ) -> Result<Tried, Problem> {
        let mut best: Option<(u32, Tried)> = None;
        for run in hang.examples() {
            if best.as_ref().is_some_and(|(_, best)| best.is_cause()) || !self.may_go_on() {
                break;
            }
            let plan = plan_of_hang(self.store, u64::from(run));
            let one = self.try_one(what.clone(), plan, plain)?;
            if best.as_ref().is_none_or(|(_, best)| one.says_more_than(best)) {
                best = Some((run, one));
            }
        }
        let Some((run, tried)) = best else {
            return Ok(Tried::nothing(what));
        };
        if run != hang.example_run {
            hang.sentence = show::hang(self.store, u64::from(run))?.sentence;
            hang.example_run = run;
        }
        hang.confirmed = tried.confirmed().map(Confirmed::of_observed);
        Ok(tried)
    }

    /// Tries a deadlock that can be.
    pub fn try_deadlock(
        &self,
        number: usize,
        plan: Result<Plan, Problem>,
    ) -> Result<Tried, Problem> {
        self.try_one(format!("deadlock {number}"), plan, &mut None)
    }

    pub fn may_go_on(&self) -> bool {
        !self.forcing.is_stopped() && self.until.is_none_or(|until| Instant::now() < until)
    }

    fn try_one(
        &self,
        what: String,
        plan: Result<Plan, Problem>,
        plain: &mut Option<Tally>,
    ) -> Result<Tried, Problem> {
        let bar = terminal::progress_bar(u64::from(3 * self.runs), self.quiet);
        bar.set_prefix(what.clone());
        let tried = match plan {
            Ok(plan) => self.try_plan(what, self.completed(plan), plain, &bar)?,
            // Nothing can be forced: that says nothing about the finding.
            Err(problem) => Tried { remark: Some(problem.to_string()), ..Tried::nothing(what) },
        };
        bar.finish_and_clear();
        Ok(tried)
    }

    pub(super) fn completed(&self, plan: Plan) -> Plan {
        self.forcing.completed(self.plan.applied_to(plan, self.forcing.usual_run))
    }

    /// The plan for an experiment, of which many are made.
    pub(super) fn completed_quickly(&self, plan: Plan) -> Plan {
        self.forcing.completed(self.plan.applied_quickly_to(plan, self.forcing.median_run))
    }

    /// What was forced, against the inverse order and runs left alone, which are made once for all.
    pub fn trials(
        &self,
        forced: &Tally,
        inverse: &Tally,
        plain: &mut Option<Tally>,
        bar: &ProgressBar,
    ) -> Result<Trials, Problem> {
        if plain.is_none() {
            *plain = Some(self.repeat(None, bar)?);
        }
        let alone = plain.as_ref().map_or((0, 0), |tally| (tally.usable(), tally.failed));
        let trials = Trials {
            forced_runs: forced.usable(),
            forced_hits: forced.hits,
            forced_failures: forced.failed_hits,
            plain_runs: alone.0,
            plain_failures: alone.1,
            ..Trials::default()
        };
        Ok(trials.inverted(inverse.usable(), inverse.hits, inverse.failed_hits))
    }

    fn try_plan(
        &self,
        what: String,
        plan: Plan,
        plain: &mut Option<Tally>,
        bar: &ProgressBar,
    ) -> Result<Tried, Problem> {
        let usual = plan.clone();
        // Runs that decide come after those that look for the best way.
        let for_search = self.time_left().map(|left| left / 3);
        let plan = calibrated(self.forcing, plan, self.plan, for_search)?;
        let inverse_plan = self.inverse(&usual, &plan);
        let forced = self.repeat_until_reached(&plan, bar)?;
        let inverse = self.repeat_until_reached(&inverse_plan, bar)?;
        let trials = self.trials(&forced, &inverse, plain, bar)?;
        let remark = (forced.hits == 0).then(|| forced.obstacle(&plan).to_string());
        Ok(Tried { what, confirmed: trials.confirmed(), remark })
    }

    /// The inverse of a plan, which waits where it was best to wait.
    pub(super) fn inverse(&self, plan: &Plan, calibrated: &Plan) -> Plan {
        let program = self.forcing.program().ok().filter(|_| calibrated.early);
        let early = program.and_then(|program| plan.with_early_gates(program));
        early.as_ref().unwrap_or(plan).inverse()
    }

    pub(super) fn repeat(&self, plan: Option<&Plan>, bar: &ProgressBar) -> Result<Tally, Problem> {
        repeat(self.forcing, plan, self.runs, self.time_left(), bar)
    }

    /// The same; if what is asked for happens in a few runs only, there are more of them.
    fn repeat_until_reached(&self, plan: &Plan, bar: &ProgressBar) -> Result<Tally, Problem> {
        let mut tally = self.repeat(Some(plan), bar)?;
        let times = |tally: &Tally| if tally.hits == 0 { MAX_TIMES / 2 } else { MAX_TIMES };
        while tally.hits < MIN_RUNS && tally.runs < times(&tally) * self.runs && self.may_go_on() {
            if !tally.run_once(self.forcing, Some(plan))? {
                break;
            }
        }
        Ok(tally)
    }

    pub(super) fn time_left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }
}

/// A row for each proposal that was tried.
fn rows(proposals: &[Proposal], decision: &Decision) -> Vec<Tried> {
    let row = |(at, proposal): (usize, &Proposal)| {
        let number = proposal.place.map_or("-".to_owned(), |place| (place + 1).to_string());
        let what = format!("{number}  {}", proposal.finding.pattern);
        Some(Tried { what, confirmed: confirmed(decision, at)?, remark: None })
    };
    proposals.iter().enumerate().filter_map(row).collect()
}
