//! The summary figures: five numbers with targets that decide whether recording is cheap enough.

use unpick_bench_results::{geometric_mean, verdict};

use crate::results::{Cell, Quantity, Results};
use crate::statistics::largest;
use crate::variant::VariantName;

/// Which part of the results the figures are about.
pub struct Scope<'a> {
    pub results: &'a Results,
    /// All cells of the recording variant, over workloads and thread counts.
    pub cells: Vec<Cell>,
}

pub struct Figure {
    pub name: &'static str,
    pub at_most: f64,
    pub value: Option<f64>,
}

impl Figure {
    pub fn verdict(&self) -> &'static str {
        match self.value {
            None => "not measured",
            Some(value) => verdict(value <= self.at_most),
        }
    }
}

pub fn figures(scope: &Scope) -> Vec<Figure> {
    let tsan = VariantName::GccTsan;
    let against_tsan = scope.ratios(tsan, Quantity::Seconds);
    let against_floor = scope.ratios(VariantName::Floor, Quantity::Seconds);
    let memory = scope.ratios(tsan, Quantity::PeakBytes);
    [
        (
            "slowdown against gcc ThreadSanitizer, geometric mean",
            0.5,
            geometric_mean(&against_tsan),
        ),
        ("worst single workload against gcc ThreadSanitizer", 1.0, largest(&against_tsan)),
        ("slowdown against empty hooks, geometric mean", 2.0, geometric_mean(&against_floor)),
        ("peak memory against gcc ThreadSanitizer, geometric mean", 1.0, geometric_mean(&memory)),
        ("growth of the slowdown from fewest to most threads", 1.3, scope.growth_with_threads()),
    ]
    .map(|(name, at_most, value)| Figure { name, at_most, value })
    .into()
}

impl Scope<'_> {
    fn ratios(&self, reference: VariantName, quantity: Quantity) -> Vec<f64> {
        self.ratios_where(reference, quantity, |_| true)
    }

    fn ratios_where(
        &self,
        reference: VariantName,
        quantity: Quantity,
        wanted: impl Fn(&Cell) -> bool,
    ) -> Vec<f64> {
        let cells = self.cells.iter().filter(|cell| wanted(cell));
        cells
            .filter_map(|cell| self.results.ratio(cell, &reference.to_string(), quantity))
            .collect()
    }

    /// Mean slowdown against native with most threads, divided by that with fewest; none with one thread count.
    fn growth_with_threads(&self) -> Option<f64> {
        let fewest = self.cells.iter().map(|cell| cell.threads).min()?;
        let most = self.cells.iter().map(|cell| cell.threads).max()?;
        let slowdown = |threads| {
            let ratios = self.ratios_where(VariantName::Native, Quantity::Seconds, |cell| {
                cell.threads == threads
            });
            geometric_mean(&ratios)
        };
        if fewest == most { None } else { Some(slowdown(most)? / slowdown(fewest)?) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::made_up::{cell, sample};

    fn scope_of<'a>(results: &'a Results) -> Scope<'a> {
        let cells = [("lu", 2), ("lu", 8), ("fft", 2), ("fft", 8)];
        Scope {
            results,
            cells: cells.map(|(workload, threads)| cell(workload, threads, "unpick")).into(),
        }
    }

    fn results_with(unpick_lu_8: f64) -> Results {
        let mut results = Results::default();
        for (workload, threads) in [("lu", 2), ("lu", 8), ("fft", 2), ("fft", 8)] {
            results.add(cell(workload, threads, "native"), sample(1.0, 10));
            results.add(cell(workload, threads, "floor"), sample(2.0, 10));
            results.add(cell(workload, threads, "gcc-tsan"), sample(10.0, 100));
            let seconds = if (workload, threads) == ("lu", 8) { unpick_lu_8 } else { 4.0 };
            results.add(cell(workload, threads, "unpick"), sample(seconds, 50));
        }
        results
    }

    fn values(figures: &[Figure]) -> Vec<String> {
        figures
            .iter()
            .map(|figure| format!("{:.2} {}", figure.value.unwrap_or(f64::NAN), figure.verdict()))
            .collect()
    }

    #[test]
    fn figures_are_ratios_with_verdicts() {
        let results = results_with(4.0);
        let expected =
            ["0.40 reached", "0.40 reached", "2.00 reached", "0.50 reached", "1.00 reached"];
        assert_eq!(values(&figures(&scope_of(&results))), expected);
    }

    #[test]
    fn one_slow_workload_shows_in_the_worst_and_in_the_growth() {
        let results = results_with(16.0);
        let figures = values(&figures(&scope_of(&results)));
        assert_eq!(figures[1], "1.60 missed");
        assert_eq!(figures[4], "2.00 missed");
    }

    #[test]
    fn nothing_measured_is_said_so() {
        let results = Results::default();
        assert!(
            figures(&scope_of(&results)).iter().all(|figure| figure.verdict() == "not measured")
        );
    }
}
