//! Rankings of earlier techniques over the same runs, to compare with: Bugaboo (edges by buggy frequency alone) and CCI (single accesses).
//!
//! CCI's predicate is that of its `Prev` scheme: the access before, to the same bytes, was another thread's, or the own thread's. Its
//! score is that of Cooperative Bug Isolation: how much more likely a run fails in which the predicate was seen than one in which the
//! site was reached, balanced with how many failing runs it covers. Nothing is sampled here: every run sees every recorded access.

use std::borrow::Borrow;

use rustc_hash::FxHashMap;
use unpick_events::Label;
use unpick_problem::Problem;

use crate::ranking::{CodeBook, RunCounts};

use super::reconstruct::{Contexts, EdgeKey, LabelledGraphs};
use super::result::{RunGraphs, SeenAccess};
use super::tally::Tally;

/// An edge as Bugaboo ranks it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeRank {
    pub edge: EdgeKey,
    pub buggy_frequency: f64,
    /// One more than the number of edges with a higher one.
    pub rank: u32,
}

/// Bugaboo's ranking: all edges of failing runs.
pub fn by_edges<R, I>(runs: I) -> Result<(Vec<EdgeRank>, CodeBook), Problem>
where
    R: Borrow<RunGraphs>,
    I: IntoIterator<Item = LabelledGraphs<R>>,
{
    let tally = Tally::of(runs, Contexts::Whole)?;
    let edges = tally.by_buggy_frequency();
    let scores: Vec<f64> =
        edges.iter().map(|(_, occurrence)| tally.buggy_frequency(occurrence)).collect();
    let ranked = edges.iter().zip(ranks(&scores)).zip(&scores);
    let ranked = ranked.map(|(((edge, _), rank), &buggy_frequency)| EdgeRank {
        edge: *edge,
        buggy_frequency,
        rank,
    });
    Ok((ranked.collect(), tally.code))
}

/// A single access as CCI ranks it; the site is numbered by the code book.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AccessRank {
    pub access: SeenAccess,
    /// From 0 to 1.
    pub importance: f64,
    /// One more than the number of accesses with a higher importance.
    pub rank: u32,
}

/// CCI's ranking: all accesses whose importance is above 0.
pub fn by_accesses<R, I>(runs: I) -> (Vec<AccessRank>, CodeBook)
where
    R: Borrow<RunGraphs>,
    I: IntoIterator<Item = LabelledGraphs<R>>,
{
    let mut code = CodeBook::default();
    let mut counts = RunCounts::default();
    let mut seen: FxHashMap<SeenAccess, [u32; 2]> = FxHashMap::default();
    let mut reached: FxHashMap<u32, [u32; 2]> = FxHashMap::default();
    for run in runs.into_iter().filter(|run| run.label != Label::Unusable) {
        counts.add(run.label);
        let failed = usize::from(run.label == Label::Fail);
        let run = run.graphs.borrow();
        let translation = code.enter_code(&run.modules, &run.sites);
        for accesses in run.seen.chunk_by(|one, next| one.site == next.site) {
            let site = translation.sites[accesses[0].site as usize];
            reached.entry(site).or_default()[failed] += 1;
            for access in accesses {
                seen.entry(SeenAccess { site, ..*access }).or_default()[failed] += 1;
            }
        }
    }
    let mut scored: Vec<(SeenAccess, f64)> = seen
        .iter()
        .map(|(access, runs)| (*access, importance(*runs, reached[&access.site], counts.failed)))
        .filter(|(_, importance)| *importance > 0.0)
        .collect();
    let place = |access: &SeenAccess| {
        let site = code.sites[access.site as usize];
        (site.module, site.offset, access.remote)
    };
    scored.sort_unstable_by(|(one, ones), (other, others)| {
        others.total_cmp(ones).then_with(|| place(one).cmp(&place(other)))
    });
    let scores: Vec<f64> = scored.iter().map(|(_, importance)| *importance).collect();
    let ranked = scored
        .iter()
        .zip(ranks(&scores))
        .map(|(&(access, importance), rank)| AccessRank { access, importance, rank });
    (ranked.collect(), code)
}

/// Cooperative Bug Isolation's importance: the harmonic mean of increase and coverage. Runs that passed and failed, of those in which
/// the predicate was true, and in which its site was reached.
fn importance(seen: [u32; 2], reached: [u32; 2], all_failed: u32) -> f64 {
    let failing = |[passed, failed]: [u32; 2]| f64::from(failed) / f64::from(passed + failed);
    let increase = failing(seen) - failing(reached);
    let coverage = f64::from(seen[1]).ln_1p() / f64::from(all_failed.max(1)).ln_1p();
    if increase <= 0.0 || coverage <= 0.0 {
        return 0.0;
    }
    2.0 / (1.0 / increase + 1.0 / coverage)
}

/// The ranks of scores that fall.
fn ranks(scores: &[f64]) -> Vec<u32> {
    let mut rank = 0;
    let rank_at = |at: usize| {
        if at == 0 || scores[at - 1] != scores[at] {
            rank = at as u32 + 1;
        }
        rank
    };
    (0..scores.len()).map(rank_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tells_more_than_reaching_the_site_is_important() {
        assert_eq!(importance([5, 5], [5, 5], 5), 0.0, "the site alone says as much");
        assert!(importance([0, 5], [5, 5], 5) > importance([0, 1], [5, 5], 5));
        assert!(importance([0, 5], [5, 5], 5) > importance([2, 5], [5, 5], 5));
    }

    #[test]
    fn equal_scores_share_a_rank() {
        assert_eq!(ranks(&[3.0, 2.0, 2.0, 1.0]), [1, 2, 2, 4]);
    }
}
