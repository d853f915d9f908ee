//! The figures of a set, from what was seen of its programs.

use std::time::Duration;

use unpick_bench_results::{Figure, verdict};

use crate::measure::Outcome;
use crate::options::Set;

/// Name of the figure that busy cores may make only a little worse.
pub const LEADER: &str = "leading finding is the root cause";

/// How many points worse it may be with all cores busy.
const POINTS_WITH_BUSY_CORES: f64 = 10.0;

/// Forced runs of `FORCED_RUNS` that must fail.
const MUST_FAIL: u32 = 49;

/// How far over its `--time` a hunt may be.
const LATE: f64 = 1.05;

/// What a share is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Standard {
    /// The target of the set.
    OfSet(Set),
    /// The share that was measured with idle cores, in percent; none: not known.
    Idle(Set, Option<f64>),
}

impl Standard {
    fn percent(self) -> f64 {
        match self {
            Standard::OfSet(set) => leader_percent(set),
            Standard::Idle(set, idle) => {
                idle.unwrap_or_else(|| leader_percent(set)) - POINTS_WITH_BUSY_CORES
            }
        }
    }

    fn words(self) -> String {
        match self {
            Standard::Idle(_, Some(_)) => format!("{:.0} % (10 points below idle)", self.percent()),
            Standard::Idle(_, None) => format!("{:.0} % (idle not known)", self.percent()),
            Standard::OfSet(_) => format!("{:.0} %", self.percent()),
        }
    }
}

fn leader_percent(set: Set) -> f64 {
    match set {
        Set::Sealed => 90.0,
        Set::Open | Set::Second => 95.0,
        Set::Crates => 80.0,
        Set::Cases | Set::Subjects => 98.0,
    }
}

pub fn figures(outcomes: &[Outcome], standard: Standard, limit: Duration) -> Vec<Figure> {
    let all: Vec<&Outcome> = outcomes.iter().collect();
    let of =
        |name: &str, percent: f64, is: &dyn Fn(&Outcome) -> bool| share(name, percent, &all, is);
    let none = |name: &str, is: &dyn Fn(&Outcome) -> bool| no(name, outcomes, is);
    let leader =
        Figure { target: standard.words(), ..of(LEADER, standard.percent(), &|one| one.is_right) };
    vec![
        leader,
        of("verdict `cause` and true", 85.0, &|one| one.is_cause() && one.is_right),
        none("false `cause`", &|one| one.is_cause() && one.is_wrong()),
        none("wrong leader, called confirmed", &|one| is_called(one, "confirmed")),
        none("wrong leader, called likely", &|one| is_called(one, "likely")),
        of("a failing run within 10 runs", 60.0, &|one| fails_within(one, 10)),
        of("a failing run within 100 runs", 90.0, &|one| fails_within(one, 100)),
        reproduced(outcomes),
        time_kept(outcomes, limit),
        none("not built, or no result", &|one| one.trouble.is_some()),
    ]
}

fn is_called(outcome: &Outcome, certainty: &str) -> bool {
    outcome.is_wrong() && outcome.certainty == certainty
}

fn fails_within(outcome: &Outcome, runs: usize) -> bool {
    outcome.first_failing.is_some_and(|first| first <= runs)
}

fn share(name: &str, percent: f64, all: &[&Outcome], is: &dyn Fn(&Outcome) -> bool) -> Figure {
    let count = all.iter().filter(|one| is(one)).count();
    let measured = 100.0 * count as f64 / all.len().max(1) as f64;
    let is_reached = measured >= percent;
    Figure {
        name: name.to_owned(),
        target: format!("{percent:.0} %"),
        measured: format!("{count} of {} ({measured:.0} %)", all.len()),
        verdict: if all.is_empty() { "not measured" } else { verdict(is_reached) },
    }
}

fn no(name: &str, outcomes: &[Outcome], is: &dyn Fn(&Outcome) -> bool) -> Figure {
    let count = outcomes.iter().filter(|one| is(one)).count();
    Figure {
        name: name.to_owned(),
        target: "0".to_owned(),
        measured: count.to_string(),
        verdict: verdict(count == 0),
    }
}

fn reproduced(outcomes: &[Outcome]) -> Figure {
    let tried: Vec<&Outcome> = outcomes.iter().filter(|one| one.reproduced.is_some()).collect();
    let name =
        "`reproduce` fails at least 49 of 50 times, where the leader is right and has a verdict";
    let fails = |one: &Outcome| one.reproduced.is_some_and(|forced| forced.failed >= MUST_FAIL);
    share(name, 95.0, &tried, &fails)
}

