//! What the mark of a race rests on, in a sentence.

use super::{ForcedOrder, RaceMark};
use crate::confirmed::Confirmed;

pub fn sentence(mark: RaceMark, orders: &[ForcedOrder]) -> String {
    let Some(order) = orders.iter().find(|order| is_of_interest(mark, order)) else {
        return "no order of it could be forced".to_owned();
    };
    match mark {
        RaceMark::Confirmed => failing(order),
        RaceMark::Undecided => format!("{}: too few to tell", failing(order)),
        RaceMark::FailsAnyway => failing_anyway(order),
        RaceMark::NotForced => not_forced(order, orders),
        RaceMark::BenignSoFar => benign(order, orders),
    }
}

/// Whether a mark rests on an order.
fn is_of_interest(mark: RaceMark, order: &ForcedOrder) -> bool {
    match mark {
        RaceMark::Confirmed => order.makes_it_fail(),
        RaceMark::Undecided => order.may_make_it_fail(),
        RaceMark::FailsAnyway => order.failures > 0,
        RaceMark::NotForced => order.hits == 0,
        RaceMark::BenignSoFar => true,
    }
}

fn failing(order: &ForcedOrder) -> String {
    let ForcedOrder { hits, failures, .. } = order;
    let inverse = order.confirmed.as_ref().map(inverse_in_words).unwrap_or_default();
    format!("{} makes it fail in {failures} of {hits} runs; {inverse}", in_words(order))
}

fn failing_anyway(order: &ForcedOrder) -> String {
    let ForcedOrder { hits, failures, .. } = order;
    format!(
        "runs fail, but not because of its order: {failures} of {hits} in which {} did, and without it as well",
        in_words(order)
    )
}

fn not_forced(order: &ForcedOrder, all: &[ForcedOrder]) -> String {
    let why = order.obstacle.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let others = match all.iter().map(|order| order.hits).max().unwrap_or(0) {
        0 => String::new(),
        hits => format!("; another order was forced {}, and none failed", times(hits)),
    };
    format!("{} could not be forced in {} runs{why}{others}", in_words(order), order.runs)
}

fn benign(order: &ForcedOrder, all: &[ForcedOrder]) -> String {
    let fewest = all.iter().map(|order| order.hits).min().unwrap_or(0);
    let which = match (all, order.steps.len()) {
        (_, 3..) => "torn",
        ([_], _) => "forced",
        ([_, _], _) => "both orders forced",
        _ => "all orders forced",
    };
    format!("{which} {}, none failed", times(fewest))
}

/// `write of x at a.c:3, then read of x at a.c:9`.
fn in_words(order: &ForcedOrder) -> String {
    order.steps.join(", then ")
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

fn inverse_in_words(confirmed: &Confirmed) -> String {
    match confirmed.inverse_hits {
        0 => "its inverse never came about".to_owned(),
        hits => format!("kept from that, in {} of {hits}", confirmed.inverse_failures),
    }
}
