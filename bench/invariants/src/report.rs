//! The report: one Markdown section, for the terminal and for docs/RESULTS.md alike.

use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};

use crate::bugs::{Found, Row as BugRow};
use crate::kernels::Row as KernelRow;
use crate::options::Options;
use crate::peers::Reports;

pub fn section(
    bugs: &[BugRow],
    kernels: &[KernelRow],
    options: &Options,
    load_before: &str,
) -> String {
    let parts = [
        "## Invariants".to_owned(),
        setting_of(options, load_before),
        format!("### Figures: invariants\n\n{}", figures_table(&figures(bugs, kernels))),
        format!("### Beside AVIO's Table 3\n\n{}\n\n{BUGS_LEGEND}", bugs_table(bugs)),
        format!(
            "### Bug-free kernels, beside AVIO's Table 4\n\n{}\n\n{KERNELS_LEGEND}",
            kernels_table(kernels)
        ),
    ];
    parts.join("\n\n")
}

const BUGS_LEGEND: &str = "\
Found: in the first run after training that failed, a violation was reported whose I-access and one of whose remote accesses are on the marked lines; in brackets the paper's answer. \
Runs: how many it took until one failed. Others: further violations of that run, by lines. Detectors: different reports in a run, at most; in brackets whether the paper's \
lockset (Helgrind's column) and happens-before (the others') detect the bug.";

const KERNELS_LEGEND: &str = "\
Different violations in all runs after training, by lines; none of them is a bug. In brackets: AVIO-H in the paper.";

fn setting_of(options: &Options, load_before: &str) -> String {
    let further = [
        format!("load averages before the first run: {load_before}"),
        format!(
            "{} training runs with another input; simulated caches of {} bytes in lines of {} per thread",
            options.training, options.cache, options.line
        ),
        format!("command: `{}`", command_line("unpick-bench-invariants", std::env::args())),
    ];
    setting(&["gcc", "valgrind"], &further)
}

fn figures(bugs: &[BugRow], kernels: &[KernelRow]) -> Vec<Figure> {
    let single: Vec<_> = bugs.iter().filter(|row| row.is_single_variable()).collect();
    let found = single.iter().filter(|row| row.software.is_reported).count();
    let silent: Vec<_> = single
        .iter()
        .filter(|row| row.software.is_reported && row.subject.race_free && row.peers.are_silent())
        .map(|row| row.subject.name.clone())
        .collect();
    let falsely: usize = kernels.iter().map(|row| row.software).sum();
    let by_hardware: usize = kernels.iter().map(|row| row.hardware).sum();
    vec![
        Figure {
            name: "single-variable bugs of AVIO's Table 3 found".to_owned(),
            target: "all".to_owned(),
            measured: format!("{found} of {}", single.len()),
            verdict: verdict(found == single.len()),
        },
        Figure {
            name: "race-free one found where Helgrind, DRD and ThreadSanitizer are silent"
                .to_owned(),
            target: "at least one".to_owned(),
            measured: if silent.is_empty() { "none".to_owned() } else { silent.join(", ") },
            verdict: verdict(!silent.is_empty()),
        },
        Figure {
            name: format!("false positives on {} kernels, software", kernels.len()),
            target: "0".to_owned(),
            measured: falsely.to_string(),
            verdict: verdict(falsely == 0),
        },
        Figure {
            name: "the same, simulated hardware".to_owned(),
            target: "none set".to_owned(),
            measured: by_hardware.to_string(),
            verdict: "for comparison",
        },
    ]
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn bugs_table(rows: &[BugRow]) -> String {
    let mut lines = vec![words([
        "bug",
        "subject",
        "trained",
        "invariants",
        "software",
        "runs",
        "others",
        "hardware",
        "runs",
        "others",
        "Helgrind",
        "DRD",
        "TSan",
    ])];
    lines.extend(rows.iter().map(bug_line));
    table(&lines)
}

fn bug_line(row: &BugRow) -> Vec<String> {
    let [by_hardware, by_software, lockset, happens_before] = row.kind.paper_found;
    let counts = |found: &Found| [found.runs.to_string(), found.others.to_string()];
    let mut line = vec![
        row.kind.paper.to_owned(),
        row.subject.name.clone(),
        row.trained_runs.to_string(),
        row.software.invariants.to_string(),
        answer(&row.software, by_software),
    ];
    line.extend(counts(&row.software));
    line.push(answer(&row.hardware, by_hardware));
    line.extend(counts(&row.hardware));
    line.push(reports(row.peers.helgrind, lockset));
    line.extend([row.peers.drd, row.peers.tsan].map(|peer| reports(peer, happens_before)));
    line
}

fn answer(found: &Found, in_paper: bool) -> String {
    let ours = match (found.failed, found.is_reported) {
        (false, _) => "no run failed",
        (true, true) => "found",
        (true, false) => "not found",
    };
    format!("{ours} ({})", yes(in_paper))
}

fn reports(reports: Reports, in_paper: bool) -> String {
    let ours = reports.map_or_else(|| "did not run".to_owned(), |count| count.to_string());
    format!("{ours} ({})", yes(in_paper))
}

fn yes(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

fn kernels_table(rows: &[KernelRow]) -> String {
    let mut lines =
        vec![words(["kernel", "invariants", "software", "invariants in hardware", "hardware"])];
    lines.extend(rows.iter().map(|row| {
        let paper = row.kernel.paper.map(|count| format!(" ({count})")).unwrap_or_default();
        vec![
            row.kernel.name.to_owned(),
            row.software_invariants.to_string(),
            row.software.to_string(),
            row.hardware_invariants.to_string(),
            format!("{}{paper}", row.hardware),
        ]
    }));
    table(&lines)
}
