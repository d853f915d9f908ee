//! One subject: hunted, confirmed, forced, pinned, checked.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use unpick_bench_ranking::hunt::{Bound, Hunt};
use unpick_bench_ranking::truth::Truth;
use unpick_bench_ranking::twins::{Tool, build};
use unpick_findings::{Confirmation, Finding, Findings, HangGroup};
use unpick_problem::Problem;
use unpick_subjects::{Subject, Twin};

use super::unpick::{Checked, Reproduced, Unpick};
use crate::options::Options;

/// Runs of each kind for a confirmation.
const CONFIRMED_BY: u32 = 10;

/// What was seen of a subject.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Row {
    pub name: String,
    /// Of the first finding; `deadlock`; `lost`: a notification.
    pub pattern: String,
    pub reproduced: Reproduced,
    /// Of the finding that has the true pattern, or of the hang.
    pub verdict: Option<Confirmation>,
    /// Other findings that were called the cause.
    pub wrong_causes: u32,
    /// What the reproducer says about the twins.
    #[serde(default)]
    pub pinned: Option<Pinned>,
    /// What went wrong.
    pub trouble: Option<String>,
}

/// What `unpick check` says about the buggy and about the fixed twin.
#[derive(Debug, Serialize, Deserialize)]
pub struct Pinned {
    pub buggy: Option<Checked>,
    pub fixed: Option<Checked>,
}

impl Row {
    pub fn in_short(&self) -> String {
        let Reproduced { runs, hits, failed, .. } = &self.reproduced;
        let verdict = self.verdict.map_or("no verdict", Confirmation::name);
        let trouble = self.trouble.as_deref().unwrap_or_default();
        format!(
            "{}, {failed} of {runs} failed, {hits} hit; {verdict}, {} wrong; pinned {} {trouble}",
            self.pattern,
            self.wrong_causes,
            self.pinned.as_ref().map_or_else(String::new, Pinned::in_short)
        )
    }

    /// Mean time of a forced run over that of one left alone.
    pub fn ratio(&self) -> Option<f64> {
        let alone = self.reproduced.left_alone.as_ref()?;
        let mean = |time: f64, runs: u32| (runs > 0).then(|| time / f64::from(runs));
        Some(
            mean(self.reproduced.duration_ms, self.reproduced.runs)?
                / mean(alone.duration_ms, alone.runs)?,
        )
    }
}

impl Pinned {
    /// `20 of 20, 0 of 20 (cannot-come-about)`: failures in the buggy twin, and in the fixed one with the answer.
    pub fn in_short(&self) -> String {
        let failures = |checked: &Checked| format!("{} of {}", checked.failed, checked.runs);
        let buggy = self.buggy.as_ref().map_or_else(|| "-".to_owned(), failures);
        let with_answer = |checked: &Checked| format!("{} ({})", failures(checked), checked.answer);
        let fixed = self.fixed.as_ref().map_or_else(|| "-".to_owned(), with_answer);
        format!("{buggy}, {fixed}")
    }

    /// The reproducer makes the buggy twin fail.
    pub fn fails(&self) -> bool {
        self.buggy.as_ref().is_some_and(|checked| checked.failed > 0)
    }

    /// It makes the fixed twin fail.
    pub fn spoils(&self) -> bool {
        self.fixed.as_ref().is_some_and(|checked| checked.failed > 0)
    }
}

/// What is seen of a subject, or was seen the last time if that will do. Each is kept as soon as it is there.
pub fn measure(subject: &Subject, command: &Path, options: &Options) -> Result<Row, Problem> {
    let file = options.folder_of(subject)?.join("measured.json");
    let kept = fs::read_to_string(&file).ok().filter(|_| options.again);
    let kept: Option<Row> = kept.and_then(|text| serde_json::from_str(&text).ok());
    // Some were measured before reproducers were.
    if let Some(row) = kept.filter(|row| row.pinned.is_some() || row.trouble.is_some()) {
        return Ok(row);
    }
    let row = measure_anew(subject, command, options)?;
    let text = serde_json::to_string_pretty(&row).unwrap_or_default();
    fs::write(&file, text).map_err(|error| {
        Problem::own_fault("what was measured cannot be kept").at("file", file.display()).why(error)
    })?;
    Ok(row)
}

