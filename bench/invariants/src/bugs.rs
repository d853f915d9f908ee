//! The six bug kinds of AVIO's Table 3, by subjects of that kind.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use unpick_bench_ranking::twins::{Tool, build};
use unpick_findings::Frame;
use unpick_problem::Problem;
use unpick_subjects::{Class, Subject, Twin, subjects};

use crate::command::{Delays, Program, fresh_folder, text};
use crate::hardware::Hardware;
use crate::options::Options;
use crate::peers::Peers;
use crate::software::{Trained, places};

/// A row of the paper's Table 3.
pub struct Kind {
    pub paper: &'static str,
    pub subject: &'static str,
    /// What training is given; the subject's own arguments are for detection.
    training: &'static [&'static str],
    /// AVIO-H, AVIO-S, lockset, happens-before.
    pub paper_found: [bool; 4],
}

/// Apache #2 is silent for race detectors in the paper: a count that atomics keep, as in `refcount`.
pub const KINDS: [Kind; 6] = [
    kind("Apache #1", "apache-case2", &["6000"], [true, true, true, true]),
    kind("Apache #2", "refcount", &["2000"], [true, true, false, false]),
    kind("MySQL #1", "mysql-case5", &["16", "7000"], [true, true, true, true]),
    kind("MySQL #2", "mysql-case2", &["3000000", "20"], [true, true, true, true]),
    kind("MySQL #3", "mysql-169", &["12000"], [false, false, false, false]),
    kind("Mozilla-extract", "mozilla-script", &["6", "3000"], [true, true, false, false]),
];

const fn kind(
    paper: &'static str,
    subject: &'static str,
    training: &'static [&'static str],
    paper_found: [bool; 4],
) -> Kind {
    Kind { paper, subject, training, paper_found }
}

/// What came of watching until the bug showed.
#[derive(Debug, Clone, Copy)]
pub struct Found {
    pub invariants: u64,
    /// Until the first that failed, or all.
    pub runs: u32,
    pub failed: bool,
    /// In the failing run.
    pub is_reported: bool,
    /// Other violations of that run, by their lines.
    pub others: usize,
}

pub struct Row {
    pub kind: &'static Kind,
    pub subject: Subject,
    pub trained_runs: u64,
    pub software: Found,
    pub hardware: Found,
    pub peers: Peers,
}

impl Row {
    pub fn is_single_variable(&self) -> bool {
        self.subject.class == Some(Class::SingleVariable)
    }
}

pub fn measure(options: &Options) -> Result<Vec<Row>, Problem> {
    let all = subjects();
    let mut rows = Vec::new();
    for kind in KINDS.iter().filter(|kind| options.takes(kind.subject)) {
        let subject = all.iter().find(|subject| subject.name == kind.subject);
        let subject = subject
            .ok_or_else(|| Problem::own_fault(format!("there is no subject {}", kind.subject)))?;
        rows.push(row(kind, subject.clone(), options)?);
    }
    Ok(rows)
}

