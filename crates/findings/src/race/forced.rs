//! What forcing the orders of a race has shown: whether it makes the program fail, or is benign so far.
//!
//! Takes   how often each order was forced, came about and failed.      Gives  a mark, and a sentence that says what it rests on.
//! Misses  harm that needs more than one order at a time, or another input: therefore *so far*.

use serde::{Deserialize, Serialize};

use super::{RaceFinding, lines_of};
use crate::confirmed::{Confirmation, Confirmed};

/// Runs with the orders of a race forced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedRace {
    pub mark: RaceMark,
    /// What the mark rests on.
    pub sentence: String,
    /// Those that were tried: all, unless one of them makes the program fail.
    pub orders: Vec<ForcedOrder>,
}

/// What is known of a race by forcing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RaceMark {
    /// An order of its accesses makes the program fail.
    Confirmed,
    /// Runs fail in one order and none in its inverse, but too few to tell.
    Undecided,
    /// Runs fail, but not because of its order.
    FailsAnyway,
    /// An order could not be forced, and no other one makes the program fail.
    NotForced,
    /// All orders came about, and no run failed.
    BenignSoFar,
}

/// Runs with one order forced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForcedOrder {
    /// As `RaceFinding::orders` names it.
    pub pattern: String,
    /// The accesses in words, in their order.
    pub steps: Vec<String>,
    pub runs: u32,
    /// Those in which it came about.
    pub hits: u32,
    /// Those of `hits` that failed.
    pub failures: u32,
    /// What its inverse, and runs left alone, say about the failures; none: there were none.
    pub confirmed: Option<Confirmed>,
    /// Why it never came about.
    pub obstacle: Option<String>,
}

impl ForcedOrder {
    fn makes_it_fail(&self) -> bool {
        let verdict = self.confirmed.map(|confirmed| confirmed.verdict);
        matches!(verdict, Some(Confirmation::Cause | Confirmation::Contributes))
    }

    /// Whether it fails now and then, and its inverse never did.
    fn may_make_it_fail(&self) -> bool {
        let inverse_is_clean =
            |confirmed: Confirmed| confirmed.inverse_hits > 0 && confirmed.inverse_failures == 0;
        self.failures > 0 && self.confirmed.is_some_and(inverse_is_clean)
    }

    /// `write of x at a.c:3, then read of x at a.c:9`.
    fn in_words(&self) -> String {
        self.steps.join(", then ")
    }
}

impl ForcedRace {
    pub fn new(orders: Vec<ForcedOrder>) -> ForcedRace {
        let mark = mark_of(&orders);
        ForcedRace { mark, sentence: sentence(mark, &orders), orders }
    }

    /// The number, from 0, of the order that makes the program fail.
    pub fn failing_order(&self) -> Option<usize> {
        self.orders.iter().position(ForcedOrder::makes_it_fail)
    }

    /// Whether there is no need to try more orders.
    pub fn is_decided(orders: &[ForcedOrder]) -> bool {
        mark_of(orders) == RaceMark::Confirmed
    }
}

fn mark_of(orders: &[ForcedOrder]) -> RaceMark {
    if orders.iter().any(ForcedOrder::makes_it_fail) {
        RaceMark::Confirmed
    } else if orders.iter().any(ForcedOrder::may_make_it_fail) {
        RaceMark::Undecided
    } else if orders.iter().any(|order| order.failures > 0) {
        RaceMark::FailsAnyway
    } else if orders.is_empty() || orders.iter().any(|order| order.hits == 0) {
        RaceMark::NotForced
    } else {
        RaceMark::BenignSoFar
    }
}

