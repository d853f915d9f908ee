//! The report: one Markdown section, for the terminal and for docs/RESULTS.md alike.

use unpick_analyses::ranking::StudyFigures;
use unpick_bench_results::{command_line, figures_table, setting, table};

use crate::figures::figures;
use crate::measure::Row;
use crate::papers::{FALCON, UNICORN};
use crate::stress::Rate;

pub fn section(rows: &[Row], load_before: &str) -> String {
    let parts = [
        "## Ranking".to_owned(),
        setting_of(load_before),
        format!("### Figures: hunt and rank\n\n{}", figures_table(&figures(rows))),
        format!("### Subjects\n\n{}\n\n{}", subjects_table(rows), SUBJECTS_LEGEND),
        format!("### Beside UNICORN's Table IV\n\n{}\n\n{}", unicorn_table(rows), UNICORN_LEGEND),
        format!("### Beside Falcon's Table 4\n\n{}", falcon_table(rows)),
    ];
    parts.join("\n\n")
}

const SUBJECTS_LEGEND: &str = "\
Rates: share of failing runs, bare (not instrumented), recorded without delays, recorded with delays while failing runs were looked for. \
Leads: the true pattern is in front of the first finding; with 5: in how many of the samples of five failing runs. \
Rank: of the true pattern among all patterns; at 1: how many patterns share rank 1; shown: findings. \
Times in seconds: the whole hunt, ranking its runs again. Fixed: failing runs of the fixed twin.";

const UNICORN_LEGEND: &str = "\
Ours, then the paper's in brackets. Scores of the first pair, the second pair and the pattern; distinct pairs and patterns; distance of the \
two pairs, median and longest; the access window that shows the pattern in every failing run that has it.";

fn setting_of(load_before: &str) -> String {
    let further = [
        format!("load averages before the first run: {load_before}"),
        format!("command: `{}`", command_line("unpick-bench-ranking", std::env::args())),
    ];
    setting(&["gcc", "rustc"], &further)
}

fn words<const N: usize>(words: [&str; N]) -> Vec<String> {
    words.map(str::to_owned).to_vec()
}

fn subjects_table(rows: &[Row]) -> String {
    let mut lines = vec![words([
        "subject", "pattern", "failed", "passed", "bare", "recorded", "delays", "leads", "with 5",
        "rank", "at 1", "shown", "hunt", "ranking", "fixed",
    ])];
    lines.extend(rows.iter().map(subject_line));
    table(&lines)
}

fn subject_line(row: &Row) -> Vec<String> {
    let measured = &row.measured;
    let mut line = vec![
        row.subject.name.clone(),
        row.subject.pattern.clone().unwrap_or_else(|| "none".to_owned()),
    ];
    let rates = [measured.bare, measured.without_delays, measured.with_delays].map(percent);
    let fixed = format!("{} of {}", measured.fixed.failed, measured.fixed.runs);
    let hunt = format!("{:.0}", measured.hunt_seconds);
    match &row.study {
        Some(study) => {
            let all = &study.all;
            let figures = all.figures.as_ref();
            let few = study.few.iter().filter(|standing| standing.leads).count();
            line.extend([all.failing.to_string(), all.passing.to_string()]);
            line.extend(rates);
            line.extend([
                if all.leads { "yes" } else { "no" }.to_owned(),
                format!("{few} of {}", study.few.len()),
                or_dash(figures.map(|figures| figures.rank)),
                or_dash(figures.map(|figures| figures.at_rank_1)),
                all.findings.to_string(),
                hunt,
                format!("{:.2}", study.seconds),
                fixed,
            ]);
        }
        None => {
            line.extend(["0".to_owned(), "all".to_owned()]);
            line.extend(rates);
            line.extend(words(["-"; 5]));
            line.extend([hunt, "-".to_owned(), fixed]);
        }
    }
    line
}

fn unicorn_table(rows: &[Row]) -> String {
    let mut lines = vec![words([
        "subject",
        "pair 1",
        "pair 2",
        "pattern",
        "rank",
        "at rank 1",
        "pairs",
        "patterns",
        "distance",
        "window",
    ])];
    lines.extend(rows.iter().filter_map(|row| {
        let figures = row.study.as_ref()?.all.figures.as_ref()?;
        Some(unicorn_line(&row.subject.name, figures))
    }));
    table(&lines)
}

fn unicorn_line(subject: &str, figures: &StudyFigures) -> Vec<String> {
    let theirs = UNICORN.iter().find(|row| row.subject == subject);
    let beside = |ours: String, theirs: Option<String>| match theirs {
        Some(theirs) => format!("{ours} ({theirs})"),
        None => ours,
    };
    let distance = |distances: Option<[u32; 2]>| {
        distances.map_or("-".to_owned(), |[median, longest]| format!("{median}..{longest}"))
    };
    let ours_distance = figures.median_distance.zip(figures.longest_distance).map(Into::into);
    vec![
        subject.to_owned(),
        beside(score(figures.first_pair), theirs.map(|row| score(Some(row.first_pair)))),
        beside(score(figures.second_pair), theirs.map(|row| score(row.second_pair))),
        beside(score(Some(figures.pattern)), theirs.map(|row| score(Some(row.pattern)))),
        beside(figures.rank.to_string(), theirs.map(|row| row.rank.to_string())),
        beside(figures.at_rank_1.to_string(), theirs.map(|row| row.at_rank_1.to_string())),
        beside(figures.pairs.to_string(), theirs.map(|row| row.pairs.to_string())),
        beside(figures.patterns.to_string(), theirs.map(|row| row.patterns.to_string())),
        beside(distance(ours_distance), theirs.map(|row| distance(row.distances))),
        or_dash(figures.access_window),
    ]
}

fn falcon_table(rows: &[Row]) -> String {
    let mut lines = vec![words([
        "subject",
        "our score",
        "Falcon's",
        "our patterns",
        "Falcon's patterns",
        "our rank",
        "Falcon's rank",
    ])];
    for theirs in &FALCON {
        let Some(row) = rows.iter().find(|row| row.subject.name == theirs.subject) else {
            continue;
        };
        let figures = row.study.as_ref().and_then(|study| study.all.figures.as_ref());
        lines.push(vec![
            theirs.subject.to_owned(),
            score(figures.map(|figures| figures.pattern)),
            score(Some(theirs.score)),
            or_dash(figures.map(|figures| figures.patterns)),
            theirs.patterns.to_string(),
            or_dash(figures.map(|figures| figures.rank)),
            or_dash((theirs.rank > 0).then_some(theirs.rank)),
        ]);
    }
    table(&lines)
}

fn score(score: Option<f64>) -> String {
    score.map_or("-".to_owned(), |score| format!("{score:.2}"))
}

fn or_dash(number: Option<impl ToString>) -> String {
    number.map_or("-".to_owned(), |number| number.to_string())
}

fn percent(rate: Rate) -> String {
    rate.share().map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}
