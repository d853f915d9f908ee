//! Forces findings and their inverse orders, one after the other.
//!
//! Takes   findings, and how the program is run.      Gives  them with verdicts, in the order of these.
//! Misses  a cause that neither leads one of the leading findings nor supports it as strongly as its leader.
//!
//! Where the pattern in front of a finding is not the cause, its understudies are tried: what fails together cannot be told apart by
//! watching, but by forcing it. The one that is the cause takes the lead.

mod understudies;
mod whole;

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_findings::{Confirmation, Confirmed, Finding, Findings};
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Trials};

use super::rivals;
use crate::calibration::calibrated;
use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::{Tally, plan_of_hang, repeat};
use crate::terminal;

/// Scores this close are told apart by one run or two.
const NEARLY: f64 = 0.05;

/// A finding that was tried.
pub struct Tried {
    /// As it was numbered before.
    pub what: String,
    pub trials: Trials,
    pub confirmed: Confirmed,
    /// What stood in the way, if it was never reached; why it is not the cause, if it seemed to be.
    pub remark: Option<String>,
    /// Which of the findings; none: a hang.
    pub finding: Option<usize>,
    pub plans: Option<Plans>,
}

/// What a finding was tried by.
#[derive(Clone)]
pub struct Plans {
    pub forced: Plan,
    /// Under which it does not come about.
    pub inverse: Plan,
}

impl Tried {
    /// None: nothing could be forced, which says nothing about the finding.
    fn confirmed(&self) -> Option<Confirmed> {
        (self.trials.forced_runs > 0).then_some(self.confirmed)
    }

    pub fn is_cause(&self) -> bool {
        self.confirmed.verdict == Confirmation::Cause
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
    /// Findings that can take the place of one.
    pub understudies: &'a dyn Fn(&Finding) -> Result<Vec<Finding>, Problem>,
}

impl Trying<'_> {
    /// Tries the leading findings and hangs, and orders the findings by what came of it.
    pub fn try_all(&self, findings: &mut Findings) -> Result<Vec<Tried>, Problem> {
        let mut plain = None;
        let mut tried = self.try_hangs(findings, &mut plain)?;
        for (at, finding) in findings.findings.iter_mut().enumerate().take(self.top) {
            if self.may_go_on() {
                let one = self.try_finding(at, finding, &mut plain)?;
                finding.confirmed = one.confirmed();
                tried.push(one);
            }
        }
        self.try_whole(&mut tried, &mut findings.findings)?;
        self.try_others_for(&mut tried, findings, &mut plain)?;
        rivals::settle(self, &mut findings.findings, &mut tried)?;
        findings.order_by_confirmation();
        Ok(tried)
    }

    fn try_hangs(
        &self,
        findings: &mut Findings,
        plain: &mut Option<Tally>,
    ) -> Result<Vec<Tried>, Problem> {
        let mut tried = Vec::new();
        for (at, hang) in findings.hangs.iter_mut().enumerate().take(self.top) {
            if hang.is_explained() && self.may_go_on() {
                let plan = plan_of_hang(self.store, u64::from(hang.example_run));
                let kind = if hang.deadlock { "deadlock" } else { "lost notification" };
                let one = self.try_one(format!("{kind} {}", at + 1), plan, plain)?;
                hang.confirmed = one.confirmed();
                tried.push(one);
            }
        }
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

    fn try_finding(
        &self,
        at: usize,
        finding: &Finding,
        plain: &mut Option<Tally>,
    ) -> Result<Tried, Problem> {
        let what = format!("{}  {}", at + 1, finding.pattern);
        let tried = self.try_one(what, Plan::of_finding(finding), plain)?;
        Ok(Tried { finding: Some(at), ..tried })
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
            Err(problem) => Tried {
                what,
                trials: Trials::default(),
                confirmed: Trials::default().confirmed(),
                remark: Some(problem.to_string()),
                finding: None,
                plans: None,
            },
        };
        bar.finish_and_clear();
        Ok(tried)
    }

    pub(super) fn completed(&self, plan: Plan) -> Plan {
        self.forcing.completed(self.plan.applied_to(plan, self.forcing.usual_run))
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
        let plan = calibrated(self.forcing, plan, self.plan, self.time_left())?;
        let inverse_plan = self.inverse(&usual, &plan);
        let forced = self.repeat(Some(&plan), bar)?;
        let inverse = self.repeat(Some(&inverse_plan), bar)?;
        let trials = self.trials(&forced, &inverse, plain, bar)?;
        let remark = (forced.hits == 0).then(|| forced.obstacle(&plan).to_string());
        let confirmed = trials.confirmed();
        let plans = Some(Plans { forced: plan, inverse: inverse_plan });
        Ok(Tried { what, trials, confirmed, remark, finding: None, plans })
    }

    /// The inverse of a plan, which waits where it was best to wait.
    pub(super) fn inverse(&self, plan: &Plan, calibrated: &Plan) -> Plan {
        let program = self.forcing.program().ok().filter(|_| calibrated.early);
        let early = program.and_then(|program| plan.with_early_gates(&program));
        early.as_ref().unwrap_or(plan).inverse()
    }

    pub(super) fn repeat(&self, plan: Option<&Plan>, bar: &ProgressBar) -> Result<Tally, Problem> {
        repeat(self.forcing, plan, self.runs, self.time_left(), bar)
    }

    pub(super) fn time_left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }
}
