//! Whether a run is one that was asked for: an order came about, or it was prevented.
//!
//! Takes   what the runtime reports of a run, and the patterns of its recording.      Gives  whether the run counts.
//! Misses  an order that the windows of the analysis do not show, where the runtime did not see it either.

use unpick_analyses::RunPatterns;
use unpick_reproduce::{Mode, Outcome, Plan};

use crate::forcing::ForcedRun;
use crate::reproduce::is_reached;

/// By the recording, if it was read: the runtime sees that threads came by in an order, on the same bytes, but not what else was done to these in between. (Of 201
/// forced runs of five programs that had the order by the runtime alone 40 failed, of 313 that had it by their recording, 200.)
pub fn is_asked_for(plan: &Plan, run: &ForcedRun, patterns: Option<&RunPatterns>) -> bool {
    let is_shown = patterns.map(|patterns| plan.is_shown_by(patterns));
    match (plan.mode, is_shown) {
        (Mode::Force, Some(is_shown)) => is_shown,
        (Mode::Reverse | Mode::Serialise, Some(true)) => false,
        // That it did not come about is what was asked for, whether or not the inverse order was seen.
        (Mode::Reverse | Mode::Serialise, Some(false)) if is_kept_away(&run.outcome) => true,
        _ => is_reached(plan, run),
    }
}

/// Whether threads came to all steps, one was held, and nobody was seen to come by in the order that was to be prevented. A run in which
/// the code was not reached, or nobody had to be held, says nothing about the order.
fn is_kept_away(outcome: &Outcome) -> bool {
    let came = !outcome.steps.is_empty() && outcome.steps.iter().all(|step| step.arrived > 0);
    came && outcome.hits == 0 && outcome.steps.iter().any(|step| step.held > 0)
}

#[cfg(test)]
mod tests {
    use unpick_reproduce::StepOutcome;

    use super::*;

    fn outcome(hits: u64, arrived_held: &[(u64, u64)]) -> Outcome {
        let step =
            |&(arrived, held): &(u64, u64)| StepOutcome { arrived, held, ..Default::default() };
        Outcome { hits, steps: arrived_held.iter().map(step).collect(), ..Outcome::default() }
    }

    #[test]
    fn an_order_is_kept_away_where_threads_came_and_one_was_held() {
        assert!(is_kept_away(&outcome(0, &[(3, 1), (2, 0)])));
    }

    #[test]
    fn a_run_that_did_not_come_to_all_steps_says_nothing() {
        assert!(!is_kept_away(&outcome(0, &[(3, 1), (0, 0)])));
        assert!(!is_kept_away(&outcome(0, &[])));
    }

    #[test]
    fn a_run_in_which_nobody_was_held_is_a_baseline_run() {
        assert!(!is_kept_away(&outcome(0, &[(3, 0), (2, 0)])));
    }

    #[test]
    fn a_run_in_which_the_order_was_seen_did_not_prevent_it() {
        assert!(!is_kept_away(&outcome(1, &[(3, 1), (2, 0)])));
    }
}
