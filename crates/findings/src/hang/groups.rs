//! Runs that hung the same way.
//!
//! Takes   the hangs of failing runs.      Gives  one entry per way to hang, the sure ones first, then those that are most frequent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Hang, HangProcess, HangThread, LostDeed, WaitedFor};
use crate::confirmed::Confirmed;
use crate::finding::{Findings, Runs, SCHEMA};
use crate::names::Frame;
use crate::packages::Packages;

/// Failing runs that hung in the same places for the same reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HangGroup {
    /// As in the example run.
    pub sentence: String,
    pub deadlock: bool,
    /// The order in which a notification was lost is known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub lost_notification: bool,
    pub failed_runs: u32,
    pub example_run: u32,
    /// Of a lost notification: the first run of each way to lose it, by what was tested before the wait; empty where there is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ways: Vec<u32>,
    /// What forcing it has shown; none: nobody tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
}

/// What makes two hangs the same: what is waited for, and where; not which thread does.
pub(crate) type Signature = Vec<(Option<WaitedFor>, Option<String>, Frame)>;
/// What was done where, on the way to a lost notification.
type StepPlace = (LostDeed, Frame);
/// A way to hang: whether it is a deadlock, which notification was lost, who waits where.
type Way = (bool, Vec<StepPlace>, Signature);

impl Hang {
    /// Of a deadlock only those in the circle count, of a lost notification only those who lost it: how far the others had come is
    /// chance.
    pub(crate) fn signature(&self) -> Signature {
        let mut signature: Signature = self
            .processes
            .iter()
            .flat_map(|process| {
                process.threads.iter().filter(|thread| self.counts(process, thread))
            })
            .map(|thread| {
                let wait = thread.waits_for.as_ref();
                let name = wait.and_then(|wait| wait.name.clone());
                (wait.map(|wait| wait.what), name, thread.frame.clone())
            })
            .collect();
        signature.sort();
        signature.dedup();
        signature
    }

    fn steps_of_loss(&self) -> Vec<StepPlace> {
        let steps = self.lost_notification().map_or(&[][..], |lost| &lost.steps);
        steps.iter().map(|step| (step.deed, step.frame.clone())).collect()
    }

    /// Which notification was lost by whom. Before it waits, a thread may test several variables, each of which the other thread changes before it
    /// notifies: the loss is one.
    fn loss(&self) -> Vec<StepPlace> {
        let mut steps = self.steps_of_loss();
        steps.retain(|(deed, _)| !matches!(deed, LostDeed::Tests | LostDeed::Writes));
        steps
    }

    fn counts(&self, process: &HangProcess, thread: &HangThread) -> bool {
        if let Some(lost) = self.lost_notification() {
            return thread.thread == lost.thread;
        }
        !self.deadlock || process.deadlocks.iter().flatten().any(|&member| member == thread.thread)
    }
}

/// The hangs of failing runs, by number of run: the sure ones first, then those that are most frequent.
pub fn group_hangs(hangs: &[(u32, Hang)]) -> Vec<HangGroup> {
    let mut groups: BTreeMap<Way, Vec<&(u32, Hang)>> = BTreeMap::new();
    for run in hangs {
        let hang = &run.1;
        groups.entry((hang.deadlock, hang.loss(), hang.signature())).or_default().push(run);
    }
    let mut groups: Vec<HangGroup> = groups.into_values().filter_map(|runs| group(&runs)).collect();
    groups.sort_by_key(|group| {
        let sureness = (!group.deadlock, !group.lost_notification);
        (sureness, u32::MAX - group.failed_runs, group.example_run)
    });
    groups
}

/// The example is of the way that is most frequent.
fn group(runs: &[&(u32, Hang)]) -> Option<HangGroup> {
    let mut ways: BTreeMap<Vec<StepPlace>, Vec<&(u32, Hang)>> = BTreeMap::new();
    for run in runs {
        ways.entry(run.1.steps_of_loss()).or_default().push(run);
    }
    let mut ways: Vec<Vec<&(u32, Hang)>> = ways.into_values().collect();
    ways.sort_by_key(|runs| (Reverse(runs.len()), runs[0].0));
    let firsts: Vec<u32> = ways.iter().map(|runs| runs[0].0).collect();
    let (example_run, hang) = ways.first()?[0];
    Some(HangGroup {
        sentence: hang.sentence.clone(),
        deadlock: hang.deadlock,
        lost_notification: hang.lost_notification().is_some(),
        failed_runs: runs.len() as u32,
        example_run: *example_run,
        ways: if firsts.len() > 1 { firsts } else { Vec::new() },
        confirmed: None,
    })
}

