//! Orders that no run had, in the form of findings: so that they can be forced, confirmed and shown like those.
//!
//! Takes   unseen orders, the most promising first; names.      Gives  findings without a score, the user's own code first.

use unpick_analyses::{UnseenOrder, UnseenOrders};

use crate::describe::{AccessWords, Choices, class_of};
use crate::finding::{Class, Finding, FindingAccess, Origin, Study};
use crate::names::Names;
use crate::places::Places;
use crate::sentences::unseen_sentence;

/// The first `most` of the orders.
pub fn describe_unseen(
    unseen: &UnseenOrders,
    names: &dyn Names,
    choices: &Choices,
    most: usize,
) -> Vec<Finding> {
    let words = AccessWords { places: Places::new(&unseen.code, names, &choices.working_folder) };
    let (own, others): (Vec<_>, Vec<_>) =
        unseen.orders.iter().partition(|order| words.is_own(&order.example));
    own.into_iter().chain(others).take(most).map(|order| finding(order, &words)).collect()
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
            missing_runs: 0,
            example_run,
            cut_short: false,
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
