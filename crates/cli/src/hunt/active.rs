//! The active part of a hunt: forces orders that no run had, then those that passing runs had, and sees whether the program fails.
//!
//! Takes   the runs of the hunt, and what is left of its budget.
//! Gives   which orders were tried and what came of it; findings for those that make the program fail, with a verdict.
//! Misses  what passing runs do not come near to (`analyses::unseen_orders`); orders that need another one to be forced as well.
//! Cost    one run for an order that does not come about, three for one that does, thirty more for one under which a run fails.
//!
//! A run that fails while it is held may fail because of that. So each order is forced again, and its inverse, before it is a finding.
//!
//! What time is left is for other ways to force the same orders: other threads kept aside, gates where functions begin, shorter and longer holds.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use unpick_events::Label;
use unpick_findings::{Active, CodePlace, Confirmation, Finding, Findings, Origin, TriedOrder};
use unpick_problem::Problem;
use unpick_reproduce::Plan;
use unpick_run_store::{Store, StoredRun};

use crate::calibration::choices;
use crate::conclude::{OrdersToTry, View, no_findings, orders_to_try};
use crate::confirm::{self, HuntEvidence, Trying};
use crate::forcing::{Forcing, Hunted, JudgeOptions, PlanOptions};
use crate::hints;
use crate::hunt::course::Course;
use crate::hunt::torn::{torn_orders, woven};
use crate::kept_findings;
use crate::reproduce::Tally;
use crate::supported::Guidance;

/// Of an order that comes about.
const RUNS_PER_ORDER: u32 = 3;
/// How much longer a thread is held in a second try: the time of a usual run is little on a busy machine.
const MORE_TIME: u32 = 4;
/// Time that is kept for experiments on an order under which a run failed, at most this part of the hunt's.
const TIME_TO_CONFIRM: Duration = Duration::from_secs(10);
const PART_TO_CONFIRM: u32 = 6;
/// Of the time that is left, for one order: what it does not decide soon leaves time for others.
const SHARE_TO_CONFIRM: u32 = 2;
/// An order that was found in the last moment is looked into for this long all the same.
const LEAST_TO_CONFIRM: Duration = Duration::from_secs(3);
/// Several orders can bring about one bug: more of them say little.
const MOST_FINDINGS: usize = 3;
/// The way in which every order is forced first, and how many there are at most: further ones are those of `calibration::choices`.
const USUAL_WAY: usize = 0;
const MAX_WAYS: usize = 16;

/// Orders to try, and what came of them so far.
pub struct Trial {
    forcing: Forcing,
    store: Store,
    /// The most promising first.
    orders: Vec<Finding>,
    /// What passing runs had, to be tried between other threads.
    shown: Vec<Finding>,
    active: Active,
    found: Vec<Finding>,
    /// Before the hunt was resumed.
    found_earlier: Vec<Finding>,
    /// Made by this process.
    runs: u32,
    /// As a list without findings begins.
    nothing: Findings,
    /// Orders that are all in ignored packages, and are not tried.
    left_out: u32,
}

impl Trial {
    /// What a hunt that is resumed has tried is not tried again; orders into invariants that were never challenged come first, and units
    /// of variables that belong together are torn before others.
    pub fn begin(
        store: &Store,
        runs: &[StoredRun],
        view: &View,
        resume: bool,
        guidance: Option<&Guidance>,
    ) -> Result<Trial, Problem> {
        let OrdersToTry { unseen: orders, further, mut shown, left_out } =
            orders_to_try(store, runs, view)?;
        let hunted = Hunted::of_store(store)?;
        let forcing = Forcing::new(store.folder(), &hunted, &JudgeOptions::default(), &[])?;
        let mut orders = woven(orders, hinted(store, &forcing));
        if let Some(guidance) = guidance {
            guidance.sort_orders(&mut orders);
        }
        let hunt = runs.first().and_then(|run| run.info.hunt);
        let (earlier, found_earlier) =
            if resume { tried_earlier(store, hunt) } else { Default::default() };
        orders.retain(|order| !earlier.orders.iter().any(|tried| tried.is_of(order)));
        shown.retain(|order| !earlier.shown.iter().any(|tried| tried.is_of(order)));
        let mut active = Active { remaining: (orders.len() + further) as u32, ..Active::default() };
        earlier.orders.into_iter().for_each(|order| active.add(order));
        active.shown = earlier.shown;
        Ok(Trial {
            forcing,
            store: store.clone(),
            orders,
            shown,
            active,
            found: Vec::new(),
            found_earlier,
            runs: 0,
            nothing: no_findings(runs, view),
            left_out: left_out as u32,
        })
    }

