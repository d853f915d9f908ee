//! Which accesses of a thread are of two iterations of its main loop, and so not of one piece of work.
//!
//! Takes   the events of a recording, and what is known of its code.      Returns  for two accesses of a thread, whether they were made in two iterations.
//! Misses  iterations in which the second access could have followed the first; loops in code that a thread enters more than once.
//! Cost    one walk over the events.
//!
//! A unit that another thread can tear is one piece of work. What a thread does iteration by iteration, in the outermost loop of code that it enters once,
//! are many pieces: requests, messages, repetitions of a test. A loop inside of them may go through a collection, and is one piece.

use rustc_hash::FxHashMap;
use unpick_events::{Site, ThreadId};
use unpick_recording::{Access, Action, Event, Recording};

use crate::activations::{Activation, Activations};
use crate::knowledge::Knowledge;

/// Tells iterations of loops apart.
#[derive(Debug, Default)]
pub struct Iterations {
    activations: Activations,
    /// For each thread, from which of its events on which activation is at work.
    threads: FxHashMap<ThreadId, Vec<(u64, Option<u32>)>>,
}

impl Iterations {
    pub fn of(recording: &Recording) -> Iterations {
        let mut iterations = Iterations::default();
        for event in recording.events() {
            iterations.activations.observe(&event);
            if matches!(event.action, Action::Access { .. }) {
                let activation = iterations.activations.of(recording, &event);
                iterations.note(&event, activation.map(Activation::number));
            }
        }
        iterations
    }

    fn note(&mut self, event: &Event<'_>, activation: Option<u32>) {
        let stages = self.threads.entry(event.thread).or_default();
        if stages.last().is_none_or(|(_, last)| *last != activation) {
            stages.push((event.ordinal, activation));
        }
    }

    /// None: the access had no event of its own, or the calls that led to it are not known.
    fn activation_of(&self, access: &Access) -> Option<u32> {
        let ordinal = access.dynamic_access?;
        let stages = self.threads.get(&access.thread)?;
        let after = stages.partition_point(|(begun, _)| *begun <= ordinal);
        stages.get(after.checked_sub(1)?)?.1
    }

    /// Whether a thread came to one variable in two iterations.
    pub fn are_two_at_variable(
        &self,
        first: &Access,
        second: &Access,
        knowledge: &dyn Knowledge,
    ) -> bool {
        let sites = [first.site, second.site];
        match (self.activation_of(first), self.activation_of(second)) {
            (Some(one), Some(other)) => {
                let common = self.activations.in_common((one, sites[0]), (other, sites[1]));
                common.is_some_and(|(common, sites)| self.are_two_in(common, sites, knowledge))
            }
            // An access without an event, in the same function as the other: if that was entered only once, by the same activation.
            (Some(known), None) | (None, Some(known)) => {
                knowledge.follows(sites[0], sites[1]).is_some()
                    && self.are_two_in(known, sites, knowledge)
            }
            (None, None) => false,
        }
    }

    /// The same for two variables. Who goes through the elements of a collection comes to all of them by the same instruction.
    pub fn are_two(&self, first: &Access, second: &Access, knowledge: &dyn Knowledge) -> bool {
        first.site != second.site && self.are_two_at_variable(first, second, knowledge)
    }

    /// Whether an activation came to the one site and then to the other in two iterations of its outermost loop. Where its control flow is
    /// not known, at least the same place again is in another iteration.
    fn are_two_in(&self, activation: u32, sites: [Site; 2], knowledge: &dyn Knowledge) -> bool {
        let [first, second] = sites;
        self.activations.is_entered_once(activation)
            && match knowledge.follows(first, second) {
                Some(follows) => !follows,
                None => first == second,
            }
    }
}
