//! The report of the reconstruction benchmark.

use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};

use super::Row;
use crate::papers::RECON;

const LEGEND: &str = "\
With the first 25 failing and 25 passing runs of a hunt with delays. Rank: of the first reconstruction that shows the bug, the paper's in brackets. Stories before: pairs of code \
points with a better one. Relevant, others: lines in it. Missing: lines of the true pattern that are not in it. With 15, with 5: rank with fewer failing runs. Whole contexts: rank with contexts as the paper has them. Bugaboo: rank of the \
best edge between two lines of the true pattern, by buggy frequency alone. CCI: rank of the best access at one. KB and ms: stored size of a run's graphs, and time to make them.";

const VARIANTS_LEGEND: &str = "\
Sums over all subjects. Edges: pairs of sites, per run. Lost and spurious: against all accesses that the recordings know. A racy look-up is taken to be late by 4 accesses. \
Recordings keep silent about repeated reads and writes of a thread between two meetings, but for the last: most of what these optimisations save is saved before.";

pub fn section(rows: &[Row], load_before: &str) -> String {
    let further = [
        format!("load averages before: {load_before}"),
        format!(
            "command: `{}`",
            command_line("unpick-bench-ranking --bin reconstructions", std::env::args())
        ),
    ];
    let mut parts = vec![
        "## Reconstructions".to_owned(),
        setting(&["rustc"], &further),
        figures_table(&figures(rows)),
        format!("{}\n\n{LEGEND}", subjects_table(rows)),
    ];
    if rows.iter().any(|row| !row.variants.is_empty()) {
        let variants = variants_table(rows);
        parts.push(format!(
            "What the optimisations save and lose:\n\n{variants}\n\n{VARIANTS_LEGEND}"
        ));
    }
    parts.join("\n\n")
}

/// Subjects of Recon's Table 2 and UNICORN's Table III.
fn is_of_tables(row: &Row) -> bool {
    row.origin.contains("Recon") || row.origin.contains("UNICORN, Table III")
}

fn figures(rows: &[Row]) -> Vec<Figure> {
    let of_tables: Vec<&Row> = rows.iter().filter(|row| is_of_tables(row)).collect();
    let count = |holds: &dyn Fn(&Row) -> bool, some: &[&Row]| {
        let reached = some.iter().filter(|row| holds(row)).count();
        (format!("{reached} of {}", some.len()), verdict(reached == some.len()))
    };
    let all: Vec<&Row> = rows.iter().collect();
    let figure = |name: &str, target: &str, (measured, verdict): (String, _)| Figure {
        name: name.to_owned(),
        target: target.to_owned(),
        measured,
        verdict,
    };
    vec![
        figure(
            "reconstruction of the bug at rank 1, in order, nothing missing: subjects of Recon and UNICORN",
            "every subject",
            count(&|row| row.full.rank == Some(1), &of_tables),
        ),
        figure("the same, all subjects", "", count(&|row| row.full.rank == Some(1), &all)),
        figure(
            "at most 5 irrelevant code points in it",
            "every subject",
            count(&|row| row.full.irrelevant <= 5, &all),
        ),
        figure(
            "rank at most 3 with 5 failing runs",
            "every subject",
            count(&|row| row.fewer[1].is_some_and(|rank| rank <= 3), &all),
        ),
    ]
}

fn subjects_table(rows: &[Row]) -> String {
    let head = [
        "subject",
        "failing",
        "edges",
        "rank",
        "stories before",
        "relevant",
        "others",
        "in order",
        "missing",
        "with 15",
        "with 5",
        "whole contexts",
        "Bugaboo",
        "CCI",
        "KB",
        "ms",
    ];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(line));
    table(&lines)
}

fn line(row: &Row) -> Vec<String> {
    let full = &row.full;
    let theirs = RECON.iter().find(|paper| paper.subject == row.subject);
    let beside = |ours: String, theirs: Option<u32>| match theirs {
        Some(theirs) => format!("{ours} ({theirs})"),
        None => ours,
    };
    let graphs = 50.0_f64.min((row.failing * 2) as f64);
    vec![
        row.subject.clone(),
        row.failing.to_string(),
        full.edges.to_string(),
        beside(or_dash(full.rank), theirs.map(|paper| paper.rank)),
        or_dash(full.stories_before),
        beside(full.relevant.to_string(), theirs.map(|paper| paper.relevant)),
        beside(full.irrelevant.to_string(), theirs.map(|paper| paper.irrelevant)),
        if full.in_order { "yes" } else { "no" }.to_owned(),
        beside(full.missing.to_string(), theirs.map(|paper| paper.missing)),
        beside(or_dash(row.fewer[0]), theirs.map(|paper| paper.with_15)),
        beside(or_dash(row.fewer[1]), theirs.map(|paper| paper.with_5)),
        or_dash(row.as_in_paper),
        or_dash(row.bugaboo),
        or_dash(row.cci),
        format!("{:.1}", row.graph_bytes as f64 / 1000.0 / graphs),
        format!("{:.2}", row.seconds_per_graph * 1000.0),
    ]
}

fn variants_table(rows: &[Row]) -> String {
    let head = ["accesses", "communications", "edges", "lost", "spurious", "at rank 1", "missing"];
    let mut lines = vec![head.map(str::to_owned).to_vec()];
    let names = rows.first().map_or(&[][..], |row| &row.variants);
    for (first, at) in names.iter().zip(0..) {
        let all = || rows.iter().filter_map(|row| row.variants.get(at));
        lines.push(vec![
            first.name.to_owned(),
            all().map(|variant| variant.communications).sum::<u64>().to_string(),
            all().map(|variant| variant.edges).sum::<usize>().to_string(),
            all().map(|variant| variant.lost).sum::<usize>().to_string(),
            all().map(|variant| variant.spurious).sum::<usize>().to_string(),
            format!(
                "{} of {}",
                all().filter(|variant| variant.rank == Some(1)).count(),
                rows.len()
            ),
            all().map(|variant| variant.missing).sum::<usize>().to_string(),
        ]);
    }
    table(&lines)
}

fn or_dash(number: Option<impl ToString>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}