fn sentence(mark: RaceMark, orders: &[ForcedOrder]) -> String {
    let of_interest = |order: &&ForcedOrder| match mark {
        RaceMark::Confirmed => order.makes_it_fail(),
        RaceMark::Undecided => order.may_make_it_fail(),
        RaceMark::FailsAnyway => order.failures > 0,
        RaceMark::NotForced => order.hits == 0,
        RaceMark::BenignSoFar => true,
    };
    let Some(order) = orders.iter().find(of_interest) else {
        return "no order of it could be forced".to_owned();
    };
    let ForcedOrder { hits, failures, runs, .. } = order;
    let times = |count: u32| if count == 1 { "once".to_owned() } else { format!("{count} times") };
    match mark {
        RaceMark::Confirmed | RaceMark::Undecided => format!(
            "{} makes it fail in {failures} of {hits} runs; {}{}",
            order.in_words(),
            order.confirmed.as_ref().map(inverse_in_words).unwrap_or_default(),
            if mark == RaceMark::Undecided { ": too few to tell" } else { "" }
        ),
        RaceMark::FailsAnyway => format!(
            "runs fail, but not because of its order: {failures} of {hits} in which {} did, and without it as well",
            order.in_words()
        ),
        RaceMark::NotForced => {
            let why = order.obstacle.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            let others = orders.iter().map(|order| order.hits).max().unwrap_or(0);
            let others = match others {
                0 => String::new(),
                hits => format!("; another order was forced {}, and none failed", times(hits)),
            };
            format!("{} could not be forced in {runs} runs{why}{others}", order.in_words())
        }
        RaceMark::BenignSoFar => {
            let fewest = orders.iter().map(|order| order.hits).min().unwrap_or(0);
            let which = match (orders, order.steps.len()) {
                (_, 3..) => "torn",
                ([_], _) => "forced",
                ([_, _], _) => "both orders forced",
                _ => "all orders forced",
            };
            format!("{which} {}, none failed", times(fewest))
        }
    }
}

