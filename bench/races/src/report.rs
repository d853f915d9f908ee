//! The report: one Markdown section, for the terminal and for docs/RESULTS.md alike.

use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};

use crate::judged::Judged;
use crate::options::Options;
use crate::programs::Verdict;
use crate::subjects::{DETECTORS, Row};

pub fn section(
    judged: &[Judged],
    subjects: &[Row],
    options: &Options,
    load_before: &str,
) -> String {
    let parts = [
        "## Races".to_owned(),
        setting_of(options, load_before),
        format!("### Figures: races\n\n{}", figures_table(&figures(judged, subjects))),
        format!(
            "### Small programs\n\n{}\n\n{LEGEND}\n\n{}",
            kinds_table(judged),
            disagreements(judged)
        ),
        format!(
            "### Multi-variable bugs, beside MUVI's Table 8\n\n{}\n\n{SUBJECTS_LEGEND}",
            subjects_table(subjects)
        ),
    ];
    parts.join("\n\n")
}

const LEGEND: &str = "\
Programs by what synchronises them, or should. Right: the verdict of every run is what is true, and a report names a line of the race.";

const SUBJECTS_LEGEND: &str = "\
Plain: reports of the detector without correlations. Found: the extension reports accesses of both variables on the marked lines; in brackets the paper's answer. Others: its further reports, in \
brackets the paper's false positives. Fixed: its reports about the fixed twin. Correlations: from the source, by `unpick correlate`, or mined from the recordings.";

fn setting_of(options: &Options, load_before: &str) -> String {
    let further = [
        format!("load averages before the first run: {load_before}"),
        format!(
            "{} runs of each program by each detector; of subjects with several variables {}",
            options.runs, options.subject_runs
        ),
        format!("command: `{}`", command_line("unpick-bench-races", std::env::args())),
    ];
    setting(&["gcc"], &further)
}

fn figures(judged: &[Judged], subjects: &[Row]) -> Vec<Figure> {
    // Of what was left out nothing is said.
    let mut figures = Vec::new();
    if !judged.is_empty() {
        figures.extend(program_figures(judged));
    }
    if !subjects.is_empty() {
        figures.extend(subject_figures(subjects));
    }
    figures
}

fn subject_figures(subjects: &[Row]) -> Vec<Figure> {
    let found = subjects.iter().filter(|row| row.is_found == [true; 2]).count();
    let plain: usize = subjects.iter().flat_map(|row| row.plain).sum();
    let false_reports = |row: &Row| row.others.into_iter().chain(row.fixed).max().unwrap_or(0);
    let most_false = subjects.iter().map(false_reports).max().unwrap_or(0);
    vec![
        Figure {
            name: "MUVI's multi-variable bugs found by both extensions".to_owned(),
            target: "all".to_owned(),
            measured: format!("{found} of {}", subjects.len()),
            verdict: verdict(found == subjects.len()),
        },
        Figure {
            name: "reports of the plain detectors about them".to_owned(),
            target: "0".to_owned(),
            measured: plain.to_string(),
            verdict: verdict(plain == 0),
        },
        Figure {
            name: "additional false reports of an extension, at most".to_owned(),
            target: "2".to_owned(),
            measured: most_false.to_string(),
            verdict: verdict(most_false <= 2),
        },
    ]
}

