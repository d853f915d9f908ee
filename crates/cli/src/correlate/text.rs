//! Correlations and breaks as people read them.

use std::fmt::Write;
use std::path::Path;

use unpick_correlations::{Break, Closeness, Correlation, CorrelationList, Place};

use crate::quantities::counted;

/// Functions named per line.
const NAMED: usize = 3;

pub fn correlations(list: &CorrelationList, with_weak: bool, top: usize, here: &Path) -> String {
    let mut text = String::new();
    for correlation in list.told(with_weak).take(top) {
        push_correlation(&mut text, correlation, here);
    }
    let found = list.told(with_weak).count();
    let shown = found.min(top);
    let told = counted(found as u64, "correlation");
    let weaker = match list.correlations.len() - found {
        0 => String::new(),
        weaker => format!(" ({weaker} weaker: --weak)"),
    };
    push_summary(&mut text, list, &format!("{told}, {shown} shown{weaker}"));
    text
}

pub fn breaks(list: &CorrelationList, top: usize, here: &Path) -> String {
    let mut text = String::new();
    for found in list.breaks.iter().take(top) {
        push_break(&mut text, found, here);
    }
    let found = list.breaks.len();
    let shown = found.min(top);
    let told = counted(found as u64, "inconsistent update");
    push_summary(&mut text, list, &format!("{told}, {shown} shown"));
    text
}

fn push_correlation(text: &mut String, correlation: &Correlation, here: &Path) {
    let Correlation { rank, left, right, support, left_functions, .. } = correlation;
    let _ = writeln!(text, "{rank:3}  {left} => {right}, {support} of {left_functions} functions");
    if let Some(condition) = &correlation.condition {
        let _ = writeln!(text, "     if {condition}");
    }
    let _ = writeln!(text, "     both:  {}", places(&correlation.examples, here));
    if !correlation.broken_by.is_empty() {
        let _ = writeln!(text, "     alone: {}", places(&correlation.broken_by, here));
    }
    if correlation.is_weak {
        let _ = writeln!(text, "     weak:  {}", why_weak(&correlation.closeness));
    }
}

fn why_weak(closeness: &Closeness) -> String {
    let Closeness { either, both, related, write_either, write_both } = closeness;
    format!(
        "of {} that touch either, {both} touch both and {related} relate them; of {write_either} that write either, {write_both} write both",
        counted(*either as u64, "function")
    )
}

fn push_break(text: &mut String, found: &Break, here: &Path) {
    let Break { rank, place, left, right, support, left_functions, .. } = found;
    let _ = writeln!(
        text,
        "{rank:3}  {} {}:{}\n     {left} without {right}, which {support} of {left_functions} functions have",
        place.function,
        short(&place.file, here),
        place.line
    );
    if let Some(condition) = &found.condition {
        let _ = writeln!(text, "     if {condition}");
    }
    let _ = writeln!(text, "     as in: {}", places(&found.examples, here));
    if !found.others.is_empty() {
        let others: Vec<String> =
            found.others.iter().take(NAMED).map(|rule| rule.right.to_string()).collect();
        let _ = writeln!(text, "     nor:   {}{}", others.join(", "), more(found.others.len()));
    }
}

fn push_summary(text: &mut String, list: &CorrelationList, found: &str) {
    let summary = &list.summary;
    let _ = writeln!(
        text,
        "{found}; {} lines, {} functions, {} variables in {}, {} of them as before",
        summary.lines,
        summary.functions,
        summary.variables,
        counted(summary.files as u64, "file"),
        summary.files_unchanged
    );
    if summary.runs > 0 {
        let runs = counted(summary.runs as u64, "run");
        let what = if summary.files == 0 { "without sources" } else { "added to the sources" };
        let _ = writeln!(text, "what {runs} observed, {what}: {} accesses", summary.observed);
    }
}

fn places(places: &[Place], here: &Path) -> String {
    let named: Vec<String> = places
        .iter()
        .take(NAMED)
        .map(|place| format!("{} {}:{}", place.function, short(&place.file, here), place.line))
        .collect();
    named.join(", ") + &more(places.len())
}

fn more(all: usize) -> String {
    match all.saturating_sub(NAMED) {
        0 => String::new(),
        rest => format!(", {rest} more"),
    }
}

fn short(file: &str, here: &Path) -> String {
    Path::new(file).strip_prefix(here).map_or(file.to_owned(), |path| path.display().to_string())
}
