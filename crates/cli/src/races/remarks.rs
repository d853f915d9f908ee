//! What a reader has to know to judge a list of races: what could not be seen, and why.

use std::collections::BTreeSet;

use unpick_recording::Outcome;

use super::correlated::Correlated;
use super::course::Looked;
use crate::quantities::counted;

/// So many reasons why something is missing are told.
const MOST_GAPS: usize = 5;

impl Looked {
    /// Why the recordings are not all that happened: each reason once.
    pub fn gaps(&self) -> Vec<String> {
        let mut gaps: Vec<String> = Vec::new();
        for run in &self.runs {
            for reason in &run.missing {
                if !gaps.contains(reason) && gaps.len() < MOST_GAPS {
                    gaps.push(reason.clone());
                }
            }
        }
        let left_out: u64 = self.runs.iter().map(|run| run.races.left_out).sum();
        if left_out > 0 {
            gaps.push(format!("more pairs race than are kept: {left_out} times one was left out"));
        }
        gaps
    }

    /// Runs that did not come to their end.
    fn died(&self) -> Option<String> {
        let outcomes = self.runs.iter().map(|run| run.outcome);
        let died: Vec<Outcome> =
            outcomes.filter(|outcome| !matches!(outcome, Outcome::Exit { .. })).collect();
        let first = died.first()?;
        let which = match (died.len(), self.runs.len()) {
            (_, 1) => "the run".to_owned(),
            (count, all) => format!("{count} of {all} runs"),
        };
        Some(format!(
            "{which} did not come to an end ({first}): what was done until then was looked at"
        ))
    }

    /// What a reader has to know to judge the list.
    pub fn remarks(&self, correlated: &Correlated) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.left_out > 0 {
            let all = self.runs.len() as u64 + u64::from(self.left_out);
            remarks.push(format!(
                "time limit reached after {} of {}",
                self.runs.len(),
                counted(all, "run")
            ));
        }
        remarks.extend(self.died());
        let gaps = self.gaps();
        if !gaps.is_empty() {
            remarks.push("the recordings are not complete: races may be missing here".to_owned());
            remarks.extend(gaps.into_iter().map(|gap| format!("  {gap}")));
        }
        remarks.extend(half_built(self.runs.iter().flat_map(|run| &run.without_hooks)));
        let correlations = self.runs.iter().filter_map(|run| run.races.correlations).max();
        match correlations {
            Some(0) if correlated.is_asked_for() => {
                remarks.push("no correlated variables are accessed in these runs".to_owned());
            }
            None | Some(0) => {}
            Some(count) => {
                remarks.push(format!("{} looked at", counted(count.into(), "correlation")));
            }
        }
        remarks.extend(correlated.remark().map(str::to_owned));
        if self.runs.iter().any(|run| run.has_more_cycles) {
            remarks.push(
                "locks were taken in too many orders to look at all: there may be more deadlocks that can be".to_owned(),
            );
        }
        let is_all = self.runs.iter().all(|run| run.missing.is_empty());
        if self.threads() <= 1 && is_all {
            remarks.push("no run had a second thread: nothing could race".to_owned());
        } else if is_all && self.runs.iter().all(|run| run.races.synchronisations == 0) {
            remarks.push(
                "no recording has synchronisation: that of code without Unpick's runtime is not seen, and what it orders is reported"
                    .to_owned(),
            );
        }
        remarks
    }
}

/// That some of the program is compiled without hooks.
fn half_built<'s>(sources: impl Iterator<Item = &'s String>) -> Option<String> {
    let sources: BTreeSet<&String> = sources.collect();
    let (first, others) = (sources.first()?, sources.len() - 1);
    let were = match others {
        0 => "was".to_owned(),
        others => format!("and {others} more were"),
    };
    Some(format!(
        "{first} {were} compiled without Unpick: what is done there is not seen, and may race; compile it by unpick cc or unpick c++"
    ))
}
