//! A reconstruction: what led up to a communication, what happened, what followed, one column per thread.

use unpick_findings::{CodePoint, PointPlace, PointThread, Reconstruction, Runs};

use crate::Style;
use crate::layout::{cut, padded, paragraph, printable, wrapped_at_most};
use crate::short_names::shortened;
use crate::words;

/// ` 100%  | ` before the first column, ` | ` between the two.
const BEFORE: usize = 9;
const BETWEEN: usize = 3;
/// Of a long line of source or a long name so many lines are shown.
const MOST_LINES: usize = 2;

/// `Reconstruction 1 of 3`, with figures and table.
pub fn in_full(
    one: &Reconstruction,
    number: usize,
    count: usize,
    runs: &Runs,
    style: &Style,
) -> String {
    let rule = "=".repeat(style.columns());
    let title = format!("Reconstruction {number} of {count}");
    let (rule, title) = (style.paint().aside(&rule), style.paint().bad(&title));
    let figures = paragraph(&figures(one, runs), style.columns(), "");
    format!("{rule}\n{title}\n{figures}\n{}", table(one, style))
}

/// Below the pattern of a finding.
pub fn of_finding(one: &Reconstruction, runs: &Runs, style: &Style) -> String {
    let heading = style.paint().heading("How it happened in failing runs");
    let figures = paragraph(&format!("reconstructed: {}", figures(one, runs)), style.columns(), "");
    format!("{heading}\n\n{figures}\n{}", table(one, style))
}

fn figures(one: &Reconstruction, runs: &Runs) -> String {
    format!(
        "rank {}, score {:.2} (frequency {:.2}, consistency {:.2}, earliness {:.2}, overlap {:.2}); in {} of {} failing and {} of {} passing runs",
        one.rank,
        one.score,
        one.buggy_frequency,
        one.consistency,
        one.earliness,
        one.overlap,
        one.failed_runs,
        runs.failed,
        one.passed_runs,
        runs.passed
    )
}

fn table(one: &Reconstruction, style: &Style) -> String {
    let table = Table { style, columns: (style.columns() - BEFORE - BETWEEN) / 2 };
    let mut text = table.head();
    let mut last = None;
    for point in &one.points {
        if last.replace(point.place) != Some(point.place) {
            text.push_str(&format!("{}\n", style.paint().heading(place_words(point.place))));
        }
        text.push_str(&table.row(point));
    }
    text
}

fn place_words(place: PointPlace) -> &'static str {
    match place {
        PointPlace::Prefix => "before",
        PointPlace::Source => "the write",
        PointPlace::Body => "between",
        PointPlace::Sink => "what met it",
        PointPlace::Suffix => "after",
    }
}

struct Table<'s> {
    style: &'s Style,
    /// Of each thread.
    columns: usize,
}

impl Table<'_> {
    fn head(&self) -> String {
        let rule = "-".repeat(self.columns);
        let [wrote, met] = [(1, "thread that wrote"), (2, "thread that met it")]
            .map(|(role, title)| self.painted(role, &cut(title, self.columns)));
        format!("  sure  | {wrote} | {}\n--------+-{rule}-+-{rule}\n", met.trim_end())
    }

    fn row(&self, point: &CodePoint) -> String {
        let sure = match point.place {
            PointPlace::Source | PointPlace::Sink => String::new(),
            _ => format!("{:.0}%", point.confidence * 100.0),
        };
        let sure = std::iter::once(sure).chain(std::iter::repeat(String::new()));
        self.cell(point)
            .iter()
            .zip(sure)
            .map(|(line, sure)| self.line(&sure, line, point))
            .collect()
    }

    fn line(&self, sure: &str, text: &str, point: &CodePoint) -> String {
        let blank = " ".repeat(self.columns);
        let line = match point.thread {
            PointThread::Sink => format!("{sure:>6}  | {blank} | {}", self.painted(2, text)),
            PointThread::Source => format!("{sure:>6}  | {} |", self.painted(1, text)),
            PointThread::Another => format!("{sure:>6}  | {} |", padded(text, self.columns)),
        };
        format!("{}\n", line.trim_end())
    }

    fn painted(&self, role: u8, text: &str) -> String {
        self.style.paint().of_role(role, &padded(text, self.columns))
    }

    /// Source line; what it does, where.
    fn cell(&self, point: &CodePoint) -> Vec<String> {
        let whose = match point.thread {
            PointThread::Another => "another thread ",
            PointThread::Source | PointThread::Sink => "",
        };
        let variable = words::variable(point.variable.as_ref(), self.columns);
        let does = format!("{whose}{} {variable}", words::does_kind(point.kind));
        let place = match (words::brief_place(&point.frame), &point.frame.function) {
            (Some(place), Some(function)) => {
                format!("{place} in {}", shortened(&printable(function), self.columns))
            }
            (Some(place), None) => place,
            (None, _) => printable(&point.code.offset),
        };
        let text = point.text.as_deref().map(printable).filter(|text| !text.is_empty());
        let parts = text.into_iter().chain([format!("{does}, {place}")]);
        parts.flat_map(|part| wrapped_at_most(&part, self.columns, MOST_LINES)).collect()
    }
}
