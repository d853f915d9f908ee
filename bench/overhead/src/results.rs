//! What was measured: samples by workload, threads, variant and scale, and the ratios asked of them.

use std::collections::BTreeMap;

use crate::options::Scale;
use crate::statistics::{median, relative_spread};

/// One run of one program.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    pub seconds: f64,
    pub peak_bytes: u64,
    pub recording_bytes: u64,
    pub checksum: String,
}

/// What was run to get a sample.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    pub workload: &'static str,
    pub threads: u32,
    pub variant: String,
    pub scale: Scale,
}

/// What a sample is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    Seconds,
    PeakBytes,
    RecordingBytes,
}

impl Quantity {
    fn of(self, sample: &Sample) -> f64 {
        match self {
            Self::Seconds => sample.seconds,
            Self::PeakBytes => sample.peak_bytes as f64,
            Self::RecordingBytes => sample.recording_bytes as f64,
        }
    }
}

#[derive(Debug, Default)]
pub struct Results {
    samples: BTreeMap<Cell, Vec<Sample>>,
    failures: BTreeMap<Cell, String>,
}

impl Results {
    pub fn add(&mut self, cell: Cell, sample: Sample) {
        self.samples.entry(cell).or_default().push(sample);
    }

    pub fn add_failure(&mut self, cell: Cell, why: String) {
        self.failures.insert(cell, why);
    }

    pub fn has_failed(&self, cell: &Cell) -> bool {
        self.failures.contains_key(cell)
    }

    pub fn failures(&self) -> Vec<String> {
        let line = |(cell, why): (&Cell, &String)| {
            format!(
                "failed: {} as {} with {} threads: {why}",
                cell.workload, cell.variant, cell.threads
            )
        };
        self.failures.iter().map(line).collect()
    }

    /// Every sample, one line each, with a header.
    pub fn tab_separated(&self) -> String {
        let mut text =
            "workload\tthreads\tvariant\tscale\tround\tseconds\tpeak_bytes\trecording_bytes\n"
                .to_owned();
        for (cell, samples) in &self.samples {
            for (round, sample) in samples.iter().enumerate() {
                text += &sample_line(cell, round, sample);
            }
        }
        text
    }

    /// Any checksum printed for this workload at this scale: all must be equal.
    pub fn checksum_of(&self, workload: &str, scale: Scale) -> Option<&str> {
        let (_, samples) = self
            .samples
            .iter()
            .find(|(cell, _)| cell.workload == workload && cell.scale == scale)?;
        samples.first().map(|sample| sample.checksum.as_str())
    }

    /// The median of a quantity; none if the cell was not measured or failed.
    pub fn median_of(&self, cell: &Cell, quantity: Quantity) -> Option<f64> {
        if self.has_failed(cell) {
            return None;
        }
        median(&self.values_of(cell, quantity))
    }

    /// How many times more of a quantity a variant takes than another one, on the same work.
    pub fn ratio(&self, cell: &Cell, reference: &str, quantity: Quantity) -> Option<f64> {
        let compared = Cell { variant: reference.to_owned(), ..cell.clone() };
        Some(self.median_of(cell, quantity)? / self.median_of(&compared, quantity)?)
    }

    /// The worst spread of the times of any one cell: how noisy the machine was.
    pub fn worst_spread(&self) -> Option<f64> {
        let spreads = self
            .samples
            .keys()
            .filter_map(|cell| relative_spread(&self.values_of(cell, Quantity::Seconds)));
        spreads.max_by(f64::total_cmp)
    }

    /// The median spread of the times of one cell.
    pub fn usual_spread(&self) -> Option<f64> {
        let spreads = self
            .samples
            .keys()
            .filter_map(|cell| relative_spread(&self.values_of(cell, Quantity::Seconds)));
        median(&spreads.collect::<Vec<_>>())
    }

    fn values_of(&self, cell: &Cell, quantity: Quantity) -> Vec<f64> {
        let samples = self.samples.get(cell).map_or(&[][..], Vec::as_slice);
        samples.iter().map(|sample| quantity.of(sample)).collect()
    }
}

fn sample_line(cell: &Cell, round: usize, sample: &Sample) -> String {
    let Cell { workload, threads, variant, scale } = cell;
    let Sample { seconds, peak_bytes, recording_bytes, .. } = sample;
    format!(
        "{workload}\t{threads}\t{variant}\t{scale:?}\t{round}\t{seconds:.6}\t{peak_bytes}\t{recording_bytes}\n"
    )
}

#[cfg(test)]
pub mod made_up {
    use super::*;

    pub fn cell(workload: &'static str, threads: u32, variant: &str) -> Cell {
        Cell { workload, threads, variant: variant.to_owned(), scale: Scale::Full }
    }

    pub fn sample(seconds: f64, peak_bytes: u64) -> Sample {
        Sample { seconds, peak_bytes, recording_bytes: 0, checksum: "1".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::made_up::{cell, sample};
    use super::*;

    #[test]
    fn a_ratio_compares_medians_of_the_same_work() {
        let mut results = Results::default();
        for seconds in [1.0, 9.0, 1.0] {
            results.add(cell("lu", 2, "native"), sample(seconds, 100));
        }
        results.add(cell("lu", 2, "floor"), sample(3.0, 200));
        assert_eq!(results.ratio(&cell("lu", 2, "floor"), "native", Quantity::Seconds), Some(3.0));
        assert_eq!(
            results.ratio(&cell("lu", 2, "floor"), "native", Quantity::PeakBytes),
            Some(2.0)
        );
        assert_eq!(results.ratio(&cell("lu", 8, "floor"), "native", Quantity::Seconds), None);
    }

    #[test]
    fn every_sample_has_its_line() {
        let mut results = Results::default();
        results.add(cell("lu", 2, "floor"), sample(3.0, 200));
        results.add(cell("lu", 2, "floor"), sample(4.0, 200));
        let text = results.tab_separated();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            ["lu\t2\tfloor\tFull\t0\t3.000000\t200\t0", "lu\t2\tfloor\tFull\t1\t4.000000\t200\t0"]
        );
    }

    #[test]
    fn what_failed_once_has_no_median() {
        let mut results = Results::default();
        results.add(cell("lu", 2, "floor"), sample(3.0, 200));
        results.add_failure(cell("lu", 2, "floor"), "exit code 66".to_owned());
        assert_eq!(results.median_of(&cell("lu", 2, "floor"), Quantity::Seconds), None);
        assert_eq!(results.failures(), ["failed: lu as floor with 2 threads: exit code 66"]);
    }
}