fn program_figures(judged: &[Judged]) -> Vec<Figure> {
    let no_worse = judged.iter().filter(|one| one.is_no_worse()).count();
    let right = |verdict: Verdict| {
        let of_verdict = judged.iter().filter(move |one| one.program.verdict == verdict);
        let all = of_verdict.clone().count();
        (of_verdict.filter(|one| one.own_is_right()).count(), all)
    };
    let (racy, clean) = (right(Verdict::Racy), right(Verdict::Clean));
    let is_quiet = |one: &&Judged| one.program.verdict == Verdict::Clean && one.own.alarming == 0;
    let quiet = (judged.iter().filter(is_quiet).count(), clean.1);
    let explained = judged.iter().filter(|one| one.is_explained()).count();
    let count = |(part, whole): (usize, usize)| format!("{part} of {whole}");
    vec![
        Figure {
            name: "same verdict as gcc's ThreadSanitizer or better".to_owned(),
            target: "all".to_owned(),
            measured: count((no_worse, judged.len())),
            verdict: verdict(no_worse == judged.len()),
        },
        Figure {
            name: "racy programs: race reported, in its place".to_owned(),
            target: "all".to_owned(),
            measured: count(racy),
            verdict: verdict(racy.0 == racy.1),
        },
        Figure {
            name: "clean programs: nothing reported".to_owned(),
            target: "all".to_owned(),
            measured: count(clean),
            verdict: verdict(clean.0 == clean.1),
        },
        Figure {
            name: "clean programs: no alarm by either detector, as `unpick races` is by default"
                .to_owned(),
            target: "all".to_owned(),
            measured: count(quiet),
            verdict: verdict(quiet.0 == quiet.1),
        },
        Figure {
            name: "ThreadSanitizer right, or wrong as explained".to_owned(),
            target: "all".to_owned(),
            measured: count((explained, judged.len())),
            verdict: verdict(explained == judged.len()),
        },
    ]
}

/// One row per kind of synchronisation.
fn kinds_table(judged: &[Judged]) -> String {
    let head = ["synchronisation", "racy", "Unpick", "TSan", "clean", "Unpick", "TSan"];
    let mut kinds: Vec<&str> = judged.iter().map(|one| one.program.kind.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(kinds.into_iter().map(|kind| kind_row(kind, judged)));
    table(&rows)
}

fn kind_row(kind: &str, judged: &[Judged]) -> Vec<String> {
    let mut row = vec![kind.to_owned()];
    for verdict in [Verdict::Racy, Verdict::Clean] {
        let of_both = |one: &&Judged| one.program.kind == kind && one.program.verdict == verdict;
        let all: Vec<&Judged> = judged.iter().filter(of_both).collect();
        let own = all.iter().filter(|one| one.own_is_right()).count();
        let tsan = all.iter().filter(|one| one.tsan_is_right()).count();
        let figures = [all.len(), own, tsan];
        row.extend(
            figures.map(|count| if all.is_empty() { "-".into() } else { count.to_string() }),
        );
    }
    row
}

fn subjects_table(rows: &[Row]) -> String {
    let of_detector = |name: &str| {
        ["plain", "found", "others", "fixed"].map(|column| format!("{name}: {column}"))
    };
    let mut head = ["bug", "subject", "correlations"].map(str::to_owned).to_vec();
    head.extend(DETECTORS.iter().flat_map(|name| of_detector(name)));
    let mut lines = vec![head];
    lines.extend(rows.iter().map(subject_row));
    table(&lines)
}

fn subject_row(row: &Row) -> Vec<String> {
    let yes = |is: bool| if is { "yes" } else { "no" };
    let mut line = [row.bug.paper, row.bug.subject, row.mined_from].map(str::to_owned).to_vec();
    for at in 0..DETECTORS.len() {
        let (in_paper, false_in_paper) = row.bug.in_paper[at];
        line.extend([
            row.plain[at].to_string(),
            format!("{} ({})", yes(row.is_found[at]), yes(in_paper)),
            format!("{} ({false_in_paper})", row.others[at]),
            row.fixed[at].to_string(),
        ]);
    }
    line
}

/// Where one of both is wrong, and why.
fn disagreements(judged: &[Judged]) -> String {
    let wrong = judged.iter().filter(|one| !one.own_is_right() || !one.tsan_is_right());
    let lines: Vec<String> = wrong.map(disagreement).collect();
    if lines.is_empty() {
        return "All verdicts of both are right.".to_owned();
    }
    format!("Where one of both is wrong:\n\n{}", lines.join("\n"))
}

fn disagreement(one: &Judged) -> String {
    let truth = one.program.verdict;
    let why = match &one.program.peer {
        Some(peer) => format!("ThreadSanitizer: {}", peer.why),
        None => "not explained.".to_owned(),
    };
    format!(
        "- `{}` is {}: {} Unpick says {}, ThreadSanitizer says {}. {why}",
        one.program.name(),
        truth.name(),
        one.program.why,
        one.own.words(truth),
        one.tsan.words(truth)
    )
}
