//! Orders to try of variables that belong together: one thread's accesses to both, and another's access between them.
//!
//! Takes   what the store knows of such variables; the program, which is run once, recorded in full.
//! Gives   orders in the form of findings, and their places among the others.
//! Misses  what this one run did not execute; units that a lock keeps whole (`races_multi_variable`).
//! Cost    one run, and nothing where the store knows of no such variables.

use unpick_analyses::races::NamedRule;
use unpick_findings::{AccessKind, AccessOrder, Class, Finding, RaceFinding, describe_races};
use unpick_names::ProgramNames;
use unpick_problem::Problem;
use unpick_run_store::Store;

use crate::conclude::{NAMES, choices};
use crate::forcing::Forcing;
use crate::import::names_in;
use crate::races::{Correlated, FullRun, look_at, record_in_full};

/// Units that one run shows to be torn apart, each in all ways.
pub fn torn_orders(
    store: &Store,
    forcing: &Forcing,
    rules: Vec<NamedRule>,
) -> Result<Vec<Finding>, Problem> {
    let run = FullRun { store: store.clone(), timeout: forcing.timeout(), ..FullRun::default() };
    let judged = record_in_full(&run, forcing.invocation())?;
    let looked = look_at(&judged.run.folder, &mut Correlated::Rules(rules))?;
    let imported = names_in(store.folder())?;
    let names = ProgramNames::new(imported.as_ref(), &NAMES);
    let races = describe_races(&[(looked.number, &looked.races)], &names, &choices());
    let orders: Vec<Finding> = races.iter().flat_map(orders_of).collect();
    if orders.is_empty() {
        judged.run.discard();
    }
    Ok(orders)
}

fn orders_of(race: &RaceFinding) -> Vec<Finding> {
    if race.correlated.is_none() {
        return Vec::new();
    }
    race.orders().into_iter().map(|order| finding(order, race)).collect()
}

fn finding(order: AccessOrder, race: &RaceFinding) -> Finding {
    let AccessOrder { pattern, sentence, accesses } = order;
    let sentence = format!("{sentence} It was forced to.");
    let run = u32::try_from(race.example_run).unwrap_or(u32::MAX);
    let order = Finding::to_force(Class::MultiVariable, pattern, sentence, accesses, run);
    Finding { correlation: race.together(), ..order }
}

/// Gives each of them a turn (`analyses::unseen_orders`): before the order of that turn that comes into a gap of one variable, which is of the
/// same weight and without a hint, and before the pair that is turned round.
pub fn woven(orders: Vec<Finding>, torn: Vec<Finding>) -> Vec<Finding> {
    let mut torn = torn.into_iter();
    let (mut gaps, mut turned, mut turn) = (0, 0, 0);
    let mut woven = Vec::new();
    for order in orders {
        match order.class {
            Class::SingleVariable => gaps += 1,
            Class::Order if !is_freed_first(&order) => turned += 1,
            Class::Order | Class::MultiVariable => {}
        }
        if gaps.max(turned) > turn {
            turn += 1;
            woven.extend(torn.next());
        }
        woven.push(order);
    }
    woven.extend(torn);
    woven
}

fn is_freed_first(order: &Finding) -> bool {
    order.accesses.first().is_some_and(|access| access.kind == AccessKind::Free)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn order(class: &str, pattern: &str) -> Finding {
        let order = json!({
            "rank": 1, "score": 0.0, "class": class, "pattern": pattern, "sentence": "",
            "accesses": [], "failed_runs": 0, "passed_runs": 0, "example_run": 1,
            "cut_short": false, "supporters": [], "further_supporters": 0,
            "study": {
                "first_pair": null, "second_pair": null, "pattern_rank": 0, "patterns_at_rank_1": 0,
                "pairs": 0, "patterns": 0, "median_distance": null, "longest_distance": null,
                "access_window": null
            },
        });
        serde_json::from_value(order).unwrap()
    }

    fn patterns(orders: &[Finding]) -> Vec<&str> {
        orders.iter().map(|order| order.pattern.as_str()).collect()
    }

    #[test]
    fn what_belongs_together_is_torn_before_other_gaps_are_tried() {
        let others = ["P7", "P1", "P4", "P2"].map(|pattern| {
            let is_gap = ["P4", "P7"].contains(&pattern);
            order(if is_gap { "single-variable" } else { "order" }, pattern)
        });
        let torn = ["t1", "t2", "t3"].map(|pattern| order("multi-variable", pattern));
        let all = woven(others.to_vec(), torn.to_vec());
        assert_eq!(patterns(&all), ["t1", "P7", "P1", "t2", "P4", "P2", "t3"]);
        assert_eq!(patterns(&woven(others.to_vec(), Vec::new())), patterns(&others));
        let pairs = [order("order", "P1"), order("order", "P2")];
        let all = woven(pairs.to_vec(), torn.to_vec());
        assert_eq!(patterns(&all), ["t1", "P1", "t2", "P2", "t3"], "without gaps");
    }
}
