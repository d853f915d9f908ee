//! Deadlocks that can be: lock-order cycles in words.
//!
//! Takes   the cycles of some runs, each as the hang it would be; names.      Gives  one candidate per set of places, that of the most runs first.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unpick_analyses::hang::HungRun;

use crate::confirmed::Confirmed;
use crate::finding::CodePlace;
use crate::hang::{Hang, HangThread, Signature, describe_hang, place, without_origin};
use crate::names::Names;

/// Threads that took the same locks in different orders, in runs that need not have hung.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CandidateDeadlock {
    /// Who holds what and asks for what.
    pub sentence: String,
    /// The runs that show it.
    pub runs: u32,
    pub example_run: u64,
    /// In how many ways, by threads and locks, the example run shows it.
    pub ways: u64,
    /// What would be seen if its threads met.
    pub hang: Hang,
    /// What forcing it has shown; none: nobody tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed: Option<Confirmed>,
}

/// A cycle of a run.
pub struct NumberedCycle {
    pub run: u64,
    pub ways: u64,
    pub hang: HungRun,
}

/// Puts names to cycles. Those at the same places for the same locks are one.
pub fn describe_deadlocks<'c>(
    cycles: impl IntoIterator<Item = &'c NumberedCycle>,
    names: &dyn Names,
    working_folder: &Path,
) -> Vec<CandidateDeadlock> {
    let mut known: BTreeMap<Signature, usize> = BTreeMap::new();
    let mut found: Vec<CandidateDeadlock> = Vec::new();
    let mut last_run: Vec<u64> = Vec::new();
    for cycle in cycles {
        let hang = describe_hang(&cycle.hang, names, working_folder);
        let at = *known.entry(hang.signature()).or_insert(found.len());
        if at == found.len() {
            found.push(CandidateDeadlock {
                sentence: sentence(&hang),
                runs: 1,
                example_run: cycle.run,
                ways: 0,
                hang,
                confirmed: None,
            });
            last_run.push(cycle.run);
        }
        let one = &mut found[at];
        one.runs += u32::from(last_run[at] != cycle.run);
        one.ways += if one.example_run == cycle.run { cycle.ways } else { 0 };
        last_run[at] = cycle.run;
    }
    // Those of few threads come first in a run, and stay so.
    found.sort_by_key(|one| std::cmp::Reverse(one.runs));
    found
}

impl CandidateDeadlock {
    /// Takes over what was confirmed at the same places of the same build.
    pub fn take_over_verdicts(all: &mut [CandidateDeadlock], earlier: &[CandidateDeadlock]) {
        for one in all {
            let Some(code) = one.code() else { continue };
            let before = earlier.iter().find(|before| before.code().as_ref() == Some(&code));
            one.confirmed = before.and_then(|before| before.confirmed);
        }
    }

    /// Where its threads ask for locks. None: it is not known of all.
    fn code(&self) -> Option<Vec<&CodePlace>> {
        let threads = self.hang.processes.iter().flat_map(|process| &process.threads);
        threads.map(|thread| thread.code.as_ref()).collect()
    }
}

/// `thread 2 holds a and asks for b at x.c:1, thread 3 holds b and asks for a at x.c:7`.
fn sentence(hang: &Hang) -> String {
    let threads: Vec<&HangThread> =
        hang.processes.iter().flat_map(|process| &process.threads).collect();
    let before = threads.iter().cycle().skip(threads.len().saturating_sub(1));
    let told: Vec<String> =
        threads.iter().zip(before).map(|(thread, before)| of_thread(thread, before)).collect();
    told.join(", ")
}

fn of_thread(thread: &HangThread, before: &HangThread) -> String {
    let object = |thread: &HangThread| {
        thread.waits_for.as_ref().map(|wait| wait.object()).unwrap_or_default()
    };
    let name_before = before.waits_for.as_ref().and_then(|wait| wait.name.as_ref());
    let held =
        thread.holds.iter().find(|lock| lock.name.is_some() && lock.name.as_ref() == name_before);
    let held = held.and_then(|lock| lock.name.as_deref()).map(without_origin);
    let at = place(&thread.frame).map(|place| format!(" at {place}")).unwrap_or_default();
    format!(
        "thread {} holds {} and asks for {}{at}",
        thread.thread,
        held.map_or_else(|| "what the one before asks for".to_owned(), str::to_owned),
        object(thread)
    )
}