fn measure_anew(subject: &Subject, command: &Path, options: &Options) -> Result<Row, Problem> {
    let folder = options.folder_of(subject)?;
    let buggy = build(subject, Twin::Buggy, Tool::Unpick(command), &options.work()?)?;
    let _ = fs::remove_dir_all(folder.join(".unpick"));
    hunt(subject, command, &buggy, &folder, options)?;
    let unpick = Unpick { command, folder };
    let mut row = Row { name: subject.name.clone(), ..Row::default() };
    // A subject that cannot be forced is a row of the table, not the end of the benchmark.
    if let Err(problem) = fill(&mut row, subject, &unpick, &buggy, command, options) {
        row.trouble = Some(problem.to_string().lines().take(3).collect::<Vec<_>>().join(" "));
    }
    Ok(row)
}

fn hunt(
    subject: &Subject,
    unpick: &Path,
    program: &Path,
    folder: &Path,
    options: &Options,
) -> Result<(), Problem> {
    let store = folder.join(".unpick");
    let timeout = if subject.hangs() { "1s" } else { "20s" };
    let hunt = Hunt { unpick, subject, program, store, bound: Bound::Time(&options.time), timeout };
    hunt.run().map(drop)
}

fn fill(
    row: &mut Row,
    subject: &Subject,
    unpick: &Unpick<'_>,
    buggy: &Path,
    command: &Path,
    options: &Options,
) -> Result<(), Problem> {
    unpick.findings().ok_or_else(nothing_found)?;
    // As a hunt does by itself, unless it is told not to: what leads is what was confirmed.
    let findings = unpick.confirm(CONFIRMED_BY)?;
    judge(row, subject, &findings);
    let hang = explained_hang(&findings);
    row.pattern = match hang {
        Some(hang) if hang.deadlock => "deadlock".to_owned(),
        Some(_) => "lost".to_owned(),
        None => findings.findings.first().ok_or_else(nothing_found)?.pattern.clone(),
    };
    let hung = hang.map(|hang| hang.example_run);
    row.reproduced = unpick.reproduce(hung, options.runs)?;
    row.pinned = Some(pinned(subject, unpick, hung, buggy, command, options)?);
    Ok(())
}

fn pinned(
    subject: &Subject,
    unpick: &Unpick<'_>,
    hung: Option<u32>,
    buggy: &Path,
    command: &Path,
    options: &Options,
) -> Result<Pinned, Problem> {
    let file = unpick.pin(hung)?;
    let fixed = build(subject, Twin::Fixed, Tool::Unpick(command), &options.work()?)?;
    Ok(Pinned {
        buggy: unpick.check(&file, buggy, &subject.arguments),
        fixed: unpick.check(&file, &fixed, &subject.arguments),
    })
}

/// A deadlock or a lost notification, if that is how failing runs failed.
fn explained_hang(findings: &Findings) -> Option<&HangGroup> {
    findings.hangs.iter().find(|hang| hang.is_explained())
}

fn judge(row: &mut Row, subject: &Subject, findings: &Findings) {
    let truth = Truth::of(subject);
    let is_true = |finding: &Finding| truth.as_ref().is_some_and(|truth| truth.is_in(finding));
    let of_hang = explained_hang(findings).and_then(|hang| hang.confirmed);
    let of_truth = findings.findings.iter().find(|finding| is_true(finding));
    let confirmed = of_hang.or(of_truth.and_then(|finding| finding.confirmed));
    row.verdict = confirmed.map(|confirmed| confirmed.verdict);
    let is_wrong = |finding: &&Finding| {
        finding.confirmed.is_some_and(|by| by.verdict == Confirmation::Cause) && !is_true(finding)
    };
    row.wrong_causes = findings.findings.iter().filter(is_wrong).count() as u32;
}

fn nothing_found() -> Problem {
    Problem::own_fault("the hunt found nothing to force")
}
