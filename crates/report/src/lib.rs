//! Findings as people read them: the terminal report, and graphs for Graphviz; for other tools, SARIF.
//!
//! Takes   `Findings`, which are data; and source files as they are now, or lines that were kept of them, for
//!         the lines around those that findings know.
//! Gives   text: how runs hung, the ranked list, then the leading findings in full; a run that hung, thread by thread.
//! Misses  excerpts of sources that are gone or have changed: it says so, and shows no line that was not the program's.
//! Cost    reads each source file that a shown finding names once.
#![forbid(unsafe_code)]

mod calls;
mod deadlocks;
pub mod dot;
mod excerpts;
mod failures;
mod finding;
mod hangs;
mod layout;
mod list;
mod orders;
mod paint;
mod races;
mod races_sarif;
mod reconstruction;
mod sarif;
mod short_names;
mod supporters;
mod table;
mod violations;
mod words;

use std::collections::BTreeMap;
use std::path::PathBuf;

use unpick_findings::{Finding, Findings, Hang, ReconstructionList};

pub use deadlocks::deadlocks;
pub use excerpts::LINES_AROUND;
pub use failures::kinds as kinds_of_failures;
pub use races::{confirmed_races, ordered, race, race_mark, races};
pub use races_sarif::races_sarif;
pub use sarif::{SarifLevel, SarifPlace, SarifResult, SarifRule, sarif};
pub use violations::violated;

use layout::paragraph;
use paint::Paint;

/// So many findings of rank 1 are shown in full below the list.
const MOST_IN_FULL: usize = 3;
/// Narrower than this nothing can be read any more: such a terminal has to wrap lines itself.
const NARROWEST: usize = 60;

/// Longest name in a headline.
const HEADLINE_NAME: usize = 40;

/// For whom a report is printed.
#[derive(Debug, Clone)]
pub struct Style {
    /// Columns of the terminal.
    pub width: usize,
    pub colour: bool,
    /// What relative file names are seen from.
    pub folder: PathBuf,
    /// Lines of sources that need not be here: by file and number.
    pub kept_lines: BTreeMap<String, BTreeMap<u32, String>>,
    /// What the commands to paste need so that they find these findings again, such as ` --store DIR`.
    pub command_options: String,
}

impl Style {
    fn columns(&self) -> usize {
        self.width.max(NARROWEST)
    }

    fn paint(&self) -> Paint {
        Paint::new(self.colour)
    }

    fn command(&self, verb: &str) -> String {
        format!("unpick {verb}{}", self.command_options)
    }
}

/// Everything at a glance: the ranked list, and in full what is confirmed as cause, else what shares rank 1. Ends in the command to paste next.
pub fn terminal(findings: &Findings, style: &Style) -> String {
    if findings.findings.is_empty() {
        return nothing_found(findings, style)
            + &orders::tried(findings, style)
            + &in_place_of_findings(findings, style);
    }
    let in_full = how_many_in_full(findings);
    let mut text = hangs::hung_runs(findings, style)
        + &failures::failures(findings, style)
        + &list::ranked_list(findings, style)
        + &where_unsure(findings, style);
    for number in 1..=in_full {
        text.push('\n');
        text.push_str(&finding::in_full(findings, number, style).unwrap_or_default());
    }
    text.push_str(&orders::tried(findings, style));
    text.push('\n');
    text.push_str(&next_command(findings, in_full, style));
    text
}

/// Causes come first in the list; where there is one, nobody has to read the rest.
fn how_many_in_full(findings: &Findings) -> usize {
    let leading = findings.findings.iter().take(MOST_IN_FULL);
    let causes = leading.clone().filter(|one| words::is_cause(one)).count();
    let first_rank = leading.filter(|one| one.rank == 1).count();
    if causes > 0 { causes } else { first_rank.max(1) }
}

/// One finding in full, by its number in the list, from 1; `None` if there is none with that number.
pub fn one(findings: &Findings, number: usize, style: &Style) -> Option<String> {
    let text = finding::in_full(findings, number, style)?;
    Some(format!("{text}\n{}", next_command(findings, number, style)))
}

