//! Marks of races: which race a mark stays with, and what it means for the order of the list.
//!
//! Takes   races that were marked earlier, and races.      Gives  these with the marks of the same lines of the same build.

use super::{RaceFinding, RaceMark, lines_of};
use crate::confirmed::Confirmation;

impl RaceFinding {
    /// Takes over what was marked on the same lines of the same build.
    pub fn take_over_marks(races: &mut [RaceFinding], earlier: &[RaceFinding]) {
        for race in races.iter_mut() {
            let before = earlier.iter().find(|before| before.is_same(race));
            race.forced = before.and_then(|before| before.forced.clone());
        }
        RaceFinding::sort_by_mark(races);
    }

    /// Marks to remember: those of `races`, and those of before that these say nothing about. The latest come last.
    #[must_use]
    pub fn remembered(before: Vec<RaceFinding>, races: &[RaceFinding]) -> Vec<RaceFinding> {
        let marked: Vec<&RaceFinding> = races.iter().filter(|race| race.forced.is_some()).collect();
        let is_open = |old: &RaceFinding| !marked.iter().any(|race| race.is_same(old));
        before.into_iter().filter(is_open).chain(marked.iter().copied().cloned()).collect()
    }

    /// What makes the program fail comes first, what is benign so far last; all else stays as it is.
    pub fn sort_by_mark(races: &mut [RaceFinding]) {
        races.sort_by_key(RaceFinding::place_by_mark);
    }

    fn is_same(&self, other: &RaceFinding) -> bool {
        lines_of(self) == lines_of(other) && self.builds() == other.builds()
    }

    fn builds(&self) -> Vec<Option<&str>> {
        let mut builds: Vec<_> =
            self.accesses.iter().map(|access| access.code.build_id.as_deref()).collect();
        builds.sort_unstable();
        builds
    }

    fn place_by_mark(&self) -> u8 {
        match self.mark() {
            Some(RaceMark::Confirmed) if self.is_cause() => 0,
            Some(RaceMark::Confirmed) => 1,
            Some(RaceMark::Undecided | RaceMark::FailsAnyway | RaceMark::NotForced) | None => 2,
            Some(RaceMark::BenignSoFar) => 3,
        }
    }

    /// Whether one of its orders makes the program fail, and its inverse never does.
    fn is_cause(&self) -> bool {
        let orders = self.forced.iter().flat_map(|forced| &forced.orders);
        let mut verdicts = orders.filter_map(|order| order.confirmed);
        verdicts.any(|confirmed| confirmed.verdict == Confirmation::Cause)
    }

    pub fn mark(&self) -> Option<RaceMark> {
        self.forced.as_ref().map(|forced| forced.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::super::ForcedRace;
    use super::super::test_support::{judged, order, race};
    use super::*;

    fn benign() -> Option<ForcedRace> {
        Some(ForcedRace::new(vec![order(&["W", "W"], 3, 3, 0)]))
    }

    fn confirmed() -> Option<ForcedRace> {
        let failing = judged(order(&["W", "W"], 3, 3, 3), 3, Confirmation::Cause);
        Some(ForcedRace::new(vec![failing]))
    }

    #[test]
    fn marks_stay_with_the_lines_of_a_build_and_order_the_list() {
        let earlier = [
            race([1, 2], "b1", benign()),
            race([3, 4], "b1", confirmed()),
            race([5, 6], "b0", confirmed()),
        ];
        let mut races = [[2, 1], [5, 6], [7, 8], [3, 4]].map(|lines| race(lines, "b1", None));
        RaceFinding::take_over_marks(&mut races, &earlier);
        let told: Vec<_> =
            races.iter().map(|race| (race.accesses[0].frame.line, race.mark())).collect();
        assert_eq!(
            told,
            [
                (Some(3), Some(RaceMark::Confirmed)),
                (Some(5), None),
                (Some(7), None),
                (Some(2), Some(RaceMark::BenignSoFar)),
            ]
        );
    }

    #[test]
    fn a_mark_is_remembered_until_the_same_race_has_another() {
        let before = vec![race([1, 2], "b1", benign()), race([3, 4], "b1", benign())];
        let now = [race([3, 4], "b1", confirmed()), race([5, 6], "b1", None)];
        let told: Vec<_> = RaceFinding::remembered(before, &now)
            .iter()
            .map(|race| (race.accesses[0].frame.line, race.mark()))
            .collect();
        let benign = (Some(1), Some(RaceMark::BenignSoFar));
        assert_eq!(told, [benign, (Some(3), Some(RaceMark::Confirmed))]);
    }
}
