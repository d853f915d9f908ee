//! Which failing runs an order explains, at whichever lines of its functions.
//!
//! Takes   all patterns with evidence.      Returns  for one of them, how many failing runs have it, or one that the same threads make in the same functions.
//! Misses  patterns without evidence: those of low scores.
//! Cost    one look at the place of each site, when it is asked for the first time.
//!
//! A bug shows at several lines of a function: where a queue is looked at, or where it is found to be empty. Windows see the one in some runs and the
//! other in others, and each alone seems to miss a part of the failures. Only patterns that are in no more passing runs than the one in question
//! count: the same functions also do what is harmless.

use std::cell::OnceCell;
use std::collections::HashMap;

use unpick_analyses::ranking::{Conclusion, RunSet};

use crate::names::Frame;

/// Patterns by the functions that their threads execute, in order.
#[derive(Debug, Default)]
pub struct CoveredRuns {
    /// For each pattern the number of its functions; none: one is not known.
    kinds: OnceCell<Vec<Option<u32>>>,
}

impl CoveredRuns {
    /// Failing runs that have a pattern, or one of its kind.
    pub fn of(
        &self,
        place: usize,
        conclusion: &Conclusion,
        frame_of: &dyn Fn(u32) -> Frame,
    ) -> u32 {
        let Conclusion { ranked, evidence, .. } = conclusion;
        let kinds = self.kinds.get_or_init(|| kinds(conclusion, frame_of));
        let Some(own) = kinds.get(place).copied().flatten() else { return ranked[place].failed };
        let mut covered = RunSet::default();
        for (other, kind) in kinds.iter().enumerate() {
            if *kind == Some(own) && ranked[other].passed <= ranked[place].passed {
                evidence[other].failing.iter().for_each(|run| covered.insert(run));
            }
        }
        (covered.len() as u32).max(ranked[place].failed)
    }
}

/// The role of each access and the function that makes it.
type Functions = Vec<(u8, String)>;

fn kinds(conclusion: &Conclusion, frame_of: &dyn Fn(u32) -> Frame) -> Vec<Option<u32>> {
    let mut numbers: HashMap<Functions, u32> = HashMap::new();
    let with_evidence = conclusion.ranked.iter().take(conclusion.evidence.len());
    let kind = with_evidence.map(|ranked| {
        let steps = ranked.key.pattern.steps().iter().zip(ranked.key.sites());
        let functions: Option<Functions> =
            steps.map(|(step, &site)| Some((step.role, frame_of(site).function?))).collect();
        let next = numbers.len() as u32;
        functions.map(|functions| *numbers.entry(functions).or_insert(next))
    });
    kind.collect()
}
