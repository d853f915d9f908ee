//! The source around the accesses.
//!
//! Takes   the accesses of a finding; source files as they are now, or lines that were kept of them.
//! Gives   a few lines around each access, with the access pointed at.
//! Misses  files that are gone, or whose lines are not what they were when the program was built: it says so.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;

use annotate_snippets::{Annotation, AnnotationKind, Group, Level, Renderer, Snippet};
use unpick_findings::FindingAccess;

use crate::Style;
use crate::layout::{paragraph, printable, width_of};
use crate::words;

/// Lines shown before and after an access.
pub const LINES_AROUND: u32 = 2;
/// Source files longer than this are generated, not written.
const LARGEST_SOURCE: u64 = 16 << 20;
/// More is not pointed at, so that long lines can be cut.
const LONGEST_SPAN: usize = 20;

/// Longest text beside what is pointed at.
const LONGEST_LABEL: usize = 40;

/// An access, and its number in the order of execution.
type Numbered<'f> = (usize, &'f FindingAccess);

/// Excerpts of all files that accesses are in.
pub fn excerpts(accesses: &[FindingAccess], style: &Style) -> String {
    let mut files: BTreeMap<&str, Vec<Numbered<'_>>> = BTreeMap::new();
    let mut text = format!("{}\n\n", style.paint().heading("Source"));
    for (access, number) in accesses.iter().zip(1..) {
        match access.frame.file.as_deref() {
            Some(file) => files.entry(file).or_default().push((number, access)),
            None => {
                text.push_str(&no_source(number, "its line is not known (no debug info)", style))
            }
        }
    }
    for (file, accesses) in files {
        text.push_str(&of_file(file, &accesses, style));
    }
    text
}

fn no_source(number: usize, why: &str, style: &Style) -> String {
    paragraph(&format!("access {number}: no source can be shown: {why}"), style.columns(), "  ")
}

