//! What forcing the orders of a race has shown: whether it makes the program fail, or is benign so far.
//!
//! Takes   how often each order was forced, came about and failed.      Gives  a mark, and a sentence that says what it rests on.
//! Misses  harm that needs more than one order at a time, or another input: therefore *so far*.

mod sentence;

use serde::{Deserialize, Serialize};

use crate::confirmed::{Confirmation, Confirmed};
use sentence::sentence;

/// Runs with the orders of a race forced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedRace {
    pub mark: RaceMark,
    /// What the mark rests on.
    pub sentence: String,
    /// Those that were tried: all, unless one of them makes the program fail.
    pub orders: Vec<ForcedOrder>,
}

/// What is known of a race by forcing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceMark {
    /// An order of its accesses makes the program fail.
    Confirmed,
    /// Runs fail in one order and none in its inverse, but too few to tell.
    Undecided,
    /// Runs fail, but not because of its order.
    FailsAnyway,
    /// An order could not be forced, and no other one makes the program fail.
    NotForced,
    /// All orders came about, and no run failed.
    BenignSoFar,
}

/// Runs with one order forced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedOrder {
    /// As `RaceFinding::orders` names it.
    pub pattern: String,
    /// The accesses in words, in their order.
    pub steps: Vec<String>,
    pub runs: u32,
    /// Those in which it came about.
    pub hits: u32,
    /// Those of `hits` that failed.
    pub failures: u32,
    /// What its inverse, and runs left alone, say about the failures; none: there were none.
    pub confirmed: Option<Confirmed>,
    /// Why it never came about.
    pub obstacle: Option<String>,
}

impl ForcedOrder {
    fn makes_it_fail(&self) -> bool {
        let verdict = self.confirmed.map(|confirmed| confirmed.verdict);
        matches!(verdict, Some(Confirmation::Cause | Confirmation::Likely))
    }

    /// Whether it fails now and then, and its inverse never did.
    fn may_make_it_fail(&self) -> bool {
        let inverse_is_clean =
            |confirmed: Confirmed| confirmed.inverse_hits > 0 && confirmed.inverse_failures == 0;
        self.failures > 0 && self.confirmed.is_some_and(inverse_is_clean)
    }
}

impl ForcedRace {
    pub fn new(orders: Vec<ForcedOrder>) -> ForcedRace {
        let mark = mark_of(&orders);
        ForcedRace { mark, sentence: sentence(mark, &orders), orders }
    }

    /// The number, from 0, of the order that makes the program fail.
    pub fn failing_order(&self) -> Option<usize> {
        self.orders.iter().position(ForcedOrder::makes_it_fail)
    }

    /// Whether there is no need to try more orders.
    pub fn is_decided(orders: &[ForcedOrder]) -> bool {
        mark_of(orders) == RaceMark::Confirmed
    }
}

fn mark_of(orders: &[ForcedOrder]) -> RaceMark {
    if orders.iter().any(ForcedOrder::makes_it_fail) {
        RaceMark::Confirmed
    } else if orders.iter().any(ForcedOrder::may_make_it_fail) {
        RaceMark::Undecided
    } else if orders.iter().any(|order| order.failures > 0) {
        RaceMark::FailsAnyway
    } else if orders.is_empty() || orders.iter().any(|order| order.hits == 0) {
        RaceMark::NotForced
    } else {
        RaceMark::BenignSoFar
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{judged, order};
    use super::*;

    #[test]
    fn an_order_that_makes_the_program_fail_confirms_a_race() {
        let harmless = order(&["W", "R"], 10, 10, 0);
        let failing = judged(order(&["R", "W"], 10, 9, 9), 10, Confirmation::Cause);
        let forced = ForcedRace::new(vec![harmless, failing.clone()]);
        assert_eq!((forced.mark, forced.failing_order()), (RaceMark::Confirmed, Some(1)));
        let told = "R, then W makes it fail in 9 of 9 runs; kept from that, in 0 of 10";
        assert_eq!(forced.sentence, told);
        assert!(ForcedRace::is_decided(&[failing]));
    }

    #[test]
    fn what_fails_in_any_order_is_not_because_of_the_race() {
        let failing = judged(order(&["R", "W"], 10, 10, 4), 10, Confirmation::Refuted);
        let forced = ForcedRace::new(vec![failing, order(&["W", "R"], 10, 10, 0)]);
        assert_eq!((forced.mark, forced.failing_order()), (RaceMark::FailsAnyway, None));
        assert!(forced.sentence.contains("4 of 10 in which R, then W did"), "{}", forced.sentence);
    }

    #[test]
    fn what_fails_now_and_then_and_never_inverted_is_left_open() {
        let mut failing = judged(order(&["R", "W"], 10, 10, 3), 10, Confirmation::Refuted);
        failing.confirmed.as_mut().unwrap().inverse_failures = 0;
        let forced = ForcedRace::new(vec![failing]);
        assert_eq!((forced.mark, forced.failing_order()), (RaceMark::Undecided, None));
        let told =
            "R, then W makes it fail in 3 of 10 runs; kept from that, in 0 of 10: too few to tell";
        assert_eq!(forced.sentence, told);
    }

    #[test]
    fn both_orders_without_a_failure_are_benign_so_far() {
        let forced =
            ForcedRace::new(vec![order(&["R", "W"], 10, 8, 0), order(&["W", "R"], 10, 10, 0)]);
        assert_eq!(forced.mark, RaceMark::BenignSoFar);
        assert_eq!(forced.sentence, "both orders forced 8 times, none failed");
        let torn = ForcedRace::new(vec![order(&["R", "W", "R"], 5, 1, 0)]);
        assert_eq!(torn.sentence, "torn once, none failed");
    }

    #[test]
    fn one_order_that_never_came_about_leaves_it_open() {
        let forced =
            ForcedRace::new(vec![order(&["R", "W"], 10, 0, 0), order(&["W", "R"], 10, 10, 0)]);
        assert_eq!(forced.mark, RaceMark::NotForced);
        let told = "R, then W could not be forced in 10 runs: nobody came; another order was forced 10 times, and none failed";
        assert_eq!(forced.sentence, told);
        assert_eq!(ForcedRace::new(Vec::new()).mark, RaceMark::NotForced);
    }
}
