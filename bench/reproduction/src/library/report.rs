//! The section of docs/RESULTS.md.

use unpick_bench_results::{
    Figure, command_line, figures_table, geometric_mean, setting, table, verdict,
};

use crate::library::{OrderRow, Row};

/// What every breakpoint must reach.
const TARGET: f64 = 0.99;

pub fn section(rows: &[Row], orders: &[OrderRow], load_before: &str) -> String {
    let command = command_line("unpick-bench-reproduction", std::env::args());
    let runs = rows.first().map_or(0, |row| row.with.runs);
    let further = [
        format!("load before (1, 5 and 15 minutes): {load_before}"),
        format!("{runs} runs each"),
        format!("command: `{command}`"),
    ];
    let facts = setting(&["gcc", "rustc"], &further);
    let mut parts = vec![
        "## Reproduction by breakpoints in the source".to_owned(),
        facts,
        figures_table(&figures(rows)),
        subjects_table(rows),
        NOTE.to_owned(),
    ];
    if !orders.is_empty() {
        parts.extend([
            "log4j, all orders of two places that contend:".to_owned(),
            orders_table(orders),
        ]);
    }
    parts.join("\n\n")
}

const NOTE: &str = "`paper` is the probability in BTrigger's Table 1 (pause 100 ms), for the program the subject is named after. Times are of runs that ended, \
in milliseconds, with the start of the process; a program that fails early is faster.";

fn figures(rows: &[Row]) -> Vec<Figure> {
    let share = |row: &Row| row.with.share(row.with.hits);
    let least = rows.iter().map(share).fold(1.0, f64::min);
    let reached = rows.iter().filter(|row| share(row) >= TARGET).count();
    let failing = rows.iter().filter(|row| row.with.share(row.with.failed) >= TARGET).count();
    let ratios: Vec<f64> = rows.iter().filter_map(ratio).collect();
    vec![
        Figure {
            name: "hit probability, the lowest".to_owned(),
            target: format!("{TARGET}"),
            measured: format!("{least:.2}"),
            verdict: verdict(least >= TARGET),
        },
        Figure {
            name: format!("subjects hit in {:.0} % of runs", 100.0 * TARGET),
            target: format!("{}", rows.len()),
            measured: format!("{reached}"),
            verdict: verdict(reached == rows.len()),
        },
        Figure {
            name: format!("subjects that fail in {:.0} % of runs", 100.0 * TARGET),
            target: format!("{}", rows.len()),
            measured: format!("{failing}"),
            verdict: verdict(failing == rows.len()),
        },
        Figure {
            name: "time with / without, geometric mean".to_owned(),
            target: String::new(),
            measured: geometric_mean(&ratios).map_or_else(String::new, |mean| format!("{mean:.2}")),
            verdict: "",
        },
    ]
}

fn ratio(row: &Row) -> Option<f64> {
    Some(row.with.mean_seconds()? / row.without.mean_seconds()?)
}

fn subjects_table(rows: &[Row]) -> String {
    let head = [
        "subject",
        "in the paper",
        "options",
        "hit",
        "paper",
        "fails",
        "fails without",
        "ms",
        "ms without",
        "ratio",
    ];
    let line = |row: &Row| {
        let Row { case, with, without } = row;
        let milliseconds =
            |seconds: Option<f64>| seconds.map_or_else(dash, |it| format!("{:.1}", 1000.0 * it));
        vec![
            case.subject.to_owned(),
            case.original.to_owned(),
            case.remark.to_owned(),
            format!("{:.2}", with.share(with.hits)),
            case.probability.map_or_else(dash, |it| format!("{it:.2}")),
            format!("{:.2}", with.share(with.failed)),
            format!("{:.2}", without.share(without.failed)),
            milliseconds(with.mean_seconds()),
            milliseconds(without.mean_seconds()),
            ratio(row).map_or_else(dash, |it| format!("{it:.2}")),
        ]
    };
    let head = head.map(str::to_owned).to_vec();
    table(&std::iter::once(head).chain(rows.iter().map(line)).collect::<Vec<_>>())
}

fn dash() -> String {
    "-".to_owned()
}

fn orders_table(orders: &[OrderRow]) -> String {
    let head = ["order", "hung %", "paper", "hit %", "paper"].map(str::to_owned).to_vec();
    let percent = |share: f64| format!("{:.0}", 100.0 * share);
    let line = |row: &OrderRow| {
        vec![
            format!("{} before {}", row.order.first, row.order.then),
            percent(row.tally.share(row.tally.hung)),
            percent(row.order.paper_hung),
            percent(row.tally.share(row.tally.hits)),
            percent(row.order.paper_hit),
        ]
    };
    table(&std::iter::once(head).chain(orders.iter().map(line)).collect::<Vec<_>>())
}
