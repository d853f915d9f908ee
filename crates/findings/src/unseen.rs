//! Orders that no run had, in the form of findings: so that they can be forced, confirmed and shown like those.
//!
//! Takes   unseen orders, the most promising first, and those that passing runs had; names.      Gives  findings without a score, the user's own
//!         code first, without what is all in ignored packages.

use unpick_analyses::{UnseenOrder, UnseenOrders};

use crate::describe::{AccessWords, Choices, class_of};
use crate::finding::{Class, Finding, FindingAccess, Origin, Study};
use crate::grouping::Standing;
use crate::names::Names;
use crate::places::Places;
use crate::sentences::{shown_sentence, unseen_sentence};

/// Orders to force.
#[derive(Debug, Clone, PartialEq)]
pub struct OrdersToForce {
    pub orders: Vec<Finding>,
    /// Those that are all in ignored packages, and are not among them.
    pub left_out: usize,
}

/// The first `most` of the orders.
pub fn describe_unseen(
    unseen: &UnseenOrders,
    names: &dyn Names,
    choices: &Choices,
    most: usize,
) -> OrdersToForce {
    let words = AccessWords { places: Places::chosen(&unseen.code, names, choices) };
    own_first(&unseen.orders, &words, most, |order| finding(order, &words))
}

/// The first `most` of the orders that passing runs had: forced wherever they can be, other threads may come to them.
pub fn describe_shown(
    unseen: &UnseenOrders,
    names: &dyn Names,
    choices: &Choices,
    most: usize,
) -> OrdersToForce {
    let words = AccessWords { places: Places::chosen(&unseen.code, names, choices) };
    own_first(&unseen.shown, &words, most, |order| {
        let finding = finding(order, &words);
        let sentence = shown_sentence(order.key.pattern, &finding.accesses, order.runs);
        Finding { sentence, passed_runs: order.runs, ..finding }
    })
}

fn own_first(
    orders: &[UnseenOrder],
    words: &AccessWords<'_>,
    most: usize,
    described: impl Fn(&UnseenOrder) -> Finding,
) -> OrdersToForce {
    let (mut own, mut others, mut left_out) = (Vec::new(), Vec::new(), 0);
    for order in orders {
        match words.standing(&order.example) {
            Standing::Own => own.push(order),
            Standing::Dependency => others.push(order),
            Standing::Ignored => left_out += 1,
        }
    }
    let first = own.into_iter().chain(others).take(most);
    OrdersToForce { orders: first.map(described).collect(), left_out }
}

fn finding(order: &UnseenOrder, words: &AccessWords<'_>) -> Finding {
    let pattern = order.key.pattern;
    let accesses = words.accesses(pattern, &order.example);
    let sentence = unseen_sentence(pattern, &accesses);
    let class = class_of(pattern.class());
    Finding::to_force(class, pattern.name(), sentence, accesses, order.example.run)
}

impl Finding {
    /// An order that is not known to make the program fail: forcing it decides.
    pub fn to_force(
        class: Class,
        pattern: String,
        sentence: String,
        accesses: Vec<FindingAccess>,
        example_run: u32,
    ) -> Finding {
        Finding {
            rank: 1,
            score: 0.0,
            class,
            pattern,
            sentence,
            accesses,
            failed_runs: 0,
            passed_runs: 0,
            covered_runs: 0,
            missing_runs: 0,
            example_run,
            cut_short: false,
            in_failing_code: false,
            in_experiments: Default::default(),
            supporters: Vec::new(),
            further_supporters: 0,
            study: Study::default(),
            confirmed: None,
            origin: Origin::Forced,
            invariants: Vec::new(),
            reconstruction: None,
            correlation: None,
        }
    }
}