fn time_kept(outcomes: &[Outcome], limit: Duration) -> Figure {
    let hunted: Vec<&Outcome> =
        outcomes.iter().filter(|one| one.duration > Duration::ZERO).collect();
    let longest = hunted.iter().map(|one| one.duration).max().unwrap_or_default();
    let figure = share("`--time` kept within 5 %", 100.0, &hunted, &|one| {
        one.duration <= limit.mul_f64(LATE)
    });
    let measured = format!("{}, longest {:.1} s", figure.measured, longest.as_secs_f64());
    Figure { measured, target: "all".to_owned(), ..figure }
}

/// All figures in one line.
pub fn in_one_line(figures: &[Figure]) -> String {
    let parts = figures.iter().map(|figure| format!("{}: {}", figure.name, figure.measured));
    parts.collect::<Vec<_>>().join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hunt::Reproduced;

    fn outcome(is_right: bool, verdict: Option<&str>, certainty: &str) -> Outcome {
        Outcome {
            has_leader: true,
            is_right,
            verdict: verdict.map(str::to_owned),
            certainty: certainty.to_owned(),
            duration: Duration::from_secs(60),
            ..Outcome::default()
        }
    }

    fn measured(outcomes: &[Outcome]) -> Vec<(String, &'static str)> {
        let figures = figures(outcomes, Standard::OfSet(Set::Open), Duration::from_secs(60));
        figures.into_iter().map(|figure| (figure.measured, figure.verdict)).collect()
    }

    #[test]
    fn leaders_and_verdicts_are_counted() {
        let outcomes = [
            outcome(true, Some("cause"), "confirmed"),
            outcome(true, None, "unsure"),
            outcome(false, Some("cause"), "confirmed"),
            outcome(false, Some("likely"), "likely"),
            Outcome { has_leader: false, ..outcome(false, None, "unsure") },
        ];
        let figures = measured(&outcomes);
        assert_eq!(figures[0], ("2 of 5 (40 %)".to_owned(), "missed"));
        assert_eq!(figures[1], ("1 of 5 (20 %)".to_owned(), "missed"));
        for figure in &figures[2..5] {
            assert_eq!(*figure, ("1".to_owned(), "missed"));
        }
    }

    #[test]
    fn where_nothing_leads_nothing_is_wrong() {
        let nothing = Outcome { has_leader: false, ..outcome(false, None, "likely") };
        assert_eq!(measured(&[nothing])[4], ("0".to_owned(), "reached"));
    }

    #[test]
    fn runs_until_the_first_failure_are_compared() {
        let first = |run| Outcome { first_failing: run, ..outcome(true, None, "unsure") };
        let figures = measured(&[first(Some(10)), first(Some(11)), first(Some(100)), first(None)]);
        assert_eq!(figures[5].0, "1 of 4 (25 %)");
        assert_eq!(figures[6].0, "3 of 4 (75 %)");
    }

    #[test]
    fn reproductions_are_counted_where_they_were_tried() {
        let forced = |failed| Outcome {
            reproduced: Some(Reproduced { runs: 50, failed }),
            ..outcome(true, Some("cause"), "confirmed")
        };
        let figures = measured(&[forced(49), forced(48), outcome(true, None, "unsure")]);
        assert_eq!(figures[7], ("1 of 2 (50 %)".to_owned(), "missed"));
        assert_eq!(measured(&[outcome(true, None, "unsure")])[7].1, "not measured");
    }

    #[test]
    fn time_may_be_five_percent_over() {
        let took =
            |ms| Outcome { duration: Duration::from_millis(ms), ..outcome(true, None, "unsure") };
        assert_eq!(measured(&[took(63_000)])[8].1, "reached");
        let figures = measured(&[took(63_000), took(63_010), took(0)]);
        assert_eq!(figures[8], ("1 of 2 (50 %), longest 63.0 s".to_owned(), "missed"));
    }

    #[test]
    fn with_busy_cores_the_leader_may_be_ten_points_worse() {
        assert_eq!(Standard::Idle(Set::Open, Some(80.0)).percent(), 70.0);
        assert_eq!(Standard::Idle(Set::Sealed, None).percent(), 80.0);
        assert_eq!(Standard::OfSet(Set::Sealed).percent(), 90.0);
    }
}
