//! Forces the orders of a race, one after the other: does one of them make the program fail?
//!
//! Takes   a race.      Gives  how often each order came about and failed, and what that makes of the race.
//! Invents harm where an order brings along another that does it: what is confirmed makes the program fail, it need not be all there is to it.
//! Cost    some runs to find out how an order is best forced, as many as are asked for of each order, and as many of its inverse and left
//!         alone where runs failed.

use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use indicatif::ProgressBar;
use unpick_findings::{AccessOrder, Confirmed, ForcedOrder, ForcedRace, RaceFinding};
use unpick_problem::Problem;
use unpick_reproduce::Plan;

use super::trying::Trying;
use crate::calibration::{Waiting, calibrated_waiting};
use crate::reproduce::Tally;
use crate::terminal;

/// Finding out how to force an order of which nobody knows whether it can be, or does harm.
const TIME_PER_ORDER: Duration = Duration::from_secs(10);

impl Trying<'_> {
    /// Tries the orders of a race until one makes the program fail.
    pub fn try_race(&self, number: usize, race: &RaceFinding) -> Result<ForcedRace, Problem> {
        let orders = race.orders();
        let bar = terminal::progress_bar(orders.len() as u64 * u64::from(self.runs), self.quiet);
        bar.set_prefix(format!("race {number}"));
        let mut plain = None;
        let mut tried: Vec<ForcedOrder> = Vec::new();
        for order in &orders {
            if ForcedRace::is_decided(&tried) {
                break;
            }
            tried.push(self.try_order(order, &mut plain, &bar)?);
        }
        bar.finish_and_clear();
        Ok(ForcedRace::new(tried))
    }

    fn try_order(
        &self,
        order: &AccessOrder,
        plain: &mut Option<Tally>,
        bar: &ProgressBar,
    ) -> Result<ForcedOrder, Problem> {
        let usual = match Plan::of_order(order) {
            Ok(plan) if self.may_go_on() => self.completed(plan),
            Ok(plan) => return Ok(untried(order, &plan, "there was no time left to try it")),
            Err(problem) => {
                let nothing = Plan::forcing(Vec::new());
                return Ok(untried(order, &nothing, &problem.in_one_line()));
            }
        };
        let (plan, forced) = self.force(Waiting::AtSteps, &usual, bar)?;
        let (plan, forced) = match forced.hits {
            0 if self.may_go_on() => self.force(Waiting::Anywhere, &usual, bar)?,
            _ => (plan, forced),
        };
        let has_failed = forced.failed_hits > 0;
        let confirmed = has_failed.then(|| self.compare(&usual, &plan, &forced, plain, bar));
        Ok(ForcedOrder {
            runs: forced.usable(),
            hits: forced.hits,
            failures: forced.failed_hits,
            confirmed: confirmed.transpose()?,
            obstacle: (forced.hits == 0).then(|| obstacle(&forced, &plan)),
            ..untried(order, &plan, "")
        })
    }

    /// Who waits where its function begins brings other orders along, which may be what makes the program fail: so that is done only for an
    /// order that does not come about else.
    fn force(
        &self,
        waiting: Waiting,
        usual: &Plan,
        bar: &ProgressBar,
    ) -> Result<(Plan, Tally), Problem> {
        let time = self.time_left().map_or(TIME_PER_ORDER, |left| left.min(TIME_PER_ORDER));
        let usual = usual.clone();
        let plan = calibrated_waiting(waiting, self.forcing, usual, self.plan, Some(time))?;
        let tally = self.repeat(Some(&plan), bar)?;
        Ok((plan, tally))
    }

    /// What the inverse order, and runs left alone, say about runs that failed.
    fn compare(
        &self,
        usual: &Plan,
        calibrated: &Plan,
        forced: &Tally,
        plain: &mut Option<Tally>,
        bar: &ProgressBar,
    ) -> Result<Confirmed, Problem> {
        let inverse = self.repeat(Some(&self.inverse(usual, calibrated)), bar)?;
        Ok(self.trials(forced, &inverse, plain, bar)?.confirmed())
    }
}

fn obstacle(forced: &Tally, plan: &Plan) -> String {
    let problem = forced.obstacle(plan);
    problem.reason().unwrap_or_else(|| problem.in_one_line())
}

fn untried(order: &AccessOrder, plan: &Plan, why: &str) -> ForcedOrder {
    ForcedOrder {
        pattern: order.pattern.clone(),
        steps: plan.steps.iter().map(|step| step.shown.clone()).collect(),
        runs: 0,
        hits: 0,
        failures: 0,
        confirmed: None,
        obstacle: Some(why.to_owned()),
    }
}

/// One row per order.
pub fn table(forced: &ForcedRace) -> String {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(["forced order", "runs", "hit", "failed", "inverse: failed", "verdict"]);
    for order in &forced.orders {
        let of_inverse = |confirmed: &Confirmed| {
            format!("{} of {}", confirmed.inverse_failures, confirmed.inverse_hits)
        };
        table.add_row([
            order.steps.join(",\nthen "),
            order.runs.to_string(),
            order.hits.to_string(),
            order.failures.to_string(),
            order.confirmed.as_ref().map_or_else(|| "-".to_owned(), of_inverse),
            order.confirmed.map_or("-", |confirmed| confirmed.verdict.name()).to_owned(),
        ]);
    }
    for column in table.column_iter_mut().skip(1).take(4) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.to_string()
}