    /// Tries them until one is the cause of failing, or the budget is used up. What was found leads the findings.
    pub fn run(mut self, course: &mut Course<'_>, findings: &mut Findings) -> Result<(), Problem> {
        course.progress().begin_orders();
        let end = course.until().map(|until| until + LEAST_TO_CONFIRM);
        self.forcing = self.forcing.ending_at(end);
        let (orders, shown) = (std::mem::take(&mut self.orders), std::mem::take(&mut self.shown));
        let is_over = self.try_unseen(&orders, course)? || self.try_shown(&shown, course)?;
        // Without a limit nobody waits for all of them.
        let is_limited = course.time().is_some() || course.runs_left().is_some();
        if !is_over && is_limited {
            self.try_other_ways(&orders, &shown, course)?;
        }
        course.progress().finish();
        findings.findings.splice(0..0, self.found_earlier.into_iter().chain(self.found));
        findings.order_by_confirmation();
        findings.active = Some(self.active);
        findings.packages.left_out += self.left_out;
        Ok(())
    }

    /// True: no more is to be tried.
    fn try_unseen(&mut self, orders: &[Finding], course: &mut Course<'_>) -> Result<bool, Problem> {
        for order in orders {
            if self.is_over(course) {
                return Ok(true);
            }
            let Some(tried) = self.try_order(order, USUAL_WAY, course)? else { return Ok(true) };
            self.active.remaining -= 1;
            self.active.add(tried);
            let all = self.active.tried + self.active.remaining;
            if let Some(last) = self.active.orders.last() {
                course.progress().tried(last, &self.active, all);
            }
        }
        Ok(self.is_over(course))
    }

    /// The same for orders that passing runs had.
    fn try_shown(&mut self, orders: &[Finding], course: &mut Course<'_>) -> Result<bool, Problem> {
        for order in orders {
            if self.is_over(course) {
                return Ok(true);
            }
            let Some(tried) = self.try_order(order, USUAL_WAY, course)? else { return Ok(true) };
            self.active.shown.push(tried);
        }
        Ok(self.is_over(course))
    }

    /// Each order in one further way after the other, as long as there is time. What made the program fail already is known.
    fn try_other_ways(
        &mut self,
        orders: &[Finding],
        shown: &[Finding],
        course: &mut Course<'_>,
    ) -> Result<(), Problem> {
        for way in USUAL_WAY + 1..MAX_WAYS {
            for order in orders.iter().chain(shown) {
                if self.is_over(course) {
                    return Ok(());
                }
                if self.known(order).is_some_and(|known| known.failed > 0) {
                    continue;
                }
                let Some(tried) = self.try_order(order, way, course)? else { return Ok(()) };
                self.add_to_known(order, &tried);
            }
        }
        Ok(())
    }

    fn known(&mut self, order: &Finding) -> Option<&mut TriedOrder> {
        let Active { orders, shown, .. } = &mut self.active;
        orders.iter_mut().chain(shown).find(|known| known.is_of(order))
    }

    /// Counts runs of an order that was tried before.
    fn add_to_known(&mut self, order: &Finding, further: &TriedOrder) {
        let is_shown = order.passed_runs > 0;
        let Some(known) = self.known(order) else { return };
        let is_first = [(known.hits, further.hits), (known.failed, further.failed)]
            .map(|(before, now)| before == 0 && now > 0);
        known.runs += further.runs;
        known.hits += further.hits;
        known.failed += further.failed;
        known.verdict = further.verdict.or(known.verdict);
        if !is_shown {
            let [is_first_hit, is_first_failure] = is_first.map(u32::from);
            self.active.reached += is_first_hit;
            self.active.failed += is_first_failure;
        }
    }

    fn is_over(&self, course: &Course<'_>) -> bool {
        self.has_enough() || !self.may_go_on(course)
    }

    fn has_enough(&self) -> bool {
        let is_cause = |finding: &Finding| {
            finding.confirmed.is_some_and(|confirmed| confirmed.verdict == Confirmation::Cause)
        };
        self.found.iter().any(is_cause) || self.found.len() >= MOST_FINDINGS
    }

    fn may_go_on(&self, course: &Course<'_>) -> bool {
        // One is tried in any case: a hunt that says it forces orders shall not end without.
        let reserve = course.time().map_or(TIME_TO_CONFIRM, |time| time / PART_TO_CONFIRM);
        let end = course.until().map(|until| until - reserve.min(TIME_TO_CONFIRM));
        let has_time = end.is_none_or(|end| self.runs == 0 || Instant::now() < end);
        let has_runs = course.runs_left().is_none_or(|left| self.runs < left);
        has_time && has_runs && !self.forcing.is_stopped()
    }

