//! Forces findings and their inverse orders, one after the other.
//!
//! Takes   findings, and how the program is run.      Gives  them with verdicts, in the order of these.
//! Misses  a cause that neither leads one of the leading findings nor supports it as strongly as its leader.
//!
//! Where the pattern in front of a finding is not the cause, its understudies are tried: what fails together cannot be told apart by
//! watching, but by forcing it. The one that is the cause takes the lead.

use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use unpick_findings::{Confirmation, Confirmed, Finding, Findings};
use unpick_problem::Problem;
use unpick_reproduce::{Plan, Trials};

use super::rivals;
use crate::calibration::{calibrated, fails_at_once};
use crate::forcing::{Forcing, PlanOptions};
use crate::reproduce::{Tally, plan_of_hang, repeat};
use crate::terminal;

/// Of one finding.
const MOST_UNDERSTUDIES: usize = 8;
/// Scores this close are told apart by one run or two.
const NEARLY: f64 = 0.05;
/// As many runs show whether whole functions can be kept apart at all.
const FIRST_RUNS: u32 = 2;

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

    /// Tries understudies of findings that are not the cause, the best first, until one is. What is clearly less suspicious than a
    /// cause needs none.
    fn try_others_for(
        &self,
        tried: &mut [Tried],
        findings: &mut Findings,
        plain: &mut Option<Tally>,
    ) -> Result<(), Problem> {
        let score = |one: &Tried| one.finding.map_or(0.0, |at| findings.findings[at].score);
        let causes = tried.iter().filter(|one| one.is_cause());
        let enough = causes.map(|one| score(one) - NEARLY).fold(f64::MIN, f64::max);
        let mut open: Vec<usize> = (0..tried.len())
            .filter(|&at| !tried[at].is_cause() && score(&tried[at]) >= enough)
            .collect();
        open.sort_by(|&one, &other| score(&tried[other]).total_cmp(&score(&tried[one])));
        for at in open {
            let Some(finding) = tried[at].finding else { continue };
            let finding = &mut findings.findings[finding];
            if self.try_understudies(&mut tried[at], finding, plain)? {
                break;
            }
        }
        Ok(())
    }

    /// Tries those that can take the place of a finding, until one is the cause: that one does. Whether there is one.
    fn try_understudies(
        &self,
        tried: &mut Tried,
        finding: &mut Finding,
        plain: &mut Option<Tally>,
    ) -> Result<bool, Problem> {
        if !self.may_go_on() || self.runs == 0 {
            return Ok(false);
        }
        // Runs that are gone, or cannot be read any more, have none; the finding stays what it is.
        let understudies = (self.understudies)(finding).unwrap_or_default();
        for understudy in understudies.into_iter().take(MOST_UNDERSTUDIES) {
            let Ok(plan) = Plan::of_finding(&understudy) else { continue };
            if !self.may_go_on() {
                break;
            }
            // Most are effects: to see that takes a few runs only.
            let plan = self.completed(plan);
            if !fails_at_once(self.forcing, &plan, self.plan, self.time_left())? {
                continue;
            }
            let what = format!("{} for {}", tried.what, understudy.pattern);
            let one = self.try_one(what, Plan::of_finding(&understudy), plain)?;
            if one.is_cause() {
                let what = format!("{}, led by {}", tried.what, understudy.pattern);
                *finding = Finding { confirmed: one.confirmed(), ..understudy };
                *tried = Tried { what, finding: tried.finding, ..one };
                return Ok(true);
            }
        }
        Ok(false)
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

    /// Where none is the cause by its accesses alone, or only what is clearly less suspicious: keeps whole functions apart, for the best
    /// of those that make the program fail. What is inverted along with the true order seems to be the cause; the rivals tell.
    fn try_whole(&self, tried: &mut [Tried], findings: &mut [Finding]) -> Result<(), Problem> {
        let score = |one: &Tried| one.finding.map_or(0.0, |at| findings[at].score);
        // A hang that is understood needs no other explanation.
        let enough_by = |one: &Tried| one.finding.map_or(f64::INFINITY, |_| score(one) + NEARLY);
        let causes = tried.iter().filter(|one| one.is_cause());
        let enough = causes.map(enough_by).fold(f64::MIN, f64::max);
        let able = |one: &Tried| {
            one.finding.is_some() && one.trials.could_be_cause() && score(one) > enough
        };
        let mut open: Vec<&mut Tried> = tried.iter_mut().filter(|one| able(one)).collect();
        open.sort_by(|one, other| score(other).total_cmp(&score(one)));
        for one in open {
            let Some((plans, at)) = one.plans.as_mut().zip(one.finding) else { continue };
            let Some((inverse, whole)) = self.invert_whole(&plans.forced)? else { continue };
            let kept_apart = one.trials.inverted(whole.usable(), whole.hits, whole.failed_hits);
            if kept_apart.verdict() == Confirmation::Cause {
                plans.inverse = inverse;
                one.remark = Some(whole_remark(&one.trials));
                one.confirmed = Confirmed { whole_function: true, ..kept_apart.confirmed() };
                one.trials = kept_apart;
                findings[at].confirmed = one.confirmed();
                break;
            }
        }
        Ok(())
    }

    /// Keeps the whole functions apart that make the accesses of a role. None: that cannot be done.
    fn invert_whole(&self, plan: &Plan) -> Result<Option<(Plan, Tally)>, Problem> {
        if !self.may_go_on() {
            return Ok(None);
        }
        let bar = &ProgressBar::hidden();
        let program = self.forcing.program().ok();
        let plan = self.plan.applied_to(Plan::forcing(plan.steps.clone()), self.forcing.usual_run);
        let Some(inverse) = program.and_then(|program| plan.whole_inverse(&program)) else {
            return Ok(None);
        };
        // What a thread never leaves, or is in when it waits for others, is a function that cannot be kept apart.
        let first = repeat(self.forcing, Some(&inverse), FIRST_RUNS, self.time_left(), bar)?;
        if first.hits == 0 || first.failed_hits > 0 {
            return Ok(None);
        }
        let tally = self.repeat(Some(&inverse), bar)?;
        Ok(Some((inverse, tally)))
    }

    pub(super) fn repeat(&self, plan: Option<&Plan>, bar: &ProgressBar) -> Result<Tally, Problem> {
        repeat(self.forcing, plan, self.runs, self.time_left(), bar)
    }

    pub(super) fn time_left(&self) -> Option<Duration> {
        self.until.map(|until| until.saturating_duration_since(Instant::now()))
    }
}

fn whole_remark(by_accesses: &Trials) -> String {
    let Trials { inverse_hits: hits, inverse_failures: failures, .. } = by_accesses;
    format!(
        "with nobody between its accesses {failures} of {hits} runs failed; with nobody in the function that makes them, none: \
         there is more than one gap in it"
    )
}
