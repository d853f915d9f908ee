//! The report: one Markdown section, for the terminal and for docs/RESULTS.md alike.

use unpick_bench_results::{command_line, figures_table, geometric_mean, setting, table};

use crate::compile::clang;
use crate::figures::{Figure, Scope, figures};
use crate::options::{Options, Scale};
use crate::results::{Cell, Quantity, Results};
use crate::variant::Variant;
use crate::workload::Workload;

pub fn section(options: &Options, results: &Results, load_before: &str) -> String {
    let report = Report {
        options,
        results,
        variants: options.variants(),
        workloads: options.workloads().unwrap_or_default(),
    };
    let parts = [
        "## Overhead of recording".to_owned(),
        report.setting(load_before),
        report.figures(),
        report.slowdowns(),
        report.peak_memory(),
        report.recordings(),
        report.failures(),
    ];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

struct Report<'a> {
    options: &'a Options,
    results: &'a Results,
    variants: Vec<Variant>,
    workloads: Vec<&'static Workload>,
}

impl Report<'_> {
    fn setting(&self, load_before: &str) -> String {
        let further = [
            format!("load averages before the first run: {load_before}"),
            format!("command: `{}`", command_line("unpick-bench-overhead", std::env::args())),
            format!(
                "all variants compiled with `{} -g`; {} rounds, variants take turns in each; medians",
                self.options.optimise.flag(),
                self.options.repeat
            ),
            format!(
                "spread of the times of one cell, (max - min) / median: usually {}, at worst {}",
                percent(self.results.usual_spread()),
                percent(self.results.worst_spread())
            ),
        ];
        setting(&["gcc", clang(false), "valgrind"], &further)
    }

    /// One table of figures with targets per recording variant.
    fn figures(&self) -> String {
        let recording = self.variants.iter().filter(|variant| variant.is_recording());
        let tables = recording.map(|variant| {
            let scope = Scope { results: self.results, cells: self.cells_of(variant) };
            let figures: Vec<_> = figures(&scope).iter().map(in_words).collect();
            format!("### Figures: {}\n\n{}", variant.label(), figures_table(&figures))
        });
        tables.collect::<Vec<_>>().join("\n\n")
    }

    fn slowdowns(&self) -> String {
        let tables = self.options.threads.iter().map(|&threads| {
            let title = format!("### Slowdown against native, {threads} threads");
            format!("{title}\n\n{}", self.ratio_table(threads, Quantity::Seconds))
        });
        let mut text = tables.collect::<Vec<_>>().join("\n\n");
        if self.options.scale == Scale::Full && self.variants.iter().any(Variant::is_heavy) {
            text.push_str("\n\n(small): ran on less work because it is so slow; compared with native on that work.");
        }
        text
    }

    fn peak_memory(&self) -> String {
        let tables = self.options.threads.iter().map(|&threads| {
            let title = format!("### Peak memory against native, {threads} threads");
            format!("{title}\n\n{}", self.ratio_table(threads, Quantity::PeakBytes))
        });
        tables.collect::<Vec<_>>().join("\n\n")
    }

    /// Ratios to native, workloads down and variants across, with geometric means below.
    fn ratio_table(&self, threads: u32, quantity: Quantity) -> String {
        let compared = &self.variants[1..];
        let mut rows = vec![self.header(compared, quantity)];
        rows.extend(
            self.workloads
                .iter()
                .map(|workload| self.ratio_row(workload, compared, threads, quantity)),
        );
        let means = compared.iter().map(|variant| {
            let ratios: Vec<_> = self
                .workloads
                .iter()
                .filter_map(|workload| self.ratio(workload, variant, threads, quantity))
                .collect();
            number(geometric_mean(&ratios))
        });
        rows.push(["geometric mean".to_owned(), String::new()].into_iter().chain(means).collect());
        table(&rows)
    }

    fn header(&self, compared: &[Variant], quantity: Quantity) -> Vec<String> {
        let native = match quantity {
            Quantity::Seconds => "native, s",
            Quantity::PeakBytes | Quantity::RecordingBytes => "native, MiB",
        };
        let labels = compared.iter().map(|variant| self.label_with_scale(variant));
        ["workload".to_owned(), native.to_owned()].into_iter().chain(labels).collect()
    }

    fn label_with_scale(&self, variant: &Variant) -> String {
        let is_reduced = variant.scale(self.options.scale) != self.options.scale;
        format!("{}{}", variant.label(), if is_reduced { " (small)" } else { "" })
    }

    fn ratio_row(
        &self,
        workload: &Workload,
        compared: &[Variant],
        threads: u32,
        quantity: Quantity,
    ) -> Vec<String> {
        let native =
            self.results.median_of(&self.cell(workload, &self.variants[0], threads), quantity);
        let native = match quantity {
            Quantity::Seconds => number(native),
            Quantity::PeakBytes | Quantity::RecordingBytes => mebibytes(native),
        };
        let ratios =
            compared.iter().map(|variant| number(self.ratio(workload, variant, threads, quantity)));
        [workload.name.to_owned(), native].into_iter().chain(ratios).collect()
    }

    fn ratio(
        &self,
        workload: &Workload,
        variant: &Variant,
        threads: u32,
        quantity: Quantity,
    ) -> Option<f64> {
        self.results.ratio(
            &self.cell(workload, variant, threads),
            &self.variants[0].label(),
            quantity,
        )
    }

    /// Size of the recordings on disk, for variants that record.
    fn recordings(&self) -> String {
        let recording: Vec<_> =
            self.variants.iter().filter(|variant| variant.is_recording()).collect();
        if recording.is_empty() {
            return String::new();
        }
        let columns = recording.iter().flat_map(|variant| {
            self.options
                .threads
                .iter()
                .map(|threads| format!("{}, {threads} threads", variant.label()))
        });
        let mut rows = vec![["workload".to_owned()].into_iter().chain(columns).collect::<Vec<_>>()];
        rows.extend(self.workloads.iter().map(|workload| self.recording_row(workload, &recording)));
        format!("### Size of one recording, MiB\n\n{}", table(&rows))
    }

    fn recording_row(&self, workload: &Workload, recording: &[&Variant]) -> Vec<String> {
        let sizes =
            recording.iter().flat_map(|variant| {
                self.options.threads.iter().map(|&threads| {
                    mebibytes(self.results.median_of(
                        &self.cell(workload, variant, threads),
                        Quantity::RecordingBytes,
                    ))
                })
            });
        [workload.name.to_owned()].into_iter().chain(sizes).collect()
    }

    fn failures(&self) -> String {
        let failures = self.results.failures();
        if failures.is_empty() {
            return String::new();
        }
        let first_lines = failures.iter().filter_map(|failure| failure.lines().next());
        let items: Vec<_> = first_lines.map(|line| format!("- {line}")).collect();
        format!("### Failed runs\n\n{}", items.join("\n"))
    }

    fn cells_of(&self, variant: &Variant) -> Vec<Cell> {
        let of_workload = |workload: &&'static Workload| {
            let workload = *workload;
            self.options.threads.iter().map(move |&threads| self.cell(workload, variant, threads))
        };
        self.workloads.iter().flat_map(of_workload).collect()
    }

    fn cell(&self, workload: &Workload, variant: &Variant, threads: u32) -> Cell {
        Cell {
            workload: workload.name,
            threads,
            variant: variant.label(),
            scale: variant.scale(self.options.scale),
        }
    }
}

fn in_words(figure: &Figure) -> unpick_bench_results::Figure {
    unpick_bench_results::Figure {
        name: figure.name.to_owned(),
        target: format!("at most {:.1}", figure.at_most),
        measured: number(figure.value),
        verdict: figure.verdict(),
    }
}

fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

fn mebibytes(bytes: Option<f64>) -> String {
    number(bytes.map(|bytes| bytes / 1024.0 / 1024.0))
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "unknown".to_owned(), |share| format!("{:.0}%", share * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_or_so() {
        assert_eq!([number(Some(1.234)), number(Some(12.34)), number(None)], ["1.23", "12.3", "-"]);
        assert_eq!(mebibytes(Some(3.0 * 1024.0 * 1024.0)), "3.00");
        assert_eq!(percent(Some(0.256)), "26%");
    }
}