fn inverse_in_words(confirmed: &Confirmed) -> String {
    match confirmed.inverse_hits {
        0 => "its inverse never came about".to_owned(),
        hits => format!("kept from that, in {} of {hits}", confirmed.inverse_failures),
    }
}

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
    use super::*;
    use crate::finding::AccessKind;
    use crate::race::AccessOrder;
    use serde_json::json;

    fn order(steps: &[&str], runs: u32, hits: u32, failures: u32) -> ForcedOrder {
        ForcedOrder {
            pattern: "P1".to_owned(),
            steps: steps.iter().map(|&step| step.to_owned()).collect(),
            runs,
            hits,
            failures,
            confirmed: None,
            obstacle: (hits == 0).then(|| "nobody came".to_owned()),
        }
    }

    fn judged(order: ForcedOrder, inverse_hits: u32, verdict: Confirmation) -> ForcedOrder {
        let inverse_failures = if verdict == Confirmation::Symptom { inverse_hits } else { 0 };
        let confirmed = Confirmed {
            forced_runs: order.runs,
            forced_hits: order.hits,
            forced_failures: order.failures,
            inverse_runs: order.runs,
            inverse_hits,
            inverse_failures,
            whole_function: false,
            harmless_runs: 0,
            needless_runs: 0,
            verdict,
        };
        ForcedOrder { confirmed: Some(confirmed), ..order }
    }

    #[test]
    fn an_order_that_makes_the_program_fail_confirms_a_race() {
        let harmless = order(&["W", "R"], 10, 10, 0);
        let failing = judged(order(&["R", "W"], 10, 9, 9), 10, Confirmation::Cause);
        let forced = ForcedRace::new(vec![harmless, failing.clone()]);
        assert_eq!((forced.mark, forced.failing_order()), (RaceMark::Confirmed, Some(1)));
        let told = "R, then W makes it fail in 9 of 9 runs; kept from that, in 0 of 10";
        assert_eq!(forced.sentence, told);
        assert!(ForcedRace::is_decided(&[failing]));
    }

    #[test]
    fn what_fails_in_any_order_is_not_because_of_the_race() {
        let failing = judged(order(&["R", "W"], 10, 10, 4), 10, Confirmation::Symptom);
        let forced = ForcedRace::new(vec![failing, order(&["W", "R"], 10, 10, 0)]);
        assert_eq!((forced.mark, forced.failing_order()), (RaceMark::FailsAnyway, None));
        assert!(forced.sentence.contains("4 of 10 in which R, then W did"), "{}", forced.sentence);
    }

    #[test]
    fn what_fails_now_and_then_and_never_inverted_is_left_open() {
        let mut failing = judged(order(&["R", "W"], 10, 10, 3), 10, Confirmation::Symptom);
        failing.confirmed.as_mut().unwrap().inverse_failures = 0;
        let forced = ForcedRace::new(vec![failing]);
        assert_eq!((forced.mark, forced.failing_order()), (RaceMark::Undecided, None));
        let told =
            "R, then W makes it fail in 3 of 10 runs; kept from that, in 0 of 10: too few to tell";
        assert_eq!(forced.sentence, told);
    }

    #[test]
    fn both_orders_without_a_failure_are_benign_so_far() {
        let forced =
            ForcedRace::new(vec![order(&["R", "W"], 10, 8, 0), order(&["W", "R"], 10, 10, 0)]);
        assert_eq!(forced.mark, RaceMark::BenignSoFar);
        assert_eq!(forced.sentence, "both orders forced 8 times, none failed");
        let torn = ForcedRace::new(vec![order(&["R", "W", "R"], 5, 1, 0)]);
        assert_eq!(torn.sentence, "torn once, none failed");
    }

    #[test]
    fn one_order_that_never_came_about_leaves_it_open() {
        let forced =
            ForcedRace::new(vec![order(&["R", "W"], 10, 0, 0), order(&["W", "R"], 10, 10, 0)]);
        assert_eq!(forced.mark, RaceMark::NotForced);
        let told = "R, then W could not be forced in 10 runs: nobody came; another order was forced 10 times, and none failed";
        assert_eq!(forced.sentence, told);
        assert_eq!(ForcedRace::new(Vec::new()).mark, RaceMark::NotForced);
    }

    /// A race of two lines of a build.
    fn race(lines: [u32; 2], build: &str, forced: Option<ForcedRace>) -> RaceFinding {
        let access = |role: u8, line: u32| {
            json!({
                "role": role, "kind": "write", "variable": "x", "function": "f", "file": "a.c",
                "line": line, "column": 1, "inlined_into": [], "thread": role, "process": 0,
                "atomic": false, "order": role, "stack": [], "locks": [],
                "code": { "module": "a", "build_id": build, "offset": format!("0x{line}") },
            })
        };
        let race = json!({
            "detectors": ["lockset"], "sentence": "", "why": "", "variable": "x",
            "allocated_at": null, "unordered": 0, "unlocked": 1, "runs": 1, "example_run": 1,
            "own_code": true, "accesses": [access(1, lines[0]), access(2, lines[1])], "steps": [],
        });
        RaceFinding { forced, ..serde_json::from_value(race).unwrap() }
    }

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

    #[test]
    fn both_orders_of_all_ways_are_tried_once_and_two_writes_last() {
        let mut one = race([1, 2], "b1", None);
        let mut read = one.accesses.clone();
        read[0].kind = AccessKind::Read;
        read[0].code.offset = "0x9".to_owned();
        one.ways = vec![read.clone(), read.iter().rev().cloned().collect()];
        let orders = one.orders();
        let told: Vec<_> = orders
            .iter()
            .map(|order| (order.pattern.as_str(), order.accesses[0].code.offset.as_str()))
            .collect();
        assert_eq!(told, [("P2", "0x2"), ("P1", "0x9"), ("P3", "0x2"), ("P3", "0x1")]);
        let roles = |order: &AccessOrder| {
            order.accesses.iter().map(|access| access.role).collect::<Vec<_>>()
        };
        assert!(orders.iter().all(|order| roles(order) == [1, 2]));
    }

    #[test]
    fn where_both_threads_access_both_variables_each_unit_goes_whole_between_the_other_first() {
        let mut one = race([1, 2], "b1", None);
        let access = |offset: &str, line: u32, kind: AccessKind, order: u32| {
            let mut access = one.accesses[0].clone();
            (access.kind, access.order, access.frame.line) = (kind, order, Some(line));
            access.code.offset = offset.to_owned();
            access
        };
        let writes = [("w1", 1, 1), ("w2", 2, 4)]
            .map(|(name, line, order)| access(name, line, AccessKind::Write, order));
        let reads = [("r1", 11, 2), ("r2", 12, 3)]
            .map(|(name, line, order)| access(name, line, AccessKind::Read, order));
        let [first, second] = &writes;
        one.ways = vec![
            vec![first.clone(), reads[0].clone(), second.clone()],
            vec![second.clone(), reads[1].clone(), first.clone()],
        ];
        let steps = |order: &AccessOrder| {
            let offsets = order.accesses.iter().map(|access| access.code.offset.clone());
            offsets.collect::<Vec<_>>().join(" ")
        };
        let told: Vec<_> = one.orders().iter().map(steps).collect();
        assert_eq!(told[..2], ["r1 w1 w2 r2", "w1 r1 r2 w2"], "{told:?}");
        assert!(told.contains(&"w1 r1 w2".to_owned()) && told.contains(&"w1 r2 w2".to_owned()));
        let roles: Vec<u8> = one.orders()[0].accesses.iter().map(|access| access.role).collect();
        assert_eq!(roles, [1, 2, 2, 1]);
    }
}
