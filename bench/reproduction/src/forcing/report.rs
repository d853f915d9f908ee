//! The section of docs/RESULTS.md.

use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};
use unpick_findings::Confirmation;

use super::measure::{Pinned, Row};

/// Failing runs of a hundred.
const TARGET: f64 = 0.99;
const SLOWEST: f64 = 1.4;
/// Requests served in a loop; milliseconds.
const SERVERS: [&str; 6] =
    ["mysql-log", "mysql-log-rust", "mysql-case5", "mysql-case2", "jigsaw", "jigsaw-rust"];
const LATEST: f64 = 1000.0;

pub fn section(rows: &[Row], load_before: &str) -> String {
    let command = command_line("unpick-bench-reproduction", std::env::args());
    let further = [
        format!("load before (1, 5 and 15 minutes): {load_before}"),
        format!("command: `{command}`"),
    ];
    [
        "## Reproduction by `unpick reproduce`".to_owned(),
        setting(&["gcc", "rustc"], &further),
        figures_table(&figures(rows)),
        subjects_table(rows),
        NOTE.to_owned(),
    ]
    .join("\n\n")
}

const NOTE: &str = "`alone` is the same instrumented program with nothing forced and no delays. `until` is the median time from the start of a run until the order came \
about, in milliseconds. `pinned` is how many of 20 runs of `unpick check` failed by the reproducer that `unpick pin` makes of it, in the buggy and in the fixed twin, and what it says of the fixed one.";

fn share(row: &Row) -> f64 {
    f64::from(row.reproduced.failed) / f64::from(row.reproduced.runs.max(1))
}

fn figures(rows: &[Row]) -> Vec<Figure> {
    let all = rows.len();
    let count = |is: &dyn Fn(&Row) -> bool| rows.iter().filter(|row| is(row)).count();
    let failing = count(&|row| share(row) >= TARGET);
    let causes = count(&|row| row.verdict == Some(Confirmation::Cause));
    let wrong: u32 = rows.iter().map(|row| row.wrong_causes).sum();
    let pinned = count(&|row| row.pinned.as_ref().is_some_and(Pinned::fails));
    let spoilt = count(&|row| row.pinned.as_ref().is_some_and(Pinned::spoils));
    let middle = median(rows.iter().filter_map(Row::ratio).collect());
    let servers = rows.iter().filter(|row| SERVERS.contains(&row.name.as_str()));
    let until: Vec<f64> = servers.filter_map(|row| row.reproduced.median_until_hit_ms).collect();
    let latest = until.iter().copied().fold(0.0, f64::max);
    let counted = |name: &str, target: String, measured: usize, reached: bool| Figure {
        name: name.to_owned(),
        target,
        measured: measured.to_string(),
        verdict: verdict(reached),
    };
    vec![
        counted(
            "subjects that fail in 99 % of forced runs",
            all.to_string(),
            failing,
            failing == all,
        ),
        counted("verdict of the true cause is `cause`", all.to_string(), causes, causes == all),
        counted("other findings called the cause", "0".to_owned(), wrong as usize, wrong == 0),
        Figure {
            name: "run time forced / left alone, median".to_owned(),
            target: format!("{SLOWEST}"),
            measured: middle.map_or_else(String::new, |middle| format!("{middle:.2}")),
            verdict: verdict(middle.is_some_and(|middle| middle <= SLOWEST)),
        },
        Figure {
            name: format!("time to error of {} server-like subjects, the longest, ms", until.len()),
            target: format!("{LATEST:.0}"),
            measured: format!("{latest:.0}"),
            verdict: verdict(latest < LATEST),
        },
        counted(
            "buggy twins that fail under the reproducer",
            all.to_string(),
            pinned,
            pinned == all,
        ),
        counted("fixed twins that fail under the reproducer", "0".to_owned(), spoilt, spoilt == 0),
    ]
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn subjects_table(rows: &[Row]) -> String {
    let head = [
        "subject",
        "forced",
        "runs",
        "hit",
        "failed",
        "alone failed",
        "ms",
        "alone ms",
        "until",
        "verdict",
        "wrong causes",
        "pinned: buggy, fixed",
    ];
    let head = head.map(str::to_owned).to_vec();
    table(&[vec![head], rows.iter().map(line).collect()].concat())
}

fn line(row: &Row) -> Vec<String> {
    let forced = &row.reproduced;
    let mean = |time: f64, runs: u32| format!("{:.0}", time / f64::from(runs.max(1)));
    let alone = forced.left_alone.as_ref();
    let verdict = row.verdict.map_or("-", Confirmation::name);
    vec![
        row.name.clone(),
        row.pattern.clone(),
        forced.runs.to_string(),
        forced.hits.to_string(),
        forced.failed.to_string(),
        alone.map_or_else(String::new, |alone| format!("{} of {}", alone.failed, alone.runs)),
        mean(forced.duration_ms, forced.runs),
        alone.map_or_else(String::new, |alone| mean(alone.duration_ms, alone.runs)),
        forced.median_until_hit_ms.map_or_else(String::new, |until| format!("{until:.0}")),
        row.trouble.clone().unwrap_or_else(|| verdict.to_owned()),
        row.wrong_causes.to_string(),
        row.pinned.as_ref().map_or_else(|| "-".to_owned(), Pinned::in_short),
    ]
}
