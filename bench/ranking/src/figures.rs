//! The figures that have targets.

use unpick_bench_results::{Figure, geometric_mean, verdict};

use crate::measure::Row;
use crate::study::Study;

/// Subjects that fail less often than this when run bare are those that delays must help with.
const SELDOM: f64 = 0.1;

pub fn figures(rows: &[Row]) -> Vec<Figure> {
    vec![leads_with_all(rows), leads_with_few(rows), wrong_at_rank_1(rows), gain(rows), fixed(rows)]
}

fn studies(rows: &[Row]) -> impl Iterator<Item = &Study> {
    rows.iter().filter_map(|row| row.study.as_ref())
}

fn leads_with_all(rows: &[Row]) -> Figure {
    let fail = rows.iter().filter(|row| !row.subject.never_fails()).count();
    let lead = studies(rows).filter(|study| study.all.leads).count();
    Figure {
        name: "true pattern leads the first finding, all failing runs (25 or more)".to_owned(),
        target: "every subject".to_owned(),
        measured: format!("{lead} of {fail}"),
        verdict: verdict(lead == fail),
    }
}

fn leads_with_few(rows: &[Row]) -> Figure {
    let fail = rows.iter().filter(|row| !row.subject.never_fails()).count();
    let first = |study: &&Study| study.few.first().is_some_and(|standing| standing.leads);
    let lead = studies(rows).filter(first).count();
    Figure {
        name: "the same, the first 5 failing runs".to_owned(),
        target: "every subject but two".to_owned(),
        measured: format!("{lead} of {fail}"),
        verdict: verdict(lead + 2 >= fail),
    }
}

fn wrong_at_rank_1(rows: &[Row]) -> Figure {
    let wrong: usize = studies(rows).map(|study| study.all.wrong_at_rank_1).sum();
    Figure {
        name: "findings at rank 1 that are not the bug".to_owned(),
        target: "0".to_owned(),
        measured: wrong.to_string(),
        verdict: verdict(wrong == 0),
    }
}

fn gain(rows: &[Row]) -> Figure {
    let seldom = rows.iter().filter(|row| {
        !row.subject.never_fails() && row.measured.bare.share().is_some_and(|share| share < SELDOM)
    });
    let gains: Vec<f64> = seldom.filter_map(Row::gain).collect();
    let mean = geometric_mean(&gains);
    Figure {
        name: "failure rate with delays against bare, geometric mean of those under 10 %"
            .to_owned(),
        target: "at least 5 times".to_owned(),
        measured: mean
            .map_or("-".to_owned(), |mean| format!("{mean:.1}, {} subjects", gains.len())),
        verdict: verdict(mean.is_some_and(|mean| mean >= 5.0)),
    }
}

fn fixed(rows: &[Row]) -> Figure {
    let failing = rows.iter().filter(|row| row.measured.fixed_exit_code != 0).count();
    Figure {
        name: "fixed twins whose hunt does not end with exit code 0".to_owned(),
        target: "0".to_owned(),
        measured: failing.to_string(),
        verdict: verdict(failing == 0),
    }
}

impl Row {
    /// How many times as often it fails with delays. Where no bare run failed, one is taken to have.
    pub fn gain(&self) -> Option<f64> {
        let bare = self.measured.bare;
        let seen = f64::from(bare.failed.max(1)) / f64::from(bare.runs.max(1));
        self.measured.with_delays.share().filter(|share| *share > 0.0).map(|share| share / seen)
    }
}
