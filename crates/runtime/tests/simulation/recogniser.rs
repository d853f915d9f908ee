//! What a log of a simulation shows, found out naively.

use unpick_events::schedule::Purpose;
use unpick_runtime::breakpoints::order::{SETTLED, Who};

use super::{Logged, Simulation, What};

impl Simulation {
    /// Every hit so far ends a row of steps in the log.
    pub(super) fn check_hits(&self) {
        let last = self.stage.plan.steps - 1;
        let ends = self.log.iter().enumerate().filter(|(at, logged)| {
            matches!(logged.what, What::Made { step, .. } if step == last)
                && self.is_row(&mut vec![*at], last)
        });
        let rows = ends.count() as u64;
        let hits = self.stage.hits().0;
        assert!(hits <= rows, "{hits} hits, but only {rows} are in the log: {:#?}", self.log);
    }

    /// Whether steps before `step` stand in front of `row`, which is what was found, last step first.
    fn is_row(&self, row: &mut Vec<usize>, step: u8) -> bool {
        let Some(wanted) = step.checked_sub(1) else { return true };
        let next = *row.last().expect("the last step");
        (0..next).rev().any(|at| {
            let fits = self.log[at].what.step().is_some_and(|(step, _)| step == wanted)
                && self.is_settled(at, next)
                && row.iter().all(|later| self.fit_together(at, *later));
            if !fits {
                return false;
            }
            row.push(at);
            let is_row = self.is_row(row, wanted);
            row.pop();
            is_row
        })
    }

    /// Whether the step at `at` was made before that at `next` began.
    fn is_settled(&self, at: usize, next: usize) -> bool {
        let Logged { time, who, .. } = self.log[at];
        matches!(self.log[at].what, What::PassedFirst { .. })
            || self.log[next].time - time >= SETTLED
            || self.log[at + 1..=next].iter().any(|logged| logged.who == who)
    }

    fn fit_together(&self, one: usize, other: usize) -> bool {
        let (one, other) = (self.log[one], self.log[other]);
        let (Some((s, b)), Some((t, c))) = (one.what.step(), other.what.step()) else {
            return false;
        };
        let entry = |step| {
            let mut entries = self.stage.plan.entries().iter();
            entries.find(|entry| entry.step == step && entry.purpose != Purpose::Gate).unwrap()
        };
        let (s, t) = (entry(s), entry(t));
        let same_variable = s.variable.is_some() && s.variable == t.variable;
        (s.role == t.role) == (one.who == other.who) && (!same_variable || b == c)
    }

    /// Serialise: threads that are inside at the same time although nobody took the region from another.
    pub fn most_inside(&self) -> usize {
        let plan = &self.stage.plan;
        let is_last =
            |step| (0..16).filter_map(|role| plan.role(role)).any(|role| role.last == step);
        let (mut inside, mut leaving) = (Vec::<Who>::new(), None::<(Who, u64)>);
        let mut most = 0;
        for logged in &self.log {
            let has_left =
                leaving.filter(|(who, since)| *who == logged.who || logged.time - since >= SETTLED);
            if let Some((who, _)) = has_left {
                inside.retain(|other| *other != who);
                leaving = None;
            }
            match logged.what {
                What::Entered if !inside.contains(&logged.who) => inside.push(logged.who),
                What::Made { step, .. } if is_last(step) => {
                    leaving = Some((logged.who, logged.time));
                }
                What::Ended | What::CameRound => inside.retain(|other| *other != logged.who),
                _ => {}
            }
            most = most.max(inside.len());
        }
        most
    }
}
