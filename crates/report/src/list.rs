//! The ranked list: one entry per finding, the figures in front.

use unpick_findings::{Confirmation, Finding, Findings, Origin, Packages};

use crate::Style;
use crate::layout::{paragraph, printable, wrapped};
use crate::words;

const HEAD: &str = "  N  rank  score  failing  passing  what";
/// Columns before the words of an entry.
const FIGURES: usize = 36;

/// The list with what it was made of above it.
pub fn ranked_list(findings: &Findings, style: &Style) -> String {
    let paint = style.paint();
    let (runs, left_out) = (runs_line(findings), left_out(findings, style));
    let mut text = format!("{runs}\n{left_out}\n{}\n", paint.heading(HEAD));
    for (finding, number) in findings.findings.iter().zip(1..) {
        text.push_str(&entry(finding, number, findings, style));
    }
    text
}

/// `80 runs: 25 failed, 55 passed. 2 findings, scored by jaccard.`
pub fn runs_line(findings: &Findings) -> String {
    let runs = &findings.runs;
    let unusable = match runs.unusable {
        0 => String::new(),
        unusable => format!(", {unusable} unusable"),
    };
    let count = match findings.findings.len() {
        0 => "No findings".to_owned(),
        1 => "1 finding".to_owned(),
        count => format!("{count} findings"),
    };
    let is_forced = |finding: &Finding| finding.origin == Origin::Forced;
    let how = match !findings.findings.is_empty() && findings.findings.iter().all(is_forced) {
        true if findings.findings.iter().any(|finding| finding.passed_runs > 0) => {
            "by forcing orders that no failing run had".to_owned()
        }
        true => "by forcing orders that no run had".to_owned(),
        false => format!("scored by {}", findings.formula),
    };
    format!(
        "{} runs: {} failed, {} passed{unusable}. {count}, {how}.",
        runs.total, runs.failed, runs.passed
    )
}

/// What is not reported because the user ignores its packages: `Not reported: 3 orders that are all in ignored packages (tokio).`
pub fn left_out(findings: &Findings, style: &Style) -> String {
    let Packages { ignored, left_out, .. } = &findings.packages;
    let orders = match left_out {
        0 => return String::new(),
        1 => "1 order that is".to_owned(),
        several => format!("{several} orders that are"),
    };
    let names = printable(&ignored.join(", "));
    let text = format!("Not reported: {orders} all in ignored packages ({names}).");
    paragraph(&text, style.columns(), "")
}

fn entry(finding: &Finding, number: usize, findings: &Findings, style: &Style) -> String {
    let figures = figures(finding, number, findings);
    let columns = style.columns() - FIGURES;
    let what = format!("{}: {}", words::class(finding.class), words::pattern(finding));
    let mut lines = wrapped(&what, columns);
    for text in [variables(finding, columns), places(finding)] {
        lines.extend(wrapped(&text, columns));
    }
    lines.extend(verdict(finding));
    let beginnings = std::iter::once(figures).chain(std::iter::repeat(" ".repeat(FIGURES)));
    lines.iter().zip(beginnings).map(|(line, before)| format!("{before}{line}\n")).collect()
}

/// What was not reproduced is as good as not tried.
fn verdict(finding: &Finding) -> Option<String> {
    let verdict = finding.confirmed?.verdict;
    let is_known = verdict != Confirmation::NotReproduced;
    is_known.then(|| words::verdict(verdict).to_owned())
}

fn figures(finding: &Finding, number: usize, findings: &Findings) -> String {
    if finding.origin == Origin::Forced {
        let confirmed = finding.confirmed.as_ref();
        let failed = confirmed.map(|by| format!("{}/{}", by.forced_failures, by.forced_hits));
        let forced = failed.unwrap_or_else(|| "forced".to_owned());
        return format!("{number:>3} {:>5}  {:>5}  {forced:>7}  {:>7}  ", "-", "-", "-");
    }
    let share = |runs: u32, all: u32| format!("{runs}/{all}");
    format!(
        "{number:>3} {:>5}  {:>5.2}  {:>7}  {:>7}  ",
        finding.rank,
        finding.score,
        share(finding.failed_runs, findings.runs.failed),
        share(finding.passed_runs, findings.runs.passed)
    )
}

fn variables(finding: &Finding, columns: usize) -> String {
    let names = words::variables(finding).into_iter();
    let names: Vec<String> = names.map(|name| words::variable(Some(name), columns)).collect();
    match names.is_empty() {
        true => words::variable(None, columns),
        false => names.join(" and "),
    }
}

/// The lines of the accesses, in order.
fn places(finding: &Finding) -> String {
    let places = finding.accesses.iter().map(|access| {
        words::brief_place(&access.frame).unwrap_or_else(|| access.code.offset.clone())
    });
    places.collect::<Vec<_>>().join(", ")
}