fn of_file(file: &str, accesses: &[Numbered<'_>], style: &Style) -> String {
    let source = source_of(file, accesses, style);
    let mut text = String::new();
    let mut shown: Vec<Numbered<'_>> = Vec::new();
    for &(number, access) in accesses {
        match source
            .as_deref()
            .map_err(|why| why.clone())
            .and_then(|source| check(source, file, access))
        {
            Ok(()) => shown.push((number, access)),
            Err(why) => text.push_str(&no_source(number, &why, style)),
        }
    }
    if let (Ok(source), false) = (&source, shown.is_empty()) {
        text.push_str(&rendered(file, source, &shown, style));
    }
    text
}

/// The file as it is now; where that is not what the accesses saw, the lines that were kept of it.
fn source_of(file: &str, accesses: &[Numbered<'_>], style: &Style) -> Result<String, String> {
    let shows_all = |source: &str| accesses.iter().all(|one| check(source, file, one.1).is_ok());
    let now = read(file, style);
    if now.as_deref().is_ok_and(shows_all) {
        return now;
    }
    let kept = style.kept_lines.get(file).map(with_gaps);
    kept.filter(|kept| shows_all(kept)).map_or(now, Ok)
}

/// A text that has the lines at their numbers, and nothing in between.
fn with_gaps(lines: &BTreeMap<u32, String>) -> String {
    let last = lines.keys().next_back().copied().unwrap_or(0);
    let line = |number| lines.get(&number).map_or("", String::as_str);
    (1..=last).map(line).collect::<Vec<_>>().join("\n")
}

fn read(file: &str, style: &Style) -> Result<String, String> {
    let path = style.folder.join(file);
    let why = |error: std::io::Error| format!("{} cannot be read ({error})", printable(file));
    let about = fs::metadata(&path).map_err(why)?;
    if !about.is_file() || about.len() > LARGEST_SOURCE {
        return Err(format!("{} is no source file", printable(file)));
    }
    let bytes = fs::read(&path).map_err(why)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether the line of an access is still what it was.
fn check(source: &str, file: &str, access: &FindingAccess) -> Result<(), String> {
    let (Some(line), Some(text)) = (access.frame.line, &access.text) else {
        return Err(format!(
            "{} was not there, or newer than the program, when the finding was made",
            printable(file)
        ));
    };
    match source.lines().nth((line as usize).saturating_sub(1)) {
        Some(now) if now == text => Ok(()),
        _ => Err(format!("line {line} of {} was changed since", printable(file))),
    }
}

fn rendered(file: &str, source: &str, accesses: &[Numbered<'_>], style: &Style) -> String {
    let lines: Vec<&str> = source.lines().collect();
    let mut group = Group::with_level(Level::NOTE);
    for stretch in stretches(accesses, lines.len()) {
        let here = accesses.iter().filter(|(_, access)| stretch.contains(&line_of(access)));
        let text = lines[stretch.start - 1..stretch.end - 1].join("\n");
        let snippet = Snippet::source(text)
            .line_start(stretch.start)
            .path(printable(file))
            .fold(false)
            .annotations(marks(here, &lines, &stretch, style.columns()));
        group = group.element(snippet);
    }
    let renderer = if style.colour { Renderer::styled() } else { Renderer::plain() };
    let text = renderer.term_width(style.columns()).render(&[group]);
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

fn line_of(access: &FindingAccess) -> usize {
    access.frame.line.unwrap_or(0) as usize
}

/// Lines to show, from 1: around each access; stretches that touch are one.
fn stretches(accesses: &[Numbered<'_>], last_line: usize) -> Vec<Range<usize>> {
    let mut lines: Vec<usize> = accesses.iter().map(|(_, access)| line_of(access)).collect();
    lines.sort_unstable();
    let mut stretches: Vec<Range<usize>> = Vec::new();
    for line in lines {
        let around = LINES_AROUND as usize;
        let (start, end) = (line.saturating_sub(around).max(1), (line + around).min(last_line) + 1);
        match stretches.last_mut() {
            Some(last) if start <= last.end => last.end = end.max(last.end),
            _ => stretches.push(start..end),
        }
    }
    stretches
}

/// What is pointed at in a stretch; accesses at one place share a label.
fn marks<'f>(
    accesses: impl Iterator<Item = &'f Numbered<'f>>,
    lines: &[&str],
    stretch: &Range<usize>,
    columns: usize,
) -> Vec<Annotation<'static>> {
    let mut by_span: BTreeMap<(usize, usize, usize), Vec<Numbered<'f>>> = BTreeMap::new();
    for &(number, access) in accesses {
        let span = span_in_line(lines[line_of(access) - 1], access.frame.column);
        by_span.entry((line_of(access), span.start, span.end)).or_default().push((number, access));
    }
    let gutter = format!("{} | ", stretch.end - 1).len();
    let mark = |((line, start, end), accesses): ((usize, usize, usize), Vec<Numbered<'_>>)| {
        let before: usize =
            lines[stretch.start - 1..line - 1].iter().map(|line| line.len() + 1).sum();
        let label = label(&accesses, room_behind(lines[line - 1], end, columns - gutter));
        AnnotationKind::Primary.span(before + start..before + end).label(label)
    };
    by_span.into_iter().map(mark).collect()
}

/// Columns for a label behind what is pointed at. A line that does not fit is cut so that a label does.
fn room_behind(line: &str, end: usize, columns: usize) -> usize {
    let shown = |text: &str| width_of(&text.replace('\t', "    "));
    match shown(line) < columns {
        true => columns.saturating_sub(shown(&line[..end]) + 1),
        false => LONGEST_LABEL,
    }
}

/// `2: thread 2 writes, 3: thread 1 writes`; where that is too long, less of it: the table has all.
fn label(accesses: &[Numbered<'_>], room: usize) -> Option<String> {
    let joined = |text: &dyn Fn(&Numbered<'_>) -> String| {
        accesses.iter().map(text).collect::<Vec<_>>().join(", ")
    };
    let who = |(number, access): &Numbered<'_>| format!("{number}: thread {}", access.role);
    let labels = [
        joined(&|one| format!("{} {}", who(one), words::does(one.1))),
        joined(&who),
        joined(&|(number, _)| number.to_string()),
    ];
    labels.into_iter().find(|label| label.len() <= room.min(LONGEST_LABEL))
}

/// The word at a column (in bytes, from 1); without one the line.
fn span_in_line(line: &str, column: Option<u32>) -> Range<usize> {
    let start = column.map(|column| (column as usize).saturating_sub(1));
    let (start, end) = match start.filter(|&at| at < line.len() && line.is_char_boundary(at)) {
        Some(start) => (start, end_of_word(line, start)),
        None => (line.len() - line.trim_start().len(), line.trim_end().len()),
    };
    let longest = line[start..].char_indices().nth(LONGEST_SPAN);
    start..end.max(start).min(longest.map_or(line.len(), |(length, _)| start + length))
}

fn end_of_word(line: &str, start: usize) -> usize {
    let rest = &line[start..];
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
    let first = rest.chars().next().map_or(0, char::len_utf8);
    start + end.max(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_at_the_column_is_pointed_at() {
        assert_eq!(span_in_line("\ta->b = 1;", Some(5)), 4..5);
        assert_eq!(span_in_line("  count++;", Some(3)), 2..7);
        assert_eq!(span_in_line("  x = 1;", Some(5)), 4..5);
        assert_eq!(span_in_line("  x = 1;", None), 2..8);
        assert_eq!(span_in_line("  x = 1;", Some(99)), 2..8);
        assert_eq!(span_in_line("", Some(1)), 0..0);
    }
}
