//! The five multi-variable bugs of MUVI's Table 8, by the plain detectors and by the extensions.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use unpick_bench_ranking::twins::{Tool, build};
use unpick_problem::Problem;
use unpick_subjects::{Subject, Twin, subjects};

use crate::command::{empty, output};
use crate::options::Options;
use crate::own::{Found, Race, found_in};

/// A row of the paper's table.
pub struct Bug {
    pub paper: &'static str,
    pub subject: &'static str,
    /// Whether the paper's lockset and happens-before extensions detect it, and the false positives they add.
    pub in_paper: [(bool, u32); 2],
}

pub const BUGS: [Bug; 5] = [
    bug("Moz-js1", "property-cache", [(true, 1), (true, 1)]),
    bug("Moz-js2", "string-totals", [(true, 2), (true, 5)]),
    bug("Moz-imap", "imap-connection", [(true, 0), (true, 0)]),
    bug("MySQL-log", "log-offsets", [(true, 3), (true, 6)]),
    bug("MySQL-blog", "binary-log", [(false, 0), (false, 1)]),
];

const fn bug(paper: &'static str, subject: &'static str, in_paper: [(bool, u32); 2]) -> Bug {
    Bug { paper, subject, in_paper }
}

/// As `unpick races` calls them, in the order of the paper's table.
pub const DETECTORS: [&str; 2] = ["lockset", "happens-before"];

/// What was reported about a subject, per detector.
pub struct Row {
    pub bug: &'static Bug,
    /// Where correlations are from: `correlate`, which reads sources, or `recordings`.
    pub mined_from: &'static str,
    /// Reports of the plain detectors.
    pub plain: [usize; 2],
    /// Whether an extension reports the accesses of the bug.
    pub is_found: [bool; 2],
    /// Other reports of the extension.
    pub others: [usize; 2],
    /// Reports of the extension about the fixed twin.
    pub fixed: [usize; 2],
}

pub fn measure(options: &Options) -> Result<Vec<Row>, Problem> {
    let all = subjects();
    let mut rows = Vec::new();
    for bug in BUGS.iter().filter(|bug| options.takes(bug.subject)) {
        let subject = all.iter().find(|subject| subject.name == bug.subject);
        let subject = subject
            .ok_or_else(|| Problem::own_fault(format!("there is no subject {}", bug.subject)))?;
        let row = row(bug, subject, options)?;
        eprintln!(
            "{}: plain {:?}, found {:?}, others {:?}, fixed {:?}",
            bug.subject, row.plain, row.is_found, row.others, row.fixed
        );
        rows.push(row);
    }
    Ok(rows)
}

fn row(bug: &'static Bug, subject: &Subject, options: &Options) -> Result<Row, Problem> {
    let (unpick, work) = (options.unpick()?, options.work().join("subjects"));
    let folder = work.join(&subject.name);
    empty(&folder)?;
    let correlations = correlations_of(subject, &unpick, &folder)?;
    let look = |twin: Twin, of: &str| {
        let program = build(subject, twin, Tool::Unpick(&unpick), &work)?;
        races(&unpick, &program, subject, correlations.as_deref(), &folder.join(of), options)
    };
    let (buggy, fixed) = (look(Twin::Buggy, "buggy")?, look(Twin::Fixed, "fixed")?);
    let truth = marked_lines(subject);
    let is_true = |race: &&Race| race.is_within(&truth);
    let torn = |found: &'_ Found, by| found.torn_by(by).count();
    let found = |by| buggy.torn_by(by).filter(is_true).count();
    Ok(Row {
        bug,
        mined_from: if correlations.is_some() { "correlate" } else { "recordings" },
        plain: DETECTORS.map(|by| buggy.by(by).filter(|race| !race.is_torn()).count()),
        is_found: DETECTORS.map(|by| found(by) > 0),
        others: DETECTORS.map(|by| torn(&buggy, by) - found(by)),
        fixed: DETECTORS.map(|by| torn(&fixed, by)),
    })
}

/// The lines of the true pattern: `name.c:12`.
fn marked_lines(subject: &Subject) -> BTreeSet<String> {
    let name = subject.source.file_name().unwrap_or_default().to_string_lossy().into_owned();
    subject.lines().values().map(|line| format!("{name}:{line}")).collect()
}

/// What `unpick correlate` finds in the source; none where this build of Unpick, or this machine, cannot.
fn correlations_of(
    subject: &Subject,
    unpick: &Path,
    folder: &Path,
) -> Result<Option<PathBuf>, Problem> {
    let file = folder.join("correlations.json");
    let (unpick, to) = (unpick.display().to_string(), file.display().to_string());
    let source = subject.folder.join(&subject.source).display().to_string();
    output(&[&unpick, "correlate", "--json", &to, &source], folder)?;
    Ok(file.is_file().then_some(file))
}

fn races(
    unpick: &Path,
    program: &Path,
    subject: &Subject,
    correlations: Option<&Path>,
    store: &Path,
    options: &Options,
) -> Result<Found, Problem> {
    let words = [unpick, program, store].map(|path| path.display().to_string());
    let [unpick, program, store] = words.each_ref().map(String::as_str);
    let (runs, file) =
        (options.subject_runs.to_string(), correlations.map(|file| file.display().to_string()));
    let mut command =
        vec![unpick, "races", "--quiet", "--json", "-", "--store", store, "--runs", &runs];
    match &file {
        Some(file) => command.extend(["--correlations", file]),
        None => command.push("--mine"),
    }
    command.extend(["--", program]);
    command.extend(subject.arguments.iter().map(String::as_str));
    found_in(&output(&command, &subject.folder)?, program)
}