fn row(kind: &'static Kind, subject: Subject, options: &Options) -> Result<Row, Problem> {
    let (unpick, work) = (options.unpick()?, options.work());
    let program = Program {
        path: build(&subject, Twin::Buggy, Tool::Unpick(&unpick), &work)?,
        training: kind.training.iter().map(|&word| word.to_owned()).collect(),
        detection: subject.arguments.clone(),
    };
    let truth = Truth::of(&subject);
    let folder = |of: &str| work.join(of).join(&subject.name);
    let trained = Trained::by_runs(&unpick, &program, folder("software"), options.training)?;
    let software = until_it_shows(
        options.most_runs,
        trained.invariants,
        || {
            let watched = trained.watch(Delays::Some)?;
            let violations = watched.violations.iter().filter_map(places);
            let lines = violations.map(|(this, remote)| truth.lines(this, remote));
            Ok((watched.failed(), lines.collect()))
        },
        &truth,
    )?;
    let hardware = Hardware::trained(
        &unpick,
        &program,
        folder("hardware"),
        options.cache_shape()?,
        options.training,
    )?;
    let by_hardware = until_it_shows(
        options.most_runs,
        hardware.invariants() as u64,
        || {
            let watched = hardware.watch(Delays::Some)?;
            let violations = watched.violations.iter();
            let lines = violations.map(|[this, remote]| truth.lines(this, vec![remote]));
            Ok((watched.failed, lines.collect()))
        },
        &truth,
    )?;
    let bare = build(&subject, Twin::Buggy, Tool::AsItIs, &work)?;
    let tsan = with_thread_sanitizer(&subject, &work)?;
    let peers = Peers::of(&bare, &tsan, &subject.arguments, options.peer_runs)?;
    eprintln!("{}: software {software:?}, hardware {by_hardware:?}, {peers:?}", subject.name);
    Ok(Row { kind, subject, trained_runs: trained.passed, software, hardware: by_hardware, peers })
}

/// The line of a violation's I-access, and those of the remote accesses, the deciding one first; none: not in the subject's source.
type Lines = (Option<u32>, Vec<Option<u32>>);

fn until_it_shows(
    most: u32,
    invariants: u64,
    mut watch: impl FnMut() -> Result<(bool, Vec<Lines>), Problem>,
    truth: &Truth,
) -> Result<Found, Problem> {
    for runs in 1..=most {
        let (failed, mut lines) = watch()?;
        if failed {
            let is_reported = lines.iter().any(|lines| truth.is_it(lines));
            lines.retain(|lines| !truth.is_it(lines));
            let others: BTreeSet<_> =
                lines.iter().map(|(this, remote)| (*this, remote.first().copied())).collect();
            return Ok(Found { invariants, runs, failed, is_reported, others: others.len() });
        }
    }
    Ok(Found { invariants, runs: most, failed: false, is_reported: false, others: 0 })
}

/// The lines that carry the markers.
struct Truth {
    source: PathBuf,
    /// Of the thread that is disturbed, and of the other.
    own: Vec<u32>,
    remote: Vec<u32>,
}

impl Truth {
    fn of(subject: &Subject) -> Truth {
        let lines = subject.lines();
        let of_role = |role: u8| {
            let accesses = subject.accesses.iter().filter(|access| access.role == role);
            accesses.map(|access| lines[&access.marker]).collect()
        };
        Truth { source: subject.source.clone(), own: of_role(1), remote: of_role(2) }
    }

    fn lines(&self, this: &Frame, remote: Vec<&Frame>) -> Lines {
        (self.line(this), remote.into_iter().map(|frame| self.line(frame)).collect())
    }

    fn line(&self, frame: &Frame) -> Option<u32> {
        let file = Path::new(frame.file.as_ref()?);
        file.ends_with(&self.source).then_some(frame.line).flatten()
    }

    fn is_it(&self, (this, remote): &Lines) -> bool {
        let is_own = this.is_some() && *this == self.own.last().copied();
        is_own && remote.iter().flatten().any(|line| self.remote.contains(line))
    }
}

/// Builds the subject with gcc's ThreadSanitizer.
fn with_thread_sanitizer(subject: &Subject, work: &Path) -> Result<PathBuf, Problem> {
    let folder = fresh_folder(work.join("tsan").join(&subject.name))?;
    let words = subject.build_command(Twin::Buggy, &folder);
    let output = Command::new(&words[0])
        .args(&words[1..])
        .arg("-fsanitize=thread")
        .current_dir(&subject.folder)
        .output();
    let failed = |why: String| {
        Problem::own_fault(format!("{} cannot be built with ThreadSanitizer", subject.name))
            .why(why)
    };
    let output = output.map_err(|error| failed(error.to_string()))?;
    if output.status.success() {
        Ok(subject.program(&folder))
    } else {
        Err(failed(text(&output.stderr)))
    }
}
