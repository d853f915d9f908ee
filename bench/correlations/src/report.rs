//! The section of docs/RESULTS.md.

use unpick_bench_results::{Figure, command_line, figures_table, setting, table, verdict};

use crate::judged::Verdicts;
use crate::measured::{Measured, TIMES};
use crate::planted::Found;

const FASTEST_NEEDED: f64 = 100_000.0;
const LARGEST_SHARE: f64 = 0.10;
const LOWEST_RANK: usize = 30;

/// What came of one code base.
pub struct Result {
    pub name: &'static str,
    pub measured: Measured,
    /// The same once more, nothing changed.
    pub again: Measured,
    pub verdicts: Verdicts,
    pub ranks: Vec<Found>,
}

impl Result {
    fn lines_per_second(&self) -> f64 {
        self.measured.list.summary.lines as f64 / self.measured.processor.max(0.001)
    }
}

pub fn section(results: &[Result], load_before: &str) -> String {
    let command = command_line("unpick-bench-correlations", std::env::args());
    let facts =
        setting(&[], &[format!("load before: {load_before}"), format!("command: `{command}`")]);
    [
        "## Correlations".to_owned(),
        facts,
        figures_table(&figures(results)),
        "### Code bases".to_owned(),
        bases_table(results),
        format!(
            "Lines: sources and own headers, each once. Seconds: processor time of all processes, with an empty cache, the least of {TIMES} times; again: the same once more, with nothing changed. Memory: of the largest process."
        ),
        "### Planted".to_owned(),
        planted_table(results),
    ]
    .join("\n\n")
}

fn figures(results: &[Result]) -> Vec<Figure> {
    let mut figures: Vec<Figure> = results
        .iter()
        .map(|result| Figure {
            name: format!("lines a second and core, {}", result.name),
            target: "100,000".to_owned(),
            measured: format!("{:.0}", result.lines_per_second()),
            verdict: verdict(result.lines_per_second() >= FASTEST_NEEDED),
        })
        .collect();
    let judged: usize = results.iter().map(|result| result.verdicts.judged()).sum();
    let drawn: usize = results.iter().map(|result| result.verdicts.drawn).sum();
    let wrong: usize = results.iter().map(|result| result.verdicts.wrong.len()).sum();
    figures.push(Figure {
        name: format!("false, of {judged} judged ({drawn} drawn)"),
        target: "at most 10 %".to_owned(),
        measured: format!("{wrong}"),
        verdict: verdict(judged == drawn && wrong as f64 <= LARGEST_SHARE * judged as f64),
    });
    let sums = |of: fn(&Verdicts) -> (usize, usize)| {
        results
            .iter()
            .map(|result| of(&result.verdicts))
            .fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    };
    let (blind, blind_wrong) = sums(|verdicts| verdicts.blind);
    let (all, all_wrong) = sums(|verdicts| verdicts.blind_of_all);
    let told: usize = results.iter().map(|result| result.measured.list.told(false).count()).sum();
    figures.push(Figure {
        name: format!(
            "false, of {blind} judged blind ({told} told; with weak ones {all_wrong} of {all})"
        ),
        target: "at most 10 %".to_owned(),
        measured: format!("{blind_wrong}"),
        verdict: verdict(blind == told && blind_wrong as f64 <= LARGEST_SHARE * blind as f64),
    });
    let ranks: Vec<Option<usize>> =
        results.iter().flat_map(|result| result.ranks.iter().map(|found| found.rank)).collect();
    let high = ranks.iter().flatten().filter(|&&rank| rank <= LOWEST_RANK).count();
    figures.push(Figure {
        name: "planted updates in the top 30".to_owned(),
        target: format!("all {}", ranks.len()),
        measured: high.to_string(),
        verdict: verdict(high == ranks.len()),
    });
    figures
}

fn bases_table(results: &[Result]) -> String {
    let head = [
        "code base",
        "files",
        "lines",
        "functions",
        "correlations",
        "weak",
        "breaks",
        "seconds",
        "wall",
        "again",
        "memory",
        "correct",
        "false",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for result in results {
        let Measured { list, wall, processor, peak_kib } = &result.measured;
        rows.push(vec![
            result.name.to_owned(),
            list.summary.files.to_string(),
            list.summary.lines.to_string(),
            list.summary.functions.to_string(),
            list.told(false).count().to_string(),
            (list.correlations.len() - list.told(false).count()).to_string(),
            list.breaks.len().to_string(),
            format!("{processor:.2}"),
            format!("{:.1}", wall.as_secs_f64()),
            format!("{:.2}", result.again.processor),
            format!("{} MiB", peak_kib >> 10),
            result.verdicts.correct.to_string(),
            result.verdicts.wrong.len().to_string(),
        ]);
    }
    table(&rows)
}

fn planted_table(results: &[Result]) -> String {
    let mut rows = vec![["code base", "function", "left out", "rank"].map(str::to_owned).to_vec()];
    for result in results {
        for found in &result.ranks {
            rows.push(vec![
                result.name.to_owned(),
                found.function.clone(),
                found.missing.clone(),
                found.rank.map_or("not found".to_owned(), |rank| rank.to_string()),
            ]);
        }
    }
    table(&rows)
}