/// Reconstructions, the most suspicious first. Ends in the command to paste next.
pub fn reconstructions(list: &ReconstructionList, style: &Style) -> String {
    let runs = &list.runs;
    let count = list.reconstructions.len();
    let mut text = format!(
        "{} runs: {} failed, {} passed. {} pairs of code points reconstructed, {count} shown.\n",
        runs.total, runs.failed, runs.passed, list.reconstructed
    );
    for (one, number) in list.reconstructions.iter().zip(1..) {
        text.push('\n');
        text.push_str(&reconstruction::in_full(one, number, count, runs, style));
    }
    let next = match count {
        0 => style.command("show"),
        _ => style.command("reconstruct --dot graph.dot"),
    };
    text + &format!("\n{} {next}\n", style.paint().heading("next:"))
}

/// How a run hung: all its threads.
pub fn hang(hang: &Hang, run: u64, style: &Style) -> String {
    let is_explained = hang.deadlock || hang.lost_notification().is_some();
    let next = if is_explained { "reproduce --run" } else { "dump" };
    let next = style.command(&format!("{next} {run}"));
    format!("{}\n{} {next}\n", hangs::in_full(hang, run, style), style.paint().heading("next:"))
}

/// A finding in a few words: `order violation (P2) on fifo.mut, score 0.52`.
pub fn headline(finding: &Finding) -> String {
    let variable = words::variables(finding).into_iter().next();
    let on = variable.map(|name| format!(" on {}", words::variable(Some(name), HEADLINE_NAME)));
    format!(
        "{} ({}){}, score {:.2}",
        words::class(finding.class),
        layout::printable(&finding.pattern),
        on.unwrap_or_default(),
        finding.score
    )
}

/// What to look at after finding number `shown`.
fn next_command(findings: &Findings, shown: usize, style: &Style) -> String {
    let command = match findings.findings.len() {
        count if shown < count => style.command(&format!("show {}", shown + 1)),
        1 => style.command("show 1 --json -"),
        _ => style.command("show"),
    };
    format!("{} {command}\n", style.paint().heading("next:"))
}

/// Where patterns do not say enough, communication comes before them.
fn where_unsure(findings: &Findings, style: &Style) -> String {
    let why = if findings.nothing_correlates() {
        "No order of accesses goes well with failing. This communication between threads may say more:"
    } else {
        "More than two threads or two variables seem to take part; no order of accesses shows more than a part of it. This communication goes better with failing:"
    };
    told_instead(findings, why, style)
}

/// Where no pattern goes with failing, communication that does is all there is to tell.
fn in_place_of_findings(findings: &Findings, style: &Style) -> String {
    let why = "No order of two threads' accesses explains the failures; this communication goes with them best:";
    let told = told_instead(findings, why, style);
    let next = format!("\n{} {}\n", style.paint().heading("next:"), style.command("reconstruct"));
    if told.is_empty() { told } else { told + &next }
}

fn told_instead(findings: &Findings, why: &str, style: &Style) -> String {
    let count = findings.reconstructions.len();
    if count == 0 {
        return String::new();
    }
    let mut text = format!("\n{}", paragraph(why, style.columns(), ""));
    for (one, number) in findings.reconstructions.iter().zip(1..) {
        text.push('\n');
        text.push_str(&reconstruction::in_full(one, number, count, &findings.runs, style));
    }
    text
}

fn nothing_found(findings: &Findings, style: &Style) -> String {
    let runs = &findings.runs;
    let why = match (runs.failed, runs.passed) {
        (0, _) => "No run failed, so there is nothing to explain.",
        _ if findings.are_all_hangs_explained() => {
            "Every failing run is explained by a hang above."
        }
        _ if findings.explain_something() => {
            "Besides, no order of accesses goes with failing, or no run passed to compare with."
        }
        (_, 0) => {
            "Every run failed. Runs that pass are needed to compare with: try gentler delays, a smaller input, or \
             a narrower rule for what counts as failing."
        }
        _ => {
            "Runs failed, but no order of accesses goes with failing. More runs, other delays or larger windows may show one; \
             or the failure does not depend on the order of threads."
        }
    };
    let hung = hangs::hung_runs(findings, style) + &failures::failures(findings, style);
    let (runs, left_out) = (list::runs_line(findings), list::left_out(findings, style));
    format!("{hung}{runs}\n{left_out}{}", paragraph(why, style.columns(), ""))
}
