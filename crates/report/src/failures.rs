//! How runs failed and what they said: kinds of failures in one line, and an excerpt of what one run printed.

use unpick_findings::{FailureGroup, Findings, Stream};

use crate::Style;
use crate::layout::paragraph;

/// Kinds of failures in the line; there may be one per run.
const MAX_KINDS: usize = 5;

/// `23 × "lost job N", exit code 1; 2 × SIGSEGV`; none: no run failed, nothing is known about how, or all hung, which is described by
/// itself.
pub fn kinds(findings: &Findings) -> Option<String> {
    if findings.failures.iter().all(FailureGroup::is_hang_only) {
        return None;
    }
    let shown = findings.failures.iter().take(MAX_KINDS).map(kind);
    let mut kinds = shown.collect::<Vec<_>>().join("; ");
    let others = findings.failures.iter().skip(MAX_KINDS);
    let (kinds_left, runs_left) =
        others.fold((0, 0), |(kinds, runs), group| (kinds + 1, runs + group.failed_runs));
    if kinds_left > 0 {
        kinds += &format!("; {runs_left} × {kinds_left} other kinds");
    }
    (!kinds.is_empty()).then_some(kinds)
}

fn kind(group: &FailureGroup) -> String {
    let FailureGroup { failed_runs, ending, .. } = group;
    match &group.message {
        Some(message) => format!("{failed_runs} × \"{message}\", {ending}"),
        None => format!("{failed_runs} × {ending}"),
    }
}

/// The same with what a run of the most frequent kind that printed anything said; empty if nothing is known.
pub fn failures(findings: &Findings, style: &Style) -> String {
    let Some(kinds) = kinds(findings) else { return String::new() };
    let heading = style.paint().heading("Failures");
    let mut text = format!("{heading}\n\n{}", paragraph(&kinds, style.columns(), "  "));
    if let Some(group) = findings.failures.iter().find(|group| !group.output.is_empty()) {
        text += &excerpt(group, style);
    }
    text + "\n"
}

fn excerpt(group: &FailureGroup, style: &Style) -> String {
    let FailureGroup { example_run, ending, .. } = group;
    let stream = match group.stream {
        Some(Stream::Stdout) => "standard output",
        _ => "standard error",
    };
    let more = style.command(&format!("show --run {example_run}"));
    let mut text = format!("\n  run {example_run} ({ending}) on {stream} ({more}):\n");
    for line in &group.output {
        text += &format!("  | {line}\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use unpick_findings::Runs;

    use super::*;

    fn group(failed_runs: u32, message: Option<&str>, ending: &str) -> FailureGroup {
        FailureGroup {
            message: message.map(str::to_owned),
            ending: ending.to_owned(),
            failed_runs,
            example_run: 7,
            stream: message.map(|_| Stream::Stderr),
            output: message.map(str::to_owned).into_iter().collect(),
        }
    }

    fn findings(failures: Vec<FailureGroup>) -> Findings {
        let runs = Runs { total: 30, passed: 5, failed: 25, unusable: 0 };
        Findings { failures, ..Findings::of_hangs(runs, "jaccard", Vec::new()) }
    }

    #[test]
    fn kinds_are_counted_and_what_one_run_said_is_shown() {
        let style = Style {
            width: 80,
            colour: false,
            folder: Default::default(),
            kept_lines: Default::default(),
            command_options: " --store s".to_owned(),
        };
        let two =
            findings(vec![group(2, None, "SIGSEGV"), group(23, Some("lost job N"), "exit code 1")]);
        let expected = "Failures\n\n  2 × SIGSEGV; 23 × \"lost job N\", exit code 1\n\n  \
            run 7 (exit code 1) on standard error (unpick show --run 7 --store s):\n  | lost job N\n\n";
        assert_eq!(failures(&two, &style), expected);
        assert_eq!(failures(&findings(Vec::new()), &style), "");
        assert_eq!(failures(&findings(vec![group(2, None, "hung")]), &style), "");
    }

    #[test]
    fn many_kinds_are_summed_up() {
        let many = findings((0..8).map(|_| group(2, None, "SIGSEGV")).collect());
        assert!(kinds(&many).is_some_and(|kinds| kinds.ends_with("; 6 × 3 other kinds")));
    }
}