    /// None: the user wants no more.
    fn try_order(
        &mut self,
        order: &Finding,
        way: usize,
        course: &mut Course<'_>,
    ) -> Result<Option<TriedOrder>, Problem> {
        let options = PlanOptions::default();
        let plan = Plan::of_finding(order).ok();
        let usual = plan.map(|plan| options.applied_to(plan, self.forcing.usual_run));
        let plan = usual.and_then(|usual| match way {
            USUAL_WAY => Some(usual),
            other => choices(&self.forcing, &usual, &options).nth(other - USUAL_WAY - 1),
        });
        // What no plan can be made of cannot be forced: it was tried, and did not come about.
        let Some(plan) = plan else {
            return Ok(Some(tried(order, &[], &Tally::default())));
        };
        let Some(tally) = self.force(&plan, course)? else { return Ok(None) };
        let steps: Vec<String> = plan.steps.iter().map(|step| step.shown.clone()).collect();
        let mut tried = tried(order, &steps, &tally);
        if tally.failed > 0 {
            tried.verdict = self.confirm(order.clone(), course)?;
        }
        Ok(Some(tried))
    }

    /// Until a run fails, or one shows that the order does not come about. Where a thread was let go because its time was up, the other
    /// one may only have been late: there is a second try, with more time.
    fn force(&mut self, plan: &Plan, course: &Course<'_>) -> Result<Option<Tally>, Problem> {
        let mut tally = Tally::default();
        let mut plan = Cow::Borrowed(plan);
        while tally.runs < RUNS_PER_ORDER && (tally.runs == 0 || self.may_go_on(course)) {
            let Some(run) = self.forcing.run(Some(&plan))? else { return Ok(None) };
            self.runs += 1;
            tally.add(&run, Some(&plan))?;
            let is_missed = tally.hits == 0 && run.label != Label::Unusable;
            let is_second_try = matches!(plan, Cow::Owned(_));
            if tally.failed > 0 || is_missed && (is_second_try || run.outcome.timed_out == 0) {
                break;
            }
            if is_missed {
                plan.to_mut().pause *= MORE_TIME;
            }
        }
        Ok(Some(tally))
    }

    /// Forces the order again, and its inverse. What makes the program fail is a finding.
    fn confirm(
        &mut self,
        order: Finding,
        course: &mut Course<'_>,
    ) -> Result<Option<Confirmation>, Problem> {
        let now = Instant::now();
        let time = |until: Instant| until.saturating_duration_since(now) / SHARE_TO_CONFIRM;
        let trying = Trying {
            forcing: &self.forcing,
            store: self.store.folder(),
            plan: &PlanOptions::default(),
            top: 1,
            runs: confirm::USUAL_RUNS,
            until: course.until().map(|until| now + time(until).max(LEAST_TO_CONFIRM)),
            quiet: course.progress().is_quiet(),
            evidence: &HuntEvidence::default(),
        };
        let mut alone = Findings { findings: vec![order], ..self.nothing.clone() };
        trying.try_all(&mut alone)?;
        let Some(order) = alone.findings.pop() else { return Ok(None) };
        let verdict = order.confirmed.map(|confirmed| confirmed.verdict);
        if matches!(verdict, Some(Confirmation::Cause | Confirmation::Likely)) {
            self.found.push(order);
        }
        Ok(verdict)
    }
}

/// Orders of variables that belong together, if the store knows of any. What goes wrong here takes nothing from the others.
fn hinted(store: &Store, forcing: &Forcing) -> Vec<Finding> {
    let rules = hints::rules(store.folder());
    if rules.is_empty() {
        return Vec::new();
    }
    torn_orders(store, forcing, rules).unwrap_or_else(|problem| {
        eprintln!("unpick: correlations are not tried: {}", problem.in_one_line());
        Vec::new()
    })
}

fn tried(order: &Finding, steps: &[String], tally: &Tally) -> TriedOrder {
    let code: Vec<CodePlace> = order.accesses.iter().map(|access| access.code.clone()).collect();
    TriedOrder {
        pattern: order.pattern.clone(),
        steps: steps.to_vec(),
        code,
        runs: tally.usable(),
        hits: tally.hits,
        failed: tally.failed,
        verdict: None,
    }
}

/// What the hunt has tried before it was resumed, and found by that.
fn tried_earlier(store: &Store, hunt: Option<u64>) -> (Active, Vec<Finding>) {
    // Without findings nothing was tried.
    let Ok(findings) = kept_findings::read(store.folder(), hunt) else {
        return Default::default();
    };
    let forced = findings.findings.into_iter().filter(|one| one.origin == Origin::Forced);
    (findings.active.unwrap_or_default(), forced.collect())
}
