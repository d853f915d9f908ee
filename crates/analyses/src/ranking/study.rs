//! The figures of the papers' studies, for one pattern.

use crate::interleaving_patterns::{AccessKind, Class, PatternId};

use super::conclusion::{Conclusion, Ranked};
use super::tally::PatternKey;

/// What UNICORN's Table IV and Falcon's Table 4 say about a bug.
#[derive(Debug, Clone, PartialEq)]
pub struct StudyFigures {
    /// Scores of its pairs, as far as they were ranked by themselves (Falcon mode does not).
    pub first_pair: Option<f64>,
    pub second_pair: Option<f64>,
    pub pattern: f64,
    pub rank: u32,
    pub at_rank_1: usize,
    /// Distinct pairs (P1 to P3) and distinct patterns of more than one pair, over all runs.
    pub pairs: usize,
    pub patterns: usize,
    /// Distance of its two pairs in the failing runs, both included; `None` for patterns of one pair.
    pub median_distance: Option<u32>,
    pub longest_distance: Option<u32>,
    /// The access window it takes to see the pattern in every failing run that was looked at.
    pub access_window: Option<u32>,
}

impl Conclusion {
    /// The figures of the pattern at a place of `ranked`.
    pub fn study(&self, place: usize) -> StudyFigures {
        let ranked = &self.ranked[place];
        let mut pairs = ranked.key.pattern.pairs().into_iter();
        let mut next_score = || self.score_of_pair(ranked, pairs.next()?);
        let (first_pair, second_pair) = (next_score(), next_score());
        let is_pair = |ranked: &&Ranked| ranked.key.pattern.class() == Class::Order;
        let pair_count = self.ranked.iter().filter(is_pair).count();
        let evidence = self.evidence.get(place);
        let mut distances = evidence.map_or(Vec::new(), |evidence| evidence.pair_distances.clone());
        distances.retain(|&distance| distance > 0);
        StudyFigures {
            first_pair,
            second_pair,
            pattern: ranked.score,
            rank: ranked.rank,
            at_rank_1: self.at_rank_1(),
            pairs: pair_count,
            patterns: self.ranked.len() - pair_count,
            median_distance: median(&mut distances),
            longest_distance: distances.last().copied(),
            access_window: evidence
                .and_then(|evidence| evidence.access_windows.iter().max().copied()),
        }
    }

    fn score_of_pair(&self, ranked: &Ranked, [first, second]: [usize; 2]) -> Option<f64> {
        let steps = ranked.key.pattern.steps();
        self.find_pair([
            (steps[first].kind, ranked.key.sites()[first]),
            (steps[second].kind, ranked.key.sites()[second]),
        ])
        .map(|pair| pair.score)
    }

    /// The pair of these two accesses, if it was ranked.
    pub fn find_pair(&self, [first, second]: [(AccessKind, u32); 2]) -> Option<&Ranked> {
        let pattern = PatternId::of_pair(first.0, second.0)?;
        self.find(&PatternKey::new(pattern, [first.1, second.1]))
    }
}

/// The middle one, the lower of two; sorts on the way.
fn median(numbers: &mut [u32]) -> Option<u32> {
    numbers.sort_unstable();
    numbers.len().checked_sub(1).map(|last| numbers[last / 2])
}
