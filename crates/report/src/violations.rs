//! Violated invariants as people read them.

use unpick_findings::{FindingAccess, TrainedSite, ViolatedInvariant};

use crate::Style;
use crate::layout::{cut, padded, paragraph, printable, width_of};
use crate::short_names::with_short_names;
use crate::words;

/// Longest name inside a sentence.
const NAME_COLUMNS: usize = 40;
const INDENT: &str = "   ";

/// Every violated invariant of a run: what happened, in which order, and what training had seen.
pub fn violated(violated: &[ViolatedInvariant], style: &Style) -> String {
    let texts = violated.iter().zip(1..).map(|(one, number)| in_full(one, number, style));
    texts.collect::<Vec<_>>().join("\n")
}

fn in_full(one: &ViolatedInvariant, number: usize, style: &Style) -> String {
    let times = match one.count {
        1 => "once".to_owned(),
        count => format!("{count} times"),
    };
    let title =
        format!("Violation {number}: case {} ({}), {times}, id {}", one.case, one.order, one.id);
    let sentence = with_short_names(&printable(&one.sentence), NAME_COLUMNS);
    format!(
        "{}\n{}{}{}",
        style.paint().bad(&title),
        paragraph(&sentence, style.columns(), INDENT),
        order(one, style),
        paragraph(&trained(&one.trained), style.columns(), INDENT)
    )
}

/// The accesses, one per line.
fn order(one: &ViolatedInvariant, style: &Style) -> String {
    let rows: Vec<[String; 3]> = one.accesses.iter().map(row).collect();
    let width = |column: usize| rows.iter().map(|row| width_of(&row[column])).max().unwrap_or(0);
    let widths = [width(0), width(1)];
    let mut text = String::new();
    for (at, (row, access)) in rows.iter().zip(&one.accesses).enumerate() {
        let mark = if access.role == 1 { " " } else { ">" };
        let line = format!(
            "{INDENT}{mark} {}  {}  {}",
            padded(&row[0], widths[0]),
            padded(&row[1], widths[1]),
            row[2]
        );
        text += &format!("{}\n", cut(line.trim_end(), style.columns()));
        if one.further > 0 && at + 2 == one.accesses.len() {
            text += &format!("{INDENT}> and {} more of other threads\n", one.further);
        }
    }
    text
}

/// Who did what, where, and the line of source.
fn row(access: &FindingAccess) -> [String; 3] {
    [
        format!("thread {} {}", access.thread, words::kind(access.kind)),
        words::brief_place(&access.frame).unwrap_or_default(),
        access.text.as_deref().map(|text| printable(text.trim())).unwrap_or_default(),
    ]
}

fn trained(trained: &TrainedSite) -> String {
    let TrainedSite { runs, violated_runs, checked, challenged } = *trained;
    let never = match violated_runs {
        0 => format!("none of {runs} passing runs did that"),
        violated => format!("{violated} of {runs} passing runs did that, which was put up with"),
    };
    let came = match challenged {
        0 => "no other thread ever came between".to_owned(),
        1 => "another thread came between once, and did no harm".to_owned(),
        count => format!("other threads came between {count} times, and did no harm"),
    };
    format!("trained: {never}; of {checked} times, {came}")
}
