//! One finding in full.

use unpick_findings::{
    Certainty, Confirmation, Finding, Findings, Origin, Packages, SupportingInvariant,
};

use crate::Style;
use crate::layout::{paragraph, printable};
use crate::short_names::with_short_names;
use crate::{calls, excerpts, reconstruction, supporters, table, words};

/// Longest name inside a sentence.
const NAME_COLUMNS: usize = 40;

/// Finding number `number`, from 1, as people read it.
pub fn in_full(findings: &Findings, number: usize, style: &Style) -> Option<String> {
    let finding = findings.findings.get(number.checked_sub(1)?)?;
    let parts = [
        head(findings, finding, number, style),
        why(finding, &findings.packages, style),
        violated_invariants(finding, style),
        order(finding, style),
        excerpts::excerpts(&finding.accesses, style),
        calls::calls(&finding.accesses, style),
        finding
            .reconstruction
            .as_ref()
            .map_or_else(String::new, |one| reconstruction::of_finding(one, &findings.runs, style)),
        supporters::supporters(finding, style),
        format!("make it fail: {}\n", style.command(&format!("reproduce {number}"))),
    ];
    Some(parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn head(findings: &Findings, finding: &Finding, number: usize, style: &Style) -> String {
    let title = format!(
        "Finding {number} of {}: {} ({})",
        findings.findings.len(),
        words::class(finding.class),
        printable(&finding.pattern)
    );
    let figures = figures(findings, finding);
    let told_already = finding.origin == Origin::Forced;
    let confirmed = finding.confirmed.as_ref().filter(|_| !told_already).map(words::confirmed);
    let confirmed =
        confirmed.map_or_else(String::new, |words| paragraph(&words, style.columns(), ""));
    let confirmed =
        confirmed + &unexplained(findings, finding, style) + &doubt(findings, finding, style);
    let rule = "=".repeat(style.columns());
    let (rule, title) = (style.paint().aside(&rule), style.paint().bad(&title));
    format!("{rule}\n{title}\n{figures}\n{confirmed}")
}

/// Of what makes the program fail: the failing runs that it does not explain.
fn unexplained(findings: &Findings, finding: &Finding, style: &Style) -> String {
    let verdict = finding.confirmed.map(|confirmed| confirmed.verdict);
    let explains = matches!(verdict, Some(Confirmation::Cause | Confirmation::Likely));
    let covered = finding.covered_runs.max(finding.failed_runs);
    let left = findings.runs.failed.saturating_sub(covered);
    if !explains || left == 0 || finding.origin == Origin::Forced {
        return String::new();
    }
    let failed = findings.runs.failed;
    let text = format!(
        "{left} of {failed} failing runs have neither this order nor one like it in the same functions: there may be another cause"
    );
    paragraph(&text, style.columns(), "")
}

/// Of the first finding: that it is not proven, and what can be done about it.
fn doubt(findings: &Findings, finding: &Finding, style: &Style) -> String {
    let is_first = findings.findings.first() == Some(finding);
    let why = match findings.certainty() {
        Certainty::Unsure if is_first => match finding.confirmed {
            None => "no experiment was made on it",
            Some(_) => "no experiment has shown that it is the root cause",
        },
        Certainty::Likely if is_first => match finding.confirmed.and_then(|one| one.doubt) {
            Some(doubt) => words::doubt(doubt),
            None => "a part of the proof is missing",
        },
        _ => return String::new(),
    };
    let command = style.command("confirm --time 5m");
    paragraph(
        &format!("not sure: best guess, {why}; more experiments: {command}"),
        style.columns(),
        "",
    )
}

fn figures(findings: &Findings, finding: &Finding) -> String {
    match (finding.origin, finding.confirmed) {
        (Origin::Forced, Some(confirmed)) => format!(
            "found by forcing it: {} of {} failed, inverted {} of {}: {}",
            confirmed.forced_failures,
            confirmed.forced_hits,
            confirmed.inverse_failures,
            confirmed.inverse_hits,
            confirmed.verdict.name()
        ),
        (Origin::Forced, None) => "found by forcing it".to_owned(),
        (Origin::Correlated | Origin::Inferred, _) => format!(
            "rank {}, score {:.2}; in {} of {} failing and {} of {} passing runs",
            finding.rank,
            finding.score,
            finding.failed_runs,
            findings.runs.failed,
            finding.passed_runs,
            findings.runs.passed
        ),
    }
}

fn why(finding: &Finding, packages: &Packages, style: &Style) -> String {
    let sentence = with_short_names(&printable(&finding.sentence), NAME_COLUMNS);
    let cut_short = match finding.cut_short {
        true => {
            " Failing runs ended soon after: this is what all of them share, and more may belong to it."
        }
        false => "",
    };
    let consequence = match finding.in_failing_code {
        true => {
            " Only failing runs execute some of this code: it is a consequence rather than the cause."
        }
        false => "",
    };
    let together = finding
        .correlation
        .as_ref()
        .map(|known| format!(" {}", with_short_names(&printable(&known.sentence), NAME_COLUMNS)));
    let together = together.unwrap_or_default();
    let inside = inside_packages(finding, packages);
    paragraph(&format!("{sentence}{cut_short}{consequence}{together}{inside}"), style.columns(), "")
}

/// Code that the user did not write is said to be somebody else's.
fn inside_packages(finding: &Finding, named: &Packages) -> String {
    let packages = finding.packages(named);
    let packages: Vec<String> = packages.iter().map(|name| printable(name)).collect();
    match packages.as_slice() {
        [] => String::new(),
        [one] => format!(" It is in crate {one}, a dependency."),
        several => format!(" It is in crates {}, dependencies.", several.join(" and ")),
    }
}

/// So many are told.
const MOST_INVARIANTS: usize = 3;

/// What training says about it.
fn violated_invariants(finding: &Finding, style: &Style) -> String {
    let told = finding.invariants.iter().take(MOST_INVARIANTS).map(|invariant| {
        let SupportingInvariant { order, frame, failed_runs, looked_at, trained, .. } = invariant;
        let place = words::brief_place(frame).unwrap_or_else(|| "code without a line".to_owned());
        let function = frame.function.as_deref().map(|name| format!(" in `{name}`"));
        let text = format!(
            "violated invariant: {order} at {place}{}, in {failed_runs} of {looked_at} failing runs; {} of {} training runs did that",
            function.unwrap_or_default(),
            if trained.violated_runs == 0 { "none".to_owned() } else { trained.violated_runs.to_string() },
            trained.runs
        );
        paragraph(&with_short_names(&printable(&text), NAME_COLUMNS), style.columns(), "")
    });
    told.collect()
}

fn order(finding: &Finding, style: &Style) -> String {
    let heading = match finding.origin {
        Origin::Correlated => format!("Order of execution (as in run {})", finding.example_run),
        Origin::Inferred => format!(
            "Order of execution (no failing run lived to make the last access; threads and calls as in run {}, which passed)",
            finding.example_run
        ),
        Origin::Forced => {
            format!(
                "Order of execution (forced; threads and calls as in run {})",
                finding.example_run
            )
        }
    };
    let table = table::table(finding, style);
    format!("{}\n\n{table}{}", style.paint().heading(&heading), origins(finding, style))
}

/// Where variables come from; the table has their names only.
fn origins(finding: &Finding, style: &Style) -> String {
    let mut text = String::new();
    for variable in words::variables(finding) {
        if let (name, Some(origin)) = words::name_and_origin(variable) {
            if text.is_empty() {
                text.push('\n');
            }
            let origin = format!(
                "{}: {}",
                words::variable(Some(&name.to_owned()), NAME_COLUMNS),
                printable(origin)
            );
            text.push_str(&paragraph(&origin, style.columns(), "      "));
        }
    }
    text
}
