//! The ranked findings as plain text.
//!
//! Takes   `Findings`.      Gives  text of a few lines per finding. The one place where a hunt's findings become text.

use std::fmt::Write;

use unpick_findings::{AccessKind, Class, Finding, FindingAccess, Findings};

/// The list, the most suspicious first.
pub fn print_findings(findings: &Findings) -> String {
    let blocks = findings.findings.iter().map(|finding| block(finding, findings));
    blocks.collect::<Vec<_>>().join("\n")
}

/// A finding in a few words: `order violation (P2) on fifo.mut, score 0.52`.
pub fn headline(finding: &Finding) -> String {
    let Finding { score, pattern, .. } = finding;
    let variable = finding.accesses.first().and_then(|access| access.variable.as_deref());
    let on = variable.map(|variable| format!(" on {variable}")).unwrap_or_default();
    format!("{} ({pattern}){on}, score {score:.2}", class(finding.class))
}

fn block(finding: &Finding, all: &Findings) -> String {
    let Finding { rank, score, pattern, .. } = finding;
    let class = class(finding.class);
    let mut text = format!(
        "{rank}. {class} ({pattern}), score {score:.2}: in {} of {} failing and {} of {} passing runs\n   {}\n",
        finding.failed_runs,
        all.runs.failed,
        finding.passed_runs,
        all.runs.passed,
        finding.sentence,
    );
    let variables: Vec<_> = finding.accesses.iter().map(variable).collect();
    let width = variables.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    for (access, variable) in finding.accesses.iter().zip(&variables) {
        let (role, kind, place) = (access.role, kind(access.kind), place(access));
        // Writing to a string cannot fail.
        let _ = writeln!(text, "     thread {role}  {kind:<6}  {variable:<width$}  {place}");
    }
    text
}

fn class(class: Class) -> &'static str {
    match class {
        Class::Order => "order violation",
        Class::SingleVariable => "atomicity violation on one variable",
        Class::MultiVariable => "atomicity violation on two variables",
    }
}

fn kind(kind: AccessKind) -> &'static str {
    match kind {
        AccessKind::Read => "reads",
        AccessKind::Write => "writes",
        AccessKind::Free => "frees",
    }
}

fn variable(access: &FindingAccess) -> String {
    access.variable.clone().unwrap_or_else(|| "(no name)".to_owned())
}

/// `look bank.c:23:10`, as much as is known of it.
fn place(access: &FindingAccess) -> String {
    let frame = &access.frame;
    let function = frame.function.clone();
    let line = frame.file.as_ref().map(|file| {
        let numbers = [frame.line, frame.column].into_iter().flatten();
        numbers.fold(file.clone(), |text, number| format!("{text}:{number}"))
    });
    let words: Vec<_> = [function, line].into_iter().flatten().collect();
    if words.is_empty() { access.code.offset.clone() } else { words.join(" ") }
}