fn is_false(is: &bool) -> bool {
    !is
}

impl HangGroup {
    /// A run for each way to hang like this, the example first.
    pub fn examples(&self) -> Vec<u32> {
        let others = self.ways.iter().copied().filter(|&run| run != self.example_run);
        [self.example_run].into_iter().chain(others).collect()
    }

    /// The order in which threads came to hang is known, so it can be forced.
    pub fn is_explained(&self) -> bool {
        self.deadlock || self.lost_notification
    }
}

impl Findings {
    /// Of runs that cannot be compared, only how they hung is known.
    pub fn of_hangs(runs: Runs, formula: &str, hangs: Vec<HangGroup>) -> Findings {
        let formula = formula.to_owned();
        Findings {
            schema: SCHEMA.to_owned(),
            hunt: None,
            failures: Vec::new(),
            runs,
            formula,
            findings: Vec::new(),
            hangs,
            active: None,
            reconstructions: Vec::new(),
            packages: Packages::default(),
        }
    }

    /// Whether there is anything that explains a failure.
    pub fn explain_something(&self) -> bool {
        !self.findings.is_empty() || self.hangs.iter().any(HangGroup::is_explained)
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{hang, thread};
    use super::super::{LostNotification, LostStep};
    use super::*;

    #[test]
    fn runs_that_hung_in_the_same_places_are_one_entry_and_deadlocks_come_first() {
        let hangs = [
            (1, hang(&[], vec![thread(2, 10), thread(3, 20)])),
            (2, hang(&[], vec![thread(2, 20), thread(3, 10), thread(4, 10)])),
            (5, hang(&[2, 3], vec![thread(1, 4), thread(2, 10), thread(3, 20)])),
            (6, hang(&[], vec![thread(2, 30)])),
        ];
        let groups = group_hangs(&hangs);
        let told: Vec<_> =
            groups.iter().map(|group| (group.example_run, group.failed_runs)).collect();
        assert_eq!(told, [(5, 1), (1, 2), (6, 1)]);
    }

    /// A thread that tested a variable, on some line, before it waited; another one that wrote it, and notified.
    fn lost(tested_on: u32) -> Hang {
        let at = |line: u32| thread(1, line).frame;
        let step = |thread: u16, deed: LostDeed, line: u32| LostStep {
            thread,
            deed,
            frame: at(line),
            code: None,
            calls: Vec::new(),
            shown_call: None,
            lock: None,
            variable: None,
        };
        let steps = vec![
            step(1, LostDeed::Tests, tested_on),
            step(2, LostDeed::Writes, tested_on + 20),
            step(2, LostDeed::Notifies, 40),
            step(1, LostDeed::Waits, 10),
        ];
        let mut hang = hang(&[], vec![thread(1, 10)]);
        hang.processes[0].lost = Some(LostNotification { thread: 1, steps });
        hang
    }

    #[test]
    fn one_notification_is_lost_whichever_of_two_tests_was_stale() {
        let groups = group_hangs(&[(3, lost(7)), (4, lost(8)), (6, lost(8))]);
        let [group] = &groups[..] else { panic!("{groups:?}") };
        assert_eq!((group.failed_runs, group.example_run), (3, 4), "the most frequent is shown");
        assert_eq!(group.examples(), [4, 3]);
    }

    #[test]
    fn of_a_deadlock_only_the_circle_counts() {
        let one = hang(&[2, 3], vec![thread(1, 4), thread(2, 10), thread(3, 20)]);
        let other = hang(&[5, 6], vec![thread(1, 9), thread(5, 20), thread(6, 10)]);
        assert_eq!(group_hangs(&[(1, one), (2, other)]).len(), 1);
    }
}
